//! One point, from its prompts to its row. Everything that costs time is done before the clock starts or after it ends.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use app::studio::{Failing, LiveEvent, PointState, Progress};
use load::{Begun, InputTokens, Made, Observer, PointRun, Sharing, run_point};
use measure::adaptive::Doom;
use measure::arrival::discipline;
use measure::certificate::{Calibration, Certificate, Demand, Innocence, certify};
use measure::evidence::{Cache, Evidence};
use measure::score::{Score, encode};
use measure::slo::{Judgement, Slo, judge};
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::{Level, Nanos};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::around::Around;
use super::control::Control;
use super::facts::{Exchange, exchanged};
use super::pause::UnderLoad;
use super::run::{Halt, Run};
use super::site::{Site, probe};
use crate::live::LiveHub;
use crate::records::to_parquet;
use crate::store::{BeginPoint, FinishPoint, now_ms};
use crate::studio::cards;
use crate::studio::engines::sentence;
use crate::studio::views::point_view;

/// Tokens asked for by requests that were sent and did not succeed: the engine may still be at them.
fn given_up(run: &PointRun) -> Vec<u32> {
    let given_up = run
        .records
        .iter()
        .filter(|it| it.sent.is_some() && !it.is_ok());
    given_up.map(|it| it.output_tokens_asked).collect()
}

impl Run<'_> {
    /// Measures one point and stores it whole.
    pub async fn measure_point(&mut self, site: &mut Site, index: usize) -> Result<(), Halt> {
        let mut plan = self.plan_point(site, index).await?;
        let made = std::mem::take(&mut plan.made);
        // An engine that is gone is noticed here: there is no sense in measuring nothing.
        let now = probe(&site.endpoint, site.wire.clone()).await?;
        self.same_engine(site, &now)?;
        let reset = self.cool_cache(site).await?;
        if let Some(managed) = &mut site.managed {
            managed.used = true;
        }
        self.check_halted()?;
        self.begin(index).await?;
        let sharing = Sharing::of(&plan);
        let beside = self.look_beside(site).await;
        let halted = self.control.halted.child_token();
        let doom = self.doom(&halted);
        let watch = Arc::new(self.feed(index, beside.begun(), doom));
        let point = self.model.points[index].id;
        self.control.under_load(point, halted.clone());
        let run = run_point(&site.engine, plan, watch, halted.clone());
        let run = match &site.managed {
            Some(managed) => managed.watch(&halted, run).await,
            None => Ok(run.await),
        };
        let skipped = self.control.relieved();
        let mut run = run?.map_err(|cause| {
            Halt::Failed(format!(
                "The point could not be measured: {}.",
                sentence(&cause)
            ))
        })?;
        if self.control.halted.is_cancelled() {
            return Err(Halt::Wanted);
        }
        let planned = run.records.len();
        if run.stopped {
            // Given up above capacity, or skipped: what had not come due is no part of its schedule.
            run.leave_out_undue();
        }
        let (seen, metrics) = beside.end().await;
        let exchange = exchanged(site).await;
        let left_over = std::mem::replace(&mut self.left_over, given_up(&run));
        let around = Around {
            made,
            besides: [&sharing.warmup[..], &left_over].concat(),
            sharing,
            seen,
            metrics,
            exchanged: exchange.as_ref().map(Exchange::sentence),
        };
        // One that ended by itself before it could be skipped is whole.
        let cache = if skipped && run.stopped {
            self.finish_skipped(index, (run, planned), around).await?
        } else {
            self.finish(index, run, around).await?
        };
        if let Some(exchange) = exchange {
            self.remember_exchange(site.configuration, exchange).await?;
        }
        self.remember_cache(site.configuration, cache.cold(reset))
            .await
    }

    async fn begin(&mut self, index: usize) -> Result<(), Halt> {
        let started_ms = now_ms();
        let point = &mut self.model.points[index];
        (point.state, point.started_ms) = (PointState::Running, Some(started_ms));
        let (point, event) = (point.id, self.point_event(index));
        let begin = BeginPoint {
            study: self.model.study.id,
            point,
            started_ms,
            event: &event,
        };
        let number = self.parts.store.begin_point(&begin).await?;
        self.announce(number, event);
        Ok(())
    }

    pub fn point_event(&self, index: usize) -> LiveEvent {
        let point = &self.model.points[index];
        let ceilings = Box::new(self.model.ceilings(point.configuration));
        LiveEvent::Point {
            point: Box::new(point_view(point)),
            ceilings,
            remaining_ms: self.tell_left(),
        }
    }

    /// Gives points of an adaptive sweep up once their backlog climbs: they are an upper end, and take time for nothing.
    fn doom(&self, halted: &CancellationToken) -> Option<Mutex<(Doom, CancellationToken)>> {
        let adaptive = self.model.study.spec.adaptive.is_some();
        adaptive.then(|| Mutex::new((Doom::default(), halted.clone())))
    }

    fn feed(
        &self,
        index: usize,
        begun: Arc<Begun>,
        doom: Option<Mutex<(Doom, CancellationToken)>>,
    ) -> Feed {
        Feed {
            live: self.parts.live.clone(),
            study: self.model.study.id,
            point: self.model.points[index].id,
            left: self.left_under_load(index),
            control: self.control.clone(),
            begun,
            doom,
        }
    }

    /// The part of a point that is counted, where that is not all of it.
    fn steady(&self, index: usize, run: &PointRun) -> Result<Steady, Halt> {
        let ramp_in = Duration::from_millis(self.model.study.spec.ramp_in_ms);
        if self.model.points[index].level == Level::Inf {
            // Everything is due at the start.
            return Ok(None);
        }
        let steady = run.steady(ramp_in);
        let left = |(from, _)| run.records.iter().any(|it| from <= it.scheduled);
        if steady.is_none_or(left) {
            return Ok(steady);
        }
        Err(Halt::Failed(format!(
            "Every request of the point was due within its ramp-in of {} s, so that none would be counted. Launch the study with longer points or a shorter ramp-in.",
            ramp_in.as_secs_f64()
        )))
    }

    /// Works out the point's numbers, off the server's threads.
    async fn work_out(
        &self,
        index: usize,
        run: PointRun,
        steady: Steady,
        around: Around,
    ) -> Result<Measured, Halt> {
        let spec = &self.model.study.spec;
        let discipline = discipline(spec.arrival, self.model.points[index].level);
        let slo = spec.slo.clone();
        let data_dir = self.parts.data_dir.clone();
        let worked = tokio::task::spawn_blocking(move || {
            let calibration = crate::calibration::read(&data_dir);
            Measured::of(&run, steady, (discipline, &slo), calibration, around)
        })
        .await;
        match worked {
            Ok(Ok(measured)) => Ok(measured),
            Ok(Err(cause)) => Err(Halt::Failed(format!(
                "The point's records cannot be written: {}.",
                sentence(&cause)
            ))),
            Err(_) => Err(Halt::Failed(
                "The point's numbers could not be worked out; the log says why.".into(),
            )),
        }
    }

    /// Stores a measured point in one transaction, then announces it.
    async fn finish(&mut self, index: usize, run: PointRun, around: Around) -> Result<Cache, Halt> {
        let started_ms = run.started_unix_ms;
        let steady = self.steady(index, &run)?;
        let counted = steady.map_or(&run.records[..], |window| run.within(window));
        let made = Made {
            steady_ns: steady,
            input_tokens: InputTokens::of(counted),
            ..around.made.clone()
        };
        let Measured {
            summary,
            certificate,
            judgement,
            scores,
            records,
            evidence,
            metrics,
        } = self.work_out(index, run, steady, around).await?;
        let before = self.model.points[index].clone();
        let point = &mut self.model.points[index];
        (point.state, point.started_ms, point.finished_ms) =
            (PointState::Finished, Some(started_ms), Some(now_ms()));
        (point.summary, point.certificate, point.judgement) = (
            Some(summary.clone()),
            Some(certificate.clone()),
            Some(judgement.clone()),
        );
        point.made = Some(made.clone());
        let (point, configuration) = (point.id, point.configuration);
        let ceilings = self.model.ceilings(configuration);
        let event = self.point_event(index);
        let finish = FinishPoint {
            study: self.model.study.id,
            configuration,
            point,
            started_ms,
            summary: &summary,
            certificate: &certificate,
            judgement: &judgement,
            made: &made,
            scores: &scores,
            records: &records,
            evidence: Some(&evidence),
            metrics: metrics.as_deref(),
            ceilings: &ceilings,
            event: &event,
        };
        match self.parts.store.finish_point(&finish).await {
            Ok(number) => {
                self.announce(number, event);
                cards::keep_or_log(&self.parts.store, &self.model).await;
            }
            Err(cause) => {
                // What is not stored was not measured.
                self.model.points[index] = before;
                return Err(cause.into());
            }
        }
        Ok(evidence.cache)
    }
}

/// The part of a point that is counted; `None` where that is all of it.
type Steady = Option<(Nanos, Nanos)>;

/// What a measured point comes to.
struct Measured {
    summary: Summary,
    certificate: Certificate,
    judgement: Judgement,
    scores: Vec<u8>,
    records: Vec<u8>,
    evidence: Evidence,
    metrics: Option<Vec<u8>>,
}

impl Measured {
    fn of(
        run: &PointRun,
        steady: Steady,
        (discipline, slo): (Discipline, &Slo),
        calibration: Option<Calibration>,
        around: Around,
    ) -> Result<Self, parquet::errors::ParquetError> {
        let counted = steady.map_or(&run.records[..], |window| run.within(window));
        let scores: Vec<Score> = counted.iter().map(Score::from).collect();
        let summary = summarize(counted, discipline, Failures::AsInfinity);
        let mut certificate = certify(counted, run.client);
        if let Some(calibration) = calibration {
            let demand = Demand::of(counted, &summary);
            certificate = certificate.calibrated(&calibration, demand);
        }
        let evidence = around.evidence(&run.records);
        certificate = certificate.with(evidence.findings());
        let exchanged = around.exchanged.into_iter();
        certificate = certificate.with(exchanged.map(|it| (Innocence::Void, it)).collect());
        let judgement = judge(&scores, &summary, slo);
        Ok(Self {
            judgement,
            summary,
            certificate,
            scores: encode(&scores),
            records: to_parquet(&run.records)?,
            evidence,
            metrics: around.metrics,
        })
    }
}

/// Passes a point's progress on to browsers. Called from the load's threads: never waits.
struct Feed {
    live: Arc<LiveHub>,
    study: Uuid,
    point: Uuid,
    left: UnderLoad,
    control: Arc<Control>,
    /// Whoever looks beside the point.
    begun: Arc<Begun>,
    /// What ends it where it is above capacity, and how.
    doom: Option<Mutex<(Doom, CancellationToken)>>,
}

impl Feed {
    fn watch(&self, now: &load::Progress) {
        // One thread tells of progress, so nobody waits here.
        let Some(Ok(mut doom)) = self.doom.as_ref().map(Mutex::lock) else {
            return;
        };
        let at = now.elapsed_ms as f64 / 1000.0;
        if doom.0.see(at, now.sent, now.in_flight, now.first_ended) {
            doom.1.cancel();
        }
    }
}

impl Observer for Feed {
    fn began(&self, zero: Instant) {
        self.begun.at(zero);
    }

    fn progress(&self, now: load::Progress) {
        self.watch(&now);
        let load::Progress {
            elapsed_ms,
            scheduled,
            sent,
            in_flight,
            completed,
            failed,
            first_ended: _,
            events_per_s,
            ttft_p50_ns,
            ttft_p95_ns,
            ttft_count,
            sent_per_s,
            completed_per_s,
            failures,
        } = now;
        let ended = f64::from(completed + failed) / f64::from(scheduled.max(1));
        let estimate = self.left.at(elapsed_ms, ended);
        let remaining_ms = Some(self.control.told().passing(estimate, now_ms()));
        let failing = |it: load::Failing| Failing {
            kind: it.kind.name().to_owned(),
            count: it.count,
            first: it.first,
            latest_ms: it.latest_ms,
        };
        let progress = Progress {
            elapsed_ms,
            scheduled,
            sent,
            in_flight,
            completed,
            failed,
            events_per_s,
            ttft_p50_ns,
            ttft_p95_ns,
            ttft_count,
            sent_per_s,
            completed_per_s,
            failures: failures.into_iter().map(failing).collect(),
        };
        self.live.announce(
            self.study,
            None,
            LiveEvent::Progress {
                point: self.point,
                progress,
                remaining_ms,
            },
        );
    }
}
