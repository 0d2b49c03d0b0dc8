//! Each start of an engine for a study: folded away when all went well, open with the reason when one failed.

use crate::figure_svg::series_colour;
use crate::studio::{StartFate, StartRow, StudyView};
use crate::ui::html::{Html, heads, html, missing, table};
use crate::ui::time;
use crate::words;

/// The panel; nothing where no engine was started.
pub fn panel(study: &StudyView, starts: &[StartRow]) -> String {
    if starts.is_empty() {
        return String::new();
    }
    let failed = || starts.iter().filter(|it| it.fate == StartFate::Failed);
    let reasons: Html = failed().map(|it| reason(study, it)).collect();
    let open = (0 < failed().count()).then(|| Html::literal(" open"));
    let rows = in_order(starts).into_iter();
    html!(
        r#"<h2>Engine starts</h2><details class="starts"{}><summary>{}</summary><div class="stack">{}<div class="scroll-x" tabindex="0">{}</div></div></details>"#,
        open,
        summary(starts, failed().count()),
        reasons,
        table(
            "",
            "Starts of each configuration's engine",
            heads(["configuration", "started", "#start-up", "how it ended", "log"]),
            rows.map(|it| row(study, it)).collect()
        )
    )
    .into_string()
}

/// By configuration, then by time.
fn in_order(starts: &[StartRow]) -> Vec<&StartRow> {
    let mut all: Vec<&StartRow> = starts.iter().collect();
    all.sort_by_key(|it| (it.configuration, it.started_ms));
    all
}

fn summary(starts: &[StartRow], failed: usize) -> String {
    let all = words::count(starts.len(), "start");
    if 0 < failed {
        return format!("{failed} of {all} failed");
    }
    let slowest = starts.iter().filter_map(|it| it.startup_ms).max();
    match (starts.len(), slowest) {
        (_, None) => all,
        (1, Some(slowest)) => format!("{all}, its first token after {}", seconds(slowest)),
        (_, Some(slowest)) => {
            format!(
                "{all}, all with a first token, the slowest after {}",
                seconds(slowest)
            )
        }
    }
}

fn seconds(millis: i64) -> String {
    format!("{:.1} s", millis as f64 / 1e3)
}

fn name<'a>(study: &'a StudyView, start: &StartRow) -> &'a str {
    let found = study.configurations.get(start.configuration as usize);
    found.map_or("", |it| it.spec.name.as_str())
}

fn log(start: &StartRow) -> Html {
    html!(
        r#"<a href="/api/v1/starts/{}/log" rel="external" target="_blank">log</a>"#,
        start.id.to_string()
    )
}

/// Why a start failed, in words.
fn reason(study: &StudyView, start: &StartRow) -> Html {
    let what = match start.startup_ms {
        None => "did not start",
        Some(_) => "ended while it was needed",
    };
    html!(
        r#"<p class="notice" data-tone="bad"><strong>The engine of {} {}:</strong> {}. See its {}.</p>"#,
        name(study, start),
        what,
        ending(start),
        log(start)
    )
}

fn ending(start: &StartRow) -> String {
    let known = start.ending.as_deref().unwrap_or("nobody saw how");
    known.trim_end_matches('.').to_owned()
}

fn row(study: &StudyView, start: &StartRow) -> Html {
    let command = start.command.join(" ");
    let startup = match start.startup_ms {
        Some(millis) => html!("{}", seconds(millis)),
        None => missing("No token came of it."),
    };
    let end = match start.fate {
        StartFate::Runs => "runs".to_owned(),
        StartFate::Unseen => "not seen: the studio ended before it did".to_owned(),
        StartFate::Stopped | StartFate::Failed => ending(start),
    };
    html!(
        r#"<tr><th scope="row"><span class="row nowrap" style="--series:{}" title="{}"><span class="key" aria-hidden="true"></span>{}</span></th><td><time datetime="{}">{}</time></td><td class="num">{}</td><td>{}</td><td>{}</td></tr>"#,
        series_colour(start.configuration as usize),
        command,
        name(study, start),
        time::iso(start.started_ms),
        time::plain(start.started_ms),
        startup,
        end,
        log(start)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use uuid::Uuid;

    fn start(configuration: u32, startup_ms: Option<i64>, fate: StartFate) -> StartRow {
        StartRow {
            id: Uuid::from_u128(7),
            configuration,
            command: vec!["serve".into(), "--x=<y>".into()],
            started_ms: 1_764_424_632_000,
            startup_ms,
            fate,
            ending: Some("exit status 1: no <memory>".into()),
        }
    }

    #[test]
    fn what_went_well_is_folded() {
        let study = fixture::study();
        let starts = [
            start(1, Some(2500), StartFate::Stopped),
            start(0, Some(900), StartFate::Stopped),
        ];
        let html = panel(&study, &starts);
        assert!(!html.contains("<details class=\"starts\" open"), "{html}");
        assert!(
            html.contains("2 starts, all with a first token, the slowest after 2.5 s"),
            "{html}"
        );
        let [first, second] = [0, 1].map(|it| html.find(&*study.configurations[it].spec.name));
        assert!(first < second, "by configuration: {html}");
        assert_eq!(panel(&study, &[]), "");
    }

    #[test]
    fn a_failure_stands_open_with_its_reason_and_its_log() {
        let study = fixture::study();
        let starts = [
            start(0, None, StartFate::Failed),
            start(1, Some(900), StartFate::Runs),
        ];
        let html = panel(&study, &starts);
        for part in [
            "<details class=\"starts\" open>",
            "1 of 2 starts failed",
            "did not start:</strong> exit status 1: no &lt;memory&gt;.",
            "/api/v1/starts/00000000-0000-0000-0000-000000000007/log",
            "<td>runs</td>",
            "No token came of it.",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
