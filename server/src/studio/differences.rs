//! What a study's page takes from the comparison of its configurations: what else is surest of those that have no verdict on their ceilings, and
//! whether the machine changed meanwhile. Worked out once a study has ended, and then kept in memory.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use app::pages::compare::MOST;
use app::studio::{CompareView, StudyState, StudyView};
use app::words;
use measure::compare::{Verdict, compare_ceilings};
use measure::curve::Ceiling;
use measure::study::StudySpec;
use uuid::Uuid;

use super::{LocalStudio, compare};

/// Studies whose differences are remembered.
const MOST_KEPT: usize = 64;

/// What was found, by the index of a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    surest: Vec<(u32, String)>,
    apart: Vec<(u32, f64)>,
}

impl Found {
    fn of(compared: &CompareView, spec: &StudySpec) -> Self {
        let unit = words::rate_unit(spec);
        let open = compared.pairs.iter().filter(|it| words::needs_surest(it));
        let surest = open.filter_map(|it| Some((it.candidate, words::surest(it, unit)?)));
        let apart = compared.pairs.iter().filter_map(|it| {
            let apart = it.drift.as_ref()?.apart();
            (0.0 < apart).then_some((it.candidate, apart))
        });
        Self {
            surest: surest.collect(),
            apart: apart.collect(),
        }
    }
}

/// A study, what it was worked out from, and what was found.
type Kept = (Uuid, u64, Found);

/// By study.
#[derive(Default)]
pub(super) struct Differences(Mutex<VecDeque<Kept>>);

impl Differences {
    fn get(&self, study: Uuid, made_of: u64) -> Option<Found> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|it| (it.0, it.1) == (study, made_of));
        found.map(|it| it.2.clone())
    }

    fn keep(&self, study: Uuid, made_of: u64, found: Found) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.0 != study);
        all.push_back((study, made_of, found));
        if MOST_KEPT < all.len() {
            all.pop_front();
        }
    }
}

impl LocalStudio {
    /// Adds to a study that has ended what its comparison says. Nothing where ceilings have their verdicts and nothing was repeated, or nothing
    /// can be compared.
    pub(super) async fn add_differences(&self, view: &mut StudyView) {
        let Found { surest, apart } = self.differences(view).await;
        (view.differences, view.apart) = (surest, apart);
    }

    async fn differences(&self, view: &StudyView) -> Found {
        // Only a baseline that ran more than once tells whether the machine changed.
        if !has_ended(view.state) || !(is_open(view) || 1 < view.spec.repeats) {
            return Found::default();
        }
        let made_of = made_of(view);
        if let Some(known) = self.differences.get(view.id, made_of) {
            return known;
        }
        let ids = view.configurations.iter().take(MOST).map(|it| it.id);
        let ids: Vec<Uuid> = ids.collect();
        let compared = compare::compare(&self.store, &ids, None).await;
        // The study stands without it.
        let found = compared
            .map(|it| Found::of(&it, &view.spec))
            .unwrap_or_default();
        self.differences.keep(view.id, made_of, found.clone());
        found
    }
}

fn has_ended(state: StudyState) -> bool {
    use StudyState::{Queued, Running, Waiting};
    !matches!(state, Queued | Running | Waiting)
}

/// Whether some configuration has no verdict on its ceiling.
fn is_open(view: &StudyView) -> bool {
    let Some((baseline, others)) = view.configurations.split_first() else {
        return false;
    };
    let judged = |other: Option<Ceiling>| {
        let verdict = baseline.ceiling.zip(other);
        let verdict = verdict.map(|(from, to)| compare_ceilings(from, to).verdict);
        matches!(
            verdict,
            Some(Verdict::Better | Verdict::Worse | Verdict::NoDifference { .. })
        )
    };
    others.iter().any(|it| !judged(it.ceiling))
}

/// Points never change once they are measured; specifications and facts may be declared anew.
fn made_of(view: &StudyView) -> u64 {
    let mut hasher = DefaultHasher::new();
    let measured = view.points.iter().filter(|it| it.summary.is_some()).count();
    let stated = serde_json::to_string(&(&view.spec, &view.configurations));
    (measured, stated.unwrap_or_default()).hash(&mut hasher);
    hasher.finish()
}
