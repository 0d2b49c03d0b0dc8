//! What the requests ask: ShareGPT's shape, a file of conversations or prompts, a trace, or made-up lengths.

use crate::ui::erased::Erase;
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::workload::DataKind;

use super::drawn::{Drawn, ROOM};
use super::form::Form;
use super::later::{Asking, Later};
use super::section::Section;
use super::sentence::workload_words;
use super::shared::Datasets;
use super::upload::Upload;
use crate::studio::DatasetRow;
use crate::ui::badge::{Badge, TOY};
use crate::ui::bind::{Bind, bind};
use crate::ui::field::SelectField;
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
            <Later form what="What would be sent" ask=Asking::Sample />
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
    view! {
        <p class="muted">"Multi-turn sessions with the lengths and turns of ShareGPT conversations, in made-up text. Nothing is downloaded."</p>
        <Drawn form html=form.drawn("shaped", "") />
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

#[component]
fn PromptFields(form: Form, datasets: Datasets) -> impl IntoView {
    view! {
        <FileField form datasets takes=|kind| kind == DataKind::Prompts hint="JSON Lines: a prompt or messages a line." />
        <Drawn form html=form.drawn("prompts", "") />
    }
    .erased()
}

#[component]
fn TraceFields(form: Form, datasets: Datasets) -> impl IntoView {
    view! {
        <FileField form datasets takes=|kind| kind.trace().is_some() hint="Azure, BurstGPT, Mooncake, or JSON Lines of one's own." />
        <p class="muted">"Its own arrivals are replayed at speeds: x1 as recorded, x2 twice as fast. At a rate it gives its requests alone."</p>
        <Drawn form html=form.drawn("trace", "") />
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
    view! {
        <FileField form datasets takes=|kind| kind == DataKind::ShareGpt hint="ShareGPT JSON in the studio's data set folder." />
        <Drawn form html=form.drawn("conversations", "") />
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
        <LengthsFields form path="workload.input" label="Input" kind=bind!(form.draft, |d| d.workload.input.kind) />
        <LengthsFields form path="workload.output" label="Output" kind=bind!(form.draft, |d| d.workload.output.kind) />
    }
    .erased()
}

/// One length distribution. Of its numbers those of its kind are shown.
#[component]
fn LengthsFields(
    form: Form,
    path: &'static str,
    label: &'static str,
    kind: Bind<String>,
) -> impl IntoView {
    view! {
        <fieldset class="stack tight lengths" data-kind=move || kind.get.get()>
            <legend>{label}</legend>
            <Segmented
                name=format!("{path}.kind")
                label=format!("{label} lengths")
                bind=kind
                options=vec![("log_normal", "Log-normal"), ("uniform", "Uniform"), ("fixed", "Fixed")]
            />
            <Drawn form html=form.drawn("lengths", "").replace(ROOM, path) />
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
