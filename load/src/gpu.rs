//! GPUs while a point runs: by the driver's own library where the engine is on this host, by a DCGM exporter where one is
//! named. Where there is neither, it is said and costs nothing.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use measure::evidence::{Amount, Look, Quantity, Reading, Readings, Source, Value};
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Clock;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::scrape::{Begun, Sampler, since};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Most looks: those of three hours.
const MOST_LOOKS: usize = 10_800;

/// Where GPUs are looked at.
pub(crate) enum GpuWatch {
    /// Here, by the driver's library.
    Here(Here),
    /// By an exporter.
    Exporter(Sampler),
    /// Nowhere, and why.
    Nowhere(String),
}

/// The driver's library, opened once; why not, where there is none.
fn driver() -> Result<&'static Nvml, String> {
    static DRIVER: OnceLock<Result<Nvml, String>> = OnceLock::new();
    let opened = DRIVER.get_or_init(|| Nvml::init().map_err(|error| error.to_string()));
    opened.as_ref().map_err(Clone::clone)
}

impl GpuWatch {
    /// An exporter where one is named, else this host's GPUs where the engine is here.
    pub async fn start(
        exporter: Option<Url>,
        is_here: bool,
        engine: &[u32],
        begun: Arc<Begun>,
    ) -> Self {
        if let Some(url) = exporter {
            return Self::Exporter(Sampler::of_exporter(url, begun).await);
        }
        if !is_here {
            let why = "the engine is on another host and no DCGM exporter of it is named";
            return Self::Nowhere(why.to_owned());
        }
        let engine = engine.to_vec();
        let found = tokio::task::spawn_blocking(move || Gpus::found(&engine)).await;
        match found {
            Ok(Ok(gpus)) => Self::Here(Here::start(gpus)),
            Ok(Err(why)) => Self::Nowhere(why),
            Err(_) => Self::Nowhere("the driver could not be asked".to_owned()),
        }
    }

    /// What was seen.
    pub async fn end(self, zero: Instant) -> Look {
        match self {
            Self::Here(here) => here.end(zero).await,
            Self::Exporter(sampler) => sampler.end(zero).await.0,
            Self::Nowhere(why) => Look {
                absent: Some(why),
                ..Look::default()
            },
        }
    }
}

/// Looks at this host's GPUs.
pub(crate) struct Here {
    task: JoinHandle<Looks>,
    going_on: DropGuard,
}

/// This host's GPUs.
struct Gpus {
    driver: &'static Nvml,
    sources: Vec<Source>,
    /// Whether those that the engine uses are known.
    told_apart: bool,
}

struct Looks {
    gpus: Gpus,
    seen: Vec<(Instant, Vec<Value>)>,
}

impl Gpus {
    /// All GPUs of this host; those on which the engine's processes compute are ours.
    fn found(engine: &[u32]) -> Result<Self, String> {
        let driver = driver().map_err(|why| format!("this host has no NVIDIA driver ({why})"))?;
        let count = driver.device_count().map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("this host has no GPU".to_owned());
        }
        let computes = |index| {
            let device = driver.device_by_index(index).ok();
            let running = device.and_then(|it| it.running_compute_processes().ok());
            let mut running = running.unwrap_or_default().into_iter();
            running.any(|process| engine.contains(&process.pid))
        };
        let ours: Vec<bool> = (0..count).map(computes).collect();
        let told_apart = ours.contains(&true);
        let name = |index: u32| {
            let device = driver.device_by_index(index).ok();
            let name = device.and_then(|it| it.name().ok()).unwrap_or_default();
            format!("GPU {index} {name}").trim_end().to_owned()
        };
        let sources = (0..count).zip(ours).map(|(index, ours)| Source {
            name: name(index),
            ours: ours || !told_apart,
        });
        Ok(Self {
            driver,
            sources: sources.collect(),
            told_apart,
        })
    }

    fn values(&self) -> Vec<Value> {
        let all = 0..self.sources.len() as u32;
        all.flat_map(|index| self.values_of(index)).collect()
    }

    fn values_of(&self, index: u32) -> Vec<Value> {
        let Ok(device) = self.driver.device_by_index(index) else {
            return Vec::new();
        };
        let used = device
            .utilization_rates()
            .ok()
            .map(|it| f64::from(it.gpu) / 100.0);
        let memory = device.memory_info().ok().map(|it| it.used as f64);
        let power = device
            .power_usage()
            .ok()
            .map(|milli| f64::from(milli) / 1e3);
        let clock = device.clock_info(Clock::SM).ok().map(f64::from);
        let energy = device
            .total_energy_consumption()
            .ok()
            .map(|milli| milli as f64 / 1e3);
        let all = [
            (Quantity::GpuUse, used),
            (Quantity::GpuMemory, memory),
            (Quantity::GpuPower, power),
            (Quantity::GpuClock, clock),
            (Quantity::GpuEnergy, energy),
        ];
        let told = all.into_iter().filter_map(|(quantity, number)| {
            Some(Value {
                quantity,
                source: index,
                amount: Amount::Number(number?),
            })
        });
        told.collect()
    }
}

impl Here {
    fn start(gpus: Gpus) -> Self {
        let going_on = CancellationToken::new();
        let looks = Looks {
            gpus,
            seen: Vec::new(),
        };
        Self {
            task: tokio::spawn(watch(looks, going_on.clone())),
            going_on: going_on.drop_guard(),
        }
    }

    async fn end(self, zero: Instant) -> Look {
        let Self { task, going_on } = self;
        drop(going_on);
        match task.await {
            Ok(looks) => looks.seen(zero),
            Err(_) => Look {
                absent: Some("its looks were lost".to_owned()),
                ..Look::default()
            },
        }
    }
}

async fn watch(mut looks: Looks, going_on: CancellationToken) -> Looks {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let over = tokio::select! {
            () = going_on.cancelled() => true,
            _ = ticks.tick() => false,
        };
        // The driver may take milliseconds.
        let looked = tokio::task::spawn_blocking(move || {
            looks.look();
            looks
        });
        looks = match looked.await {
            Ok(looks) => looks,
            Err(lost) => std::panic::resume_unwind(lost.into_panic()),
        };
        if over {
            return looks;
        }
    }
}

impl Looks {
    fn look(&mut self) {
        if self.seen.len() < MOST_LOOKS {
            let values = self.gpus.values();
            self.seen.push((Instant::now(), values));
        }
    }

    fn seen(self, zero: Instant) -> Look {
        let reading = |(at, values): (Instant, Vec<Value>)| Reading {
            at_ms: since(zero, at),
            values,
        };
        let count = self.gpus.sources.len();
        let unsure = !self.gpus.told_apart && 1 < count;
        let note = format!(
            "Which of this host's {count} GPUs the engine uses is not known: energy is that of all."
        );
        Look {
            readings: Readings {
                readings: self.seen.into_iter().map(reading).collect(),
                sources: self.gpus.sources,
            },
            by: "the driver".to_owned(),
            absent: None,
            notes: unsure.then_some(note).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn where_there_is_no_gpu_it_is_said() {
        let begun = Arc::new(Begun::default());
        let far = GpuWatch::start(None, false, &[], begun.clone()).await;
        let look = far.end(Instant::now()).await;
        assert!(look.absent.is_some_and(|why| why.contains("another host")));
        let here = GpuWatch::start(None, true, &[], begun).await;
        let look = here.end(Instant::now()).await;
        // A machine with a GPU has looks instead.
        match look.absent {
            Some(why) => assert!(why.starts_with("this host has no"), "{why}"),
            None => assert!(!look.readings.sources.is_empty()),
        }
    }
}
