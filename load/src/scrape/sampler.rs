//! A look at a page once a second, from before a point until after it: never on the threads that make the load.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use measure::evidence::{Look, Quantity, Reading, Readings, Value, Whose};
use measure::study::Endpoint;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::address::{Address, Got, Unread};
use super::kept::Kept;
use super::names;
use super::page::{Page, Reader};
use crate::engine::Wire;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// An engine counts a request a little after its last token has left.
const SETTLE: Duration = Duration::from_millis(200);
/// Looks after the end while the engine still says that it is busy.
const LAST_LOOKS: u32 = 3;
/// Most looks: those of three hours.
const MOST_LOOKS: usize = 10_800;

/// Tells samplers that the clock of their point has started.
#[derive(Debug, Default)]
pub struct Begun {
    zero: OnceLock<Instant>,
    told: Notify,
}

impl Begun {
    /// The clock starts at this moment.
    pub fn at(&self, zero: Instant) {
        let _ = self.zero.set(zero);
        self.told.notify_one();
    }

    /// The moment; now where nobody told.
    pub fn zero(&self) -> Instant {
        self.zero.get().copied().unwrap_or_else(Instant::now)
    }
}

/// Looks at one page.
pub struct Sampler {
    task: Option<JoinHandle<Looks>>,
    /// Dropping it ends the looks.
    going_on: Option<DropGuard>,
    /// What is known where there is nothing to look at.
    absent: String,
}

/// What was seen of a page, and its text, compressed.
pub type Sampled = (Look, Option<Vec<u8>>);

impl Sampler {
    /// Looks at an engine's page: at once, then once a second.
    pub async fn of_engine(endpoint: &Endpoint, wire: &Wire, begun: Arc<Begun>) -> Self {
        let address = match Address::of_engine(endpoint, wire).await {
            Ok(address) => address,
            Err(error) => {
                return Self::nothing(format!("its /metrics cannot be asked for ({error})"));
            }
        };
        // TensorRT-LLM has it elsewhere, and something else at the usual place.
        let other = address.at(&endpoint.url, "prometheus/metrics").ok();
        Self::start([Some(address), other], &endpoint.model, begun).await
    }

    /// Looks at an exporter's page.
    pub async fn of_exporter(url: Url, begun: Arc<Begun>) -> Self {
        Self::elsewhere(url, "", begun).await
    }

    /// Looks at a page that stands somewhere else than under its engine's URL. The engine's headers and key do not go there.
    pub async fn elsewhere(url: Url, model: &str, begun: Arc<Begun>) -> Self {
        match Address::of_exporter(url).await {
            Ok(address) => Self::start([Some(address), None], model, begun).await,
            Err(error) => Self::nothing(format!("the exporter cannot be asked ({error})")),
        }
    }

    /// There is nothing to look at.
    pub fn nothing(absent: String) -> Self {
        Self {
            task: None,
            going_on: None,
            absent,
        }
    }

    async fn start(addresses: [Option<Address>; 2], model: &str, begun: Arc<Begun>) -> Self {
        let mut looks = Looks::new(model);
        let mut found = None;
        let mut why = None;
        for address in addresses.into_iter().flatten() {
            let not_here = match address.get().await {
                Ok(got) if looks.take(&got) => None,
                // Somebody is busy just now: the place is the right one.
                Err(Unread::Slow) => None,
                Ok(_) => Some(no_names()),
                Err(unread) => Some(no_page(&unread)),
            };
            if not_here.is_none() {
                found = Some(address);
                break;
            }
            why = why.or(not_here);
        }
        let Some(address) = found else {
            return Self::nothing(why.unwrap_or_default());
        };
        let going_on = CancellationToken::new();
        let task = tokio::spawn(sample(address, looks, begun, going_on.clone()));
        Self {
            task: Some(task),
            going_on: Some(going_on.drop_guard()),
            absent: String::new(),
        }
    }

    /// Takes a last look; all that was seen, on a clock that starts at `zero`.
    pub async fn end(mut self, zero: Instant) -> Sampled {
        drop(self.going_on.take());
        let Some(task) = self.task.take() else {
            return nothing_seen(self.absent);
        };
        match task.await {
            Ok(looks) => looks.seen(zero),
            Err(_) => nothing_seen("its looks were lost".into()),
        }
    }
}

fn nothing_seen(absent: String) -> Sampled {
    let look = Look {
        absent: Some(absent),
        ..Look::default()
    };
    (look, None)
}

fn no_page(unread: &Unread) -> String {
    match unread {
        Unread::Status(status @ (401 | 403)) => {
            format!("its /metrics refuses us (status {status})")
        }
        Unread::Status(status) => format!(
            "the engine has no /metrics (status {status}; SGLang has one with --enable-metrics, llama.cpp with --metrics)"
        ),
        other => format!("its /metrics cannot be read ({other})"),
    }
}

fn no_names() -> String {
    format!(
        "its /metrics has no name that is known here (none begins with {})",
        names::prefixes()
    )
}

async fn sample(
    address: Address,
    mut looks: Looks,
    begun: Arc<Begun>,
    going_on: CancellationToken,
) -> Looks {
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = going_on.cancelled() => break,
            // What warmed up has ended, and nothing of the point has come.
            () = begun.told.notified() => {}
            _ = ticks.tick() => {}
        }
        looks.look(&address).await;
    }
    for _ in 0..LAST_LOOKS {
        tokio::time::sleep(SETTLE).await;
        looks.look(&address).await;
        if !looks.is_busy() {
            break;
        }
    }
    looks
}

/// What was seen so far.
struct Looks {
    reader: Reader,
    read: Vec<(Instant, Vec<Value>)>,
    kept: Kept,
    failed: usize,
    why: Option<Unread>,
    malformed: usize,
}

impl Looks {
    fn new(model: &str) -> Self {
        Self {
            reader: Reader::new(model),
            read: Vec::new(),
            kept: Kept::new(),
            failed: 0,
            why: None,
            malformed: 0,
        }
    }

    async fn look(&mut self, address: &Address) {
        if MOST_LOOKS <= self.read.len() {
            return;
        }
        match address.get().await {
            Ok(got) => {
                self.take(&got);
            }
            Err(why) => {
                self.failed += 1;
                self.why = Some(why);
            }
        }
    }

    /// Takes a page in; whether there is anything on it.
    fn take(&mut self, got: &Got) -> bool {
        let Page {
            values, malformed, ..
        } = self.reader.read(&got.text);
        if values.is_empty() {
            return false;
        }
        self.malformed = self.malformed.max(malformed);
        self.kept.push(&got.text, got.took);
        // What all others are held against may be as late as its answer: a slow page may have counted the point's first requests.
        let late = if self.read.is_empty() {
            got.took / 2
        } else {
            Duration::ZERO
        };
        self.read.push((got.at + late, values));
        true
    }

    fn is_busy(&self) -> bool {
        let last = self.read.last().map_or(&[][..], |(_, values)| values);
        let reading = Reading {
            at_ms: 0,
            values: last.to_vec(),
        };
        let readings = Readings {
            sources: Vec::new(),
            readings: vec![reading],
        };
        [Quantity::Running, Quantity::Waiting]
            .into_iter()
            .any(|it| readings.gauge(it, Whose::Ours).first().copied().flatten() > Some(0.0))
    }

    fn seen(self, zero: Instant) -> Sampled {
        let mut notes = self.notes();
        let reading = |(at, values): (Instant, Vec<Value>)| Reading {
            at_ms: since(zero, at),
            values,
        };
        let nothing = self.read.is_empty();
        let (raw, left_out) = self.kept.end();
        if 0 < left_out {
            notes.push(format!(
                "The text of the last {left_out} looks was not kept: there was too much of it."
            ));
        }
        let look = Look {
            absent: nothing.then(|| self.why.as_ref().map_or_else(no_names, no_page)),
            by: self.reader.engines(),
            readings: Readings {
                readings: self.read.into_iter().map(reading).collect(),
                sources: self.reader.into_sources(),
            },
            notes,
        };
        (look, raw)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(why) = &self.why {
            let all = self.failed + self.read.len();
            notes.push(format!("{} of {all} looks failed: {why}.", self.failed));
        }
        if 0 < self.malformed {
            notes.push(format!(
                "{} lines of its page could not be read.",
                self.malformed
            ));
        }
        notes
    }
}

/// Milliseconds on the point's clock, negative before its start.
pub(crate) fn since(zero: Instant, at: Instant) -> i64 {
    let after = at.saturating_duration_since(zero).as_millis();
    let before = zero.saturating_duration_since(at).as_millis();
    i64::try_from(after).unwrap_or(i64::MAX) - i64::try_from(before).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_first_look_is_as_late_as_its_answer() {
        let zero = Instant::now();
        let took = Duration::from_millis(1800);
        let mut looks = Looks::new("m");
        // Asked 0.9 s before the clock starts, answered as long after it.
        for after in [0, 2] {
            let got = Got {
                text: "vllm:num_requests_running 1\n".to_owned(),
                at: zero + Duration::from_secs(after),
                took,
            };
            assert!(looks.take(&got));
        }
        let (look, _) = looks.seen(zero);
        let at_ms: Vec<i64> = look.readings.readings.iter().map(|it| it.at_ms).collect();
        assert_eq!(at_ms, [900, 2000]);
    }
}
