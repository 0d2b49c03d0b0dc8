//! Draws of lengths, one uniform draw a value (inverse transform), so that a seed means the same for ever.

use crate::sampling::Draws;
use crate::units::Nanos;

use super::{Lengths, TurnLengths};

/// Percentiles of the tables of lengths.
const PERCENTILES: [f64; 25] = [
    0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0,
    80.0, 85.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.9, 100.0,
];

/// Tokens of the first user message, at [`PERCENTILES`].
const FIRST: [u32; 25] = [
    1, 11, 15, 18, 22, 25, 30, 34, 41, 48, 57, 70, 85, 104, 132, 172, 231, 353, 557, 1072, 1762,
    2315, 2950, 4089, 7398,
];

/// Tokens of a later user message (the growth of the prompt less the answer before it; negative differences, which come
/// from cut histories, count as 2).
const LATER: [u32; 25] = [
    2, 2, 5, 8, 9, 12, 14, 16, 19, 22, 25, 30, 35, 41, 50, 63, 82, 119, 223, 685, 1425, 2077, 2813,
    4063, 6999,
];

/// Tokens of an answer.
const ANSWER: [u32; 25] = [
    2, 44, 84, 130, 181, 228, 271, 312, 346, 381, 415, 453, 493, 534, 581, 628, 683, 754, 834, 920,
    975, 998, 1009, 1021, 1024,
];

/// Questions with their answers in a conversation, at percentiles 0, 1, ..., 100.
const TURNS: [u32; 101] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6,
    6, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 13,
    13, 14, 14, 15, 16, 18, 20, 23, 56,
];

/// What bounds a ShareGPT-shaped session.
pub(super) struct Limits {
    pub scale: f64,
    pub max_turns: u32,
    pub max_context: u32,
}

/// One session. All its draws are made, whatever the limits cut off, so that limits do not shift the draws of the next one.
pub(super) fn sharegpt_session(
    limits: &Limits,
    think: Nanos,
    draws: &mut Draws,
) -> Vec<TurnLengths> {
    let scaled = |tokens: f64| ((tokens * limits.scale).round() as u32).max(1);
    let mut session: Vec<TurnLengths> = Vec::new();
    let mut context: u32 = 0;
    let mut full = false;
    for turn in 0..turns(draws.uniform()) {
        let table = if turn == 0 { &FIRST } else { &LATER };
        let (mut user, mut answer) = (
            scaled(at(table, draws.uniform())),
            scaled(at(&ANSWER, draws.uniform())),
        );
        if turn == 0 {
            // A first question that is too long by itself is cut; without it there would be no session.
            answer = answer.min(limits.max_context / 2).max(1);
            user = user.min(limits.max_context.saturating_sub(answer)).max(1);
        }
        let grown = context.saturating_add(user).saturating_add(answer);
        full = full || 0 < turn && (limits.max_turns <= turn || limits.max_context < grown);
        if !full {
            context = grown;
            session.push(TurnLengths {
                user,
                answer,
                think: if turn == 0 { Nanos::ZERO } else { think },
            });
        }
    }
    session
}

/// Turns at a uniform draw: the table's steps, since turns are whole.
fn turns(uniform: f64) -> u32 {
    TURNS[((uniform * 100.0).round() as usize).min(100)]
}

/// The value of a table at a uniform draw, interpolated.
fn at(table: &[u32; 25], uniform: f64) -> f64 {
    let p = uniform * 100.0;
    let above = PERCENTILES
        .partition_point(|percentile| *percentile <= p)
        .clamp(1, 24);
    let (from, to) = (PERCENTILES[above - 1], PERCENTILES[above]);
    let share = ((p - from) / (to - from)).clamp(0.0, 1.0);
    f64::from(table[above - 1]) * (1.0 - share) + f64::from(table[above]) * share
}

impl Lengths {
    /// One length, from one uniform draw.
    pub fn draw(&self, draws: &mut Draws) -> u32 {
        match *self {
            // Drawn and not used, so that every kind takes as many draws.
            Self::Fixed { tokens } => {
                draws.uniform();
                tokens
            }
            Self::Uniform { min, max } => {
                min + draws.below((max.saturating_sub(min) as usize) + 1) as u32
            }
            Self::Normal {
                mean,
                deviation,
                max,
            } => {
                let tokens = f64::from(mean) + deviation * draws.normal();
                (tokens.round().max(1.0) as u32).clamp(1, max.max(1))
            }
            Self::Table { ref values } => match values.len() {
                0 => 1,
                count => values[draws.below(count)],
            },
            Self::LogNormal { median, sigma, max } => {
                let tokens = f64::from(median) * (sigma * draws.normal()).exp();
                (tokens.round() as u32).clamp(1, max.max(1))
            }
        }
    }
}
