//! Whether both sides did the same work: answers of other lengths are other work, whatever was asked.

use super::Side;

/// By how much median answers may differ, as a ratio.
const ALIKE: f64 = 1.25;

/// Why ceilings are not judged, where one side's answers are so much longer.
pub(super) fn apart(baseline: &Side, candidate: &Side) -> Option<String> {
    sentence(median(baseline)?, median(candidate)?)
}

fn sentence(from: u32, to: u32) -> Option<String> {
    let ratio = f64::from(from.max(to)) / f64::from(from.min(to).max(1));
    (ALIKE < ratio).then(|| {
        format!(
            "The candidate's answers have {to} tokens at the median, the baseline's {from}: the two did different work, so their ceilings are not judged."
        )
    })
}

/// Output tokens of its answered requests at the median.
fn median(side: &Side) -> Option<u32> {
    let scores = side.scores.values().flatten();
    let mut counts: Vec<u32> = scores
        .filter(|score| score.is_ok())
        .filter_map(|score| score.n)
        .collect();
    let middle = counts.len().checked_sub(1)? / 2;
    Some(*counts.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_other_lengths_are_other_work() {
        assert_eq!(sentence(64, 60), None);
        assert_eq!(sentence(4, 5), None);
        let said = sentence(64, 4).expect("said");
        assert!(
            said.contains("4 tokens at the median, the baseline's 64"),
            "{said}"
        );
        assert!(sentence(4, 64).is_some());
    }
}
