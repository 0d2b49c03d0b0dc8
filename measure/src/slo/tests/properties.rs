//! An SLO survives its own text, whatever it is.

use proptest::prelude::*;

use super::*;

prop_compose! {
    fn slos()(
        metrics in prop::sample::subsequence(Metric::ALL.to_vec(), 0..=7),
        percentiles in prop::collection::vec(prop::option::of(0.001f64..99.999), 7),
        nanos in prop::collection::vec(1u64..86_400_000_000_000, 7),
        error_rate in prop::option::of(0.0f64..=1.0),
        attainment in 0.0001f64..=1.0,
    ) -> Slo {
        let bounds = metrics
            .iter()
            .enumerate()
            .map(|(i, metric)| Bound { metric: *metric, percentile: percentiles[i], at_most: Nanos(nanos[i]) })
            .collect();
        Slo { bounds, error_rate, attainment }
    }
}

proptest! {
    #[test]
    fn an_slo_survives_its_text(slo in slos()) {
        prop_assume!(!slo.bounds.is_empty() || slo.error_rate.is_some());
        let text = slo.to_string();
        prop_assert_eq!(text.parse::<Slo>(), Ok(slo), "{}", text);
    }

    #[test]
    fn round_percentages_print_as_such(tenths in 1u32..=1000) {
        let text = format!("ttft<1s attain>={}%", f64::from(tenths) / 10.0);
        prop_assert_eq!(text.parse::<Slo>().expect("slo").to_string(), text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,40}") {
        if let Err(error) = text.parse::<Slo>() {
            prop_assert!(text[error.at..].starts_with(&error.word));
        }
    }

    #[test]
    fn no_nearly_right_text_makes_it_panic(text in "(ttft|tpot|attain|p95|é|<|≤|>=|:|%|ms|s|-|[0-9]| |,){0,12}") {
        if let Err(error) = text.parse::<Slo>() {
            prop_assert!(text[error.at..].starts_with(&error.word));
        }
    }
}
