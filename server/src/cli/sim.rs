//! `goodput sim`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use measure::knobs::{KnobValue, Knobs};
use tokio_util::sync::CancellationToken;

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure, asked_to_end, port_in_use};
use crate::cli::say::sayln;

#[derive(Args)]
pub(super) struct SimArgs {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8100)]
    port: u16,
    /// Which model on which device is simulated; docs/simulator.md says what each is made of
    #[arg(long, default_value = sim::PRESETS[0], value_parser = clap::builder::PossibleValuesParser::new(sim::PRESETS))]
    preset: String,
    /// A knob, named as vLLM names its flag: enable-prefix-caching=on (again for more)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_knob)]
    knob: Vec<(String, KnobValue)>,
}

fn parse_knob(text: &str) -> Result<(String, KnobValue), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("write it as NAME=VALUE, such as max-num-seqs=64")?;
    Ok((name.trim().trim_start_matches('-').to_owned(), value.into()))
}

pub(super) async fn simulate(SimArgs { port, preset, knob }: SimArgs) -> Ended {
    let knobs: Knobs = knob.into_iter().collect();
    let config =
        sim::Config::preset(&preset, &knobs).map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let cannot = |error: std::io::Error| Failure::new(FAILED, cannot_listen(address, &error));
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(cannot)?;
    sayln!(
        "Simulated engine {preset} on http://{}",
        listener.local_addr().map_err(cannot)?
    );
    sayln!("Ctrl-C ends it.");
    let stop = CancellationToken::new();
    let ending = stop.clone();
    tokio::spawn(async move {
        asked_to_end().await;
        ending.cancel();
    });
    sim::serve(listener, config, stop)
        .await
        .map_err(|error| Failure::new(FAILED, error))?;
    Ok(DONE)
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => port_in_use(address),
        _ => format!("cannot listen on {address}: {error}; choose another with --port"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_says_what_helps() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8100));
        let text = cannot_listen(address, &std::io::ErrorKind::AddrInUse.into());
        assert!(text.contains("8100") && text.contains("--port"), "{text}");
    }

    #[test]
    fn a_knob_is_a_name_and_a_value() {
        assert_eq!(
            parse_knob("max-num-seqs=64"),
            Ok(("max-num-seqs".into(), KnobValue::Whole(64)))
        );
        assert_eq!(
            parse_knob("--enable-prefix-caching=on"),
            Ok(("enable-prefix-caching".into(), KnobValue::Switch(true)))
        );
        assert!(parse_knob("max-num-seqs").is_err());
    }
}
