//! `goodput check`: a study against earlier runs of the same, for whoever builds on the verdict.

use app::history::{
    ConfigurationHistory, FigureHistory, HistoryView, Outcome, PointHistory, common, figure_name,
    place, sentence, told,
};
use app::studio::StudyState;
use clap::Args;
use measure::history::Bar;
use uuid::Uuid;

use super::export::{check_there, config, find, open};
use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure, printable};
use crate::cli::say::{say, sayln};
use crate::config::StoreArgs;
use crate::store::Store;
use crate::studio::history::{history, read_bar};

/// Exit status: cannot tell.
const INDETERMINATE: u8 = 2;
/// Exit status: there is no such study, or none that has ended.
const NOTHING: u8 = 3;

#[derive(Args)]
pub(super) struct CheckArgs {
    /// The study: its id, the address of its page, or its name
    study: String,
    /// How much worse it may be than its baseline, as 5%; without it, no worse than runs of the same are
    #[arg(long, value_name = "PERCENT")]
    allow: Option<String>,
    /// Without --allow: how much worse it could be unseen and still pass; what could hide more is indeterminate
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "30%",
        conflicts_with = "allow"
    )]
    blind: String,
    /// Print everything as the interface has it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// Prints the verdict of each operating point. The status is 0 where all pass, 1 where one fails, 2 where it cannot tell, 3 where
/// there is nothing to look at.
pub(super) async fn check(args: CheckArgs) -> Ended {
    let CheckArgs {
        study,
        allow,
        blind,
        json,
        store,
    } = args;
    let bar = read_bar(allow.as_deref().unwrap_or_default(), &blind);
    let bar = bar.map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let config = config(store)?;
    let nothing = |Failure { error, .. }| Failure::new(NOTHING, error);
    check_there(&config).map_err(nothing)?;
    let store = open(&config).await.map_err(nothing)?;
    let judged = judged(&store, &study, bar).await;
    store.close().await;
    let view = judged.map_err(nothing)?;
    if json {
        let text = serde_json::to_string_pretty(&view);
        sayln!("{}", text.map_err(|error| Failure::new(NOTHING, error))?);
    } else {
        say!("{}", printable(&told_whole(&view)));
    }
    Ok(status(view.outcome))
}

async fn judged(store: &Store, study: &str, bar: Bar) -> Result<HistoryView, Failure> {
    let id: Uuid = find(store, study).await?;
    let failed = |error| Failure::new(FAILED, error);
    let stored = store.study(id).await;
    let stored = stored.map_err(|error| Failure::new(FAILED, error))?;
    let is_open = |state| {
        use StudyState::{Queued, Running, Waiting};
        matches!(state, Queued | Running | Waiting)
    };
    if stored.is_some_and(|(it, _)| is_open(it.state)) {
        let text = "the study has not ended; wait for its end or stop it, then check it";
        return Err(Failure::new(FAILED, text));
    }
    history(store, id, bar).await.map_err(failed)
}

fn status(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Pass => DONE,
        Outcome::Fail => FAILED,
        Outcome::Indeterminate | Outcome::LeftOut => INDETERMINATE,
    }
}

/// A line an operating point, one more for each figure that speaks against it, and the verdict last.
fn told_whole(view: &HistoryView) -> String {
    let mut lines = Vec::new();
    for one in &view.configurations {
        lines.extend(one.points.iter().flat_map(|it| point(view, one, it)));
    }
    lines.extend(view.why.clone());
    lines.push(sentence(view));
    lines.join("\n") + "\n"
}

fn point(view: &HistoryView, one: &ConfigurationHistory, point: &PointHistory) -> Vec<String> {
    let at = place(point.level, &view.unit);
    let mut lines = vec![format!("{}, {at}: {}", one.name, point.outcome.word())];
    let line = |it: &FigureHistory| format!("  {}: {}", figure_name(it), told(it));
    let once = common(view);
    let speaks = point
        .figures
        .iter()
        .filter(|it| it.outcome == point.outcome)
        .filter(|it| once.is_none() || it.why.as_deref() != once);
    lines.extend(speaks.map(line));
    let left = point.figures.iter();
    let left = left.filter(|it| it.outcome == Outcome::LeftOut && !point.is_left_out());
    lines.extend(left.map(line));
    if point.is_left_out() && point.outcome != Outcome::LeftOut {
        lines.extend(point.figures.first().map(line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_status() {
        for (outcome, expected) in [
            (Outcome::Pass, 0),
            (Outcome::Fail, 1),
            (Outcome::Indeterminate, 2),
        ] {
            assert_eq!(status(outcome), expected);
        }
    }
}
