//! Which engines there are, how they are reached or started, and which knobs they have. Keys stand here by reference.

use super::document::Drawn;
use crate::Assets;
use crate::studio::{EngineSheet, Engines, KnobRow, LaunchSheet};
use crate::ui::badge::INSECURE;
use crate::ui::html::{Html, badge, heads, html, table};
use crate::words;

/// The whole document.
pub fn document(engines: &Engines, assets: &Assets, nonce: &str) -> String {
    let body = html!(
        r#"<article class="page narrow engines">{}</article>"#,
        page(engines)
    );
    let page = Drawn {
        title: "Engines".to_owned(),
        is_engines: true,
        body,
    };
    super::document::document(&page, assets, nonce)
}

fn page(engines: &Engines) -> Html {
    let (in_file, added): (Vec<_>, Vec<_>) = engines.sheets.iter().partition(|it| it.in_file);
    let body = if engines.sheets.is_empty() {
        none()
    } else {
        html!(
            r#"<section class="stack" aria-labelledby="file-heading"><h2 id="file-heading">In studio.toml</h2>{}</section><section class="stack" aria-labelledby="added-heading"><h2 id="added-heading">Added by URL</h2>{}</section>"#,
            cards(&in_file, described()),
            cards(&added, running())
        )
    };
    html!(
        r#"<header class="page-head"><h1>Engines</h1><div class="actions"><a class="button primary" href="/studies/new" rel="external">New study</a></div></header><div class="answer"><p>{}</p><p class="muted second">Commands come from studio.toml alone, which is read when the studio starts. Keys stand here by name.</p></div>{}{}"#,
        headline(&in_file, &added),
        engines.no_starts.as_deref().map(no_starts),
        body
    )
}

/// How an engine comes here that the studio starts.
fn described() -> Html {
    html!(
        r#"None. One that the studio is to start with the knobs of each configuration is described there: its command, its model, its hardware. <a href="/docs/guide/engines#engines-that-the-studio-starts-itself">How</a>"#
    )
}

/// How an engine comes here that runs already.
fn running() -> Html {
    html!(
        r#"None. One that already runs is added by its URL: <a href="/studies/new" rel="external">New study</a>, then <em>Add an engine</em>."#
    )
}

/// The ways to the first one.
fn none() -> Html {
    html!(
        r#"<section class="empty"><div class="words"><h2>Three ways to begin</h2><dl class="ways"><dt>An engine that runs</dt><dd>Give its URL under <a href="/studies/new" rel="external">New study</a>, <em>Add an engine</em>. The studio probes it, and loads nothing that was not added.</dd><dt>An engine whose knobs turn</dt><dd>Describe its command in <code>studio.toml</code>; the studio starts it for each configuration with its knobs. <a href="/docs/guide/engines#engines-that-the-studio-starts-itself">How it is described</a></dd><dt>No engine at all</dt><dd>The built-in simulator needs none, and everything on it is marked simulated. <a href="/studies/new?exercise=1" rel="external">Look at the goodput exercise</a></dd></dl></div></section>"#
    )
}

fn headline(in_file: &[&EngineSheet], added: &[&EngineSheet]) -> String {
    let started = in_file.iter().filter(|it| it.launch.is_some()).count();
    let number = in_file.len() + added.len();
    let all = words::count(number, "engine");
    let all = match started {
        _ if number == 0 => {
            return "No engine yet: studies run on the simulator until there is one.".to_owned();
        }
        0 => format!("{all}, none of them started by the studio"),
        started if started == number => format!("{all}, started by the studio"),
        started => format!("{all}, {started} of them started by the studio"),
    };
    format!("{all}.")
}

fn no_starts(why: &str) -> Html {
    html!(
        r#"<p class="notice" data-tone="warn"><strong>You may not have engines started here:</strong> {}.</p>"#,
        why
    )
}

fn cards(sheets: &[&EngineSheet], none: Html) -> Html {
    if sheets.is_empty() {
        return html!(r#"<p class="muted">{}</p>"#, none);
    }
    sheets.iter().map(|it| card(it)).collect()
}

fn card(sheet: &EngineSheet) -> Html {
    let EngineSheet {
        row, tags, launch, ..
    } = sheet;
    let how = if launch.is_some() {
        "started by the studio"
    } else {
        "attached as it runs"
    };
    let tags: Html = tags
        .iter()
        .map(|tag| html!(r#"<span class="tag">{}</span>"#, tag))
        .collect();
    let insecure = row.endpoint.connection.insecure.then(|| badge(INSECURE));
    html!(
        r#"<article class="card stack engine" id="{}"><header class="row"><h3>{}</h3><span class="muted">{}</span>{}{}</header><dl class="facts">{}</dl>{}</article>"#,
        anchor(&row.name),
        row.name,
        how,
        insecure,
        tags,
        facts(sheet),
        launch.as_ref().map(|it| knob_list(&it.knobs))
    )
}

/// Where an engine stands on the page.
fn anchor(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    format!("engine-{}", words.join("-"))
}

fn facts(sheet: &EngineSheet) -> Html {
    let EngineSheet {
        row,
        hardware,
        launch,
        ..
    } = sheet;
    let endpoint = &row.endpoint;
    let text = |term: &str, what: Option<String>| {
        what.filter(|it| !it.is_empty())
            .map(|what| html!("<dt>{}</dt><dd>{}</dd>", term, what))
    };
    let code = |term: &str, what: Option<String>| {
        what.filter(|it| !it.is_empty()).map(|what| {
            html!(
                r#"<dt>{}</dt><dd><code class="command">{}</code></dd>"#,
                term,
                what
            )
        })
    };
    let told = row.probe.as_ref().filter(|_| launch.is_none());
    let told = told.map(|it| {
        format!(
            "{} {}",
            it.engine,
            it.version.as_deref().unwrap_or_default()
        )
    });
    let url = launch.as_ref().map_or(&endpoint.url, |it| &it.url);
    let of = |what: fn(&LaunchSheet) -> String| launch.as_ref().map(what);
    [
        text("Model", Some(endpoint.model.clone())),
        text("Dialect", Some(endpoint.api.name().to_owned())),
        text("Engine", told),
        text(
            "Hardware",
            Some(
                hardware
                    .as_ref()
                    .map_or("not said".into(), |it| format!("{it} (declared)")),
            ),
        ),
        code("URL", Some(url.clone())),
        text("Key", key(sheet)),
        text("Connection", Some(endpoint.connection.words())),
        code("Command", of(|it| command(&it.command))),
        code("Ended by", of(|it| command(&it.stop))),
        text("Variables", of(|it| it.env.join(", "))),
        code("Always has", of(base)),
        text(
            "Start-up",
            of(|it| format!("given up after {} s without a token", it.start_limit_s)),
        ),
        text("Knobs", of(catalogue)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn key(sheet: &EngineSheet) -> Option<String> {
    let endpoint = &sheet.row.endpoint;
    let variable = endpoint.api_key_env.as_ref();
    let variable = variable.map(|name| format!("from the variable {name}"));
    let secret = endpoint.api_key_secret.as_ref();
    variable.or_else(|| secret.map(|name| format!("the stored secret {name}")))
}

fn base(launch: &LaunchSheet) -> String {
    let knobs = launch.base_knobs.iter();
    let knobs = knobs.map(|(name, value)| format!("{name}={value}"));
    knobs.collect::<Vec<_>>().join(" ")
}

fn catalogue(launch: &LaunchSheet) -> String {
    let free = if launch.free_flags {
        "; flags that it does not know are let through"
    } else {
        ""
    };
    format!("by the catalogue of {}{free}", launch.catalogue)
}

/// Arguments as a person would type them.
fn command(words: &[String]) -> String {
    let word = |word: &String| {
        let plain = !word.is_empty()
            && !word.contains(|it: char| it.is_whitespace() || "'\"\\".contains(it));
        if plain {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What can be turned.
fn knob_list(knobs: &[KnobRow]) -> Html {
    let row = |knob: &KnobRow| {
        html!(
            r#"<tr><th scope="row"><code>{}</code></th><td>{}</td><td>{}</td></tr>"#,
            knob.name,
            knob.default.as_deref().unwrap_or("–"),
            knob.about
        )
    };
    html!(
        r#"<details><summary>{} that a configuration can turn</summary><div class="scroll-x" tabindex="0">{}</div></details>"#,
        words::count(knobs.len(), "knob"),
        table(
            "knobs",
            "Knobs",
            heads(["knob", "default", "what it does"]),
            knobs.iter().map(row).collect()
        )
    )
}

/// How an engine is started, for the form of a new study.
pub fn in_short(sheet: &EngineSheet, no_starts: Option<&str>) -> String {
    let Some(launch) = &sheet.launch else {
        return String::new();
    };
    let refused = no_starts.map(self::no_starts);
    let hardware = sheet.hardware.as_ref();
    let hardware = hardware.map(|it| html!(" studio.toml says that it runs on {}.", it));
    html!(
        r##"{}<p class="hint-line">The studio starts it for each configuration with its knobs, and ends it after.{} <a href="/engines#{}">How it is described</a></p><code class="command">{}</code>"##,
        refused,
        hardware,
        anchor(&sheet.row.name),
        command(&launch.command)
    )
    .into_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use measure::study::{Api, Endpoint};
    use uuid::Uuid;

    use super::*;
    use crate::studio::{EngineRow, KnobKind};

    fn sheet(name: &str, launch: Option<LaunchSheet>) -> EngineSheet {
        EngineSheet {
            row: EngineRow {
                id: Uuid::nil(),
                name: name.into(),
                endpoint: Endpoint {
                    api_key_secret: Some("GPU7".into()),
                    ..Endpoint::new("http://gpu7:8000", Api::OpenAiChat, "m <x>")
                },
                probe: None,
                managed: None,
            },
            in_file: true,
            hardware: Some("1x L4".into()),
            tags: vec!["lab".into()],
            launch,
        }
    }

    fn launch() -> LaunchSheet {
        LaunchSheet {
            catalogue: "vLLM, checked against 0.32.0".into(),
            command: vec!["vllm".into(), "serve".into(), "a b".into()],
            env: vec!["HF_TOKEN".into()],
            url: "http://127.0.0.1:{port}".into(),
            start_limit_s: 600,
            base_knobs: BTreeMap::from([("parallel".to_owned(), "4".to_owned())]),
            knobs: vec![KnobRow {
                name: "max-num-seqs".into(),
                kind: KnobKind::Whole,
                range: None,
                choices: Vec::new(),
                default: None,
                about: "most sequences".into(),
                since: None,
            }],
            ..LaunchSheet::default()
        }
    }

    #[test]
    fn an_engine_is_shown_with_how_it_is_started_and_its_keys_by_name() {
        let engines = Engines {
            sheets: vec![sheet("a", Some(launch())), sheet("b", None)],
            no_starts: None,
        };
        let html = page(&engines).into_string();
        for part in [
            "2 engines, 1 of them started by the studio",
            "vllm serve &#39;a b&#39;",
            "HF_TOKEN",
            "parallel=4",
            "the stored secret GPU7",
            "1x L4 (declared)",
            "m &lt;x&gt;",
            "1 knob that a configuration can turn",
            r#"<span class="tag">lab</span>"#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("You may not"));
    }

    #[test]
    fn whoever_may_not_start_engines_is_told() {
        let engines = Engines {
            sheets: vec![sheet("a", Some(launch()))],
            no_starts: Some("only its owner may".into()),
        };
        let html = document(&engines, &Assets::default(), "n");
        assert!(html.contains("only its owner may."), "{html}");
        let short = in_short(&engines.sheets[0], engines.no_starts.as_deref());
        assert!(short.contains("only its owner may."), "{short}");
        assert!(short.contains("runs on 1x L4"), "{short}");
    }
}
