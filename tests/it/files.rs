//! What is plotted as files: pictures with the facts in them, and rows that other programs read.

use app::studio::StudyView;
use tests::edge::OnEdge;
use tests::samples::{configuration, small_study};

/// Twelve settings of one knob at one rate.
async fn twelve(edge: &OnEdge) -> anyhow::Result<StudyView> {
    let mut spec = small_study();
    spec.name = "twelve, of one knob".into();
    spec.levels.truncate(1);
    let settings = (0..12).map(|index| {
        let value = (2 + index).to_string();
        configuration(&format!("seqs {value}"), &[("max-num-seqs", &value)])
    });
    spec.configurations = settings.collect();
    edge.finished(spec).await
}

fn query(study: &StudyView, count: usize) -> String {
    let ids = study.configurations.iter().take(count);
    let ids: Vec<String> = ids.map(|it| format!("c={}", it.id)).collect();
    ids.join("&")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn any_number_of_configurations_is_compared_and_taken_away() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = twelve(&edge).await?;
    for count in 2..=12 {
        let query = query(&study, count);
        let page = edge.get(&format!("/compare?{query}")).await;
        assert_eq!(page.status, 200, "{count}");
        // A row each; a bar only where a ceiling's ends were measured.
        assert_eq!(
            page.text().matches("<td class=\"bar-column\">").count(),
            count
        );
        let rows = edge.get(&format!("/compare/export.csv?{query}")).await;
        assert_eq!(
            rows.header("content-type"),
            "text/csv; charset=utf-8; header=present"
        );
        assert_eq!(
            rows.text().trim_end().lines().count(),
            1 + count,
            "{}",
            rows.text()
        );
    }
    let all = query(&study, 12);
    let against = edge.get(&format!("/compare?{all}&view=knob")).await.text();
    assert!(
        against.contains("Goodput ceiling against max-num-seqs"),
        "{against}"
    );
    let small = edge.get(&format!("/compare?{all}&view=small")).await.text();
    assert_eq!(small.matches("class=\"plot\"").count(), 12);
    for view in ["overlay", "small", "knob"] {
        let svg = edge
            .get(&format!("/compare/export.svg?{all}&view={view}"))
            .await;
        assert_eq!(svg.header("content-type"), "image/svg+xml; charset=utf-8");
        let text = svg.text();
        for needed in ["simulated", "SLO: ttft", "n = 10"] {
            assert!(text.contains(needed), "{view} lacks {needed}");
        }
        assert!(!text.contains("var("), "colours are written out");
        let png = edge
            .get(&format!("/compare/export.png?{all}&view={view}"))
            .await;
        assert!(png.body.starts_with(b"\x89PNG"), "{view}");
    }
    let few = edge.get("/compare/export.csv").await;
    assert_eq!(few.status, 422, "{}", few.text());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_studys_rows_carry_counts_badges_and_promise() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = edge.finished(small_study()).await?;
    let rows = edge
        .get(&format!("/studies/{}/curve.csv?y=tpot", study.id))
        .await;
    let text = rows.text();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let first: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let of = |name: &str| {
        head.iter()
            .position(|it| *it == name)
            .map(|place| first[place])
    };
    assert_eq!(of("requests"), Some("10"), "{text}");
    assert_eq!(of("simulated"), Some("true"), "{text}");
    assert_eq!(of("y_axis"), Some("TPOT p95 (ms)"), "{text}");
    assert_eq!(
        of("slo"),
        Some(study.spec.slo.to_string().as_str()),
        "{text}"
    );
    assert!(
        of("y").is_some_and(|it| it.parse::<f64>().is_ok()),
        "{text}"
    );
    let nowhere = edge
        .get("/studies/00000000-0000-0000-0000-000000000000/curve.svg")
        .await;
    assert_eq!(nowhere.status, 404);
    Ok(())
}
