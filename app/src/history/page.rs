//! The page of a study's history. Nothing in it needs a script: it is drawn here and stays as it is.

use measure::history::Bar;

use super::drawing::picture;
use super::words::{common, figure_name, is_first, place, seen, sentence, told, value, written};
use super::{ConfigurationHistory, EarlierRun, FigureHistory, HistoryView, Outcome, PointHistory};
use crate::ui::badge::{Tone, Word};
use crate::ui::format;
use crate::ui::html::{Html, badge, heads, html, missing, table};
use crate::ui::time;
use crate::words::{self, capital, count};

/// The whole page.
pub fn page(view: &HistoryView) -> Html {
    let body = if is_first(view) {
        first_run(view)
    } else {
        let configurations = view.configurations.iter();
        let each: Html = configurations.map(|it| configuration(view, it)).collect();
        html!("{}{}", form(view), each)
    };
    let why = view.why.as_deref();
    html!(
        r#"<article class="page history"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/">Studies</a><a href="/studies/{}">{}</a><span aria-current="page">History</span></nav><h1>{} against earlier runs</h1><div class="row">{}{}</div></div></header><div class="answer"><p>{}</p>{}</div>{}{}</article>"#,
        view.study.to_string(),
        view.name,
        view.name,
        badge(word(view.outcome)),
        view.marks.iter().map(|it| badge(*it)).collect::<Html>(),
        sentence(view),
        why.map(|it| html!(r#"<p class="muted second">{}</p>"#, it)),
        body,
        about(view),
    )
}

/// Where it is the first run of its kind: how a history comes about.
fn first_run(view: &HistoryView) -> Html {
    let id = view.study.to_string();
    html!(
        r#"<section class="empty"><div class="words"><h2>A history begins with the second run</h2><p>Run the same again, tonight or after each new version of the engine, under any name and seed. Every run is then held against those before it: what is worse than runs of the same differ by fails, and this page shows when it changed.</p><div class="row"><a class="button primary" href="/studies/new?from={}" rel="external">Run the same again</a><a class="button quiet" href="/docs/comparing#regressions">How it is judged</a></div><p class="small muted">A build can do it, too: <code>goodput check</code> runs a study and ends with what came of it.</p></div></section>"#,
        id
    )
}

/// What the study's own page says of it.
pub fn panel(view: &HistoryView) -> String {
    html!(
        r#"<p id="history">Against earlier runs of the same: {} <a href="/studies/{}/history" rel="external">History and baselines</a></p>"#,
        words::small(&sentence(view)),
        view.study.to_string()
    )
    .into_string()
}

fn word(outcome: Outcome) -> Word {
    let (tone, mark, about) = match outcome {
        Outcome::Pass => (
            Tone::Good,
            "full",
            "No worse than runs of the same are, or than was allowed.",
        ),
        Outcome::Fail => (
            Tone::Bad,
            "full",
            "Worse than runs of the same are, or than was allowed.",
        ),
        Outcome::Indeterminate => (
            Tone::Plain,
            "hollow",
            "Cannot tell: the page says what would.",
        ),
        Outcome::LeftOut => (Tone::Plain, "hollow", "There is nothing to judge."),
    };
    Word {
        word: outcome.word(),
        tone,
        mark,
        about,
    }
}

/// How much worse is allowed: a plain form, whose answer is the same page with another query.
fn form(view: &HistoryView) -> Html {
    let allowed = view.allowed.map(percent_of);
    let blind = (view.blind != Bar::BLIND).then(|| percent_of(view.blind));
    html!(
        r#"<form method="get" class="row end"><div class="field"><label for="allow">Allow it to be worse by (%)</label><input id="allow" name="allow" type="text" inputmode="decimal" placeholder="what runs differ by" value="{}"></div><div class="field"><label for="blind">or let at most so much stay unseen (%)</label><input id="blind" name="blind" type="text" inputmode="decimal" placeholder="30" value="{}"></div><button type="submit" class="button">Judge anew</button></form>"#,
        allowed,
        blind
    )
}

fn percent_of(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn configuration(view: &HistoryView, one: &ConfigurationHistory) -> Html {
    let version = one.version.as_ref();
    let version = version.map(|it| html!(r#" <span class="muted small">version {}</span>"#, it));
    let points = one.points.iter();
    let fails = |it: &PointHistory| it.outcome == Outcome::Fail;
    let any = one.points.iter().any(fails);
    // What fails stands open, and where nothing does, the first.
    let points: Html = points
        .enumerate()
        .map(|(index, it)| point(view, one, (it, fails(it) || (!any && index == 0))))
        .collect();
    let nothing = one
        .points
        .is_empty()
        .then(|| html!(r#"<p class="muted">No point of it has finished.</p>"#));
    html!(
        r#"<section class="stack"><h2>{}{}</h2>{}{}{}</section>"#,
        one.name,
        version,
        nothing,
        (!one.points.is_empty()).then(|| html!("{}{}", overview(view, one), legend())),
        points
    )
}

/// What the pictures show.
fn legend() -> Html {
    html!(
        r#"<p class="small muted">In the pictures dots are earlier runs, oldest first, grey before the last change. The line is the baseline, and one more run of the same lies in the band. The square is this study, filled where it fails.</p>"#
    )
}

/// Every operating point in a row, every figure in a column.
fn overview(view: &HistoryView, one: &ConfigurationHistory) -> Html {
    let latencies = one.points.iter().find(|it| it.level.is_some());
    let names = latencies.map_or_else(Vec::new, |it| it.figures.iter().map(figure_name).collect());
    let row = |point: &PointHistory| {
        let cells: Html = match point.level {
            Some(_) => point.figures.iter().map(cell).collect(),
            None => point
                .figures
                .iter()
                .map(|it| wide(it, names.len()))
                .collect(),
        };
        html!(
            r#"<tr><th scope="row">{}</th><td><div class="row">{}</div></td>{}</tr>"#,
            capital(&place(point.level, &view.unit)),
            badge(word(point.outcome)),
            cells
        )
    };
    let columns = ["operating point", "verdict"].into_iter();
    let columns: Vec<String> = columns
        .map(str::to_owned)
        .chain(names.iter().map(|it| format!("#{it}")))
        .collect();
    html!(
        r#"<div class="scroll-x" tabindex="0">{}</div>"#,
        table(
            "differences",
            &format!("{} against earlier runs", one.name),
            heads(columns.iter().map(String::as_str)),
            one.points.iter().map(row).collect()
        )
    )
}

fn cell(figure: &FigureHistory) -> Html {
    html!(
        r#"<td class="num" title="{}">{}</td>"#,
        told(figure),
        short(figure)
    )
}

fn wide(figure: &FigureHistory, columns: usize) -> Html {
    html!(
        r#"<td class="num" colspan="{}" title="{}">{} {}</td>"#,
        columns.max(1).to_string(),
        told(figure),
        figure_name(figure),
        short(figure)
    )
}

/// A change and its verdict.
fn short(figure: &FigureHistory) -> Html {
    let Some(change) = figure.change else {
        return missing(&capital(&told(figure)));
    };
    let tone = word(figure.outcome).tone.name();
    let passes = figure.outcome == Outcome::Pass;
    let seen = passes.then(|| {
        html!(
            r#"<span class="muted small">sees {}</span>"#,
            seen(figure, &change)
        )
    });
    html!(
        r#"<span>{}</span><span class="verdict small" data-tone="{}">{}</span>{}"#,
        words::signed_percent(change.relative),
        tone,
        figure.outcome.word(),
        seen
    )
}

/// One operating point with its pictures.
fn point(
    view: &HistoryView,
    one: &ConfigurationHistory,
    (point, is_open): (&PointHistory, bool),
) -> Html {
    let open = is_open.then(|| Html::literal(" open"));
    let at = place(point.level, &view.unit);
    let known = point
        .figures
        .iter()
        .filter(|it| it.value.is_some() || !it.runs.is_empty());
    let charts: Html = known.clone().map(|it| chart(view, &at, it)).collect();
    html!(
        r#"<details class="card operating-point"{}><summary><strong>{}</strong> {} <span class="muted">{}</span></summary><div class="stack"><div class="series-grid">{}</div>{}</div></details>"#,
        open,
        capital(&at),
        badge(word(point.outcome)),
        summary(view, point),
        charts,
        runs(view, one, point)
    )
}

/// What stands out, in one line.
fn summary(view: &HistoryView, point: &PointHistory) -> String {
    let of = |outcome: Outcome| point.figures.iter().filter(move |it| it.outcome == outcome);
    let worst = of(Outcome::Fail).chain(of(Outcome::Indeterminate)).next();
    let worst = worst.or_else(|| of(Outcome::Pass).next());
    let first = worst.or(point.figures.first());
    let first = first.filter(|it| !is_said(view, it));
    first.map_or_else(String::new, |it| {
        format!("{} {}", figure_name(it), told(it))
    })
}

/// Whether its reason is that of all others, which the page says once at its top.
fn is_said(view: &HistoryView, figure: &FigureHistory) -> bool {
    let once = common(view);
    once.is_some() && figure.why.as_deref() == once
}

fn chart(view: &HistoryView, at: &str, figure: &FigureHistory) -> Html {
    let name = figure_name(figure);
    let now = figure.value.map_or_else(
        || "no value".to_owned(),
        |it| written(figure, it, &view.unit),
    );
    let baseline = figure.baseline.map_or_else(String::new, |it| {
        format!(
            "; baseline {}, one more run lies between {} and {}",
            value(figure.metric, it.value, &view.unit),
            value(figure.metric, it.lo, &view.unit),
            value(figure.metric, it.hi, &view.unit)
        )
    });
    let title = format!(
        "{name} at {at} over {}",
        count(figure.runs.len(), "earlier run")
    );
    html!(
        r#"<figure class="stack tight"><figcaption><strong>{}</strong> {}{}. <span class="muted">{}</span></figcaption>{}</figure>"#,
        name,
        now,
        baseline,
        (!is_said(view, figure)).then(|| capital(&told(figure))),
        picture(figure, &title, &view.unit)
    )
}

/// The runs as a table: a row a run, a column a figure.
fn runs(view: &HistoryView, one: &ConfigurationHistory, point: &PointHistory) -> Html {
    let mut all: Vec<&EarlierRun> = Vec::new();
    for run in point.figures.iter().flat_map(|it| &it.runs) {
        if !all.iter().any(|it| is_same(it, run)) {
            all.push(run);
        }
    }
    all.sort_by_key(|it| it.at_ms);
    let names = point
        .figures
        .iter()
        .map(|it| format!("#{}", figure_name(it)));
    let columns = ["measured", "study", "version"]
        .map(str::to_owned)
        .into_iter();
    let columns: Vec<String> = columns.chain(names).collect();
    let new = row(
        ("this study".to_owned(), one.version.as_deref()),
        point.figures.first().map_or(0, |it| it.at_ms),
        point
            .figures
            .iter()
            .map(|it| shown(it, it.value, false, &view.unit))
            .collect(),
    );
    let earlier = all.into_iter().map(|run| earlier(view, point, run));
    html!(
        r#"<details class="as-text"><summary>As a table</summary><div class="scroll-x" tabindex="0">{}</div></details>"#,
        table(
            "",
            &format!("Runs of {} at {}", one.name, place(point.level, &view.unit)),
            heads(columns.iter().map(String::as_str)),
            earlier.chain([new]).collect()
        )
    )
}

fn is_same(one: &EarlierRun, other: &EarlierRun) -> bool {
    (one.study, one.at_ms) == (other.study, other.at_ms)
}

fn earlier(view: &HistoryView, point: &PointHistory, run: &EarlierRun) -> Html {
    let cell = |figure: &FigureHistory| {
        let found = figure.runs.iter().find(|it| is_same(it, run));
        shown(
            figure,
            found.map(|it| it.value),
            found.is_some_and(|it| it.changed),
            &view.unit,
        )
    };
    let name = html!(
        r#"<a href="/studies/{}">{}</a>"#,
        run.study.to_string(),
        run.name
    );
    row_of(
        name,
        run.version.as_deref(),
        run.at_ms,
        point.figures.iter().map(cell).collect(),
    )
}

fn shown(figure: &FigureHistory, of: Option<f64>, changed: bool, unit: &str) -> Html {
    let changed = changed.then(|| {
        Html::literal(r#" <span class="verdict small" data-tone="warn">changed here</span>"#)
    });
    let text = of.map_or_else(
        || missing("No figure of this run."),
        |it| html!("{}", written(figure, it, unit)),
    );
    html!(r#"<td class="num">{}{}</td>"#, text, changed)
}

fn row((name, version): (String, Option<&str>), at_ms: i64, cells: Html) -> Html {
    row_of(html!("<strong>{}</strong>", name), version, at_ms, cells)
}

fn row_of(name: Html, version: Option<&str>, at_ms: i64, cells: Html) -> Html {
    html!(
        r#"<tr><th scope="row"><time datetime="{}">{}</time></th><td>{}</td><td>{}</td>{}</tr>"#,
        time::iso(at_ms),
        time::plain(at_ms),
        name,
        version.unwrap_or("unknown"),
        cells
    )
}

/// What is judged by what.
fn about(view: &HistoryView) -> Html {
    let together = (1 < view.together).then(|| {
        format!(
            " {} figures are judged together, each the surer for it, so that many of them do not make a false alarm likely.",
            view.together
        )
    });
    let allowed = view.allowed.map(|it| {
        format!(
            " Up to {} worse is allowed: it passes where it surely is no worse than that, and fails where it surely is worse and by more than that.",
            format::percent(it)
        )
    });
    html!(
        r#"<p class="small muted">Runs of the same have the same known facts but the engine's version, the same workload, arrivals and lengths, at the same operating point; another seed is the same workload. Repeats of one study are one run. The band begins where they last changed. Void points, and latencies above capacity, are no figures. <a href="/docs/comparing#regressions">How it is judged</a>.{}{}</p>"#,
        together,
        allowed
    )
}
