//! Why an interval is wide, where the number of requests does not explain it.

use measure::slo::Judgement;

use crate::ui::format::count;

/// From so wide an interval on somebody asks.
const WIDE: f64 = 0.1;

/// Why the share of good requests is so unsure, as a sentence that follows another; nothing where the requests are worth half of
/// their number or more.
pub fn stretches(judgement: &Judgement) -> Option<String> {
    let share = judgement.attainment?;
    let all = f64::from(judgement.scheduled);
    (WIDE <= share.hi - share.lo && 2.0 * share.effective <= all).then(|| {
        let all = count(u64::from(judgement.scheduled));
        let worth = count(share.effective.round().max(1.0) as u64);
        format!(
            " The interval is wide because good and bad requests come in stretches: {all} requests are worth about {worth} that are independent of each other."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use measure::quantile::Proportion;

    #[test]
    fn only_what_the_number_of_requests_does_not_explain_is_explained() {
        let mut judgement = fixture::study().points[0]
            .judgement
            .clone()
            .expect("judged");
        judgement.scheduled = 211;
        let mut of = |lo, hi, effective| {
            judgement.attainment = Some(Proportion {
                value: 0.42,
                lo,
                hi,
                effective,
            });
            stretches(&judgement)
        };
        let said = of(0.056, 0.9, 4.0).unwrap_or_default();
        assert!(
            said.contains("211 requests are worth about 4 that are independent"),
            "{said}"
        );
        assert_eq!(of(0.35, 0.49, 190.0), None);
        assert_eq!(of(0.41, 0.43, 4.0), None);
    }
}
