//! Differences with their intervals, and verdicts on them.

use measure::compare::{Difference, Verdict};

use super::small;
use crate::ui::format::{number, percent};

/// A number with its sign, `+3.1`; what rounds to nothing has none.
pub fn signed(value: f64, digits: usize) -> String {
    let text = format!("{value:+.digits$}").replace('-', "−");
    if text
        .trim_start_matches(['+', '−'])
        .chars()
        .all(|it| matches!(it, '0' | '.'))
    {
        "0".into()
    } else {
        text
    }
}

/// A relative difference with its sign: `+31 %`, with a narrow space that does not break.
pub fn signed_percent(relative: f64) -> String {
    let digits = if relative.abs() < 0.1 { 1 } else { 0 };
    format!("{}\u{202f}%", signed(relative * 100.0, digits))
}

/// An interval that reaches further than this, ten times as much and more, says nothing by its end.
const FAR: f64 = 10.0;

/// Its interval says nothing of tenths of a percent.
fn is_wide(difference: &Difference) -> bool {
    0.2 < difference.hi - difference.lo
}

/// A difference with its interval: `+31 % (+24 to +38)`. Brackets of ceilings that meet end at nothing, and their ceilings differ
/// all the same: the rate at which one ends is no ceiling itself.
pub fn difference(difference: &Difference) -> String {
    let end = |value: f64, open: &str| {
        if value == 0.0 && difference.pairs == 0 {
            return open.to_owned();
        }
        if FAR < value {
            return format!("over +{}", number(FAR * 100.0));
        }
        signed_percent(value)
            .trim_end_matches("\u{202f}%")
            .to_owned()
    };
    let value = match is_wide(difference) {
        true => format!("{}\u{202f}%", signed(difference.relative * 100.0, 0)),
        false => signed_percent(difference.relative),
    };
    format!(
        "{value} ({} to {})",
        end(difference.lo, "above 0"),
        end(difference.hi, "below 0")
    )
}

/// A verdict as a word, and its reason where it has one.
pub fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Better => "better".into(),
        Verdict::Worse => "worse".into(),
        Verdict::NoDifference { smallest_seen } => {
            format!(
                "no difference we can see (smallest we could have seen: {})",
                percent(smallest_seen.abs())
            )
        }
        Verdict::CannotTell { smallest_seen } => {
            format!(
                "cannot tell (one would have been seen only from {} on)",
                larger(*smallest_seen)
            )
        }
        Verdict::NotYetJudged { why } => {
            format!("not yet judged: {}", small(why.trim_end_matches('.')))
        }
    }
}

/// The same of a difference of shares, which is one of percentage points.
pub fn verdict_in_points(of: &Verdict) -> String {
    let points = |seen: f64| format!("{} points", number_of_points(seen));
    match of {
        Verdict::NoDifference { smallest_seen } => format!(
            "no difference we can see (smallest we could have seen: {})",
            points(*smallest_seen)
        ),
        Verdict::CannotTell { smallest_seen } => format!(
            "cannot tell (one would have been seen only from {} on)",
            points(*smallest_seen)
        ),
        other => verdict(other),
    }
}

/// A difference of shares with its interval: `+1.0 points (−1.0 to +3.0)`.
pub fn difference_in_points(of: &Difference) -> String {
    let digits = usize::from(!is_wide(of));
    let [by, lo, hi] = [of.relative, of.lo, of.hi].map(|it| signed(it * 100.0, digits));
    format!("{by} points ({lo} to {hi})")
}

fn number_of_points(share: f64) -> String {
    let text = format!("{:.1}", share.abs() * 100.0);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// A change for the larger: `8 %`, or from a doubling on `3.20 times as much`.
pub fn larger(by: f64) -> String {
    if by < 1.0 {
        percent(by)
    } else {
        format!("{} times as much", number(1.0 + by))
    }
}
