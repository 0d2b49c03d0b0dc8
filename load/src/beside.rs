//! All that is looked at beside a point: the engine's metrics, GPUs, this host's processor, the way to the engine.
//!
//! None of it is on the threads that make the load, and none of it can end a point: what cannot be seen is said.

use std::net::SocketAddr;
use std::sync::Arc;

use measure::evidence::{RoundTrip, Seen};
use measure::study::Endpoint;
use url::{Host, Url};

use crate::engine::{Engine, Wire};
use crate::gpu::GpuWatch;
use crate::host::{EngineHost, HostWatch, is_local};
use crate::rtt::round_trip;
use crate::scrape::{Begun, Sampler};

/// What is looked at.
pub struct BesideSpec<'a> {
    /// The engine.
    pub endpoint: &'a Endpoint,
    /// How it is reached.
    pub wire: &'a Wire,
    /// The client that makes the load.
    pub engine: &'a Engine,
    /// The engine's process group, where it was started here.
    pub group: Option<u32>,
    /// Where the engine's metrics page is, unless it is under the engine's own URL.
    pub metrics: Option<&'a Url>,
    /// DCGM exporters, of which the one on the engine's host counts.
    pub exporters: &'a [Url],
}

/// Looks at everything beside a point, from before its warm-up until after its drain.
pub struct Beside {
    begun: Arc<Begun>,
    engine: Sampler,
    gpu: GpuWatch,
    host: HostWatch,
    addresses: Arc<[SocketAddr]>,
    before: Option<RoundTrip>,
}

impl Beside {
    /// Starts to look; the first look at everything is done when it returns.
    pub async fn start(spec: BesideSpec<'_>) -> Self {
        let BesideSpec {
            endpoint,
            wire,
            engine,
            group,
            metrics,
            exporters,
        } = spec;
        let addresses = Arc::clone(&engine.addresses);
        let begun = Arc::new(Begun::default());
        // Behind a proxy the connections lead there, and whoever listens there is no engine.
        let direct: &[SocketAddr] = if wire.proxy.is_some() {
            &[]
        } else {
            &addresses
        };
        let before = round_trip(&addresses).await;
        let host = EngineHost {
            addresses: direct,
            group,
        };
        let host = HostWatch::start(host).await;
        let is_here = direct.iter().any(|address| is_local(address.ip()));
        let exporter = exporters.iter().find(|url| is_at(url, direct)).cloned();
        let gpu = GpuWatch::start(exporter, is_here, &host.engine, begun.clone());
        let engine = async {
            match metrics {
                Some(url) => Sampler::elsewhere(url.clone(), &endpoint.model, begun.clone()).await,
                None => Sampler::of_engine(endpoint, wire, begun.clone()).await,
            }
        };
        let (gpu, engine) = tokio::join!(gpu, engine);
        Self {
            begun,
            engine,
            gpu,
            host,
            addresses,
            before,
        }
    }

    /// To be told when the point's clock starts.
    pub fn begun(&self) -> Arc<Begun> {
        Arc::clone(&self.begun)
    }

    /// Takes a last look; all that was seen, and the text of the engine's pages, compressed.
    pub async fn end(self) -> (Seen, Option<Vec<u8>>) {
        let zero = self.begun.zero();
        // The host first: what follows is no part of the point.
        let (host, host_track) = self.host.end(zero).await;
        let (gpu, (engine, raw)) = tokio::join!(self.gpu.end(zero), self.engine.end(zero));
        let after = round_trip(&self.addresses).await;
        let seen = Seen {
            engine,
            gpu,
            host,
            host_track,
            round_trips: [self.before, after],
        };
        (seen, raw)
    }
}

/// Whether an exporter is on the engine's host.
fn is_at(url: &Url, engine: &[SocketAddr]) -> bool {
    let of_exporter: Vec<_> = match url.host() {
        Some(Host::Ipv4(address)) => vec![address.into()],
        Some(Host::Ipv6(address)) => vec![address.into()],
        _ => crate::address::resolve(url)
            .unwrap_or_default()
            .iter()
            .map(SocketAddr::ip)
            .collect(),
    };
    let here = |it: &SocketAddr| is_local(it.ip());
    let both_here = || engine.iter().any(here) && of_exporter.iter().any(|it| is_local(*it));
    engine.iter().any(|it| of_exporter.contains(&it.ip())) || both_here()
}
