//! Traces as tables: Azure's and BurstGPT's. Columns are found by their names, so that later versions with more of them
//! are read as well.

use measure::units::Nanos;
use measure::workload::TraceFormat;

use super::Row;

/// Which column is which.
pub(super) struct Columns {
    format: TraceFormat,
    at: usize,
    input: usize,
    output: usize,
    session: Option<usize>,
}

impl Columns {
    pub(super) fn of(format: TraceFormat, head: &str) -> Result<Self, String> {
        let names: Vec<String> = fields(head).map(str::to_ascii_lowercase).collect();
        let [at, input, output] = match format {
            TraceFormat::Azure => ["timestamp", "contexttokens", "generatedtokens"],
            _ => ["timestamp", "request tokens", "response tokens"],
        };
        let place = |name: &str| names.iter().position(|it| it == name);
        let find = |name: &str| {
            place(name).ok_or_else(|| {
                format!(
                    "has no column {name:?}; a trace of {} begins with its column names (choose the format that the file has)",
                    format.title()
                )
            })
        };
        Ok(Self {
            format,
            at: find(at)?,
            input: find(input)?,
            output: find(output)?,
            session: place("session id"),
        })
    }
}

/// The fields of a line.
pub(in crate::prompts) fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|field| field.trim().trim_matches('"'))
}

/// A line of the table.
pub(super) fn row(columns: &Columns, line: &str) -> Result<Row, String> {
    let fields: Vec<&str> = fields(line).collect();
    let field = |place: usize, name: &str| {
        let there = fields.get(place).filter(|text| !text.is_empty());
        there
            .copied()
            .ok_or_else(|| format!("has no {name}; complete the line or take it out"))
    };
    let tokens = |place: usize, name: &str| {
        let text = field(place, name)?;
        text.parse::<u32>()
            .map_err(|_| format!("has {text:?} for its {name}; write a whole number"))
    };
    let at = field(columns.at, "time")?;
    let session = columns.session.and_then(|place| fields.get(place));
    Ok(Row {
        at: match columns.format {
            TraceFormat::Azure => date_and_time(at)?,
            _ => seconds(at)?,
        },
        input: tokens(columns.input, "input tokens")?,
        output: tokens(columns.output, "output tokens")?,
        session: session.filter(|it| !it.is_empty()).map(|it| (*it).into()),
        ..Row::default()
    })
}

fn seconds(text: &str) -> Result<Nanos, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| seconds.is_finite() && 0.0 <= *seconds);
    let seconds = seconds
        .ok_or_else(|| format!("has {text:?} for its time; write seconds since the beginning"))?;
    Ok(Nanos::from_secs_f64(seconds))
}

/// `2023-11-16 18:17:03.9799600`, perhaps with a `T` between and a zone at the end (which all rows share).
fn date_and_time(text: &str) -> Result<Nanos, String> {
    let wrong = || format!("has {text:?} for its time; write it as 2023-11-16 18:17:03.979");
    let (date, time) = text.split_once([' ', 'T']).ok_or_else(wrong)?;
    let time = time.trim_end_matches('Z');
    let time = time.split_once(['+', '-']).map_or(time, |(time, _)| time);
    let date: Vec<i64> = date
        .split('-')
        .filter_map(|part| part.parse().ok())
        .collect();
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let clock: Vec<u64> = clock
        .split(':')
        .filter_map(|part| part.parse().ok())
        .collect();
    let (
        [year, month @ 1..=12, day @ 1..=31],
        [hours @ 0..=23, minutes @ 0..=59, seconds @ 0..=60],
    ) = (date.as_slice(), clock.as_slice())
    else {
        return Err(wrong());
    };
    let days = u64::try_from(days_since_epoch(*year, *month, *day)).map_err(|_| wrong())?;
    let fraction: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let nanos: u64 = fraction.parse().map_err(|_| wrong())?;
    let whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    Ok(Nanos(
        whole.saturating_mul(1_000_000_000).saturating_add(nanos),
    ))
}

/// Days from 1970-01-01 in the Gregorian calendar, counting years from March so that leap days come last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
