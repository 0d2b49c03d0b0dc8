//! What the verdicts promise, tried on many studies whose truth is known.
//!
//! `rows(count)` tries everything on so many studies each; ordinary tests take few and allow for chance, the ignored one takes
//! a thousand (or as many as `STATISTICS_COUNT` says) and prints the table, name, count, figure and bar between tabs:
//! `cargo test --release -p measure -- --ignored --nocapture compare::bars`.

mod draws; // runs of engines that are not there
mod never; // confounded pairs
mod null; // configurations without a difference
mod power; // differences that are there

/// One promise: tried so often, came out so, against its bar.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub name: &'static str,
    pub count: u32,
    /// A share of studies, or a difference of shares.
    pub figure: f64,
    pub bar: Bar,
}

/// On which side of the bar a figure must lie; `None` is shown and promises nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    None,
}

impl Row {
    /// Whether the bar is kept, give or take what chance does at this count (3 standard errors below 1,000 studies).
    fn is_kept(&self) -> bool {
        let give = |bar: f64| {
            if 1000 <= self.count {
                return 0.0;
            }
            let share = bar.clamp(0.05, 0.95);
            3.0 * (share * (1.0 - share) / f64::from(self.count)).sqrt()
        };
        match self.bar {
            Bar::AtMost(most) => self.figure <= most + give(most),
            Bar::AtLeast(least) => least - give(least) <= self.figure,
            Bar::None => true,
        }
    }
}

/// Everything, each on so many studies.
pub(crate) fn rows(count: u32) -> Vec<Row> {
    [null::rows(count), power::rows(count), never::rows(count)].concat()
}

#[track_caller]
fn check(rows: &[Row]) {
    for Row {
        name,
        count,
        figure,
        bar,
    } in rows
    {
        println!("{name}\t{count}\t{figure:.4}\t{bar:?}");
    }
    let broken: Vec<&Row> = rows.iter().filter(|row| !row.is_kept()).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn bars_hold_on_few_studies() {
    check(&rows(20));
}

#[test]
#[ignore = "minutes; in release mode, by the bench of statistics"]
fn bars_hold_on_a_thousand_studies() {
    let count = std::env::var("STATISTICS_COUNT").ok();
    check(&rows(
        count.and_then(|count| count.parse().ok()).unwrap_or(1000),
    ));
}
