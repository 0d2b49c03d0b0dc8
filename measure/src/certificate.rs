//! Was the client innocent? Each point carries a certificate with its evidence.

mod calibration; // what this host can drive

use serde::{Deserialize, Serialize};

pub use calibration::{Calibration, Demand};

use crate::quantile::percentile_linear;
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::summary::rate;
use crate::units::{Nanos, three_digits};

mod reads; // did the client read in time

pub use reads::Reads;

/// The certificate's verdict, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Innocence {
    /// The client added nothing that matters.
    Clean,
    /// Shown, flagged.
    Suspect,
    /// Kept, drawn hollow, never used for a ceiling or a verdict.
    Void,
}

/// What `load` saw of itself during a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientEvidence {
    /// 99th percentile of how late the load runtime polled a task that asked for the next millisecond.
    pub poll_lag_p99: Option<Nanos>,
    /// The longest of them.
    pub poll_lag_max: Option<Nanos>,
    /// Whether the wall clock was set during the point, so that the kernel's stamps before and after disagree.
    #[serde(default)]
    pub clock_was_set: bool,
    /// CPU time of the whole process over wall time, in cores.
    pub cpu_cores: Option<f64>,
    /// Cores the process may use.
    pub cores_available: Option<u32>,
}

/// The verdict with its evidence and the sentences that explain it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// clean, suspect or void.
    pub innocence: Innocence,
    /// One sentence a reason, worst first. When clean, only where the point went beyond half of what was calibrated.
    pub reasons: Vec<String>,
    /// So many of the reasons, the first ones, void it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub void_reasons: u32,
    /// Sent - scheduled, median.
    pub lag_p50: Option<Nanos>,
    /// Its 99th percentile.
    pub lag_p99: Option<Nanos>,
    /// Its maximum.
    pub lag_max: Option<Nanos>,
    /// Sent over offered rate.
    pub sent_over_offered: Option<f64>,
    /// Connections opened inside the clock.
    pub fresh_connections: u32,
    /// Reads that carried more than one token-bearing event.
    pub coalesced_reads: u32,
    /// How late the client read.
    #[serde(default)]
    pub reads: Reads,
    /// What the client saw of itself.
    pub client: ClientEvidence,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Every threshold of the certificate, with its reason.
pub(crate) mod thresholds {
    use crate::units::Nanos;

    /// p99 of dispatch lag: 1 % of a 500 ms TTFT bound, less than any page prints.
    pub const LAG_SUSPECT: Nanos = Nanos::from_millis(5);
    /// p99 of dispatch lag: a tenth of a 500 ms TTFT bound; the client is part of what was measured.
    pub const LAG_VOID: Nanos = Nanos::from_millis(50);
    /// Where everything starts at once, sending takes its time: judged as a share of the whole duration.
    pub const BURST_SUSPECT: f64 = 0.02;
    /// As [`BURST_SUSPECT`]: a tenth of the duration was spent sending.
    pub const BURST_VOID: f64 = 0.1;
    /// Sent over offered: a curve's place on the rate axis is wrong by 1 %.
    pub const SENT_SUSPECT: f64 = 0.01;
    /// Sent over offered: wrong by as much as the smallest difference that is not called noise.
    pub const SENT_VOID: f64 = 0.05;
    /// p99 of the load runtime's own poll lag: time stamps may be late by 1 % of a 500 ms bound.
    pub const POLL_SUSPECT: Nanos = Nanos::from_millis(5);
    /// p99 of the poll lag: as late as a whole 50 ms TPOT bound.
    pub const POLL_VOID: Nanos = Nanos::from_millis(50);
    /// Share of the events whose moment the client blurred: beyond it a p99 of ITL is the client's.
    pub const BLURRED_SUSPECT: f64 = 0.01;
    /// As [`BLURRED_SUSPECT`]: beyond it a p95 is.
    pub const BLURRED_VOID: f64 = 0.05;
    /// Share of the requests that this machine gave no connection: as infinity they are the p99 from here on.
    pub const LIMITED_VOID: f64 = 0.01;
    /// Share of the process's cores in use: beyond it the operating system decides when a socket is read. The process
    /// may hold the simulator too, so this alone never voids a point.
    pub const CPU_SUSPECT: f64 = 0.9;
}

/// The certificate of one point.
pub fn certify(records: &[RequestRecord], client: ClientEvidence) -> Certificate {
    let mut lags: Vec<f64> = records
        .iter()
        .filter_map(|record| Some(record.dispatch_lag()?.0 as f64))
        .collect();
    lags.sort_unstable_by(f64::total_cmp);
    let lag = |p: f64| percentile_linear(&lags, p).map(|lag| Nanos(lag.round() as u64));
    let sent_over_offered = sent_over_offered(records);
    let reads = Reads::of(records);
    let mut findings: Vec<(Innocence, String)> = [
        limited(records),
        lag(99.0).and_then(|lag| late_sends(lag, records)),
        sent_over_offered
            .filter(|_| is_shifted(records))
            .and_then(slow_sends),
        late_reads(&reads, client),
        client.clock_was_set.then(clock_set),
        busy(client),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.sort_by_key(|(innocence, _)| *innocence != Innocence::Void);
    Certificate {
        innocence: findings
            .first()
            .map_or(Innocence::Clean, |(innocence, _)| *innocence),
        void_reasons: findings
            .iter()
            .filter(|(innocence, _)| *innocence == Innocence::Void)
            .count() as u32,
        reasons: findings.into_iter().map(|(_, reason)| reason).collect(),
        lag_p50: lag(50.0),
        lag_p99: lag(99.0),
        lag_max: lag(100.0),
        sent_over_offered,
        fresh_connections: records
            .iter()
            .filter(|record| record.connect.is_some())
            .count() as u32,
        coalesced_reads: records.iter().map(|record| record.coalesced_reads).sum(),
        reads,
        client,
    }
}

impl Certificate {
    /// With what was found beside the requests: the worst verdict counts. Reasons stay in order, the worst first, those as
    /// grave as given.
    pub fn with(mut self, findings: Vec<(Innocence, String)>) -> Self {
        for (innocence, reason) in findings {
            if innocence == Innocence::Void {
                let behind = (self.void_reasons as usize).min(self.reasons.len());
                self.reasons.insert(behind, reason);
                self.void_reasons += 1;
            } else {
                self.reasons.push(reason);
            }
            self.innocence = self.innocence.max(innocence);
        }
        self
    }
}

/// Rates of the session starts that were sent: as sent, over as scheduled. Requests that never reached a connection
/// are failures, not lateness.
fn sent_over_offered(records: &[RequestRecord]) -> Option<f64> {
    let starts = || {
        records
            .iter()
            .filter(|record| record.turn == 0 && record.sent.is_some())
    };
    let offered = rate(starts().map(|record| record.scheduled))?;
    Some(rate(starts().filter_map(|record| record.sent))? / offered)
}

/// Whether sending took longer, or shorter, than the schedule by more than lateness explains that no request minds: over
/// the span of a few arrivals a ratio tells of microseconds.
fn is_shifted(records: &[RequestRecord]) -> bool {
    let starts = || {
        records
            .iter()
            .filter(|record| record.turn == 0 && record.sent.is_some())
    };
    let span = |instants: &mut dyn Iterator<Item = Nanos>| {
        let (first, last) = instants.fold((Nanos(u64::MAX), Nanos::ZERO), |(first, last), at| {
            (first.min(at), last.max(at))
        });
        last.since(first).0
    };
    let offered = span(&mut starts().map(|record| record.scheduled));
    let sent = span(&mut starts().filter_map(|record| record.sent));
    lag_limits(records).0.0 < offered.abs_diff(sent)
}

fn late_sends(lag: Nanos, records: &[RequestRecord]) -> Option<(Innocence, String)> {
    let (suspect, void) = lag_limits(records);
    let innocence = graded(lag, suspect, void)?;
    Some((
        innocence,
        format!("The client sent late: 1 % of requests left {lag} or more after their slot."),
    ))
}

/// What counts as late: fixed spans, or shares of the duration where everything starts at once.
fn lag_limits(records: &[RequestRecord]) -> (Nanos, Nanos) {
    let first = records
        .first()
        .map(|record| record.scheduled)
        .unwrap_or_default();
    let at_once = 1 < records.len()
        && records
            .iter()
            .filter(|record| record.turn == 0)
            .all(|record| record.scheduled == first);
    if !at_once {
        return (thresholds::LAG_SUSPECT, thresholds::LAG_VOID);
    }
    let seconds = records
        .iter()
        .filter_map(|record| record.end)
        .max()
        .unwrap_or_default()
        .since(first)
        .as_secs_f64();
    let share = |share: f64, least: Nanos| Nanos::from_secs_f64(seconds * share).max(least);
    (
        share(thresholds::BURST_SUSPECT, thresholds::LAG_SUSPECT),
        share(thresholds::BURST_VOID, thresholds::LAG_VOID),
    )
}

/// Requests that the client had no means to send: never the engine's doing, however few.
fn limited(records: &[RequestRecord]) -> Option<(Innocence, String)> {
    let is_limited =
        |record: &&RequestRecord| record.outcome == Outcome::Error(ErrorKind::ClientLimit);
    let first = records.iter().find(is_limited)?;
    let (count, all) = (records.iter().filter(is_limited).count(), records.len());
    let void = thresholds::LIMITED_VOID * all as f64 <= count as f64;
    let innocence = if void {
        Innocence::Void
    } else {
        Innocence::Suspect
    };
    let why = first
        .error_detail
        .as_deref()
        .unwrap_or("it did not say why");
    let text = format!(
        "The client came to a limit of its own: {count} of {all} requests got no connection ({why})."
    );
    Some((innocence, text))
}

fn slow_sends(ratio: f64) -> Option<(Innocence, String)> {
    let innocence = graded(
        (1.0 - ratio).abs(),
        thresholds::SENT_SUSPECT,
        thresholds::SENT_VOID,
    )?;
    Some((
        innocence,
        format!(
            "The client sent at {} % of the offered rate.",
            three_digits(100.0 * ratio)
        ),
    ))
}

/// Where the kernel says when bytes came, a late read blurs only what it takes together; else it is late itself.
fn late_reads(reads: &Reads, client: ClientEvidence) -> Option<(Innocence, String)> {
    if reads.by_kernel() && !client.clock_was_set {
        let blurred = reads.blurred;
        let innocence = graded(
            blurred,
            thresholds::BLURRED_SUSPECT,
            thresholds::BLURRED_VOID,
        )?;
        let share = three_digits(100.0 * blurred);
        return Some((
            innocence,
            format!(
                "The client read {share} % of the events late and together with others, which blurs their ITL."
            ),
        ));
    }
    let lag = client.poll_lag_p99?;
    let innocence = graded(lag, thresholds::POLL_SUSPECT, thresholds::POLL_VOID)?;
    Some((
        innocence,
        format!(
            "The client read late: its own clock ticks came {lag} late at their 99th percentile."
        ),
    ))
}

fn clock_set() -> (Innocence, String) {
    let text = "The wall clock of this host was set while the point ran: the kernel's time stamps may not fit together.";
    (Innocence::Suspect, text.to_owned())
}

fn busy(client: ClientEvidence) -> Option<(Innocence, String)> {
    let (used, cores) = (client.cpu_cores?, client.cores_available?);
    (thresholds::CPU_SUSPECT * f64::from(cores) <= used).then(|| {
        let text = format!(
            "The process used {} of its {cores} cores: its clock may have waited for them.",
            three_digits(used)
        );
        (Innocence::Suspect, text)
    })
}

fn graded<T: PartialOrd>(value: T, suspect: T, void: T) -> Option<Innocence> {
    match () {
        () if void <= value => Some(Innocence::Void),
        () if suspect <= value => Some(Innocence::Suspect),
        () => None,
    }
}

#[cfg(test)]
mod tests;
