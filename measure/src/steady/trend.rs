//! Does a series rise or fall over time, beyond chance?
//!
//! Neighbours depend on each other, so the series is cut into eight blocks, whose medians hardly do, and these are compared
//! pair by pair (Mann, 1945). Of 28 pairs at least 22 more must rise than fall: of the 40,320 orders of eight blocks 111 do
//! so, one in 363.

use serde::{Deserialize, Serialize};

use crate::quantile::percentile_linear;

/// Fewer values say nothing either way.
pub const FEWEST: usize = 40;
/// Blocks compared.
pub const BLOCKS: usize = 8;
/// How many more of the pairs must rise than fall, or the other way.
const PAIRS: i32 = 22;

/// Which way a series goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Up, beyond chance.
    Rising,
    /// Down, beyond chance.
    Falling,
    /// Neither.
    Level,
    /// Too few values, or too few that are independent of each other.
    CannotTell,
}

/// A series over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Which way it goes.
    pub direction: Direction,
    /// Its median in the first block.
    pub from: f64,
    /// Its median in the last block.
    pub to: f64,
    /// Change per second: the median of the slopes between all pairs of blocks (Theil, 1950; Sen, 1968).
    pub per_second: f64,
}

/// The trend of `(second, value)` in order of time.
pub fn of(series: &[(f64, f64)]) -> Trend {
    let blocks: Vec<(f64, f64)> = if series.len() < FEWEST {
        Vec::new()
    } else {
        (0..BLOCKS)
            .map(|block| middle(part(series, block)))
            .collect()
    };
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Trend {
            direction: Direction::CannotTell,
            from: 0.0,
            to: 0.0,
            per_second: 0.0,
        };
    };
    let pairs = || (0..BLOCKS).flat_map(|i| (i + 1..BLOCKS).map(move |j| (i, j)));
    let rises: i32 = pairs()
        .map(|(i, j)| blocks[j].1.total_cmp(&blocks[i].1) as i32)
        .sum();
    let mut slopes: Vec<f64> = pairs()
        .map(|(i, j)| (blocks[j].1 - blocks[i].1) / (blocks[j].0 - blocks[i].0).max(1e-9))
        .collect();
    Trend {
        direction: match rises {
            PAIRS.. => Direction::Rising,
            rises if rises <= -PAIRS => Direction::Falling,
            _ => Direction::Level,
        },
        from: first.1,
        to: last.1,
        per_second: median(&mut slopes),
    }
}

fn part(series: &[(f64, f64)], block: usize) -> &[(f64, f64)] {
    &series[block * series.len() / BLOCKS..(block + 1) * series.len() / BLOCKS]
}

fn middle(block: &[(f64, f64)]) -> (f64, f64) {
    let mut of = (Vec::new(), Vec::new());
    for (at, value) in block {
        of.0.push(*at);
        of.1.push(*value);
    }
    (median(&mut of.0), median(&mut of.1))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    percentile_linear(values, 50.0).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Draws;

    fn series(slope: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut draws = Draws::new(seed);
        (0..400)
            .map(|i| (f64::from(i), 10.0 + slope * f64::from(i) + draws.normal()))
            .collect()
    }

    #[test]
    fn a_slope_is_found_with_its_size_and_its_sign() {
        for slope in [0.02, -0.02] {
            let trend = of(&series(slope, 1));
            let way = if 0.0 < slope {
                Direction::Rising
            } else {
                Direction::Falling
            };
            assert_eq!(trend.direction, way);
            assert!((trend.per_second / slope - 1.0).abs() < 0.1, "{trend:?}");
        }
    }

    #[test]
    fn noise_rises_or_falls_about_once_in_180() {
        let moves = (0..2000)
            .filter(|seed| of(&series(0.0, *seed)).direction != Direction::Level)
            .count();
        assert!((3..=25).contains(&moves), "{moves} of 2000");
    }

    #[test]
    fn few_values_and_ties_have_no_direction() {
        assert_eq!(of(&series(1.0, 1)[..39]).direction, Direction::CannotTell);
        let flat: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), 5.0)).collect();
        assert_eq!(of(&flat).direction, Direction::Level);
    }
}
