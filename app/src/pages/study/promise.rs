//! The SLO, to be tried out: other bounds over the same points, judged in the browser.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos::task::spawn_local;
use measure::decimal;
use measure::slo::{Bound, Metric, Slo};
use measure::units::Nanos;
use uuid::Uuid;

use super::Page;
use crate::scores::{FetchError, Scores, fetch, finished};
use crate::studio::StudyView;
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
    fn url(&self, point: Uuid) -> String {
        match self {
            Self::Points => format!("/api/v1/points/{point}/scores"),
            Self::Share(token) => format!("/s/{token}/points/{point}/scores"),
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

    /// Fetches the scores of each finished point, once.
    pub fn fetch(self) {
        let missing: Vec<Uuid> = self.known.with_untracked(|study| {
            self.asked.with_value(|asked| {
                finished(study)
                    .map(|point| point.id)
                    .filter(|id| !asked.contains(id))
                    .collect()
            })
        });
        if missing.is_empty() {
            return;
        }
        self.asked.update_value(|asked| asked.extend(&missing));
        spawn_local(async move {
            for id in missing {
                let url = self.source.with_value(|source| source.url(id));
                match fetch(&url).await {
                    Ok(scores) => drop(
                        self.scores
                            .try_update(|known| known.insert(id, scores.into())),
                    ),
                    Err(error) => {
                        self.problem.try_set(Some(error));
                        // The rest would fare no better; the next try begins here.
                        self.asked.try_update_value(|asked| asked.clear());
                        return;
                    }
                }
            }
            self.problem.try_set(None);
        });
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
    view! {
        <section class="card panel" aria-labelledby="slo-heading">
            <h2 id="slo-heading">"SLO"</h2>
            {shared(move || metrics.get().into_iter().map(|metric| view! { <BoundInput page metric /> }).collect_view().erased())}
            <Attainment page />
            <AsText page />
            <p class="small muted" hidden=move || tried.get()>
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

/// One bound in milliseconds.
#[component]
fn BoundInput(page: Page, metric: Metric) -> impl IntoView {
    let id = format!("bound-{}", crate::url_state::metric_key(metric));
    let millis = memo(move || {
        page.slo.with(|slo| {
            slo.bounds
                .iter()
                .find(|bound| bound.metric == metric)
                .map_or(0.0, |bound| bound.at_most.as_millis_f64())
        })
    });
    let percentile = page.slo.with_untracked(|slo| {
        slo.bounds
            .iter()
            .find(|bound| bound.metric == metric)
            .and_then(|bound| bound.percentile)
    });
    let change = move |event| {
        if let Some(millis) = decimal::parse(&event_target_value(&event))
            .filter(|millis| 0.0 < *millis && millis.is_finite())
        {
            try_slo(
                page,
                page.slo
                    .with_untracked(|slo| with_bound(slo, metric, millis)),
            );
        }
    };
    view! {
        <div class="bound">
            <label for=id.clone()>
                {words::metric_name(metric)} " at most"
                {percentile.map(|percentile| view! { <span class="muted small">{format!(" p{percentile}")}</span> })}
            </label>
            <span class="with-unit">
                <input id=id type="number" inputmode="decimal" min="0.001" step="any" value=millis.get_untracked() prop:value=move || millis.get() on:change=change />
                <span class="unit">"ms"</span>
            </span>
        </div>
    }
    .erased()
}

/// The attainment target in percent.
#[component]
fn Attainment(page: Page) -> impl IntoView {
    let percent = memo(move || page.slo.with(|slo| (slo.attainment * 1e6).round() / 1e4));
    let change = move |event| {
        if let Some(percent) = decimal::parse(&event_target_value(&event))
            .filter(|percent| 0.0 < *percent && *percent <= 100.0)
        {
            try_slo(
                page,
                page.slo.with_untracked(|slo| Slo {
                    attainment: percent / 100.0,
                    ..slo.clone()
                }),
            );
        }
    };
    view! {
        <div class="bound">
            <label for="attainment">"Requests that must keep it"</label>
            <span class="with-unit">
                <input id="attainment" type="number" inputmode="decimal" min="0.1" max="100" step="any" value=percent.get_untracked() prop:value=move || percent.get() on:change=change />
                <span class="unit">"%"</span>
            </span>
        </div>
    }
    .erased()
}

/// The whole SLO as text: bounds can be added and taken away.
#[component]
fn AsText(page: Page) -> impl IntoView {
    let problem = RwSignal::new(None::<String>);
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
                    aria-describedby="slo-text-error"
                    aria-invalid=move || problem.with(Option::is_some).to_string()
                    value=text.get_untracked()
                    prop:value=move || text.get()
                    on:change=change
                />
                <p class="error" id="slo-text-error" hidden=move || problem.with(Option::is_none)>{shared(move || problem.get())}</p>
            </div>
        </details>
    }
    .erased()
}
