//! What a run sends, and when: the workload, its lengths, its arrivals.

use std::time::Duration;

use clap::{Args, ValueEnum};
use load::PointRun;
use measure::arrival::{Arrival, Burstiness};
use measure::study::{PointLength, level_problem};
use measure::units::{Level, Nanos, Speed};
use measure::workload::{Answers, Lengths, ShareGptFilter, Trace, Workload};

mod text; // lengths, sources and windows as they are typed

use text::{Source, parse_lengths, parse_source, parse_window};

/// Most requests of a run.
const MOST: u32 = 100_000;
/// Input and output tokens of synthetic requests, and what comes after a shared prefix.
const USUAL: [u32; 3] = [1024, 128, 256];
/// Longest that a normal or log-normal length gets where nothing is said of it.
const LONGEST: u32 = 131_072;

#[derive(Args, Debug)]
pub(super) struct Traffic {
    /// Arrivals per second, or inf for all at once [default: inf; a trace's own]
    #[arg(long, value_name = "R|inf", allow_negative_numbers = true, value_parser = parse_rate)]
    rate: Option<Level>,
    /// With a rate or a trace: most requests in flight. Without: so many streams, each starting its next request when one ends
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u32).range(1..))]
    pub concurrency: Option<u32>,
    /// Spread of the starts at a rate: poisson, constant, gamma=BURSTINESS, linear-ramp=FROM or exponential-ramp=FROM (from that rate to --rate)
    #[arg(long, default_value = "poisson")]
    arrival: Arrival,
    /// Gamma gaps: below 1 in bunches, 1 Poisson, above more even. The same as --arrival gamma=B
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = parse_burstiness, conflicts_with = "arrival")]
    burstiness: Option<Burstiness>,
    /// Requests to measure [default: 100; of a trace all that are due in its window]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST)))]
    requests: Option<u32>,
    /// Seconds in which requests begin, instead of a number of requests (which then is the most)
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_seconds)]
    duration: Option<Duration>,
    /// Leave requests due in the first seconds out of the figures, while the engine fills up; they are sent and recorded
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = parse_seconds)]
    ramp_in: Option<Duration>,
    /// synthetic, shared-prefix, sharegpt-shaped, sharegpt:FILE, prompts:FILE (JSONL), or a trace: azure:FILE, mooncake:FILE, burstgpt:FILE, trace:FILE (JSONL)
    #[arg(long, value_name = "SOURCE", default_value = "synthetic", value_parser = parse_source)]
    workload: Source,
    /// Input tokens of made-up requests: N, uniform:MIN:MAX, normal:MEAN:DEVIATION[:MAX], lognormal:MEDIAN:SIGMA[:MAX] or table:FILE [default: 1024]
    #[arg(long, value_name = "LENGTHS", value_parser = parse_lengths)]
    input_tokens: Option<Lengths>,
    /// Output tokens asked of each request, in the same ways [default: 128; the data set's own]
    #[arg(long, value_name = "LENGTHS", value_parser = parse_lengths)]
    output_tokens: Option<Lengths>,
    /// Prefixes of --workload shared-prefix
    #[arg(long, value_name = "N", default_value_t = 8)]
    families: u32,
    /// Tokens of each prefix; --input-tokens come after it
    #[arg(long, value_name = "N", default_value_t = 1024)]
    prefix_tokens: u32,
    /// Share of the requests that begin with a prefix of a family
    #[arg(long, value_name = "0-1", default_value_t = 1.0)]
    prefix_share: f64,
    /// Most turns of a ShareGPT session; 1 makes single requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    turns: u32,
    /// Pause between an answer and the next turn
    #[arg(long, value_name = "MS", default_value_t = 0)]
    think_ms: u64,
    /// Answers in the history of later turns: the data set's, or what the engine really said (such runs cannot be paired)
    #[arg(long, value_enum, default_value_t = AnswersOf::DataSet)]
    answers: AnswersOf,
    /// Use rows of a file again when there are too few; how many is told
    #[arg(long)]
    allow_repeats: bool,
    /// How many times as fast as recorded a trace is replayed [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_speed, conflicts_with = "rate")]
    speed: Option<Speed>,
    /// The part of a trace: seconds after its first row, and how many [default: all]
    #[arg(long, value_name = "START[:LENGTH]", value_parser = parse_window)]
    window: Option<(u64, Option<u64>)>,
    /// Leave out rows of a trace with more tokens than this, input and output together
    #[arg(long, value_name = "N")]
    max_context: Option<u32>,
}

/// Whose answers the history carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AnswersOf {
    DataSet,
    Real,
}

/// How long a run is: by requests, or by time.
pub(super) type Bounds = (PointLength, Option<Duration>);

impl Traffic {
    pub(super) fn level(&self, workload: &Workload) -> Level {
        match (self.rate, self.concurrency, workload) {
            (None, _, Workload::Trace(_)) => self.replay(),
            // As `--request-rate inf --max-concurrency C` elsewhere: the next starts when one ends.
            (None | Some(Level::Inf), Some(streams), _) => Level::Concurrency(streams),
            (rate, _, _) => rate.unwrap_or(Level::Inf),
        }
    }

    fn replay(&self) -> Level {
        let as_recorded = || Speed::try_from(1.0).ok();
        let speed = self.speed.or_else(as_recorded);
        speed.map_or(Level::Inf, Level::Replay)
    }

    pub(super) fn arrival(&self) -> Arrival {
        self.burstiness.map_or(self.arrival, Arrival::Gamma)
    }

    /// The part of a run whose requests are counted, where that is not all of it: after the ramp-in, up to the last one due.
    pub(super) fn steady(&self, run: &PointRun) -> Option<(Nanos, Nanos)> {
        run.steady(self.ramp_in?)
    }

    pub(super) fn bounds(&self, workload: &Workload) -> Result<Bounds, String> {
        if let (Some(span), Some(rate)) = (self.duration, self.level(workload).rate()) {
            let expected = self.arrival().mean_rate(rate) * span.as_secs_f64();
            if self.requests.is_none() && f64::from(MOST) < expected {
                return Err(format!(
                    "about {expected:.0} requests would come in --duration; at most {MOST} fit in one run"
                ));
            }
        }
        let replayed = matches!(self.level(workload), Level::Replay(_));
        let all = self.duration.is_some() || replayed;
        let (least, most) = match self.requests {
            Some(requests) if self.duration.is_none() => (requests, requests),
            Some(most) => (1, most),
            None if all => (1, MOST),
            None => (100, 100),
        };
        let length = PointLength {
            min_requests: least,
            max_requests: most,
            seconds: if replayed { u32::MAX } else { 0 },
        };
        Ok((length, self.duration))
    }

    pub(super) fn workload(&self) -> Result<Workload, String> {
        self.check()?;
        let fixed =
            |given: &Option<Lengths>, tokens| given.clone().unwrap_or(Lengths::Fixed { tokens });
        let [input, output, behind] = USUAL;
        let workload = match &self.workload {
            Source::Synthetic => Workload::Synthetic {
                input: fixed(&self.input_tokens, input),
                output: fixed(&self.output_tokens, output),
            },
            Source::SharedPrefix => Workload::SharedPrefix {
                families: self.families,
                prefix_tokens: self.prefix_tokens,
                share: self.prefix_share,
                input: fixed(&self.input_tokens, behind),
                output: fixed(&self.output_tokens, output),
            },
            Source::ShareGptShaped => Workload::ShareGptShaped {
                scale: 1.0,
                max_turns: self.turns,
                think_ms: self.think_ms,
                max_context: self.max_context.unwrap_or(4096),
                answers: self.answers(),
            },
            Source::ShareGptFile(file) => Workload::ShareGptFile {
                file: file.clone(),
                max_turns: self.turns,
                think_ms: self.think_ms,
                filter: ShareGptFilter::default(),
                output_tokens: self.fixed_output()?,
                answers: self.answers(),
                repeats: self.allow_repeats,
            },
            Source::Prompts(file) => Workload::PromptFile {
                file: file.clone(),
                output: self.output_tokens.clone(),
                repeats: self.allow_repeats,
            },
            Source::Trace(format, file) => Workload::Trace(Trace {
                file: file.clone(),
                format: *format,
                start_ms: self.window.map_or(0, |(start, _)| start),
                length_ms: self.window.and_then(|(_, length)| length),
                max_context: self.max_context,
            }),
        };
        workload.check().map_err(|error| error.to_string())?;
        Ok(workload)
    }

    /// What was asked for as a rate, and of what; a ramp's two ends.
    pub(super) fn configured(&self, workload: &Workload) -> Option<(&'static str, String)> {
        let rate = self.level(workload).rate()?;
        let label = if workload.is_multi_turn() {
            "Session rate configured (1/s):"
        } else {
            "Request rate configured (RPS):"
        };
        let value = match self.arrival() {
            Arrival::LinearRamp { from } | Arrival::ExponentialRamp { from } => {
                format!("{:.2} to {rate:.2}", from.per_second())
            }
            _ => format!("{rate:.2}"),
        };
        Some((label, value))
    }

    fn answers(&self) -> Answers {
        match self.answers {
            AnswersOf::DataSet => Answers::DataSet,
            AnswersOf::Real => Answers::Real,
        }
    }

    /// Real conversations have answers of their own lengths, or all of one.
    fn fixed_output(&self) -> Result<Option<u32>, String> {
        match self.output_tokens {
            None => Ok(None),
            Some(Lengths::Fixed { tokens }) => Ok(Some(tokens)),
            Some(_) => Err("--output-tokens of a ShareGPT file must be one number, or be left out for the data set's own".into()),
        }
    }

    /// Options of another workload are refused rather than left unheard.
    fn check(&self) -> Result<(), String> {
        let source = &self.workload;
        let trace = matches!(source, Source::Trace(..));
        let sharegpt = matches!(source, Source::ShareGptShaped | Source::ShareGptFile(_));
        let made_up = matches!(source, Source::Synthetic | Source::SharedPrefix);
        let rows = matches!(source, Source::ShareGptFile(_) | Source::Prompts(_));
        let sized = made_up || rows;
        let strays = [
            (
                self.input_tokens.is_some() && !made_up,
                "--input-tokens belongs to --workload synthetic or shared-prefix; others have lengths of their own",
            ),
            (
                self.output_tokens.is_some() && !sized,
                "--output-tokens belongs to made-up requests, ShareGPT files and prompt files; others have lengths of their own",
            ),
            (
                (self.speed.is_some() || self.window.is_some()) && !trace,
                "--speed and --window belong to a trace",
            ),
            (
                self.max_context.is_some() && !trace && *source != Source::ShareGptShaped,
                "--max-context belongs to a trace or to sharegpt-shaped",
            ),
            (
                (self.turns != 1 || self.think_ms != 0 || self.answers != AnswersOf::DataSet)
                    && !sharegpt,
                "--turns, --think-ms and --answers belong to ShareGPT workloads",
            ),
            (
                self.allow_repeats && !rows,
                "--allow-repeats belongs to ShareGPT files and prompt files",
            ),
        ];
        match strays.into_iter().find(|(stray, _)| *stray) {
            Some((_, why)) => Err(why.into()),
            None => Ok(()),
        }
    }
}

fn parse_rate(text: &str) -> Result<Level, String> {
    match text.parse::<Level>() {
        Ok(Level::Concurrency(_)) => Err("a closed loop is --concurrency without --rate".into()),
        Ok(Level::Replay(_)) => Err("a trace's speed is --speed".into()),
        Ok(level) => match level_problem(level) {
            Some(why) => Err(why),
            None => Ok(level),
        },
        Err(_) => Err(format!("must be a number above 0, or inf, got {text:?}")),
    }
}

fn parse_burstiness(text: &str) -> Result<Burstiness, String> {
    let shape = text.parse::<f64>().unwrap_or(f64::NAN);
    Burstiness::try_from(shape).map_err(|error| error.to_string())
}

fn parse_speed(text: &str) -> Result<Speed, String> {
    let text = text.trim_start_matches('x');
    let factor = text.parse::<f64>().unwrap_or(f64::NAN);
    Speed::try_from(factor).map_err(|error| error.to_string())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse::<f64>()
        .ok()
        .filter(|it| 0.0 < *it && *it <= 86_400.0);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("must be seconds, above 0 and at most a day, got {text:?}"))
}

#[cfg(test)]
mod tests;
