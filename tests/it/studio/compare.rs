//! Two configurations side by side: one variable is judged, two are not.

use app::studio::Studio;
use measure::knobs::Comparability;
use tests::databases::{Place, on_each_database, on_sqlite};
use tests::samples::{configuration, small_study, two_configurations};
use uuid::Uuid;

use super::{ME, finished, invalid_fields};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_knob_is_judged() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, two_configurations(&[("max-num-seqs", "2")])).await?;
        let ids: Vec<Uuid> = view.configurations.iter().map(|it| it.id).collect();
        let page = studio.compare(&ME, ids, None).await?;
        assert_eq!(
            (
                page.slo.clone(),
                page.configurations.len(),
                page.pairs.len()
            ),
            (view.spec.slo.clone(), 2, 1)
        );
        let pair = &page.pairs[0];
        let Comparability::OneVariable { differing, .. } = &pair.comparability else {
            panic!("{:?}", pair.comparability)
        };
        assert_eq!(differing.name, "knob:max-num-seqs");
        assert!(pair.ceilings.is_some() && pair.ceilings_by_percentile.is_some());
        assert_eq!(
            (pair.latencies.len(), pair.attainment.len()),
            (12, 2),
            "two levels, two metrics, three percentiles"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_knobs_are_confounded_and_the_verdict_is_withheld() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let mut spec = two_configurations(&[("max-num-seqs", "2"), ("enable-prefix-caching", "on")]);
        spec.factorial = true;
        let view = finished(&studio, spec).await?;
        let ids: Vec<Uuid> = view.configurations.iter().map(|it| it.id).collect();
        let page = studio.compare(&ME, ids, None).await?;
        let pair = &page.pairs[0];
        assert!(matches!(&pair.comparability, Comparability::Confounded { differing } if differing.len() == 2));
        assert!(pair.ceilings.is_none() && pair.latencies.is_empty() && pair.attainment.is_empty());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_seed_is_another_experiment() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let one = finished(&studio, small_study()).await?;
        let mut spec = two_configurations(&[("max-num-seqs", "2")]);
        spec.seed = measure::units::Seed(43);
        let other = studio.launch(&ME, spec).await?;
        let other = super::until_state(&studio, other, app::studio::StudyState::Finished).await?;
        let page = studio
            .compare(
                &ME,
                vec![one.configurations[0].id, other.configurations[1].id],
                None,
            )
            .await?;
        assert!(matches!(
            page.pairs[0].comparability,
            Comparability::Confounded { .. }
        ));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_slo_judges_all_points_anew() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.configurations.push(configuration("again", &[]));
        let view = finished(&studio, spec).await?;
        let ids = view.configurations.iter().map(|it| it.id).collect();
        let page = studio
            .compare(&ME, ids, Some("e2e:p95<1ms attain>=95%".parse()?))
            .await?;
        let good = |judged: &Option<measure::slo::Judgement>| judged.as_ref().map(|it| it.good);
        assert_eq!(good(&page.configurations[0].points[0].judgement), Some(0));
        assert!(Some(0) < good(&view.points[0].judgement));
        assert!(matches!(
            page.pairs[0].comparability,
            Comparability::Identical
        ));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_configuration_is_no_comparison() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        assert_eq!(
            invalid_fields(studio.compare(&ME, vec![Uuid::nil()], None).await),
            ["c"]
        );
        assert!(
            studio
                .compare(&ME, vec![Uuid::nil(), Uuid::nil()], None)
                .await
                .is_err()
        );
        Ok(())
    })
    .await;
}
