//! A view is a link: links that were once given out open for ever, and show what they showed.

use app::studio::{Actor, ShareScope, Studio, StudyView};
use tests::edge::OnEdge;
use tests::samples::{configuration, small_study};

const KEPT: &str = include_str!("links/kept.txt");

/// The study that the kept links are of.
async fn study(edge: &OnEdge) -> anyhow::Result<StudyView> {
    let mut spec = small_study();
    spec.name = "small, kept".into();
    spec.configurations[0].knobs = [("max-num-seqs".to_owned(), "4".into())].into();
    let other = configuration("other", &[("max-num-seqs", "2")]);
    spec.configurations.push(other);
    edge.finished(spec).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kept_links_show_what_they_showed() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = study(&edge).await?;
    let share = edge
        .studio
        .share(&Actor::Owner, study.id, None, ShareScope::Requests)
        .await?;
    let path = share.path.unwrap_or_default();
    let put = |text: &str| {
        text.replace("{study}", &study.id.to_string())
            .replace("{point}", &study.points[0].id.to_string())
            .replace("{a}", &study.configurations[0].id.to_string())
            .replace("{b}", &study.configurations[1].id.to_string())
            .replace("{token}", path.trim_start_matches("/s/"))
    };
    let lines = KEPT.lines().filter(|it| !it.starts_with('#'));
    let mut wrong = Vec::new();
    for line in lines {
        let (address, shown) = line.split_once('\t').unwrap_or((line, ""));
        let answer = edge.get(&put(address.trim_start_matches("file:"))).await;
        let text = answer.text();
        let page = address.starts_with('/');
        if answer.status != 200 || page != text.contains("<html") {
            wrong.push(format!(
                "{address}: {} {}",
                answer.status,
                &text[..text.len().min(200)]
            ));
        }
        let plain = text.replace("&#39;", "'").replace("&amp;", "&");
        let lacks = shown.split('|').filter(|it| !plain.contains(&put(it)));
        wrong.extend(lacks.map(|it| format!("{address} lacks {it:?}")));
    }
    anyhow::ensure!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}
