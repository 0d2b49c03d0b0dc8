//! What a study would send can be looked at before anything is sent.

use app::studio::{Sample, Studio, StudioError};
use measure::workload::{Lengths, Workload};
use tests::databases::{Place, on_sqlite};
use tests::samples::small_study;

use super::{ME, invalid_fields};

#[tokio::test(flavor = "multi_thread")]
async fn the_first_requests_are_shown_as_they_would_be_sent() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.workload = Workload::Synthetic {
            input: Lengths::Fixed { tokens: 40 },
            output: Lengths::Uniform { min: 5, max: 9 },
        };
        let Sample {
            input_tokens,
            output_tokens,
            turns,
            messages,
        } = studio.sample(&ME, spec.clone()).await?;
        assert!(!input_tokens.is_empty() && input_tokens.iter().all(|it| *it == 40));
        assert!(output_tokens.iter().all(|it| (5..=9).contains(it)));
        assert!(turns.iter().all(|it| *it == 1));
        assert!(matches!(&messages[..], [(who, text)] if who == "user" && !text.is_empty()));
        spec.levels = Vec::new();
        let refused: Result<Sample, StudioError> = studio.sample(&ME, spec).await;
        assert_eq!(invalid_fields(refused), ["levels"]);
        Ok(())
    })
    .await;
}
