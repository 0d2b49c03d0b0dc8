//! Who listens where an engine is to answer: the engine, somebody else, or nobody can tell.
//!
//! Read from the kernel's tables of sockets and the open files of processes, both under `/proc`.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use rustix::process::Pid;

use super::command::APART;
use super::guard::{below, everybody};
use super::process::Launch;
use super::ready::AnsweredBy::{self, Untold};
use crate::address::{resolve, unwrapped};
use crate::host::{is_front, is_local};

/// Whose socket it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// The engine's, or that cannot be told.
    Known(AnsweredBy),
    /// Surely somebody else's, at this port.
    Other(u16),
}

/// Who listens at the engine's addresses. Blocks for as long as it takes to look through `/proc`.
pub(super) fn holder(launch: &Launch, guard: Pid) -> Holder {
    let url = url::Url::parse(&launch.endpoint.url).ok();
    let addresses = url.and_then(|url| resolve(&url).ok()).unwrap_or_default();
    if launch.wire.proxy.is_some() {
        return Holder::Known(Untold("it is reached through a proxy"));
    }
    if !addresses.iter().any(|it| is_local(it.ip())) {
        return Holder::Known(Untold("it answers on another machine"));
    }
    let tree = below(guard.as_raw_nonzero().get());
    let tree: Vec<i32> = tree.iter().map(|it| it.as_raw_nonzero().get()).collect();
    let found: Vec<Holder> = addresses.iter().filter_map(|to| at(*to, &tree)).collect();
    let other = found.iter().find(|it| matches!(it, Holder::Other(_)));
    match other.or_else(|| found.first()) {
        Some(Holder::Other(_)) if lives_apart(launch) => Holder::Known(Untold(
            "its command starts it outside of what the studio sees",
        )),
        Some(found) => *found,
        None => Holder::Known(Untold("no process is seen to listen there")),
    }
}

/// Whether the engine is no child of its command: a container, a service.
fn lives_apart(launch: &Launch) -> bool {
    let argv = launch.program.argv.first();
    let name = argv.and_then(|it| Path::new(it).file_name()?.to_str());
    !launch.program.stop.is_empty() || name.is_some_and(|it| APART.contains(&it))
}

/// Who listens at one address; `None`: nobody.
fn at(to: SocketAddr, tree: &[i32]) -> Option<Holder> {
    let mut left = listeners(to);
    if left.is_empty() {
        return None;
    }
    let mut all_seen = true;
    for pid in tree {
        match sockets(*pid) {
            Some(held) if same(*pid, "net") => left.retain(|it| !held.contains(it)),
            _ => all_seen = false,
        }
    }
    Some(match (left.is_empty(), all_seen) {
        (true, _) => Holder::Known(AnsweredBy::Engine),
        (false, false) => Holder::Known(Untold("its processes may not be looked into")),
        (false, true) => outside(to.port(), &left, tree),
    })
}

/// Who outside the engine holds sockets.
fn outside(port: u16, sockets_left: &HashSet<u64>, tree: &[i32]) -> Holder {
    let others = everybody().filter(|it| !tree.contains(&it.pid));
    let holds = |pid: i32| sockets(pid).is_some_and(|held| !held.is_disjoint(sockets_left));
    let holders: Vec<i32> = others.map(|it| it.pid).filter(|pid| holds(*pid)).collect();
    if holders.is_empty() {
        return Holder::Known(Untold("who listens there may not be looked into"));
    }
    // A container's own processes, and what forwards into one, may well be the engine.
    if holders
        .iter()
        .any(|pid| is_front(*pid) || !same(*pid, "pid"))
    {
        return Holder::Known(Untold("something that forwards listens there"));
    }
    Holder::Other(port)
}

/// Whether a process is in the same namespace of a kind as this one.
fn same(pid: i32, kind: &str) -> bool {
    let of = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/{kind}")).ok();
    of("self").is_some_and(|own| of(&pid.to_string()) == Some(own))
}

/// Inodes of the sockets that a process holds; `None`: that may not be seen.
fn sockets(pid: i32) -> Option<HashSet<u64>> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let inode = |file: fs::DirEntry| {
        let target = fs::read_link(file.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?;
        inode.strip_suffix(']')?.parse().ok()
    };
    Some(files.flatten().filter_map(inode).collect())
}

/// Inodes of the sockets that take connections to an address: those bound to it, else those bound to all.
fn listeners(to: SocketAddr) -> HashSet<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|it| fs::read_to_string(it).unwrap_or_default());
    let bound: Vec<(SocketAddr, u64)> = tables.iter().flat_map(|it| listening(it)).collect();
    let target = unwrapped(to.ip());
    let all: &[IpAddr] = if target.is_ipv4() {
        &[
            IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        ]
    } else {
        &[IpAddr::V6(Ipv6Addr::UNSPECIFIED)]
    };
    for ip in [target].iter().chain(all) {
        let here = SocketAddr::new(*ip, to.port());
        let there = bound.iter().filter(|(at, _)| *at == here);
        let found: HashSet<u64> = there.map(|(_, inode)| *inode).collect();
        if !found.is_empty() {
            return found;
        }
    }
    HashSet::new()
}

/// Sockets of one of the kernel's tables that listen: where, and their inodes.
fn listening(table: &str) -> Vec<(SocketAddr, u64)> {
    const LISTEN: &str = "0A";
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let (ip, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        let at = SocketAddr::new(unwrapped(ip_of(ip)?), port);
        (*state == LISTEN).then_some(())?;
        Some((at, inode.parse().ok()?))
    });
    rows.collect()
}

/// The kernel writes an address as words of its memory, each as a number in hexadecimal.
fn ip_of(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = hex.get(8 * at..8 * at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match hex.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Some(IpAddr::from(bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_kernels_table_is_read() {
        let row = |local: &str, state: &str, inode: u64| {
            format!("  0: {local} 00000000:0000 {state} 0:0 00:0 0 0 0 {inode} 1 0 100 0 0 10 0\n")
        };
        let word = |bytes: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(bytes));
        let four = word([127, 0, 0, 1]);
        let nothing = word([0; 4]);
        let mapped = [
            nothing.clone(),
            nothing,
            word([0, 0, 0xff, 0xff]),
            word([10, 0, 0, 5]),
        ]
        .concat();
        let table = [
            "head\n".to_owned(),
            row(&format!("{four}:1F40"), "0A", 7),
            row(&format!("{four}:1F41"), "01", 8),
            row(&format!("{mapped}:1F42"), "0A", 9),
        ]
        .concat();
        let at = |text: &str| text.parse::<SocketAddr>().expect(text);
        assert_eq!(
            listening(&table),
            [(at("127.0.0.1:8000"), 7), (at("10.0.0.5:8002"), 9)]
        );
    }

    #[test]
    fn a_socket_is_its_holders() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = socket.local_addr().expect("bound");
        let engine = Some(Holder::Known(AnsweredBy::Engine));
        assert_eq!(at(to, &[own]), engine);
        assert_eq!(at(to, &[]), Some(Holder::Other(to.port())));
        // What listens at another address of the port is not in the way.
        assert_eq!(
            at(SocketAddr::new([127, 0, 0, 2].into(), to.port()), &[]),
            None
        );
        drop(socket);
        assert_eq!(at(to, &[own]), None);
    }

    #[test]
    fn a_socket_for_all_addresses_takes_what_comes_to_one() {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let socket = TcpListener::bind("0.0.0.0:0").expect("a port");
        let port = socket.local_addr().expect("bound").port();
        let to = SocketAddr::new([127, 0, 0, 1].into(), port);
        assert_eq!(at(to, &[own]), Some(Holder::Known(AnsweredBy::Engine)));
        // Process 1 holds no such socket, whether it may be looked into or not.
        assert_ne!(at(to, &[1]), Some(Holder::Known(AnsweredBy::Engine)));
    }
}
