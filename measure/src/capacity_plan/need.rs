//! What is asked for, as a form or a query has it.

use serde::{Deserialize, Serialize};

use crate::decimal;

/// Left free where nobody says how much.
const USUAL_HEADROOM: f64 = 20.0;
/// Most GPUs of a replica.
const MOST_GPUS: f64 = 1024.0;

/// A demand, and what machines cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Arrivals per second, in the unit of the study's rates.
    pub demand: Option<f64>,
    /// Share of the ceiling that is left free, 0 to below 1.
    pub headroom: f64,
    /// Price of one GPU for an hour, in any currency.
    pub price: Option<f64>,
    /// GPUs of one replica.
    pub gpus: u32,
}

/// A field that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {allowed}, got {got:?}")]
pub struct NeedError {
    /// Which.
    pub field: &'static str,
    /// What it may be.
    pub allowed: &'static str,
    /// What it is.
    pub got: String,
}

impl Need {
    /// The fields of a query, in the order of the form: `demand`, `headroom` (in percent), `price`, `gpus`.
    pub const FIELDS: [&'static str; 4] = ["demand", "headroom", "price", "gpus"];

    /// Reads a query; fields that are missing or empty are not asked for, or have their usual value.
    pub fn read(get: &dyn Fn(&str) -> Option<String>) -> Result<Self, NeedError> {
        let number = |field, allowed, within: fn(f64) -> bool| {
            let text = get(field).filter(|text| !text.trim().is_empty());
            text.map(|text| {
                let number = decimal::parse(text.trim()).filter(|it| it.is_finite() && within(*it));
                number.ok_or(NeedError {
                    field,
                    allowed,
                    got: text,
                })
            })
            .transpose()
        };
        let above_zero = "a number above 0";
        let headroom = number("headroom", "percent, from 0 to 95", |it| {
            (0.0..=95.0).contains(&it)
        })?;
        let gpus = number("gpus", "a whole number from 1 to 1024", |it| {
            (1.0..=MOST_GPUS).contains(&it) && it.fract() == 0.0
        })?;
        Ok(Self {
            demand: number("demand", above_zero, |it| (1e-6..=1e9).contains(&it))?,
            headroom: headroom.unwrap_or(USUAL_HEADROOM) / 100.0,
            price: number("price", above_zero, |it| (1e-9..=1e9).contains(&it))?,
            gpus: gpus.unwrap_or(1.0) as u32,
        })
    }
}
