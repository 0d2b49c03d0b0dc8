//! The plain way to the engine and back: how long its host takes to accept a connection, with nothing sent over it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use measure::evidence::RoundTrip;
use measure::units::Nanos;
use tokio::net::TcpStream;

/// Connections opened.
const TRIES: u32 = 7;
/// A connection that is not open by then counts as none.
const LIMIT: Duration = Duration::from_millis(500);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// Opens a few connections, one after the other, and closes each at once. None where no two of them open.
pub(crate) async fn round_trip(addresses: &[SocketAddr]) -> Option<RoundTrip> {
    let mut times = Vec::new();
    for tried in 0..TRIES {
        let address = addresses.first()?;
        let asked = Instant::now();
        let opened = tokio::time::timeout(LIMIT, TcpStream::connect(address)).await;
        let took = asked.elapsed();
        match opened {
            Ok(Ok(_)) => times.push(Nanos(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))),
            // One may be lost; a host that answers none is not asked again and again.
            _ if 0 < tried => return None,
            _ => {}
        }
        tokio::time::sleep(PAUSE).await;
    }
    times.sort_unstable();
    Some(RoundTrip {
        min: *times.first()?,
        median: *times.get(times.len() / 2)?,
        tries: times.len() as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_that_listens_has_a_round_trip_and_another_has_none() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let trip = round_trip(&[address]).await.expect("a round trip");
        assert_eq!(trip.tries, TRIES);
        assert!(Nanos::ZERO < trip.min && trip.min <= trip.median);
        drop(listener);
        assert_eq!(round_trip(&[address]).await, None);
        assert_eq!(round_trip(&[]).await, None);
    }
}
