//! One start after another.
//!
//! A ramp is a Poisson process whose clock runs faster where the rate is higher: unit-rate gaps are summed, and each sum
//! is taken back to the time by which so many arrivals are expected. Exact at every rate, with one draw a start.

use crate::sampling::Draws;
use crate::units::Nanos;

use super::Arrival;

/// Starts without end, in order.
pub(super) struct Process {
    arrival: Arrival,
    rate: f64,
    /// Seconds over which a ramp goes; at its end the level's rate is reached and kept.
    span: f64,
    draws: Draws,
    index: u64,
    /// The sum of the gaps; of a ramp's, in expected arrivals.
    sum: f64,
}

impl Process {
    pub(super) fn new(arrival: Arrival, rate: f64, span: f64, seed: u64) -> Self {
        Self {
            arrival,
            rate,
            span,
            draws: Draws::new(seed),
            index: 0,
            sum: 0.0,
        }
    }

    fn next_seconds(&mut self) -> f64 {
        match self.arrival {
            Arrival::Constant => {
                let at = self.index as f64 / self.rate;
                self.index += 1;
                return at;
            }
            Arrival::Poisson => self.sum += self.draws.exponential(self.rate),
            Arrival::Gamma(burstiness) => {
                let shape = burstiness.shape();
                self.sum += self.draws.gamma(shape) / (shape * self.rate);
            }
            Arrival::LinearRamp { from } => {
                self.sum += self.draws.exponential(1.0);
                let ends = linear_end(from.per_second(), self.rate, self.span);
                return self.climbed(ends, |sum| {
                    linear(from.per_second(), self.rate, self.span, sum)
                });
            }
            Arrival::ExponentialRamp { from } => {
                self.sum += self.draws.exponential(1.0);
                let ends = mean_rate(self.arrival, self.rate) * self.span;
                return self.climbed(ends, |sum| {
                    exponential(from.per_second(), self.rate, self.span, sum)
                });
            }
        }
        self.sum
    }

    /// The time by which `sum` arrivals are expected: on the ramp as `on_it` says, after it at the level's rate.
    fn climbed(&self, ends: f64, on_it: impl Fn(f64) -> f64) -> f64 {
        if self.sum < ends {
            on_it(self.sum)
        } else {
            self.span + (self.sum - ends) / self.rate
        }
    }
}

impl Iterator for Process {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        Some(Nanos::from_secs_f64(self.next_seconds()))
    }
}

/// Starts per second on average over a ramp; elsewhere the rate itself.
pub(super) fn mean_rate(arrival: Arrival, rate: f64) -> f64 {
    match arrival {
        Arrival::Poisson | Arrival::Constant | Arrival::Gamma(_) => rate,
        Arrival::LinearRamp { from } => (from.per_second() + rate) / 2.0,
        Arrival::ExponentialRamp { from } => {
            let growth = (rate / from.per_second()).ln();
            if growth.abs() < 1e-9 {
                rate
            } else {
                (rate - from.per_second()) / growth
            }
        }
    }
}

fn linear_end(from: f64, to: f64, span: f64) -> f64 {
    (from + to) / 2.0 * span
}

/// Solves `from t + (to - from) t^2 / (2 span) = sum` for the time, in the form that does not cancel.
fn linear(from: f64, to: f64, span: f64, sum: f64) -> f64 {
    let under = from * from + 2.0 * (to - from) * sum / span;
    2.0 * sum / (from + under.max(0.0).sqrt())
}

/// Solves `from span / g (e^(g t / span) - 1) = sum` for the time, where `g = ln(to / from)`.
fn exponential(from: f64, to: f64, span: f64, sum: f64) -> f64 {
    let growth = (to / from).ln();
    if growth.abs() < 1e-9 {
        return sum / from;
    }
    span / growth * (growth * sum / (from * span)).ln_1p()
}
