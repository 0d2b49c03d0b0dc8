//! `goodput demo`: a studio with the goodput exercise in it, measured while one looks on.

mod print; // points, curves, ceilings, verdict

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::pin::pin;

use app::studio::{Actor, LiveEvent, PointState, Studio, StudyState, StudyView};
use clap::Args;
use futures_util::StreamExt;
use measure::study::StudySpec;
use uuid::Uuid;

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure, asked_to_end, port_in_use};
use crate::cli::say::{say, sayln, warnln};
use crate::config::{Config, StoreArgs, StoreConfig};
use crate::serving::{ServeError, Serving};

#[derive(Args)]
pub(super) struct DemoArgs {
    /// Port on 127.0.0.1
    #[arg(long, default_value_t = 7878)]
    port: u16,
    /// Folder for the demo's data, apart from your studies [default: goodput-demo in the user's data folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder with the built web assets [default: those in the binary, or target/site]
    #[arg(long, env = "GOODPUT_SITE", value_name = "DIR")]
    site: Option<PathBuf>,
    /// End after the study; the exit status is 0 only if every point finished
    #[arg(long)]
    exit: bool,
}

pub(super) async fn demo(args: DemoArgs) -> Ended {
    let store = store(args.data_dir).map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let config = Config {
        site: args.site,
        ..Config::loopback(args.port, store)
    };
    let serving = Serving::start(&config).await.map_err(cannot_start)?;
    sayln!(
        "Goodput Studio listens on {}; its data are in {}",
        serving.url(),
        config.store.data_dir.display()
    );
    let ended = tokio::select! {
        ended = study(&serving) => ended,
        () = asked_to_end() => Ok(FAILED),
    };
    if matches!(ended, Ok(DONE)) && !args.exit {
        sayln!("\nThe studio goes on serving; Ctrl-C ends it.");
        asked_to_end().await;
    }
    serving.shutdown().await;
    ended
}

fn cannot_start(error: ServeError) -> Failure {
    match error {
        // Here the port is an argument of its own.
        ServeError::PortInUse(address) => Failure::new(FAILED, port_in_use(address)),
        other => Failure::new(FAILED, other),
    }
}

fn store(data_dir: Option<PathBuf>) -> Result<StoreConfig, crate::config::ConfigError> {
    let named = data_dir.is_some();
    let mut store = StoreConfig::try_from(StoreArgs {
        data_dir,
        ..StoreArgs::default()
    })?;
    if !named {
        store = StoreConfig::in_folder(store.data_dir.with_file_name("goodput-demo"));
    }
    Ok(store)
}

/// Launches the exercise and follows it to its end.
async fn study(serving: &Serving) -> Ended {
    let failed = |error: app::studio::StudioError| Failure::new(FAILED, error);
    let spec = StudySpec::goodput_exercise();
    say!("{}", print::introduction(&spec));
    let id = serving
        .studio
        .launch(&Actor::Owner, spec)
        .await
        .map_err(failed)?;
    sayln!(
        "\nWatch it: {}/studies/{id}\n\n{}",
        serving.url(),
        print::POINT_HEADER
    );
    let state = follow(serving, id).await.map_err(failed)?;
    let view = serving
        .studio
        .study(&Actor::Owner, id)
        .await
        .map_err(failed)?;
    say!("{}", print::curves(&view));
    let configurations: Vec<Uuid> = view
        .configurations
        .iter()
        .map(|configuration| configuration.id)
        .collect();
    let comparison = serving
        .studio
        .compare(&Actor::Owner, configurations.clone(), None)
        .await
        .map_err(failed)?;
    say!("{}", print::outcome(&view, &comparison));
    let pairs: Vec<String> = configurations.iter().map(|id| format!("c={id}")).collect();
    sayln!("\nStudy:      {}/studies/{id}", serving.url());
    sayln!("Comparison: {}/compare?{}", serving.url(), pairs.join("&"));
    Ok(status(state, &view))
}

/// Done only when every point finished.
fn status(state: StudyState, view: &StudyView) -> u8 {
    let unfinished = view
        .points
        .iter()
        .filter(|point| point.state != PointState::Finished)
        .count();
    if state == StudyState::Finished && unfinished == 0 {
        return DONE;
    }
    let why = view
        .problem
        .clone()
        .unwrap_or_else(|| format!("the study is {state:?}").to_lowercase());
    warnln!(
        "goodput: {unfinished} of {} points did not finish: {why}",
        view.points.len()
    );
    FAILED
}

/// Prints points as they finish, until the study goes no further.
async fn follow(serving: &Serving, id: Uuid) -> Result<StudyState, app::studio::StudioError> {
    let view = serving.studio.study(&Actor::Owner, id).await?;
    let mut events = pin!(serving.studio.live().subscribe(id, 0));
    let mut finished = 0;
    while let Some((_, event)) = events.next().await {
        match event {
            LiveEvent::Point { point, .. } if point.state == PointState::Finished => {
                finished += 1;
                clear_line();
                let name = &view.spec.configurations[point.configuration as usize].name;
                sayln!(
                    "{}",
                    print::point(&format!("{finished}/{}", view.points.len()), name, &point)
                );
            }
            LiveEvent::Progress {
                progress,
                remaining_ms,
                ..
            } => show(&progress, remaining_ms),
            LiveEvent::State { state, .. } if ends(state) => {
                clear_line();
                return Ok(state);
            }
            _ => {}
        }
    }
    Ok(serving.studio.study(&Actor::Owner, id).await?.state)
}

fn ends(state: StudyState) -> bool {
    match state {
        StudyState::Queued | StudyState::Running | StudyState::Waiting => false,
        StudyState::Finished
        | StudyState::Stopped
        | StudyState::Interrupted
        | StudyState::Failed => true,
    }
}

/// One line of progress, for people only.
fn show(progress: &app::studio::Progress, remaining_ms: Option<u64>) {
    let mut out = std::io::stderr();
    if !out.is_terminal() {
        return;
    }
    let left = remaining_ms.map_or(String::new(), |left| {
        format!(", about {} s left", left / 1000)
    });
    let app::studio::Progress {
        scheduled,
        completed,
        failed,
        in_flight,
        ..
    } = progress;
    let _ = write!(
        out,
        "\r  {completed} of {scheduled} requests, {failed} failed, {in_flight} in flight{left}\x1b[K"
    );
}

fn clear_line() {
    let mut out = std::io::stderr();
    if out.is_terminal() {
        let _ = write!(out, "\r\x1b[K");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_names_the_argument_that_demo_has() {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7878));
        let Failure { error, .. } = cannot_start(ServeError::PortInUse(address));
        let text = error.to_string();
        assert!(text.contains("7878") && text.contains("--port"), "{text}");
        assert!(!text.contains("--bind"), "{text}");
    }
}
