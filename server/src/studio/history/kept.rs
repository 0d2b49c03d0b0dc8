//! Runs are kept when a study ends, and worked out anew where something that they follow from changed.

use measure::history::Figure;
use measure::knobs::Source;
use tracing::error;
use uuid::Uuid;

use super::figures::{Told, found};
use super::same::{digest, facts, facts_of_ceilings};
use crate::store::{KeptRun, Store, StoreError, StoredConfiguration};
use crate::studio::views::Model;

/// The rules by which runs are worked out; one more whenever what they make of a study changes.
const RULES: i64 = 1;
/// Studies at a time.
const AT_ONCE: u32 = 100;
/// Studies that a page waits for: one that has just ended is among them.
const AT_A_PAGE: u32 = 8;

/// Works out the runs of every study that lacks them.
pub(crate) async fn catch_up(store: &Store) -> Result<(), StoreError> {
    loop {
        let (lacking, kept) = work_out(store, AT_ONCE).await?;
        // A study that changes all the while has another turn.
        if lacking == 0 || kept == 0 {
            return Ok(());
        }
    }
}

/// Works out the runs of the latest studies that lack them, as many as a page may wait for; whether others may lack them still.
pub(super) async fn catch_up_a_little(store: &Store) -> Result<bool, StoreError> {
    let (lacking, _) = work_out(store, AT_A_PAGE).await?;
    Ok(lacking == AT_A_PAGE as usize)
}

/// Works out the runs of the latest studies that lack them; how many of those there were, and of how many runs were kept.
async fn work_out(store: &Store, most: u32) -> Result<(usize, usize), StoreError> {
    let lacking = store.studies_without_runs(RULES, most).await?;
    let mut kept = 0;
    for (study, last_event) in &lacking {
        let runs = match Model::load(store, *study).await {
            Ok(Some(model)) => runs(&model),
            Ok(None) => continue,
            Err(cause) => {
                let cause = &cause as &dyn std::error::Error;
                error!(%study, cause, "cannot read study {study}: it is in no history");
                continue;
            }
        };
        let study = (*study, *last_event);
        kept += usize::from(store.keep_runs(study, RULES, &runs).await?);
    }
    Ok((lacking.len(), kept))
}

/// The same for whoever goes on without them: what lacks is worked out when somebody asks.
pub(crate) async fn catch_up_or_log(store: &Store) {
    if let Err(cause) = catch_up(store).await {
        error!(
            cause = &cause as &dyn std::error::Error,
            "cannot keep the runs of studies that have ended"
        );
    }
}

/// Everything that is kept of a study.
fn runs(model: &Model) -> Vec<KeptRun> {
    let each = model.configurations.iter();
    each.flat_map(|it| of_configuration(model, it)).collect()
}

fn of_configuration(model: &Model, stored: &StoredConfiguration) -> Vec<KeptRun> {
    let facts = facts(model, stored);
    let of_ceilings = facts_of_ceilings(model, &facts);
    let version = version(stored);
    let kept = found(model, stored).into_iter().filter_map(|it| {
        let Told::Value(value, error) = it.told else {
            return None;
        };
        let facts = match it.figure {
            Figure::Latency(..) => &facts,
            Figure::Ceiling => &of_ceilings,
        };
        Some(KeptRun {
            configuration: stored.ordinal,
            level: it.level.map(|it| it.to_string()).unwrap_or_default(),
            figure: name(it.figure),
            same: digest(facts, it.level, it.figure),
            at_ms: it.at_ms,
            value,
            error,
            version: version.clone(),
        })
    });
    kept.collect()
}

fn name(figure: Figure) -> String {
    match figure {
        Figure::Latency(metric, percentile) => format!("{metric} p{percentile}"),
        Figure::Ceiling => "ceiling".to_owned(),
    }
}

/// The engine's version, where it is known.
pub(super) fn version(stored: &StoredConfiguration) -> Option<String> {
    let fact = stored.facts.get("version")?;
    (fact.source != Source::Unknown).then(|| fact.value.clone())
}

/// Earlier runs of the same, oldest first; those of the studies named are left out.
pub(super) async fn earlier(
    store: &Store,
    (same, before_ms): (&str, i64),
    but: &[Uuid],
) -> Result<Vec<crate::store::SameRun>, StoreError> {
    const MOST: usize = measure::history::MOST;
    // A study has as many runs of the same as it has configurations alike.
    let room = MOST + 64 * but.len();
    let mut runs = store
        .runs_of_the_same(same, before_ms, u32::try_from(room).unwrap_or(u32::MAX))
        .await?;
    runs.retain(|run| !but.contains(&run.study) && 0.0 < run.value);
    let first = runs.len().saturating_sub(MOST);
    Ok(runs.split_off(first))
}
