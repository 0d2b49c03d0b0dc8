//! Shares of simulated studies, each against its bar.

use super::rows;

/// One promise: tried so often, came out so, against its bar.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub count: u32,
    /// A share of studies, or a difference of shares.
    pub figure: f64,
    pub bar: Bar,
    /// Of what one study adds to the figure.
    pub variance: f64,
}

/// On which side of the bar a figure must lie; `None` is shown and promises nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    AtMost(f64),
    AtLeast(f64),
    None,
}

/// Studies from which on a bar is held to the letter.
pub const FULL: u32 = 1000;

impl Row {
    /// A share of studies.
    pub fn new(name: String, count: u32, figure: f64, bar: Bar) -> Self {
        let (Bar::AtMost(share) | Bar::AtLeast(share)) = bar else {
            return Self {
                name,
                count,
                figure,
                bar,
                variance: 0.0,
            };
        };
        let share = share.clamp(0.05, 0.95);
        Self {
            name,
            count,
            figure,
            bar,
            variance: share * (1.0 - share),
        }
    }

    /// Whether the bar is kept, give or take what chance does at this count (3 standard errors below 1,000 studies).
    pub fn is_kept(&self) -> bool {
        let give = if FULL <= self.count {
            0.0
        } else {
            3.0 * (self.variance / f64::from(self.count)).sqrt()
        };
        match self.bar {
            Bar::AtMost(most) => self.figure <= most + give,
            Bar::AtLeast(least) => least - give <= self.figure,
            Bar::None => true,
        }
    }

    /// For the table of statistics.
    pub fn print(&self) {
        let bar = match self.bar {
            Bar::AtMost(most) => format!("at most {most}"),
            Bar::AtLeast(least) => format!("at least {least}"),
            Bar::None => "none".to_owned(),
        };
        rows::Row {
            name: self.name.clone(),
            count: self.count as usize,
            figure: format!("{:.3}", self.figure),
            bar,
            kept: self.is_kept(),
        }
        .print();
    }
}

/// How many studies a row of the table is made of: a thousand, or as many as `SEEDS` says.
pub fn full_count() -> u32 {
    let count = std::env::var("SEEDS").ok();
    count.and_then(|count| count.parse().ok()).unwrap_or(FULL)
}

/// Prints all, and wants every bar kept.
#[track_caller]
pub fn check(rows: &[Row]) {
    rows.iter().for_each(Row::print);
    let broken: Vec<&Row> = rows.iter().filter(|row| !row.is_kept()).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// In which share of so many studies something holds; each has a seed.
pub fn share(count: u32, holds: impl Fn(u64) -> bool) -> f64 {
    let held = (0..u64::from(count)).filter(|seed| holds(*seed)).count();
    held as f64 / f64::from(count)
}
