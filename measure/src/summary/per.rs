//! What a point's output comes to for one of its users, and for one of its GPUs.

use crate::knobs::{Facts, Source};
use crate::quantile::Estimate;

use super::Summary;

/// Output tokens per second that one user sees at a percentile of TPOT: 1 / TPOT, so that as many requests as the percentile
/// says are served at least so fast. `None` where the percentile is infinite, or zero.
pub fn tokens_per_user(tpot: &Estimate) -> Option<f64> {
    let millis = tpot.value?.as_millis_f64();
    (0.0 < millis).then(|| 1000.0 / millis)
}

impl Summary {
    /// Output throughput / GPUs. `None` where there is no throughput, or no GPU.
    pub fn output_tokens_per_gpu(&self, gpus: u32) -> Option<f64> {
        let tokens = self.output_tokens_per_s?;
        (0 < gpus).then(|| tokens / f64::from(gpus))
    }
}

/// How many GPUs an engine has, by its fact `hardware`: `2x H100` are two. `None` where it does not say, says it of more
/// than one thing, or speaks of processors.
pub fn gpus(facts: &Facts) -> Option<u32> {
    let fact = facts.get("hardware")?;
    if fact.source == Source::Unknown {
        return None;
    }
    let mut counts = fact.value.split([',', ';', '+']).filter_map(counted);
    let count = counts.next()?;
    counts.next().is_none().then_some(count)
}

/// Names of what is counted on a machine and is no GPU.
const OTHERS: [&str; 5] = ["cpu", "core", "xeon", "epyc", "ryzen"];

fn counted(part: &str) -> Option<u32> {
    let part = part.trim();
    let end = part.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, rest) = part.split_at(end);
    let name = rest.trim_start().strip_prefix(['x', '×', 'X'])?;
    let name = name.trim().to_ascii_lowercase();
    let is_gpu = !name.is_empty() && !OTHERS.iter().any(|it| name.contains(it));
    number
        .parse()
        .ok()
        .filter(|count| is_gpu && (1..=65_536).contains(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::Fact;
    use crate::units::Nanos;

    #[track_caller]
    fn check(hardware: &str, expected: Option<u32>) {
        let of = |source| {
            let fact = Fact {
                value: hardware.to_owned(),
                source,
            };
            gpus(&[("hardware".to_owned(), fact)].into())
        };
        assert_eq!(of(Source::Declared), expected, "{hardware}");
        assert_eq!(of(Source::Unknown), None, "{hardware}");
    }

    #[test]
    fn gpus_are_counted_where_the_hardware_says_how_many() {
        check("1x L4", Some(1));
        check("8 × H100 SXM, NVLink", Some(8));
        check(" 2X A100 80 GB", Some(2));
        for unclear in [
            "H100",
            "8",
            "x H100",
            "0x H100",
            "2x H100 + 2x L4",
            "2x EPYC 9654",
            "none: simulated",
            "",
        ] {
            check(unclear, None);
        }
        assert_eq!(gpus(&Facts::new()), None);
    }

    #[test]
    fn one_user_sees_the_reciprocal_of_tpot() {
        let tpot = |value| Estimate {
            value,
            lo: None,
            hi: None,
        };
        assert_eq!(
            tokens_per_user(&tpot(Some(Nanos::from_millis(20)))),
            Some(50.0)
        );
        assert_eq!(tokens_per_user(&tpot(None)), None);
        assert_eq!(tokens_per_user(&tpot(Some(Nanos(0)))), None);
    }
}
