//! What came of one client in one scenario, and the store of all of it.

use super::clients::Client;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Three percentiles with their count, in milliseconds, interpolated linearly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    pub n: usize,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Percentiles {
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |p: f64| {
            let place = p / 100.0 * values.len().saturating_sub(1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            match (values.get(below), values.get(above)) {
                (Some(low), Some(high)) => low + (high - low) * place.fract(),
                _ => 0.0,
            }
        };
        Self {
            n: values.len(),
            p50: at(50.0),
            p95: at(95.0),
            p99: at(99.0),
        }
    }

    /// What was reported, less what was true.
    pub fn less(self, truth: Self) -> Self {
        Self {
            n: self.n,
            p50: self.p50 - truth.p50,
            p95: self.p95 - truth.p95,
            p99: self.p99 - truth.p99,
        }
    }
}

/// What a run was asked to make of requests that went wrong on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Honesty {
    pub requests: usize,
    /// Went wrong on purpose, by the server's log.
    pub wrong: usize,
    /// Without exactly one record.
    pub lost: usize,
    /// Received more than once by the server.
    pub doubled: usize,
    /// Reported ok, and were not.
    pub falsely_ok: usize,
    /// Reported failed, and were whole.
    pub falsely_failed: usize,
    /// Failed, but for another reason than the true one.
    pub misnamed: usize,
    /// With another number of events than were written.
    pub miscounted: usize,
}

/// One run of one client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Reported less true; what a client does not report is missing.
    pub ttft: Option<Percentiles>,
    pub tpot: Option<Percentiles>,
    pub itl: Option<Percentiles>,
    pub e2e: Option<Percentiles>,
    /// User and system time of the process tree in the load's window, over events.
    pub cpu_us_per_event: f64,
    pub peak_mib: f64,
    pub events: u64,
    pub events_per_s: f64,
    /// Arrivals a second at the server.
    pub rate: Option<f64>,
    /// That rate over the one of the realised schedule, less one (where the schedule is known), else over the asked one.
    pub rate_error: Option<f64>,
    pub ks: Option<f64>,
    pub ks_limit: Option<f64>,
    /// From slot to the server's network stack, p99 and median, in milliseconds.
    pub late_p50_ms: Option<f64>,
    pub late_p99_ms: Option<f64>,
    /// What the instrument says of itself.
    pub certificate: Option<String>,
    pub reasons: Vec<String>,
    pub honesty: Option<Honesty>,
    /// The server's own error: its lateness behind its deadlines, p99.
    pub server_late_p99_ms: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p99 = |error: &Option<Percentiles>| {
            error.map_or("-".to_owned(), |error| format!("{:.3}", error.p99))
        };
        write!(
            f,
            "error p99: TTFT {} ITL {} ms; {:.1} us/event, {:.0} events/s, {:.0} MiB",
            p99(&self.ttft),
            p99(&self.itl),
            self.cpu_us_per_event,
            self.events_per_s,
            self.peak_mib
        )?;
        if let (Some(rate), Some(ks)) = (self.rate, self.ks) {
            write!(f, "; {rate:.2} req/s, KS {ks:.3}")?;
        }
        if let Some(late) = self.late_p99_ms {
            write!(f, ", late p99 {late:.3} ms")?;
        }
        if let Some(certificate) = &self.certificate {
            write!(f, "; {certificate} {}", self.reasons.join(" "))?;
        }
        if let Some(honesty) = &self.honesty {
            write!(f, "; {honesty:?}")?;
        }
        Ok(())
    }
}

/// All figures, kept between calls so that scenarios can be run one at a time.
#[derive(Default)]
pub struct Store {
    path: PathBuf,
    /// By scenario and client.
    runs: BTreeMap<String, BTreeMap<Client, Vec<Measured>>>,
}

impl Store {
    /// Judged by another server, figures are kept apart.
    pub fn open(other_server: bool) -> anyhow::Result<Self> {
        let name = if other_server { "other" } else { "own" };
        let path = crate::paths::at(&format!("target/bench/results-{name}.json"));
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let runs = match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is not ours: remove it", path.display()))?,
            Err(_) => BTreeMap::new(),
        };
        Ok(Self { path, runs })
    }

    pub fn put(&mut self, scenario: &str, client: Client, runs: Vec<Measured>) {
        self.runs
            .entry(scenario.to_owned())
            .or_default()
            .insert(client, runs);
    }

    pub fn save(&self) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec_pretty(&self.runs)?;
        std::fs::write(&self.path, bytes)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// The runs of a client in a scenario.
    pub fn runs(&self, scenario: &str, client: Client) -> &[Measured] {
        self.runs
            .get(scenario)
            .and_then(|clients| clients.get(&client))
            .map_or(&[], Vec::as_slice)
    }

    /// The median over rounds of a figure.
    pub fn median(
        &self,
        scenario: &str,
        client: Client,
        of: impl Fn(&Measured) -> Option<f64>,
    ) -> Option<f64> {
        let values: Vec<f64> = self.runs(scenario, client).iter().filter_map(of).collect();
        (!values.is_empty()).then(|| Percentiles::of(values).p50)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        let three = Percentiles::of(vec![30.0, 10.0, 20.0]);
        assert_eq!((three.p50, three.p95, three.p99), (20.0, 29.0, 29.8));
        assert_eq!(Percentiles::of(Vec::new()).n, 0);
    }
}
