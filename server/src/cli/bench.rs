//! `goodput bench`: one point, without a server.

mod about; // what a run was
mod beside; // what the engine said meanwhile
mod counter; // progress, for people
mod fields; // what requests say beside the usual
mod gate; // its exit status
mod key; // whose key is sent
mod lengths; // who counts tokens
mod promise; // whether an SLO was kept
mod report; // what scripts and people read
mod rules; // what other tools would have said
mod traffic; // what is sent and when
mod why; // why it is slow
mod wire; // how the engine is reached

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use load::address::AddressError;
use load::dialect::Quirks;
use load::tokens::Counting;
use load::{
    Begun, Engine, EngineError, EngineOptions, InputTokens, PointPlan, PointRun, PointSpec, Probe,
    ProbeError, Wire,
};
use measure::certificate::ClientEvidence;
use measure::request::RequestRecord;
use measure::slo::Slo;
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use measure::units::{Nanos, Seed, three_digits};
use measure::workload::Workload;
use tokio_util::sync::CancellationToken;

use super::out::{self, Out};
use super::{BAD_ARGUMENTS, Ended, FAILED, Failure, STOPPED, asked_to_end};
use crate::studio::engines::base_url;
use beside::{Looks, Metrics};
use counter::Counter;
use fields::FieldArgs;
use key::KeyArgs;
use lengths::LengthArgs;
use promise::{Promise, above_capacity};
use report::{Report, Whole};
use rules::{ByRules, Tools};
use traffic::{Bounds, Traffic};
use why::Why;
use wire::WireArgs;

/// The engine cannot be used: not there, wrong model, refuses, does not stream.
const NOT_USABLE: u8 = 3;
/// An engine that says nothing for so long when it is asked who it is.
const PROBE_LIMIT: Duration = Duration::from_secs(15);

#[derive(Args, Debug)]
#[command(after_help = gate::STATUSES)]
pub(super) struct BenchArgs {
    /// The engine's base URL, with or without /v1
    #[arg(long)]
    url: String,
    /// The dialect to speak
    #[arg(long, value_name = "DIALECT", default_value = Api::default().name(), value_parser = dialects())]
    api: Api,
    /// The model to ask for [default: the only one the engine serves]
    #[arg(long)]
    model: Option<String>,
    #[command(flatten)]
    traffic: Traffic,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    lengths: LengthArgs,
    /// Everything random follows from it
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Requests before the clock starts; they are in no figure
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=10_000))]
    warmup: u32,
    /// A stream silent for so long has failed
    #[arg(long, default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout_ms: u64,
    /// Requests still in flight so long after the last was due are given up
    #[arg(long, default_value_t = 3_600_000)]
    drain_ms: u64,
    #[command(flatten)]
    wire: WireArgs,
    #[command(flatten)]
    key: KeyArgs,
    /// Another header to send (again for more)
    #[arg(long, value_name = "K: V", value_parser = wire::parse_header)]
    header: Vec<(String, String)>,
    /// Look at the engine's own metrics, GPUs and this host beside the run; auto: where the engine has its page, else the page's URL
    #[arg(long, value_name = "auto|URL", value_parser = beside::parse)]
    metrics: Option<Metrics>,
    /// Do not ask the engine who it is first
    #[arg(long)]
    no_probe: bool,
    /// Judge the run by this SLO: 'ttft:p95<500ms tpot:p95<50ms attain>=95%'
    #[arg(long)]
    slo: Option<Slo>,
    /// Let the exit status say whether the SLO is kept: 0 kept, 4 broken, 5 cannot tell, each with 95 % certainty
    #[arg(long, requires = "slo")]
    gate: bool,
    /// Tell the figures by another tool's rules as well, beside the own, and why they differ: vllm, sglang, guidellm, aiperf, mlperf, or all
    #[arg(long, value_name = "TOOL,...|all", value_delimiter = ',', value_parser = rules::parse)]
    rules: Vec<Tools>,
    /// Say why the run is slow, as far as its figures tell, and which knob to turn first; --metrics lets it tell more
    #[arg(long)]
    diagnose: bool,
    /// Keep the answers in the JSON file
    #[arg(long)]
    text: bool,
    /// Write summary and records to this file; - writes them to standard output, and what people read to standard error
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

pub(super) async fn bench(args: BenchArgs) -> Ended {
    let checked = args.checked();
    let (workload, bounds, out) = checked.map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let began = jiff::Timestamp::now();
    let Reached {
        endpoint,
        wire,
        quirks,
        probe,
    } = args.endpoint().await?;
    let engine = connect(&args, &endpoint, wire.clone())?;
    let (reached, asks) = ((&endpoint, &wire), !args.no_probe);
    let counting = args.lengths.counting(&engine, (reached, quirks), asks);
    let counting = counting.await?;
    let mut plan = plan(&args, (&workload, bounds), (&endpoint, quirks), &counting)?;
    let (discipline, mut made) = (plan.discipline, std::mem::take(&mut plan.made));
    let planned = plan.requests();
    let looks = Looks::start(args.metrics.as_ref(), reached, &engine, &plan).await;
    let run = run(&engine, plan, looks.as_ref().map(Looks::begun)).await?;
    let evidence = match looks {
        Some(looks) => Some(looks.end(&run, &made).await),
        None => None,
    };
    made.steady_ns = args.traffic.steady(&run);
    let all = &run.records[..];
    let counted = made.steady_ns.map_or(all, |window| run.within(window));
    made.input_tokens = InputTokens::of(counted);
    let report = args.report(counted, run.client, discipline);
    let report = report.beside(evidence.as_ref());
    let slo = args.slo.clone();
    let promise = slo.map(|slo| Promise::of(slo, counted, report.summary()));
    let part = (counted, made.steady_ns.map_or(Nanos::ZERO, |it| it.0));
    let by_rules = ByRules::of(&args.rules, part, report.summary(), promise.as_ref());
    let known = (evidence.as_ref(), probe.as_ref());
    let why = Why::of(args.diagnose, counted, &report, known);
    let stopped = run.stopped.then(|| stopped_early(&run, planned));
    let mut told = report.block(args.traffic.configured(&workload), args.traffic.concurrency);
    let lines = above_capacity(&report.summary().capacity).into_iter();
    let lines = lines.chain(promise.iter().flat_map(Promise::lines));
    let lines = lines.chain(evidence.iter().flat_map(beside::lines));
    let lines = lines.chain(why.lines()).chain(by_rules.lines());
    let undecided = gate::why_undecided(args.gate, promise.as_ref(), &report);
    let lines = lines.chain(made.notes()).chain(stopped).chain(undecided);
    lines.for_each(|line| told.extend([line, "\n".into()]));
    out::tell(&told, out.as_ref());
    let whole = Whole {
        report: &report,
        run: about::run(began, &endpoint, probe.as_ref()),
        promise: promise.as_ref().map(Promise::json),
        evidence: evidence.as_ref(),
        diagnosis: why.json(),
        rules: by_rules.json(),
        workload: about::workload(&args, &workload, &made),
        stopped: run.stopped,
        records: &run.records,
        with_text: args.text,
    };
    let kept = gate::kept(args.gate, promise.as_ref(), &report);
    end(out, &whole, kept)
}

impl BenchArgs {
    /// The figures of the requests that count, by the calibration of this host.
    fn report(
        &self,
        counted: &[RequestRecord],
        client: ClientEvidence,
        discipline: Discipline,
    ) -> Report {
        let calibration = self.key.calibration();
        Report::of(counted, client, discipline, calibration.as_ref())
    }
}

/// Writes what scripts read; how the run ended.
fn end(out: Option<Out>, whole: &Whole<'_>, kept: u8) -> Ended {
    if let Some(out) = out {
        out.write(|file| serde_json::to_writer(file, whole).map_err(Into::into))
            .map_err(|error| Failure::new(FAILED, error))?;
    }
    match whole.report.why_nothing() {
        _ if whole.stopped => Ok(STOPPED),
        None => Ok(kept),
        Some(why) => Err(Failure::new(FAILED, why)),
    }
}

/// Every dialect by its name.
fn dialects() -> impl TypedValueParser<Value = Api> {
    PossibleValuesParser::new(Api::ALL.map(Api::name))
        .map(|name| Api::named(&name).unwrap_or_default())
}

/// The same rule as the studio's. An address without a scheme is left to the engine's own words, which show the mend.
fn check_url(url: &str) -> Result<(), String> {
    if url.contains("://") {
        base_url(url)
            .map_err(|error| format!("--url {error}").replace("--url the URL", "--url"))?;
    }
    Ok(())
}

/// An engine, and how it is spoken to.
struct Reached {
    endpoint: Endpoint,
    wire: Wire,
    quirks: Quirks,
    /// What it said of itself, where it was asked.
    probe: Option<Probe>,
}

impl BenchArgs {
    /// What is to be sent and where the result goes, once nothing typed speaks against it.
    fn checked(&self) -> Result<(Workload, Bounds, Option<Out>), String> {
        let workload = self.traffic.workload()?;
        let bounds = self.traffic.bounds(&workload)?;
        check_url(&self.url)?;
        self.fields.check(self.api)?;
        let out = self
            .json
            .as_deref()
            .map(|it| Out::check(it, "--json"))
            .transpose()?;
        Ok((workload, bounds, out))
    }

    /// The endpoint, once the engine has said that it is one (unless nobody asks).
    async fn endpoint(&self) -> Result<Reached, Failure> {
        let model = self.model.as_deref().unwrap_or_default();
        let mut endpoint = Endpoint {
            api_key_env: self.key.api_key_env.clone(),
            api_key_secret: self.key.api_key_secret.clone(),
            headers: self.header.iter().cloned().collect::<BTreeMap<_, _>>(),
            ..Endpoint::new(&self.url, self.api, model)
        };
        let wire = self.key.give(self.wire.wire(), &endpoint);
        let wire = wire.map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
        if self.no_probe {
            let named = !endpoint.model.is_empty();
            return if named {
                Ok(Reached {
                    endpoint,
                    wire,
                    quirks: self.fields.wish(),
                    probe: None,
                })
            } else {
                Err(Failure::new(BAD_ARGUMENTS, "--no-probe needs --model"))
            };
        }
        let probe = load::probe(&endpoint, wire.clone(), PROBE_LIMIT)
            .await
            .map_err(probe_failed)?;
        endpoint.model = choose(self.model.as_deref(), &probe.models)
            .map_err(|error| Failure::new(NOT_USABLE, error))?;
        let quirks = load::quirks(&endpoint, wire.clone(), &probe, self.fields.wish())
            .await
            .map_err(|error| Failure::new(NOT_USABLE, error))?;
        let kept = self.fields.are_kept(quirks);
        kept.map_err(|error| Failure::new(NOT_USABLE, error))?;
        Ok(Reached {
            endpoint,
            wire,
            quirks,
            probe: Some(probe),
        })
    }
}

/// The model to ask for: the named one if it is served, the only one if none is named.
fn choose(named: Option<&str>, served: &[String]) -> Result<String, String> {
    match (named, served) {
        (Some(named), []) => Ok(named.to_owned()),
        (Some(named), served) if served.iter().any(|model| model == named) => Ok(named.to_owned()),
        (Some(named), served) => Err(format!(
            "the engine does not serve the model {named:?}; it serves {}",
            served.join(", ")
        )),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err("the engine names no model; name one with --model".into()),
        (None, several) => Err(format!(
            "the engine serves several models, name one with --model: {}",
            several.join(", ")
        )),
    }
}

fn plan(
    args: &BenchArgs,
    (workload, (length, duration)): (&Workload, Bounds),
    (endpoint, quirks): (&Endpoint, Quirks),
    counting: &Counting,
) -> Result<PointPlan, Failure> {
    let prefix = format!("bench-{}", args.seed);
    let spec = PointSpec {
        workload,
        data_dir: None,
        arrival: args.traffic.arrival(),
        level: args.traffic.level(workload),
        length,
        duration,
        seed: Seed(args.seed),
        warmup: args.warmup,
        api: endpoint.api,
        model: &endpoint.model,
        quirks,
        counter: counting.counter.as_ref(),
        drain: Duration::from_millis(args.drain_ms),
        request_id_prefix: &prefix,
    };
    let plan = load::plan_point(&spec).map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    Ok(PointPlan {
        concurrency: plan.concurrency.or(args.traffic.concurrency),
        made: counting.tell(plan.made),
        ..plan
    })
}

/// What a run that was stopped is a part of.
fn stopped_early(run: &PointRun, planned: usize) -> String {
    format!(
        "Stopped after {} s: {} of {planned} requests had come due, and the figures are of these.",
        three_digits(run.ended.as_secs_f64()),
        run.records.len()
    )
}

fn connect(args: &BenchArgs, endpoint: &Endpoint, wire: Wire) -> Result<Engine, Failure> {
    let options = EngineOptions {
        idle_timeout: Duration::from_millis(args.idle_timeout_ms),
        keep_text: args.text,
        wire,
        ..EngineOptions::default()
    };
    Engine::connect(endpoint, options).map_err(connect_failed)
}

async fn run(
    engine: &Engine,
    plan: PointPlan,
    begun: Option<Arc<Begun>>,
) -> Result<PointRun, Failure> {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let watch_keys = tokio::spawn(async move {
        asked_to_end().await;
        stopping.cancel();
    });
    let run = load::run_point(engine, plan, Arc::new(Counter { begun }), stop).await;
    watch_keys.abort();
    let mut run = run.map_err(|error| Failure::new(NOT_USABLE, error))?;
    if run.stopped {
        run.leave_out_undue();
    }
    Ok(run)
}

fn probe_failed(error: ProbeError) -> Failure {
    match error {
        ProbeError::Endpoint(error) => connect_failed(error),
        other => Failure::new(NOT_USABLE, other),
    }
}

fn connect_failed(error: EngineError) -> Failure {
    let status = match &error {
        EngineError::Address(AddressError::Unresolved { .. }) => NOT_USABLE,
        EngineError::Client(_) | EngineError::Runtime(_) => FAILED,
        _ => BAD_ARGUMENTS,
    };
    Failure::new(status, error)
}

#[cfg(test)]
mod tests;
