//! Did the arrivals come out as intended? Judged by when the server received them.

/// Kolmogorov-Smirnov distance of gaps (in seconds) from the exponential distribution of a rate.
pub fn ks_distance(gaps: &[f64], rate: f64) -> f64 {
    let mut gaps = gaps.to_vec();
    gaps.sort_unstable_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distances = gaps.iter().zip(0u32..).map(|(gap, rank)| {
        let expected = 1.0 - (-rate * gap).exp();
        let rank = f64::from(rank);
        (expected - rank / n).max((rank + 1.0) / n - expected)
    });
    distances.fold(0.0, f64::max)
}

/// Beyond this distance a true process lies once in a hundred times.
pub fn ks_limit(gaps: usize) -> f64 {
    1.628 / (gaps as f64).sqrt()
}

/// Gaps between moments, in seconds.
pub fn gaps(mut at: Vec<u64>) -> Vec<f64> {
    at.sort_unstable();
    at.windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e9)
        .collect()
}

/// Arrivals a second, first to last.
pub fn rate(at: &[u64]) -> Option<f64> {
    let (first, last) = (at.iter().min()?, at.iter().max()?);
    let span = (last - first) as f64 / 1e9;
    (0.0 < span).then(|| (at.len() - 1) as f64 / span)
}

/// How late each arrival reached the server, in milliseconds, after its slot in the schedule. The clocks are matched by
/// the least time that any request took from being sent to being received.
pub fn lateness(slots: &[Slot]) -> Vec<f64> {
    let Some(offset) = slots
        .iter()
        .map(|slot| slot.received_ns as i128 - slot.sent_ns as i128)
        .min()
    else {
        return Vec::new();
    };
    slots
        .iter()
        .map(|slot| (slot.received_ns as i128 - offset - slot.scheduled_ns as i128) as f64 / 1e6)
        .collect()
}

/// A request's moments: two by the client's clock, one by the server's.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub scheduled_ns: u64,
    pub sent_ns: u64,
    pub received_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_gaps_pass_and_others_do_not() {
        let n = 2000;
        let exponential: Vec<f64> = (0..n)
            .map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln() / 200.0)
            .collect();
        let limit = ks_limit(2000);
        assert!(ks_distance(&exponential, 200.0) < limit / 10.0);
        assert!(limit < ks_distance(&exponential, 240.0));
        assert!(limit < ks_distance(&[0.005; 2000], 200.0));
    }

    #[test]
    fn lateness_needs_no_common_clock() {
        let slot = |scheduled_ns: u64, late: u64| Slot {
            scheduled_ns,
            sent_ns: scheduled_ns + late,
            received_ns: 7_000_000_000 + scheduled_ns + late,
        };
        let late = lateness(&[slot(0, 0), slot(1_000_000, 2_000_000)]);
        assert_eq!(late, [0.0, 2.0]);
    }

    #[test]
    fn a_rate_is_counted_from_first_to_last() {
        assert_eq!(rate(&[0, 500_000_000, 1_000_000_000]), Some(2.0));
        assert_eq!(rate(&[5]), None);
    }
}
