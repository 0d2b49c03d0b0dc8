//! A point's prompts and starts, made before its clock starts: from the study's plan, its files, and whoever counts.

use std::path::Path;
use std::time::Duration;

use load::dialect::Quirks;
use load::tokens::Counter;
use load::{Made, PointPlan, PointSpec, plan_point};
use measure::study::{Api, PlannedPoint, PointLength, StudySpec};

use super::run::{Halt, Run};
use super::site::Site;
use crate::studio::dataset::check_unchanged;
use crate::studio::engines::sentence;
use crate::studio::launch::DATASETS;

impl Run<'_> {
    /// The point's prompts and starts, made off the server's threads.
    pub(super) async fn plan_point(&self, site: &Site, index: usize) -> Result<PointPlan, Halt> {
        let point = &self.model.points[index];
        let planned = self.plan.get(point.ordinal as usize).copied();
        let same = |it: &PlannedPoint| {
            (it.configuration, it.level, it.repeat)
                == (point.configuration, point.level, point.repeat)
        };
        let Some(planned) = planned.filter(same) else {
            return Err(Halt::Failed("This version of goodput plans the study otherwise than the one that launched it. Launch it anew.".into()));
        };
        let (spec, data_dir) = (self.model.study.spec.clone(), self.parts.data_dir.clone());
        let (api, model, quirks) = (site.endpoint.api, site.endpoint.model.clone(), site.quirks);
        let prefix = point.id.simple().to_string();
        let launched_with = self.model.study.dataset_sha256.clone();
        let counter = self.counter(&site.lengths, &planned).await?;
        let counts = counter.clone();
        let made = tokio::task::spawn_blocking(move || {
            check_unchanged(&spec, launched_with.as_deref(), &data_dir)?;
            let asked = Asked {
                api,
                model: &model,
                quirks,
                counter: counts.as_deref(),
            };
            plan(&spec, &planned, &data_dir, asked, &prefix)
        })
        .await;
        match made {
            Ok(Ok(plan)) => {
                self.keep_counts(counter.as_deref(), &planned).await?;
                let template_tokens = site.lengths.template_tokens;
                let made = Made {
                    template_tokens,
                    ..plan.made
                };
                Ok(PointPlan { made, ..plan })
            }
            Ok(Err(message)) => Err(Halt::Failed(format!(
                "The point's prompts cannot be made: {message}."
            ))),
            Err(_) => Err(Halt::Failed("The point's prompts cannot be made.".into())),
        }
    }
}

/// How requests are written for an engine.
struct Asked<'a> {
    api: Api,
    model: &'a str,
    quirks: Quirks,
    counter: Option<&'a Counter>,
}

/// Everything that a point sends.
fn plan(
    spec: &StudySpec,
    planned: &PlannedPoint,
    data_dir: &Path,
    asked: Asked<'_>,
    prefix: &str,
) -> Result<PointPlan, String> {
    let data_dir = data_dir.join(DATASETS);
    let Asked {
        api,
        model,
        quirks,
        counter,
    } = asked;
    let spec = PointSpec {
        workload: &spec.workload,
        data_dir: Some(&data_dir),
        arrival: spec.arrival,
        level: planned.level,
        length: length(spec, planned),
        duration: None,
        seed: planned.seed,
        warmup: spec.warmup,
        api,
        model,
        quirks,
        counter,
        drain: Duration::from_millis(spec.drain_ms),
        request_id_prefix: prefix,
    };
    plan_point(&spec).map_err(|cause| sentence(&cause))
}

/// An adaptive sweep says of each of its points how long it is.
fn length(spec: &StudySpec, planned: &PlannedPoint) -> PointLength {
    match spec.adaptive {
        Some(_) => PointLength {
            min_requests: planned.requests,
            max_requests: planned.requests,
            seconds: spec.length.seconds,
        },
        None => spec.length,
    }
}

/// A study's first point, as it would be sent to an engine that speaks OpenAI's chat; or why it cannot be made.
pub(crate) fn first_point(spec: &StudySpec, data_dir: &Path) -> Result<PointPlan, String> {
    let asked = Asked {
        api: Api::OpenAiChat,
        model: "model",
        quirks: Quirks::default(),
        counter: None,
    };
    match spec.plan().first() {
        Some(first) => plan(spec, first, data_dir, asked, "check"),
        None => Err("the study has no point".into()),
    }
}
