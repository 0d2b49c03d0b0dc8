//! Configurations side by side behind a link: what the comparison says, of what the link shows.
//!
//! Compared is what was recorded, since hidden values must count; what is told of it is taken from the studies as the link shows them.

use app::pages::compare::MOST;
use app::studio::{
    CompareView, ComparedConfiguration, ConfigurationView, PointView, ShareScope, StudioError,
    StudyView,
};
use measure::knobs::{Comparability, Differing, Fact, Facts};
use measure::slo::Slo;
use uuid::Uuid;

use super::super::views::Model;
use super::super::{LocalStudio, compare, internal, missing};
use super::{plain, show_facts, shown_but_facts};
use crate::store::{OpenShare, Opens};

/// Why a link to a comparison shows nothing any more.
const TOO_FEW: &str = "comparison any more: fewer than two of its configurations are still there";

/// What a link puts side by side.
pub struct Comparable {
    /// Configurations in the link's order, those whose study is deleted among them.
    pub ids: Vec<Uuid>,
    /// Those whose study is deleted.
    pub gone: Vec<Uuid>,
    /// The link shows figures of points alone: no other SLO can be tried.
    pub figures_only: bool,
    /// The link shows a study whole, and these are its configurations.
    pub shows_study: bool,
    /// What judges where nothing else is said; the baseline study's own where there is none.
    slo: Option<Slo>,
    scope: ShareScope,
    /// The studies as the link shows them, with no other configurations than these.
    shown: Vec<StudyView>,
}

impl LocalStudio {
    /// Whether a link shows a comparison alone, and no study.
    pub async fn shows_comparison(&self, token: &str) -> Result<bool, StudioError> {
        let opens = self.opened(token).await?.opens;
        Ok(matches!(opens, Opens::Comparison { .. }))
    }

    /// What a link puts side by side: the configurations of its study, or those that it names, and none else.
    pub async fn comparable(&self, token: &str) -> Result<Comparable, StudioError> {
        let OpenShare { id, scope, opens } = self.opened(token).await?;
        let (ids, slo, shown) = match opens {
            Opens::Study(_) => {
                let shown = self.shared_view(token).await?;
                let ids = shown.configurations.iter().map(|it| it.id).take(MOST);
                (ids.collect(), None, vec![shown])
            }
            Opens::Comparison { sides, slo } => {
                let ids: Vec<Uuid> = sides.iter().map(|(id, _)| *id).collect();
                let mut shown = self.named(&sides, scope).await?;
                show_facts(&mut shown, scope, id);
                (ids, Some(slo), shown)
            }
        };
        let is_there = |id: &Uuid| configurations(&shown).any(|it| it.id == *id);
        let gone: Vec<Uuid> = ids.iter().copied().filter(|id| !is_there(id)).collect();
        if slo.is_some() && ids.len() < gone.len() + 2 {
            return Err(missing(TOO_FEW));
        }
        Ok(Comparable {
            ids,
            gone,
            figures_only: scope == ShareScope::Aggregates,
            shows_study: slo.is_none(),
            slo,
            scope,
            shown,
        })
    }

    /// The studies of named configurations, as far as they are there, with these configurations alone. What a study hides it hides by all
    /// its configurations, so that no name repeats what another one would hide.
    async fn named(
        &self,
        sides: &[(Uuid, Uuid)],
        scope: ShareScope,
    ) -> Result<Vec<StudyView>, StudioError> {
        let mut views: Vec<StudyView> = Vec::new();
        for (_, study) in sides {
            if views.iter().any(|it| it.id == *study) {
                continue;
            }
            let model = Model::load(&self.store, *study).await.map_err(internal)?;
            let Some(model) = model.filter(|it| it.deleted_ms.is_none()) else {
                continue;
            };
            let view = self.completed(model.view()).await?;
            let mut view = shown_but_facts(&model, view, scope);
            let is_named = |id: Uuid| sides.iter().any(|(named, _)| *named == id);
            view.configurations.retain(|it| is_named(it.id));
            views.push(view);
        }
        Ok(views)
    }

    /// Some of what a link puts side by side, the baseline first; all that is there where none are named.
    pub async fn compared(
        &self,
        link: &Comparable,
        ids: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError> {
        let there = |id: &Uuid| configurations(&link.shown).any(|it| it.id == *id);
        let ids = if ids.is_empty() {
            link.ids.iter().copied().filter(there).collect()
        } else {
            let own = ids.iter().all(there);
            own.then_some(ids).ok_or_else(|| missing("configuration"))?
        };
        let slo = slo.filter(|_| !link.figures_only).or(link.slo.clone());
        let compared = compare::compare(&self.store, &ids, slo).await?;
        Ok(as_shown(compared, &link.shown, link.scope))
    }
}

fn configurations(shown: &[StudyView]) -> impl Iterator<Item = &ConfigurationView> {
    shown.iter().flat_map(|it| &it.configurations)
}

/// The comparison with the words of what a link shows.
fn as_shown(mut compared: CompareView, shown: &[StudyView], scope: ShareScope) -> CompareView {
    for one in &mut compared.configurations {
        if let Some(own) = shown.iter().find(|it| it.id == one.study) {
            put(one, own);
        }
    }
    if scope == ShareScope::All {
        return compared;
    }
    let sides = &compared.configurations;
    let facts = |index: usize| sides.get(index).map(|it| &it.configuration.facts);
    for pair in &mut compared.pairs {
        let both = [facts(0), facts(pair.candidate as usize)];
        each(&mut pair.comparability, |it| hide(it, both));
    }
    compared
}

/// A configuration's names, settings and facts as the link shows them; the figures of the comparison stay.
fn put(one: &mut ComparedConfiguration, shown: &StudyView) {
    one.study_name.clone_from(&shown.spec.name);
    let known = shown.configurations.iter();
    let known = known.filter(|it| it.id == one.configuration.id);
    for configuration in known {
        one.configuration.spec = configuration.spec.clone();
        one.configuration.facts = configuration.facts.clone();
    }
    for point in &mut one.points {
        let known = shown.points.iter().find(|it| it.id == point.id);
        if let Some(known) = known.cloned() {
            let judgement = point.judgement.take();
            *point = PointView { judgement, ..known };
        }
    }
}

fn each(comparability: &mut Comparability, mut change: impl FnMut(&mut Differing)) {
    match comparability {
        Comparability::Identical => {}
        Comparability::OneVariable { differing, beside } => {
            change(differing);
            beside.iter_mut().for_each(change);
        }
        Comparability::Confounded { differing } => differing.iter_mut().for_each(change),
    }
}

/// A difference in the values that the link shows. What is no fact of a configuration is the studio's own word: where it was asked, and
/// whether its cache was cold.
fn hide(differing: &mut Differing, facts: [Option<&Facts>; 2]) {
    let name = differing.name.clone();
    let sides = [&mut differing.baseline, &mut differing.candidate];
    for (side, facts) in sides.into_iter().zip(facts) {
        let shown = facts.and_then(|it| it.get(&name));
        let value = |fact: &Fact| match shown {
            Some(shown) => shown.value.clone(),
            None => plain::studios(&name, &fact.value),
        };
        if let Some(fact) = side {
            fact.value = value(fact);
        }
    }
    if !plain::is_name(&name) {
        differing.name = plain::HIDDEN.to_owned();
    }
}
