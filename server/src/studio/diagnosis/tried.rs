//! Predictions that studies were begun to try: what is kept at the launch, what is judged at the end.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use app::diagnosis::{Foretold, RuleRecord, Tried};
use app::studio::{PointState, StudioError, StudyState};
use measure::diagnose::{Came, Measured, Outcome, Tally, check_paired, check_prediction};
use measure::knobs::Knobs;
use measure::study::{ConfigurationSpec, StudySpec};
use measure::units::Level;
use uuid::Uuid;

use super::super::views::Model;
use super::super::{LocalStudio, internal, invalid};
use super::PointFigures;
use crate::records::ReadError;
use crate::store::{StoredPoint, StoredPrediction};

/// Most predictions that the record counts, newest first.
const MOST: u32 = 10_000;

/// Most offers that are remembered.
const MOST_OFFERS: usize = 64;

/// Points whose predictions somebody was about to try, the latest last. In memory: the form that a person fills in carries nothing of it.
#[derive(Debug, Default)]
pub(crate) struct Offers(Mutex<VecDeque<Uuid>>);

impl Offers {
    pub fn add(&self, point: Uuid) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| *it != point);
        all.push_back(point);
        if MOST_OFFERS < all.len() {
            all.pop_front();
        }
    }

    fn latest_first(&self) -> Vec<Uuid> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().rev().copied().collect()
    }
}

impl LocalStudio {
    /// Launches a study that tries what a point's diagnosis foretells; it remembers that only where it does try it.
    pub async fn launch_trying(&self, spec: StudySpec, point: Uuid) -> Result<Uuid, StudioError> {
        if self.model_of(point).await?.is_none() {
            return Err(invalid("tries", "name a point of this studio by its id"));
        }
        let foretold = self.foretold(&spec, point).await?;
        let id = self.store_study(spec).await?;
        self.begin(id, foretold).await
    }

    /// What one of the latest offers foretold that this study tries.
    pub(in crate::studio) async fn foretold_of(
        &self,
        spec: &StudySpec,
    ) -> Result<Option<Foretold>, StudioError> {
        for point in self.offers.latest_first() {
            if let Some(foretold) = self.foretold(spec, point).await? {
                return Ok(Some(foretold));
            }
        }
        Ok(None)
    }

    /// Keeps what a new study tries, and lets it run.
    pub(in crate::studio) async fn begin(
        &self,
        study: Uuid,
        foretold: Option<Foretold>,
    ) -> Result<Uuid, StudioError> {
        if let Some(foretold) = foretold {
            let kept = self.store.keep_prediction(study, &foretold).await;
            kept.map_err(internal)?;
        }
        self.supervisor.wake();
        Ok(study)
    }

    /// What a point's diagnosis foretold, where a study tries it. None where it has another load than that point, or does not differ in the
    /// advised knob alone.
    async fn foretold(
        &self,
        spec: &StudySpec,
        point: Uuid,
    ) -> Result<Option<Foretold>, StudioError> {
        let Some((model, stored)) = self.model_of(point).await? else {
            return Ok(None);
        };
        if !is_of_the_same_load(spec, &model.study.spec, &stored) {
            return Ok(None);
        }
        let Some(view) = self.diagnosed(&model, &stored).await? else {
            return Ok(None);
        };
        let named = view.diagnosis.named();
        let advice = named.and_then(|it| Some((it.cause, it.advice.as_ref()?)));
        let (Some((cause, advice)), Some(flag)) = (advice, view.flag) else {
            return Ok(None);
        };
        let (Some(prediction), Some(value)) = (advice.prediction, flag.value) else {
            return Ok(None);
        };
        let origin = model.spec_of(stored.configuration);
        let tries = turns_alone(spec, &origin, &flag.name, &value);
        Ok(tries.then_some(Foretold {
            study: model.study.id,
            point,
            level: stored.level,
            cause,
            turn: advice.turn,
            knob: flag.name,
            was: flag.now,
            value,
            prediction,
        }))
    }

    /// What a study was begun to try, and what came of it; judged once both of its configurations are finished, and then kept.
    pub(super) async fn tried(&self, model: &Model) -> Result<Option<Tried>, StudioError> {
        let kept = self.store.prediction(model.study.id).await;
        let Some(kept) = kept.map_err(internal)? else {
            return Ok(None);
        };
        let outcome = self.outcome(model, &kept).await?;
        Ok(Some(Tried::of(kept.foretold, outcome)))
    }

    /// How the rules have fared, in the order in which they count; those of which nothing was tried are left out.
    pub async fn rule_records(&self) -> Result<Vec<RuleRecord>, StudioError> {
        let mut tried = Vec::new();
        for kept in self.store.predictions(MOST).await.map_err(internal)? {
            let outcome = match kept.outcome {
                None if !kept.is_there => Some(NOTHING),
                None if kept.deleted_ms.is_none() => {
                    let model = self.model(kept.study).await?;
                    self.outcome(&model, &kept).await?
                }
                outcome => outcome,
            };
            tried.push((kept.foretold.cause, outcome));
        }
        let rules = Tally::by_cause(tried).into_iter();
        Ok(rules
            .map(|(cause, tally)| RuleRecord {
                cause,
                title: cause.title().to_owned(),
                tally,
            })
            .collect())
    }

    async fn outcome(
        &self,
        model: &Model,
        kept: &StoredPrediction,
    ) -> Result<Option<Outcome>, StudioError> {
        if kept.outcome.is_some() || !is_judged(model) {
            return Ok(kept.outcome);
        }
        let outcome = self.judged(model, &kept.foretold).await?;
        if model.study.state == StudyState::Finished {
            let stored = self.store.keep_outcome(model.study.id, &outcome).await;
            stored.map_err(internal)?;
        }
        Ok(Some(outcome))
    }

    /// The baseline's point and the other's at the level of the prediction, each its first repeat.
    async fn judged(&self, model: &Model, foretold: &Foretold) -> Result<Outcome, StudioError> {
        let mut both = Vec::new();
        for configuration in [0, 1] {
            let is_it = |it: &&StoredPoint| {
                it.configuration == configuration && it.level == foretold.level && it.repeat == 0
            };
            if let Some(point) = model.points.iter().find(is_it) {
                both.extend(self.figures_of(point).await?);
            }
        }
        let Ok([before, after]) = <[PointFigures; 2]>::try_from(both) else {
            return Ok(NOTHING);
        };
        let prediction = foretold.prediction;
        // Of one study both sides were asked the same, but for what answers put into later turns.
        let alike = !model.study.spec.workload.has_real_answers();
        let level = alike.then_some(foretold.level);
        let judged = move || judge(&prediction, level, before, after);
        let judged = tokio::task::spawn_blocking(judged).await;
        judged.map_err(internal)?.map_err(internal)
    }
}

/// What came where that level was not measured in both.
const NOTHING: Outcome = Outcome {
    came: Came::CannotTell,
    sure: false,
    paired: None,
    before: None,
    after: None,
    bound: None,
};

fn judge(
    prediction: &measure::diagnose::Prediction,
    paired: Option<Level>,
    mut before: PointFigures,
    mut after: PointFigures,
) -> Result<Outcome, ReadError> {
    let (was, is) = (before.counted()?, after.counted()?);
    let [was, is] = [(&was, &before), (&is, &after)].map(|(records, figures)| Measured {
        records,
        summary: &figures.summary,
        client: &figures.certificate,
    });
    Ok(match paired {
        Some(level) => check_paired(prediction, was, is, level),
        None => check_prediction(prediction, was, is),
    })
}

/// Whether nothing of the first two configurations is still to be measured.
fn is_judged(model: &Model) -> bool {
    let is_open = |it: &StoredPoint| {
        it.configuration < 2
            && matches!(
                it.state,
                PointState::Planned | PointState::Running | PointState::Interrupted
            )
    };
    !model.points.iter().any(is_open)
}

/// Whether a study asks the same of the same engine, at the level of the point among others.
fn is_of_the_same_load(spec: &StudySpec, origin: &StudySpec, point: &StoredPoint) -> bool {
    spec.engine == origin.engine
        && spec.workload == origin.workload
        && spec.arrival == origin.arrival
        && spec.levels.contains(&point.level)
}

/// Whether the first configuration has the knobs of the point's, and the second the same but for the one that is turned.
fn turns_alone(spec: &StudySpec, origin: &ConfigurationSpec, knob: &str, value: &str) -> bool {
    let [baseline, turned, ..] = &spec.configurations[..] else {
        return false;
    };
    let text = |knobs: &Knobs| -> Vec<(String, String)> {
        let knobs = knobs.iter();
        knobs
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    };
    let mut wanted = origin.knobs.clone();
    wanted.insert(knob.to_owned(), value.into());
    text(&baseline.knobs) == text(&origin.knobs) && text(&turned.knobs) == text(&wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(knobs: [&[(&str, &str)]; 2]) -> StudySpec {
        let mut spec = StudySpec::goodput_exercise();
        spec.configurations = knobs.map(of).to_vec();
        spec
    }

    fn of(knobs: &[(&str, &str)]) -> ConfigurationSpec {
        let knobs = knobs.iter();
        ConfigurationSpec {
            knobs: knobs
                .map(|(name, value)| ((*name).to_owned(), (*value).into()))
                .collect(),
            ..ConfigurationSpec::default()
        }
    }

    #[test]
    fn a_prediction_is_of_the_advised_knob_alone() {
        let origin = of(&[("a", "on"), ("max-num-seqs", "4")]);
        let before: &[_] = &[("a", "on"), ("max-num-seqs", "4")];
        for (turned, expected) in [
            (&[("a", "on"), ("max-num-seqs", "16")][..], true),
            (&[("a", "on"), ("max-num-seqs", "8")][..], false),
            (&[("a", "off"), ("max-num-seqs", "16")][..], false),
            (before, false),
        ] {
            let spec = spec([before, turned]);
            let found = turns_alone(&spec, &origin, "max-num-seqs", "16");
            assert_eq!(found, expected, "{turned:?}");
        }
        let other = spec([&[("a", "on")], &[("a", "on"), ("max-num-seqs", "16")]]);
        assert!(!turns_alone(&other, &origin, "max-num-seqs", "16"));
    }
}
