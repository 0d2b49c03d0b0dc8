//! How long a study's prompts are: who counts is found once, with its first engine, and kept with what was counted. So all
//! configurations get the very same prompts, whatever engine is there by then, and so does a study that goes on after the
//! server was away.

use std::sync::Arc;

use app::studio::PointState;
use load::dialect::Quirks;
use load::tokens::{Counted, Counter, Counting};
use load::{Engine, LengthSource, Wire};
use measure::knobs::{Fact, Facts, Source};
use measure::study::{Endpoint, PlannedPoint};

use super::run::{Halt, Run};
use crate::studio::dataset;
use crate::studio::engines::sentence;

/// Who counts at one configuration's engine.
pub(super) struct Lengths {
    pub counted: Counted,
    /// `None` where words are taken as they are, or where this engine does not count.
    counter: Option<Arc<Counter>>,
    pub template_tokens: Option<u32>,
}

impl Lengths {
    /// As facts of a configuration.
    pub fn facts(&self) -> Facts {
        let told = |name: &str, value: String| {
            let source = Source::Engine;
            (name.to_owned(), Fact { value, source })
        };
        let source = told("input lengths", self.counted.source.words().to_owned());
        let template = self
            .template_tokens
            .map(|it| told("seen:template tokens", it.to_string()));
        [source].into_iter().chain(template).collect()
    }

    /// Whether every prompt is counted, so that its length is right.
    fn is_exact(&self) -> bool {
        matches!(
            self.counted.source,
            LengthSource::Tokenizer | LengthSource::Engine
        )
    }
}

impl Run<'_> {
    /// Finds who counts, or who counted when the study began.
    pub(super) async fn lengths(
        &mut self,
        engine: &Engine,
        reached: (&Endpoint, &Wire),
        quirks: Quirks,
    ) -> Result<Lengths, Halt> {
        let measured = |it: &crate::store::StoredPoint| it.state == PointState::Finished;
        // Studies that began before counting did go on as they were.
        let began = self
            .model
            .points
            .iter()
            .any(measured)
            .then(Counted::default);
        let known = self.model.study.counted.or(began);
        let local = self.tokenizer(known).await?;
        let counting = match known {
            Some(counted) => Counting::again(counted, engine, reached, quirks, local).await,
            None => Counting::find(engine, reached, quirks, local).await,
        };
        let counted = known.unwrap_or_else(|| counting.counted());
        if self.model.study.counted.is_none() {
            self.parts
                .store
                .set_counted(self.model.study.id, &counted)
                .await?;
            self.model.study.counted = Some(counted);
        }
        Ok(Lengths {
            counted,
            counter: counting.counter.map(Arc::new),
            template_tokens: counting.template_tokens,
        })
    }

    /// The study's tokenizer, byte for byte the one it was launched with.
    async fn tokenizer(&self, known: Option<Counted>) -> Result<Option<Counter>, Halt> {
        let study = &self.model.study;
        let needed = known.is_none_or(|it| it.source == LengthSource::Tokenizer);
        let Some(file) = study.spec.tokenizer.clone().filter(|_| needed) else {
            return Ok(None);
        };
        let launched_with = study.tokenizer_sha256.clone();
        let data_dir = self.parts.data_dir.clone();
        let read = move || dataset::tokenizer(&file, launched_with.as_deref(), &data_dir);
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(counter)) => Ok(Some(counter)),
            Ok(Err(message)) => Err(Halt::Failed(format!(
                "Prompts cannot be counted: {message}."
            ))),
            Err(_) => Err(Halt::Failed("Prompts cannot be counted.".into())),
        }
    }

    /// Who counts the prompts of one point: what was counted for another configuration counts for this one as well.
    pub(super) async fn counter(
        &self,
        lengths: &Lengths,
        planned: &PlannedPoint,
    ) -> Result<Option<Arc<Counter>>, Halt> {
        if !lengths.is_exact() {
            return Ok(lengths.counter.clone());
        }
        let study = self.model.study.id;
        let place = (planned.level_index, planned.repeat);
        if let Some(tape) = self.parts.store.prompt_counts(study, place).await? {
            let replaying = Counter::replaying(lengths.counted.source, &tape);
            return replaying.map(|it| Some(Arc::new(it))).ok_or_else(|| {
                Halt::Failed(
                    "What was counted of the study's prompts cannot be read. Launch it anew."
                        .into(),
                )
            });
        }
        match &lengths.counter {
            Some(counter) => Ok(Some(Arc::new(Counter::recording(Arc::clone(counter))))),
            None => Err(Halt::Failed(
                "The engine does not count tokens, but prompts of this study were counted by its /tokenize. Start it as it was and resume, or launch the study anew with a tokenizer.json.".into(),
            )),
        }
    }

    /// Keeps what was counted for a point, before anything is sent.
    pub(super) async fn keep_counts(
        &self,
        counter: Option<&Counter>,
        planned: &PlannedPoint,
    ) -> Result<(), Halt> {
        let Some(counter) = counter else {
            return Ok(());
        };
        if !counter.is_spent() {
            return Err(Halt::Failed(format!(
                "The point's prompts cannot be made: {}.",
                sentence(&load::tokens::TokenError::OtherPrompts)
            )));
        }
        if let Some(tape) = counter.tape() {
            let (study, place) = (self.model.study.id, (planned.level_index, planned.repeat));
            self.parts
                .store
                .keep_prompt_counts(study, place, &tape)
                .await?;
        }
        Ok(())
    }
}
