//! The SLO, to be tried out: other bounds over the same points, judged in the browser.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_query_map;
use measure::decimal;
use measure::slo::{Bound, Metric, Slo};
use measure::units::Nanos;
use uuid::Uuid;

use super::Page;
use crate::scores::{FetchError, Scores, fetch, finished};
use crate::studio::StudyView;
use crate::ui::html::term;
use crate::words;

/// Where a page gets scores from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoreSource {
    /// The studio's own points.
    Points,
    /// The points of a share with this token.
    Share(String),
}

impl ScoreSource {
    /// Of all points of a study, those behind one of them.
    fn url(&self, study: Uuid, after: Option<Uuid>) -> String {
        let after = after.map_or_else(String::new, |after| format!("?after={after}"));
        match self {
            Self::Points => format!("/api/v1/studies/{study}/scores{after}"),
            Self::Share(token) => format!("/s/{token}/scores{after}"),
        }
    }
}

/// Another SLO, tried in the browser: what was fetched for it.
#[derive(Clone, Copy)]
pub struct Tried {
    /// The scores, by point.
    pub scores: RwSignal<Scores>,
    /// Why they cannot be had.
    pub problem: RwSignal<Option<FetchError>>,
    known: RwSignal<StudyView>,
    source: StoredValue<ScoreSource>,
    /// Points whose scores are on their way.
    asked: StoredValue<Vec<Uuid>>,
}

impl Tried {
    /// Nothing fetched yet.
    pub fn new(known: RwSignal<StudyView>, source: ScoreSource) -> Self {
        Self {
            scores: RwSignal::default(),
            problem: RwSignal::new(None),
            known,
            source: StoredValue::new(source),
            asked: StoredValue::default(),
        }
    }

    /// Fetches the scores of each finished point: those of the first that is missing, and of all behind it.
    pub fn fetch(self) {
        let (study, points): (Uuid, Vec<Uuid>) = self
            .known
            .with_untracked(|study| (study.id, finished(study).map(|point| point.id).collect()));
        let is_asked = |id: &Uuid| self.asked.with_value(|asked| asked.contains(id));
        let Some(first) = points.iter().position(|id| !is_asked(id)) else {
            return;
        };
        let before = first.checked_sub(1).map(|place| points[place]);
        self.asked.set_value(points.clone());
        spawn_local(async move {
            let read = self.read(study, before, points).await;
            if read.is_err() {
                // The next try begins here.
                self.asked.try_update_value(Vec::clear);
            }
            self.problem.try_set(read.err());
        });
    }

    /// Many points an answer, so that another SLO is judged as seldom.
    async fn read(
        self,
        study: Uuid,
        mut last: Option<Uuid>,
        wanted: Vec<Uuid>,
    ) -> Result<(), FetchError> {
        loop {
            let url = self.source.with_value(|source| source.url(study, last));
            let some = fetch(&url).await?;
            match some.last() {
                Some((id, _)) => last = Some(*id),
                None => break,
            }
            if self.scores.try_update(|known| known.extend(some)).is_none() {
                return Ok(());
            }
        }
        // Of some points there is a summary and nothing else.
        let has_all = |known: &Scores| wanted.iter().all(|id| known.contains_key(id));
        match self.scores.try_with_untracked(has_all) {
            Some(false) => Err(FetchError::Status(404)),
            _ => Ok(()),
        }
    }
}

/// Sets one bound, in milliseconds; other bounds stay.
pub fn with_bound(slo: &Slo, metric: Metric, millis: f64) -> Slo {
    let at_most = Nanos((millis * 1e6).round().max(1.0) as u64);
    let bounds = slo.bounds.iter().map(|bound| {
        if bound.metric == metric {
            Bound { at_most, ..*bound }
        } else {
            *bound
        }
    });
    Slo {
        bounds: bounds.collect(),
        ..slo.clone()
    }
}

/// Puts an SLO in force; the study's own needs no trying.
pub fn try_slo(page: Page, slo: Slo) {
    let own = page.known.with_untracked(|study| study.spec.slo == slo);
    let wanted = (!own).then_some(slo);
    if page.state.with_untracked(|state| state.slo != wanted) {
        page.state.update(|state| state.slo = wanted);
    }
}

/// The panel.
#[component]
pub fn Promise(page: Page) -> impl IntoView {
    let metrics = memo(move || {
        page.slo.with(|slo| {
            slo.bounds
                .iter()
                .map(|bound| bound.metric)
                .collect::<Vec<_>>()
        })
    });
    let tried = memo(move || page.state.with(|state| state.slo.is_some()));
    let problem = RwSignal::new(asked_in_vain());
    let loading = memo(move || {
        let all = page.known.with(|study| finished(study).count());
        let have = page.tried.scores.with(|scores| {
            page.known.with(|study| {
                finished(study)
                    .filter(|point| scores.contains_key(&point.id))
                    .count()
            })
        });
        (tried.get() && have < all).then(|| {
            format!(
                "Reading the requests: {have} of {}.",
                words::count(all, "point")
            )
        })
    });
    let fixed = page.known.with_untracked(|study| study.aggregates_only);
    view! {
        <section class="card panel" aria-labelledby="slo-heading">
            <h2 id="slo-heading" inner_html=term("SLO", "slo").into_string()></h2>
            <fieldset class="bare" disabled=fixed>
            {shared(move || metrics.get().into_iter().map(|metric| view! { <BoundInput page metric problem /> }).collect_view().erased())}
            <Attainment page problem />
            <AsText page problem />
            </fieldset>
            <p class="small problem" id="slo-problem" role="alert" hidden=move || problem.with(Option::is_none)>{shared(move || problem.get())}</p>
            <p class="small muted" hidden=!fixed>"This link shows the figures of points, not of each request: the SLO is fixed."</p>
            <p class="small muted" hidden=move || fixed || tried.get()>
                "Drag the dashed line or change a number: every request is judged again here, nothing is measured again."
            </p>
            <p class="small muted" hidden=move || loading.with(Option::is_none)>{shared(move || loading.get())}</p>
            <p class="small problem" role="alert" hidden=move || page.tried.problem.with(Option::is_none)>
                {shared(move || {
                    page.tried.problem.get().map(|why| format!("Another SLO cannot be tried here: {why}. This page has the numbers of the points, not of each request."))
                })}
            </p>
            <button type="button" class="button compact" hidden=move || !tried.get() on:click=move |_| page.state.update(|state| state.slo = None)>
                "Back to the study's SLO"
            </button>
        </section>
    }
    .erased()
}

/// What is wrong with the SLO in the address, where one stands there that cannot be read.
fn asked_in_vain() -> Option<String> {
    let text = use_query_map().with_untracked(|query| query.get("slo"))?;
    let wrong = text.parse::<Slo>().err().filter(|_| !text.is_empty())?;
    Some(format!(
        "The SLO in the address cannot be read: {wrong}. This is the study's own."
    ))
}

/// The loosest bound, a day, in milliseconds.
const LOOSEST: f64 = 86_400_000.0;

/// Reads a number above 0 and at most `most`; else what is wrong, with the place.
fn within(place: &str, text: &str, most: f64, unit: &str) -> Result<f64, String> {
    decimal::parse(text)
        .filter(|value| 0.0 < *value && *value <= most)
        .ok_or_else(|| {
            format!("{place}: must be a number above 0 and at most {most} {unit}, not “{text}”. The SLO stays as it was.")
        })
}

/// One bound in milliseconds.
#[component]
fn BoundInput(page: Page, metric: Metric, problem: RwSignal<Option<String>>) -> impl IntoView {
    let bound = memo(move || {
        page.slo
            .with(|slo| slo.bounds.iter().find(|it| it.metric == metric).copied())
    });
    let millis = move || bound.get().map_or(0.0, |it| it.at_most.as_millis_f64());
    let note = bound.get_untracked().and_then(|it| it.percentile);
    view! {
        <Number
            id=format!("bound-{}", crate::url_state::metric_key(metric))
            label=format!("{} at most", words::metric_name(metric))
            note=note.map_or_else(String::new, |percentile| format!(" p{percentile}"))
            unit="ms"
            most=LOOSEST
            value=memo(millis)
            set=Callback::new(move |millis| try_slo(page, page.slo.with_untracked(|slo| with_bound(slo, metric, millis))))
            problem
        />
    }
    .erased()
}

/// The attainment target in percent.
#[component]
fn Attainment(page: Page, problem: RwSignal<Option<String>>) -> impl IntoView {
    let percent = memo(move || page.slo.with(|slo| (slo.attainment * 1e6).round() / 1e4));
    let set = move |percent: f64| {
        let slo = page.slo.with_untracked(|slo| Slo {
            attainment: percent / 100.0,
            ..slo.clone()
        });
        try_slo(page, slo);
    };
    view! {
        <Number id="attainment" label="Requests that must keep it" note="" unit="%" most=100.0 value=percent set=Callback::new(set) problem />
    }
    .erased()
}

/// A number of the SLO. What cannot be one is said, and stays in its field.
#[component]
fn Number(
    #[prop(into)] id: String,
    #[prop(into)] label: String,
    #[prop(into)] note: String,
    unit: &'static str,
    most: f64,
    value: Memo<f64>,
    set: Callback<f64>,
    problem: RwSignal<Option<String>>,
) -> impl IntoView {
    let wrong = RwSignal::new(false);
    let place = label.clone();
    let change = move |event| {
        let read = within(&place, &event_target_value(&event), most, unit);
        wrong.set(read.is_err());
        problem.set(read.as_ref().err().cloned());
        if let Ok(value) = read {
            set.run(value);
        }
    };
    view! {
        <div class="bound">
            <label for=id.clone()>
                {label} <span class="muted small">{note}</span>
            </label>
            <span class="with-unit">
                <input
                    id=id
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    aria-describedby="slo-problem"
                    aria-invalid=move || wrong.get().to_string()
                    value=value.get_untracked().to_string()
                    prop:value=move || value.get().to_string()
                    on:change=change
                />
                <span class="unit">{unit}</span>
            </span>
        </div>
    }
    .erased()
}

/// The whole SLO as text: bounds can be added and taken away.
#[component]
fn AsText(page: Page, problem: RwSignal<Option<String>>) -> impl IntoView {
    let text = memo(move || page.slo.with(Slo::to_string));
    let change = move |event| match event_target_value(&event).parse::<Slo>() {
        Ok(slo) => {
            problem.set(None);
            try_slo(page, slo);
        }
        Err(error) => problem.set(Some(error.to_string())),
    };
    view! {
        <details class="as-text">
            <summary>"As text"</summary>
            <div class="field">
                <label class="sr-only" for="slo-text">"SLO as text"</label>
                <input
                    id="slo-text"
                    type="text"
                    spellcheck="false"
                    autocomplete="off"
                    aria-describedby="slo-problem"
                    value=text.get_untracked()
                    prop:value=move || text.get()
                    on:change=change
                />
            </div>
        </details>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_slo_has_is_an_error_that_names_its_place() {
        assert_eq!(within("TTFT at most", "2.5", LOOSEST, "ms"), Ok(2.5));
        for (text, most) in [
            ("0", LOOSEST),
            ("-1", LOOSEST),
            ("", 100.0),
            ("120", 100.0),
            ("NaN", 100.0),
            ("inf", 100.0),
        ] {
            let wrong = within("Requests that must keep it", text, most, "%").expect_err(text);
            assert!(
                wrong.starts_with("Requests that must keep it: must be"),
                "{wrong}"
            );
            assert!(wrong.contains(&format!("“{text}”")), "{wrong}");
        }
    }
}
