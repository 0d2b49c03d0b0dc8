//! Numbers as people read them: three significant digits at most, and two where the interval carries no more.
//!
//! Everything here is a plain function; the components that show numbers live in [`super::number`].

use measure::curve::Ceiling;
use measure::quantile::{Estimate, Proportion};
use measure::units::Nanos;

/// Narrow no-break space between a number and its unit.
const GAP: char = '\u{202f}';

/// A whole number with thousands marked: `1,530`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut marked = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            marked.push(',');
        }
        marked.push(digit);
    }
    marked
}

/// A number with three significant digits at most: `0.0123`, `11.4`, `1,530`.
pub fn number(value: f64) -> String {
    with_decimals(value, decimals_of(value, 3))
}

/// A share as per cent: `95 %`, `99.6 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = format!("{value:.1}");
    // What rounds to nothing has no sign.
    let text = if text == "-0.0" { "0" } else { &text };
    format!("{}{GAP}%", text.strip_suffix(".0").unwrap_or(text))
}

/// A value and its interval, with the digits that the interval carries: `11.4 (10.6–12.1)`, `11.4 (≥ 10.6)`. Ends are
/// rounded outwards, so that no bound promises more than it was.
pub fn with_interval(value: f64, lo: Option<f64>, hi: Option<f64>) -> String {
    to_decimals(interval_decimals(value, lo, hi), (value, lo, hi))
}

fn to_decimals(decimals: i32, (value, lo, hi): (f64, Option<f64>, Option<f64>)) -> String {
    let end = |at: f64, round: fn(f64) -> f64| {
        let decimals = decimals.max(decimals_of(at, 2));
        let scale = 10f64.powi(decimals.clamp(-12, 9));
        // What is at a step but for the noise of the multiplication stays there.
        let steps = at * scale;
        let near = steps.round();
        let steps = if (steps - near).abs() < 1e-6 {
            near
        } else {
            round(steps)
        };
        with_decimals(steps / scale, decimals)
    };
    let print = with_decimals(value, decimals);
    let lo = lo.map(|lo| end(lo, f64::floor));
    let hi = hi.map(|hi| end(hi, f64::ceil));
    match (lo, hi) {
        (Some(lo), Some(hi)) => format!("{print} ({lo}–{hi})"),
        (Some(lo), None) => format!("{print} (≥ {lo})"),
        (None, Some(hi)) => format!("{print} (≤ {hi})"),
        (None, None) => print,
    }
}

/// A ceiling without its unit: `11.4 (10.6–12.1)`, `at least 32`, `below 0.5`, `between 4 and 16`.
pub fn ceiling(ceiling: &Ceiling) -> String {
    match *ceiling {
        Ceiling::Bracket { value, lo, hi } => with_interval(value, Some(lo), Some(hi)),
        Ceiling::AtLeast { lo } => format!("at least {}", number(lo)),
        Ceiling::NoneKept { hi } => format!("below {}", number(hi)),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } if hi < lo => format!(
            "unresolved, broken at {} but kept at {}",
            number(hi),
            number(lo)
        ),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } => format!("unresolved, {}–{}", number(lo), number(hi)),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: None,
        } => format!("unresolved, above {}", number(lo)),
        Ceiling::Unresolved {
            lo: None,
            hi: Some(hi),
        } => format!("unresolved, below {}", number(hi)),
        Ceiling::Unresolved { lo: None, hi: None } => "unresolved".into(),
        Ceiling::Ramped => "cannot tell: a ramp".into(),
    }
}

/// A percentile with its interval, all in one unit: `43.1 ms (41.8–45.0)`, `612 ms (≥ 580)`, `∞`.
pub fn latency(estimate: &Estimate) -> String {
    latency_to(i32::MIN, estimate)
}

/// The percentiles of one metric, beside each other: where two would be rounded past each other, the coarser has the digits of the finer,
/// so that no p95 reads as more than its p99.
pub fn latencies<const N: usize>(row: [Option<&Estimate>; N]) -> [Option<String>; N] {
    let mut digits = row.map(|it| it.map_or(i32::MIN, of_seconds));
    let known = (0..N).filter(|at| row[*at].is_some_and(|it| it.value.is_some()));
    let known: Vec<usize> = known.collect();
    let read = |at: usize, digits: i32| row[at].map_or(0.0, |it| rounded(it, digits));
    for _ in 0..N {
        for pair in known.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            if read(other, digits[other]) < read(one, digits[one]) {
                let finer = digits[one].max(digits[other]);
                (digits[one], digits[other]) = (finer, finer);
            }
        }
    }
    let mut digits = digits.into_iter();
    row.map(|it| {
        let digits = digits.next().unwrap_or(i32::MIN);
        it.map(|it| latency_to(digits, it))
    })
}

/// Decimals that a percentile carries by itself, were it written in seconds.
fn of_seconds(estimate: &Estimate) -> i32 {
    scaled(estimate).map_or(i32::MIN, |(unit, value, lo, hi)| {
        interval_decimals(value, lo, hi) + unit.thousandths()
    })
}

/// What is read of it, in seconds.
fn rounded(estimate: &Estimate, finest: i32) -> f64 {
    scaled(estimate).map_or(f64::INFINITY, |(unit, value, lo, hi)| {
        let own = interval_decimals(value, lo, hi) + unit.thousandths();
        let scale = 10f64.powi(own.max(finest).clamp(-12, 15));
        let seconds = value / 10f64.powi(unit.thousandths());
        (seconds * scale).round() / scale
    })
}

type Scaled = (LatencyUnit, f64, Option<f64>, Option<f64>);

fn scaled(estimate: &Estimate) -> Option<Scaled> {
    let value = estimate.value?;
    let unit = LatencyUnit::fitting(value);
    let of = |nanos: Nanos| unit.scale(nanos);
    Some((unit, of(value), estimate.lo.map(of), estimate.hi.map(of)))
}

/// With so many decimals of a second at least.
fn latency_to(finest: i32, estimate: &Estimate) -> String {
    let Some((unit, value, lo, hi)) = scaled(estimate) else {
        return "∞".into();
    };
    let own = interval_decimals(value, lo, hi);
    let decimals = own.max(finest.saturating_sub(unit.thousandths()));
    let text = to_decimals(decimals, (value, lo, hi));
    match text.split_once(' ') {
        Some((value, interval)) => format!("{value}{GAP}{} {interval}", unit.name()),
        None => format!("{text}{GAP}{}", unit.name()),
    }
}

/// A percentile's value alone, no digit beyond its interval: `43.1 ms`.
pub fn latency_value(estimate: &Estimate) -> String {
    value_of(&latency(estimate))
}

/// What [`latency`] or [`latencies`] wrote, without its interval.
pub fn value_of(text: &str) -> String {
    let value = text.split_once(" (").map_or(text, |(value, _)| value);
    value.to_owned()
}

/// A share with its interval: `98.2 % (96.5–99.1)`.
pub fn proportion(share: &Proportion) -> String {
    let [value, lo, hi] = [share.value, share.lo, share.hi].map(|it| it * 100.0);
    let mut decimals = interval_decimals(value, Some(lo), Some(hi));
    // All of them is said of all alone, and none of none.
    let reads = |decimals: i32| {
        let scale = 10f64.powi(decimals.clamp(-12, 9));
        (value * scale).round() / scale
    };
    let is_end = |it: f64| it <= 0.0 || 100.0 <= it;
    while decimals < 6 && is_end(reads(decimals)) && !is_end(value) {
        decimals += 1;
    }
    let text = to_decimals(decimals, (value, Some(lo), Some(hi)));
    text.replacen(' ', &format!("{GAP}% "), 1)
}

/// A span as a person plans with it: `about 40 s`, `about 14 min`, `about 2 h 10 min`.
pub fn about(millis: u64) -> String {
    let seconds = millis.div_ceil(1000);
    match seconds {
        0..=89 => format!("about {seconds} s"),
        90..=3599 => format!("about {} min", (seconds + 30) / 60),
        _ => {
            let minutes = (seconds + 30) / 60;
            match minutes % 60 {
                0 => format!("about {} h", minutes / 60),
                rest => format!("about {} h {rest} min", minutes / 60),
            }
        }
    }
}

/// A size: `812 B`, `1.20 MB`.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes}{GAP}B"),
        1_000..=999_999 => format!("{}{GAP}kB", number(bytes as f64 / 1e3)),
        1_000_000..=999_999_999 => format!("{}{GAP}MB", number(bytes as f64 / 1e6)),
        _ => format!("{}{GAP}GB", number(bytes as f64 / 1e9)),
    }
}

/// The unit a reader would choose for a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LatencyUnit {
    Micros,
    Millis,
    Seconds,
}

impl LatencyUnit {
    fn fitting(value: Nanos) -> Self {
        match value.0 {
            0 => Self::Millis,
            1..=999_499 => Self::Micros,
            999_500..=999_499_999 => Self::Millis,
            _ => Self::Seconds,
        }
    }

    fn scale(self, nanos: Nanos) -> f64 {
        nanos.0 as f64
            / match self {
                Self::Micros => 1e3,
                Self::Millis => 1e6,
                Self::Seconds => 1e9,
            }
    }

    /// The power of ten that it is smaller than a second by.
    fn thousandths(self) -> i32 {
        match self {
            Self::Micros => 6,
            Self::Millis => 3,
            Self::Seconds => 0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Micros => "µs",
            Self::Millis => "ms",
            Self::Seconds => "s",
        }
    }
}

/// Decimals that show `digits` significant digits of a value; negative where even the ones are too fine.
fn decimals_of(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let decimals = digits - 1 - value.abs().log10().floor() as i32;
    // 9.996 becomes 10.0: the carry costs a decimal.
    let scale = 10f64.powi(decimals);
    let carried = (value.abs() * scale).round() / scale;
    digits - 1 - carried.log10().floor() as i32
}

/// Decimals that half the interval's width justifies, three significant digits at most and two at least: with one, 154 would
/// read as 200. Half a width that begins with 1, 2 or 3 (below 3.55) justifies its second digit too: the rounding rule of the
/// Particle Data Group.
fn interval_decimals(value: f64, lo: Option<f64>, hi: Option<f64>) -> i32 {
    let half = match (lo, hi) {
        (Some(lo), Some(hi)) => (hi - lo) / 2.0,
        (Some(end), None) | (None, Some(end)) => (value - end).abs(),
        (None, None) => 0.0,
    };
    let three = decimals_of(value, 3);
    if half <= 0.0 {
        return three;
    }
    let magnitude = half.log10().floor();
    let second_digit = i32::from(half / 10f64.powf(magnitude) < 3.55);
    three.min((second_digit - magnitude as i32).max(decimals_of(value, 2)))
}

/// Prints with so many decimals, rounding to tens or hundreds where they are negative.
fn with_decimals(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return "∞".into();
    }
    // From 1,000 on the last digits carry the place, not a claim: 1,530 says three digits.
    let scale = 10f64.powi(decimals.clamp(-12, 9));
    let rounded = (value * scale).round() / scale;
    let text = format!("{:.*}", decimals.clamp(0, 9) as usize, rounded.abs());
    let sign = if rounded < 0.0 { "−" } else { "" };
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    match rest {
        Some(rest) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{whole}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn interval(value: f64, lo: Option<f64>, hi: Option<f64>, expected: &str) {
        assert_eq!(with_interval(value, lo, hi), expected);
    }

    #[test]
    fn percentiles_of_one_row_do_not_contradict_each_other() {
        let of = |value: f64, lo: f64, hi: f64| {
            let nanos = |millis: f64| Some(Nanos((millis * 1e6) as u64));
            Estimate {
                value: nanos(value),
                lo: nanos(lo),
                hi: nanos(hi),
            }
        };
        let (p50, p95, p99) = (
            of(20.1, 19.9, 20.3),
            of(165.53, 120.0, 205.0),
            of(165.98, 165.0, 167.0),
        );
        // By itself the p95 has two digits, and would read as more than the p99.
        assert_eq!(latency_value(&p95), "170\u{202f}ms");
        let row =
            latencies([Some(&p50), Some(&p95), Some(&p99)]).map(|it| value_of(&it.expect("text")));
        let value = |text: &str| {
            text.split('\u{202f}')
                .next()
                .expect("a value")
                .parse::<f64>()
                .expect("a number")
        };
        assert!(value(&row[1]) <= value(&row[2]), "{row:?}");
        assert_eq!(row[2], "166\u{202f}ms");
        // Where none contradicts another each keeps the digits that its interval carries.
        let wide = of(190.2, 150.0, 230.0);
        let row = latencies([Some(&p50), Some(&wide), None]).map(|it| it.map(|it| value_of(&it)));
        assert_eq!(row[1], Some(latency_value(&wide)));
    }

    #[test]
    fn a_hundred_per_cent_is_said_of_all_alone() {
        let of = |value: f64| {
            let share = Proportion {
                value,
                lo: 0.86,
                hi: 1.0,
                effective: 40.0,
            };
            proportion(&share)
        };
        assert!(
            of(295.0 / 296.0).starts_with("99.7\u{202f}% "),
            "{}",
            of(295.0 / 296.0)
        );
        assert!(of(1.0).starts_with("100\u{202f}% "), "{}", of(1.0));
    }

    #[test]
    fn no_digit_stands_beyond_the_interval() {
        interval(11.4321, Some(10.612), Some(12.098), "11.4 (10.6–12.1)");
        interval(11.4321, Some(4.0), Some(22.0), "11 (4.0–22)");
        interval(154.0, Some(95.4), Some(1_230.0), "150 (95–1,230)");
        interval(10_000.0, Some(680.0), None, "10,000 (≥ 680)");
        interval(1534.2, Some(1480.0), Some(1590.0), "1,530 (1,480–1,590)");
        interval(98.2, Some(96.5), Some(99.1), "98.2 (96.5–99.1)");
        interval(98.2, Some(96.56), Some(99.11), "98.2 (96.5–99.2)");
        interval(43.1234, Some(43.1233), Some(43.1235), "43.1 (43.1–43.2)");
        interval(0.512, Some(0.47), Some(0.55), "0.51 (0.47–0.55)");
    }

    #[test]
    fn an_open_end_is_said() {
        interval(612.3, Some(580.0), None, "612 (≥ 580)");
        interval(612.3, None, Some(680.0), "610 (≤ 680)");
        interval(612.3, None, None, "612");
    }

    #[test]
    fn an_interval_without_width_keeps_three_digits() {
        interval(8.0, Some(8.0), Some(8.0), "8.00 (8.00–8.00)");
    }

    #[test]
    fn numbers_have_three_digits_and_thousands_marked() {
        for (value, expected) in [
            (0.0, "0"),
            (0.012_345, "0.0123"),
            (9.996, "10.0"),
            (123.4, "123"),
            (1_534.0, "1,530"),
            (-3.21, "−3.21"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(number(value), expected, "{value}");
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
    }

    #[test]
    fn a_latency_and_its_interval_share_a_unit() {
        let millis = |value: f64| Some(Nanos((value * 1e6) as u64));
        let estimate = Estimate {
            value: millis(43.12),
            lo: millis(41.8),
            hi: millis(45.0),
        };
        assert_eq!(latency(&estimate), "43.1\u{202f}ms (41.8–45.0)");
        assert_eq!(latency_value(&estimate), "43.1\u{202f}ms");
        let narrow = Estimate {
            value: millis(2300.0),
            lo: millis(2280.0),
            hi: millis(2330.0),
        };
        assert_eq!(latency(&narrow), "2.30\u{202f}s (2.28–2.33)");
        let open = Estimate {
            value: millis(612.0),
            lo: millis(604.0),
            hi: None,
        };
        assert_eq!(latency(&open), "612\u{202f}ms (≥ 604)");
        assert_eq!(
            latency(&Estimate {
                value: None,
                lo: millis(3.0),
                hi: None
            }),
            "∞"
        );
        assert_eq!(
            latency_value(&Estimate {
                value: millis(0.812),
                lo: None,
                hi: None
            }),
            "812\u{202f}µs"
        );
    }

    #[test]
    fn a_ceiling_says_what_is_known_of_it() {
        for (given, expected) in [
            (
                Ceiling::Bracket {
                    value: 11.4,
                    lo: 10.6,
                    hi: 12.1,
                },
                "11.4 (10.6–12.1)",
            ),
            (Ceiling::AtLeast { lo: 32.0 }, "at least 32.0"),
            (Ceiling::NoneKept { hi: 0.5 }, "below 0.500"),
            (
                Ceiling::Unresolved {
                    lo: Some(4.0),
                    hi: Some(16.0),
                },
                "unresolved, 4.00–16.0",
            ),
            (
                Ceiling::Unresolved {
                    lo: Some(16.0),
                    hi: Some(4.0),
                },
                "unresolved, broken at 4.00 but kept at 16.0",
            ),
            (Ceiling::Unresolved { lo: None, hi: None }, "unresolved"),
            (Ceiling::Ramped, "cannot tell: a ramp"),
        ] {
            assert_eq!(ceiling(&given), expected);
        }
    }

    #[test]
    fn spans_and_sizes_read_as_a_person_says_them() {
        assert_eq!(about(40_000), "about 40 s");
        assert_eq!(about(840_000), "about 14 min");
        assert_eq!(about(7_800_000), "about 2 h 10 min");
        assert_eq!(about(7_200_000), "about 2 h");
        assert_eq!(bytes(812), "812\u{202f}B");
        assert_eq!(bytes(1_200_000), "1.20\u{202f}MB");
        assert_eq!(percent(0.95), "95\u{202f}%");
        assert_eq!(percent(0.996), "99.6\u{202f}%");
        assert_eq!(percent(-0.0004), "0\u{202f}%");
        let share = Proportion {
            value: 0.982,
            lo: 0.965,
            hi: 0.991,
            effective: 400.0,
        };
        assert_eq!(proportion(&share), "98.2\u{202f}% (96.5–99.1)");
    }
}
