//! A shared study's configurations side by side: what the comparison says, of what its link shows.
//!
//! Compared is what was recorded, since hidden values must count; what is told of it is taken from the study as the link shows it.

use app::pages::compare::MOST;
use app::studio::{
    CompareView, ComparedConfiguration, PointView, ShareScope, StudioError, StudyView,
};
use measure::knobs::{Comparability, Differing, Fact, Facts};
use measure::slo::Slo;
use uuid::Uuid;

use super::super::{LocalStudio, compare, missing};
use super::plain;

impl LocalStudio {
    /// What a link shows of its study's configurations; all of them where none are named.
    pub(in crate::studio) async fn compared_by_link(
        &self,
        token: &str,
        ids: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError> {
        let (_, scope) = self.shared_study(token).await?;
        let shown = self.shared_view(token).await?;
        let all = shown.configurations.iter().map(|it| it.id);
        let ids = if ids.is_empty() {
            all.take(MOST).collect()
        } else {
            let all: Vec<Uuid> = all.collect();
            let own = ids.iter().all(|id| all.contains(id));
            own.then_some(ids).ok_or_else(|| missing("configuration"))?
        };
        let slo = slo.filter(|_| scope != ShareScope::Aggregates);
        let compared = compare::compare(&self.store, &ids, slo).await?;
        Ok(as_shown(compared, &shown, scope))
    }
}

/// The comparison with the words of what a link shows.
fn as_shown(mut compared: CompareView, shown: &StudyView, scope: ShareScope) -> CompareView {
    for one in &mut compared.configurations {
        put(one, shown);
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
