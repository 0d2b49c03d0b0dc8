//! What this machine allows the client: open files, local ports, memory for sockets.
//!
//! They are looked at before a point, which is refused where it surely does not fit; a connection that meets one of them
//! during a point is a failure of the client's own, told apart from those of the engine.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Files that a process opens beside those of its streams once a point has begun.
const OTHER_FILES: u64 = 64;
/// The state of a closed connection whose port is held for a minute, as the kernel's tables write it.
const TIME_WAIT: &str = "06";

/// Lifts the soft limit of open files to the hard one: each stream in flight needs a file.
pub fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where even that is not allowed the old limit stands; points check it against their streams.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: maximum,
                maximum,
            },
        );
    }
}

/// How many files may be open at once, and how many more may be.
pub fn files() -> (u64, u64) {
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let open = fs::read_dir("/proc/self/fd").map_or(OTHER_FILES, |open| open.count() as u64);
    (allowed, allowed.saturating_sub(open + OTHER_FILES))
}

/// Files of this process that a connection takes: an engine that runs in it holds the other end.
pub fn files_each(in_process: bool) -> u64 {
    if in_process { 2 } else { 1 }
}

/// The connections that there may be to an engine in this process: half of the files that are left, for it must have the other
/// half. Without it the engine could accept none any more, which would look like its own slowness.
#[derive(Debug)]
pub(crate) struct Room {
    places: Arc<Semaphore>,
}

/// One of them. Given back when dropped.
pub(crate) type Place = OwnedSemaphorePermit;

impl Room {
    /// As many as there are files now.
    pub(crate) fn new() -> Self {
        let places = files().1 / files_each(true);
        let places = usize::try_from(places).unwrap_or(usize::MAX);
        Self {
            places: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
        }
    }

    /// A place, or the limit that is met.
    pub(crate) fn place(&self) -> Result<Place, String> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        place.map_err(|_| {
            format!(
                "this process may have {} files open at once, and half of those left are the engine's, which runs in it; raise the hard limit (ulimit -Hn) or lower the load",
                files().0
            )
        })
    }
}

/// The local ports for connections to one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// All there are.
    pub range: u64,
    /// Held by closed connections to that address, for a minute each.
    pub waiting: u64,
    /// Neither held nor in use.
    pub free: u64,
}

/// The local ports for connections to these addresses, of which any one will do; `None` where the system does not tell.
pub(crate) fn ports(towards: &[SocketAddr]) -> Option<Ports> {
    let range = range(&fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?)?;
    let reuse = fs::read_to_string("/proc/sys/net/ipv4/tcp_tw_reuse").unwrap_or_default();
    let of = |address: &SocketAddr| {
        let table = match address {
            SocketAddr::V4(_) => "/proc/net/tcp",
            SocketAddr::V6(_) => "/proc/net/tcp6",
        };
        // A table that is not there holds nothing: the protocol is off.
        let table = fs::read_to_string(table).unwrap_or_default();
        let reusable = match reuse.trim() {
            "1" => true,
            "2" => address.ip().is_loopback(),
            _ => false,
        };
        left(&table, *address, range, reusable)
    };
    let each = towards.iter().map(of);
    each.reduce(|one, other| Ports {
        range: one.range + other.range,
        waiting: one.waiting + other.waiting,
        free: one.free + other.free,
    })
}

/// `32768  60999`: how many.
fn range(text: &str) -> Option<u64> {
    let mut ends = text.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    (last + 1).checked_sub(first)
}

/// What one of the kernel's tables of connections leaves of the ports. Where the kernel takes ports of closed connections
/// again at once, they are not held.
fn left(table: &str, address: SocketAddr, range: u64, reusable: bool) -> Ports {
    let address = in_table(address);
    let (mut waiting, mut open) = (0, 0);
    for line in table.lines().skip(1) {
        let mut columns = line.split_whitespace().skip(2);
        match (columns.next(), columns.next()) {
            (Some(remote), Some(TIME_WAIT)) if remote == address => waiting += 1,
            (Some(remote), Some(_)) if remote == address => open += 1,
            _ => {}
        }
    }
    let waiting = if reusable { 0 } else { waiting };
    Ports {
        range,
        waiting,
        free: range.saturating_sub(waiting + open),
    }
}

/// An address as the kernel's tables write it: words of 32 bits in the machine's own order, then the port.
fn in_table(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = octets.chunks_exact(4).map(|word| {
        let word = [word[0], word[1], word[2], word[3]];
        format!("{:08X}", u32::from_ne_bytes(word))
    });
    let words: String = words.collect();
    format!("{words}:{:04X}", address.port())
}

/// The limit that a connection to an address met, with its mend; `None` where the failure is another.
pub(crate) fn met(error: &io::Error, towards: SocketAddr) -> Option<String> {
    Some(match Errno::from_io_error(error)? {
        Errno::MFILE => format!(
            "this process may have {} files open at once and has them; raise the hard limit (ulimit -Hn) or lower the load",
            files().0
        ),
        Errno::NFILE => {
            "the whole machine has as many files open as it may; raise fs.file-max or lower the load".into()
        }
        Errno::ADDRNOTAVAIL if has_route(towards) => no_port(towards),
        Errno::NOBUFS | Errno::NOMEM => {
            "the kernel has no memory for another socket; raise net.ipv4.tcp_mem or lower the load".into()
        }
        Errno::NOSPC => {
            "this user may watch no more sockets; raise fs.epoll.max_user_watches or lower the load".into()
        }
        _ => return None,
    })
}

fn no_port(towards: SocketAddr) -> String {
    let range = ports(&[towards]).map_or(String::new(), |ports| format!(" of {}", ports.range));
    format!(
        "none{range} local ports is free for another connection to {towards}; lower the rate or the concurrency, widen net.ipv4.ip_local_port_range, or let the engine keep connections open"
    )
}

/// Whether packets could go there at all. The same error also says that a machine has no address of that family.
fn has_route(towards: SocketAddr) -> bool {
    let any: IpAddr = if towards.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    UdpSocket::bind((any, 0))
        .and_then(|socket| socket.connect(towards))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:9C41 0100007F:1F90 06 00000000:00000000 03:00000ABC 00000000     0        0 0 3 0
   3: 0100007F:9C42 0100007F:1F90 06 00000000:00000000 03:00000ABC 00000000     0        0 0 3 0
   4: 0100007F:9C43 0100007F:1F91 06 00000000:00000000 03:00000ABC 00000000     0        0 0 3 0
   5: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0 20 4 30 10 -1
";

    #[test]
    fn ports_to_another_address_and_other_ends_take_none_here() {
        let engine = SocketAddr::from(([127, 0, 0, 1], 8080));
        for (reusable, waiting, free) in [(false, 2, 97), (true, 0, 99)] {
            let expected = Ports {
                range: 100,
                waiting,
                free,
            };
            assert_eq!(left(TABLE, engine, 100, reusable), expected);
        }
        assert_eq!(left(TABLE, engine, 2, false).free, 0);
    }

    #[test]
    fn addresses_are_written_as_the_kernel_writes_them() {
        for (address, expected) in [
            ("127.0.0.1:8080", "0100007F:1F90"),
            ("[::1]:443", "00000000000000000000000001000000:01BB"),
            ("[2001:db8::a]:80", "B80D012000000000000000000A000000:0050"),
        ] {
            let address: SocketAddr = address.parse().expect("an address");
            assert_eq!(in_table(address), expected);
        }
    }

    #[test]
    fn a_range_is_counted_with_both_ends() {
        assert_eq!(range("32768\t60999\n"), Some(28_232));
        for bad in ["", "x y", "5", "9 5"] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }

    #[track_caller]
    fn check(errno: Errno, towards: &str, expected: Option<&str>) {
        let towards = towards.parse().expect("an address");
        let said = met(&io::Error::from_raw_os_error(errno.raw_os_error()), towards);
        match (said, expected) {
            (Some(said), Some(part)) => assert!(said.contains(part), "{said}"),
            (said, expected) => assert_eq!(said.as_deref(), expected),
        }
    }

    #[test]
    fn each_limit_is_named_with_its_mend_and_no_failure_of_the_engine_is_one() {
        let here = "127.0.0.1:1";
        check(Errno::MFILE, here, Some("ulimit -Hn"));
        check(Errno::NFILE, here, Some("fs.file-max"));
        check(Errno::ADDRNOTAVAIL, here, Some("ip_local_port_range"));
        check(Errno::NOBUFS, here, Some("net.ipv4.tcp_mem"));
        check(Errno::NOMEM, here, Some("net.ipv4.tcp_mem"));
        check(Errno::NOSPC, here, Some("max_user_watches"));
        for engine in [
            Errno::CONNREFUSED,
            Errno::CONNRESET,
            Errno::TIMEDOUT,
            Errno::HOSTUNREACH,
            Errno::NETUNREACH,
        ] {
            check(engine, here, None);
        }
    }
}
