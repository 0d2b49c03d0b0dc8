//! The part of a trace that is replayed, at its speed.

use super::*;

/// Takes the rows of the window, as many as the point may have.
pub(super) struct Window {
    start: Nanos,
    /// In the trace's own time after its first row.
    end: Nanos,
    /// Divides the trace's own time; 1 where its moments do not count.
    speed: f64,
    max_context: u32,
    /// Fewest rows, whatever the time; only where a study says so.
    least: usize,
    most: usize,
    /// In the point's time: what comes later is left out, once there are rows enough.
    span: Nanos,
    first: Option<Nanos>,
    last: Nanos,
    pub rows: Vec<Row>,
    pub dropped: BTreeMap<String, usize>,
}

/// A row's time, which is not before the row above it.
pub(super) fn in_order(last: Nanos, row: &Row) -> Result<Nanos, String> {
    if row.at < last {
        return Err("comes before the line above it; sort the file by time".into());
    }
    Ok(row.at)
}

impl Window {
    pub(super) fn new(trace: &Trace, spec: &PointSpec<'_>, wanted: Wanted) -> Self {
        let start = Nanos::from_millis(trace.start_ms);
        let end = trace
            .length_ms
            .map(|length| start + Nanos::from_millis(length));
        let replay = match spec.level {
            Level::Replay(speed) => Some(speed.factor()),
            _ => None,
        };
        let seconds = Nanos::from_millis(u64::from(spec.length.seconds).saturating_mul(1000));
        let (least, span) = match (replay, spec.duration) {
            (Some(_), Some(duration)) => (1, nanos(duration)),
            (Some(_), None) => (wanted.requests, seconds),
            // Its moments do not count: the first rows are taken.
            (None, _) => (wanted.sessions.max(wanted.requests), Nanos::ZERO),
        };
        Self {
            start,
            end: end.unwrap_or(Nanos(u64::MAX)),
            speed: replay.unwrap_or(1.0),
            max_context: trace.max_context.unwrap_or(u32::MAX),
            least,
            most: wanted.most,
            span,
            first: None,
            last: Nanos::ZERO,
            rows: Vec::new(),
            dropped: BTreeMap::new(),
        }
    }

    /// Takes a row, or says why it cannot be one.
    pub(super) fn take(&mut self, mut row: Row) -> Result<Enough, String> {
        self.last = in_order(self.last, &row)?;
        let at = row.at - *self.first.get_or_insert(row.at);
        if at < self.start {
            return Ok(Enough::No);
        }
        let due = Nanos::from_secs_f64((at - self.start).as_secs_f64() / self.speed);
        let enough = self.least <= self.rows.len() && self.span <= due;
        if self.end <= at || enough || self.most <= self.rows.len() {
            return Ok(Enough::Yes);
        }
        match self.fault(&row) {
            Some(why) => *self.dropped.entry(why.into()).or_default() += 1,
            None => {
                row.at = due;
                self.rows.push(row);
            }
        }
        Ok(Enough::No)
    }

    fn fault(&self, row: &Row) -> Option<&'static str> {
        match row {
            Row {
                input: 0,
                said: None,
                ..
            } => Some("no_input"),
            Row { output: 0, .. } => Some("no_output"),
            row if self.max_context < row.input.saturating_add(row.output) => Some("context_long"),
            _ => None,
        }
    }
}
