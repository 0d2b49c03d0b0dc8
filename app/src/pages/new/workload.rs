//! What the requests ask: ShareGPT's shape, a file of conversations or prompts, a trace, or made-up lengths.

use crate::ui::erased::Erase;
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::workload::DataKind;

use super::draft::{Draft, LengthsDraft};
use super::form::Form;
use super::section::Section;
use super::sentence::workload_words;
use super::shared::Datasets;
use super::upload::Upload;
use crate::studio::DatasetRow;
use crate::ui::badge::{Badge, TOY};
use crate::ui::bind::{Bind, bind};
use crate::ui::field::{CheckField, SelectField, TextField};
use crate::ui::format;
use crate::ui::segmented::Segmented;

/// The section.
#[component]
pub fn WorkloadSection(
    /// The form.
    form: Form,
    /// Files.
    datasets: Datasets,
) -> impl IntoView {
    let draft = form.draft;
    // Only another kind builds other fields: whoever types in one must keep it.
    let kind = memo(move || draft.with(|draft| draft.workload.kind.clone()));
    let fields = move || match kind.get().as_str() {
        "share_gpt_file" => view! { <FileFields form datasets /> }.erased(),
        "prompt_file" => view! { <PromptFields form datasets /> }.erased(),
        "trace" => view! { <TraceFields form datasets /> }.erased(),
        "synthetic" => view! { <SyntheticFields form /> }.erased(),
        "given" => view! { <Given form /> }.erased(),
        _ => view! { <ShapedFields form /> }.erased(),
    };
    view! {
        <Section form id="workload" title="Workload" value=derived(move || draft.with(workload_words))>
            <Segmented
                name="workload.kind"
                label="Kind of workload"
                bind=bind!(draft, |d| d.workload.kind)
                options=kinds(draft.with_untracked(|draft| draft.workload.given.is_some()))
            />
            {fields}
            <Tokenizer form datasets />
        </Section>
    }
    .erased()
}

/// The kinds to choose from; one that the form has no fields for only where it came with the study.
fn kinds(given: bool) -> Vec<(&'static str, &'static str)> {
    let mut kinds = vec![
        ("share_gpt_shaped", "ShareGPT-shaped"),
        ("share_gpt_file", "ShareGPT file"),
        ("prompt_file", "Prompts"),
        ("trace", "Trace"),
        ("synthetic", "Synthetic"),
    ];
    if given {
        kinds.push(("given", "As it was"));
    }
    kinds
}

/// A workload that the form has no fields for, in words.
#[component]
fn Given(form: Form) -> impl IntoView {
    let words = move || {
        form.draft
            .with(|draft| draft.workload.given.as_ref().map(ToString::to_string))
    };
    view! {
        <p>{words}</p>
        <p class="muted">"This workload came through the API. It is kept as it is; another kind can be chosen instead."</p>
    }
    .erased()
}

#[component]
fn ShapedFields(form: Form) -> impl IntoView {
    let draft = form.draft;
    view! {
        <p class="muted">"Multi-turn sessions with the lengths and turns of ShareGPT conversations, in made-up text. Nothing is downloaded."</p>
        <div class="columns">
            <TextField id="workload.scale" label="Scale" keyboard="decimal" bind=bind!(draft, |d| d.workload.scale) hint="Factor on every length; 1 is ShareGPT itself." error=form.error(&["workload.scale"]) />
            <SessionFields form />
            <TextField id="workload.max_context" label="Most context" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.max_context) hint="A session ends before it would exceed it." error=form.error(&["workload.max_context"]) />
        </div>
    }
    .erased()
}

#[component]
fn SessionFields(form: Form) -> impl IntoView {
    let draft = form.draft;
    view! {
        <TextField id="workload.max_turns" label="Most turns" keyboard="numeric" bind=bind!(draft, |d| d.workload.max_turns) hint="1 makes single requests." error=form.error(&["workload.max_turns"]) />
        <TextField id="workload.think_ms" label="Think time" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.workload.think) hint="Pause between an answer and the next turn." error=form.error(&["workload.think_ms"]) />
    }
    .erased()
}

/// The file of a workload, of those that are such.
#[component]
fn FileField(
    form: Form,
    datasets: Datasets,
    takes: fn(DataKind) -> bool,
    hint: &'static str,
) -> impl IntoView {
    let draft = form.draft;
    let chosen = move |file: String| {
        let rows = datasets.get_untracked();
        let kind = rows
            .iter()
            .find(|row| row.file == file)
            .and_then(|row| row.kind);
        draft.update(|draft| match kind {
            Some(_) => draft.take_file(file, kind),
            None => draft.workload.file = file,
        });
    };
    let file = Bind::new(
        move || draft.with(|draft| draft.workload.file.clone()),
        chosen,
    );
    let options = move || dataset_options(&datasets.get(), takes, &file.get.get());
    view! {
        <div class="row end">
            <div class="grow">
                <SelectField id="workload.file" label="File" bind=file options=derived(options) hint error=form.error(&["workload.file"]) />
            </div>
            <Upload form datasets />
        </div>
    }
    .erased()
}

/// What may be asked of the rows of a file.
#[component]
fn RowFields(form: Form, output: &'static str) -> impl IntoView {
    let draft = form.draft;
    let repeats = Bind::new(
        move || draft.with(|draft| !draft.workload.repeats.is_empty()),
        move |on: bool| {
            draft.update(|draft| {
                draft.workload.repeats = if on { "yes".into() } else { String::new() }
            })
        },
    );
    view! {
        <TextField id="workload.output_tokens" label="Output" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.output_tokens) hint=output error=form.error(&["workload.output_tokens", "workload.output"]) />
        <CheckField id="workload.repeats" label="Use rows again when there are too few" bind=repeats />
    }
    .erased()
}

#[component]
fn PromptFields(form: Form, datasets: Datasets) -> impl IntoView {
    view! {
        <FileField form datasets takes=|kind| kind == DataKind::Prompts hint="JSON Lines: a prompt or messages a line." />
        <div class="columns">
            <RowFields form output="Where a line says nothing." />
        </div>
    }
    .erased()
}

#[component]
fn TraceFields(form: Form, datasets: Datasets) -> impl IntoView {
    let draft = form.draft;
    view! {
        <FileField form datasets takes=|kind| kind.trace().is_some() hint="Azure, BurstGPT, Mooncake, or JSON Lines of one's own." />
        <p class="muted">"Its own arrivals are replayed at speeds: x1 as recorded, x2 twice as fast. At a rate it gives its requests alone."</p>
        <div class="columns">
            <TextField id="workload.start_ms" label="From" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.workload.start) hint="In the trace's own time." error=form.error(&["workload.start_ms"]) />
            <TextField id="workload.length_ms" label="Window" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.workload.length) hint="Empty: all the rest." error=form.error(&["workload.length_ms"]) />
            <TextField id="workload.max_context" label="Most context" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.most) hint="Longer requests are left out." error=form.error(&["workload.max_context"]) />
        </div>
    }
    .erased()
}

/// Who counts tokens.
#[component]
fn Tokenizer(form: Form, datasets: Datasets) -> impl IntoView {
    let file = bind!(form.draft, |d| d.tokenizer);
    let options = move || {
        let chosen = file.get.get();
        let mut options =
            dataset_options(&datasets.get(), |kind| kind == DataKind::Tokenizer, &chosen);
        options[0].1 = "None: the engine counts, or a guess".into();
        options
    };
    view! {
        <details class="more">
            <summary>"How tokens are counted"</summary>
            <div class="row end">
                <div class="grow">
                    <SelectField id="tokenizer" label="Tokenizer" bind=file options=derived(options) hint="With the model's tokenizer.json prompts have the tokens meant. Else the engine counts where it can, or its usage calibrates a guess." error=form.error(&["tokenizer"]) />
                </div>
                <Upload form datasets />
            </div>
        </details>
    }
    .erased()
}

#[component]
fn FileFields(form: Form, datasets: Datasets) -> impl IntoView {
    let draft = form.draft;
    view! {
        <FileField form datasets takes=|kind| kind == DataKind::ShareGpt hint="ShareGPT JSON in the studio's data set folder." />
        <div class="columns">
            <SessionFields form />
        </div>
        <details class="more">
            <summary>"Which rows are used"</summary>
            <div class="columns">
                <TextField id="workload.filter.min_prompt" label="Shortest prompt" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.min_prompt) error=form.error(&["workload.filter.min_prompt"]) />
                <TextField id="workload.filter.min_output" label="Shortest answer" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.min_output) error=form.error(&["workload.filter.min_output"]) />
                <TextField id="workload.filter.max_prompt" label="Longest prompt" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.max_prompt) error=form.error(&["workload.filter.max_prompt"]) />
                <TextField id="workload.filter.max_total" label="Longest together" keyboard="numeric" unit="tokens" bind=bind!(draft, |d| d.workload.max_total) error=form.error(&["workload.filter.max_total"]) />
                <RowFields form output="Of every request; empty for the data set's own." />
            </div>
        </details>
    }
    .erased()
}

/// The files of a kind to choose from; a chosen one that is gone stays visible.
fn dataset_options(
    files: &[DatasetRow],
    takes: fn(DataKind) -> bool,
    chosen: &str,
) -> Vec<(String, String)> {
    let files: Vec<&DatasetRow> = files
        .iter()
        .filter(|row| row.kind.is_some_and(takes))
        .collect();
    let first = if files.is_empty() {
        "None there yet: upload one"
    } else {
        "Choose a file"
    };
    let mut options = vec![(String::new(), first.to_owned())];
    options.extend(files.into_iter().map(|row| {
        let rows = row.kind.zip(row.rows);
        let rows = rows.map(|(kind, rows)| {
            let title = kind.trace().map(|trace| format!("{}, ", trace.title()));
            let unit = match rows {
                1 => kind.rows().trim_end_matches('s'),
                _ => kind.rows(),
            };
            format!(
                "{}{} {unit}, ",
                title.unwrap_or_default(),
                format::count(rows)
            )
        });
        (
            row.file.clone(),
            format!(
                "{} ({}{})",
                row.file,
                rows.unwrap_or_default(),
                format::bytes(row.bytes)
            ),
        )
    }));
    if options.iter().all(|(file, _)| file != chosen) {
        options.push((chosen.to_owned(), format!("{chosen} (no such file here)")));
    }
    options
}

#[component]
fn SyntheticFields(form: Form) -> impl IntoView {
    let fixed = move || {
        form.draft.with(|draft| {
            draft.workload.input.kind == "fixed" || draft.workload.output.kind == "fixed"
        })
    };
    view! {
        <p class="muted">
            "Single requests of made-up text. " <Show when=fixed>
                <Badge word=TOY />
            </Show>
        </p>
        <LengthsFields form path="workload.input" label="Input" get=|d| &d.workload.input set=|d| &mut d.workload.input />
        <LengthsFields form path="workload.output" label="Output" get=|d| &d.workload.output set=|d| &mut d.workload.output />
    }
    .erased()
}

/// One length distribution.
#[component]
fn LengthsFields(
    form: Form,
    path: &'static str,
    label: &'static str,
    get: fn(&Draft) -> &LengthsDraft,
    set: fn(&mut Draft) -> &mut LengthsDraft,
) -> impl IntoView {
    let draft = form.draft;
    let part = move |read: fn(&LengthsDraft) -> &String,
                     write: fn(&mut LengthsDraft) -> &mut String| {
        Bind::new(
            move || draft.with(|draft| read(get(draft)).clone()),
            move |value| draft.update(|draft| *write(set(draft)) = value),
        )
    };
    let number = move |field: &str, label: &'static str, unit: &'static str, bind: Bind<String>| {
        let id = format!("{path}.{field}");
        let error = form.error(&[&id]);
        view! { <TextField id label keyboard="decimal" unit bind error /> }
    };
    let kind = part(|it| &it.kind, |it| &mut it.kind);
    let fields = move || match kind.get.get().as_str() {
        "fixed" => number(
            "tokens",
            "Length",
            "tokens",
            part(|it| &it.tokens, |it| &mut it.tokens),
        )
        .erased(),
        "uniform" => (
            number(
                "min",
                "Fewest",
                "tokens",
                part(|it| &it.min, |it| &mut it.min),
            ),
            number(
                "max",
                "Most",
                "tokens",
                part(|it| &it.max, |it| &mut it.max),
            ),
        )
            .erased(),
        _ => (
            number(
                "median",
                "Median",
                "tokens",
                part(|it| &it.median, |it| &mut it.median),
            ),
            number(
                "sigma",
                "Sigma of ln",
                "",
                part(|it| &it.sigma, |it| &mut it.sigma),
            ),
            number(
                "max",
                "Most",
                "tokens",
                part(|it| &it.max, |it| &mut it.max),
            ),
        )
            .erased(),
    };
    view! {
        <fieldset class="stack tight">
            <legend>{label}</legend>
            <Segmented
                name=format!("{path}.kind")
                label=format!("{label} lengths")
                bind=kind
                options=vec![("log_normal", "Log-normal"), ("uniform", "Uniform"), ("fixed", "Fixed")]
            />
            <div class="columns">{fields}</div>
        </fieldset>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_stays_visible() {
        let files = [DatasetRow {
            file: "a.json".into(),
            bytes: 1_200_000,
            kind: Some(DataKind::ShareGpt),
            rows: Some(1200),
        }];
        let options = dataset_options(&files, |kind| kind == DataKind::ShareGpt, "b.json");
        assert_eq!(options[1].1, "a.json (1,200 conversations, 1.20\u{202f}MB)");
        assert_eq!(
            options[2],
            ("b.json".to_owned(), "b.json (no such file here)".to_owned())
        );
        let one = [DatasetRow {
            rows: Some(1),
            ..files[0].clone()
        }];
        let options = dataset_options(&one, |_| true, "");
        assert_eq!(options[1].1, "a.json (1 conversation, 1.20\u{202f}MB)");
        let of = |takes: fn(DataKind) -> bool| dataset_options(&files, takes, "").len();
        assert_eq!(of(|_| true), 2);
        assert_eq!(of(|kind| kind == DataKind::Prompts), 1);
    }
}
