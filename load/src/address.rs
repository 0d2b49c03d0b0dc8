//! Where load may go: how a base URL becomes the URL of a route, and which addresses are refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use url::{Host, Url};

/// What is wrong with an engine's URL.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No `http://` or `https://`.
    #[error("the engine URL {url:?} has no scheme; write http://{url}")]
    NoScheme {
        /// As given.
        url: String,
    },
    /// No URL at all.
    #[error("the engine URL {url:?} cannot be read")]
    Unreadable {
        /// As given.
        url: String,
        /// Why.
        #[source]
        cause: url::ParseError,
    },
    /// The name has no address.
    #[error("the host {host:?} cannot be found; check its spelling")]
    Unresolved {
        /// The host.
        host: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// An address that load must not be sent to.
    #[error("the host {host:?} is at {address}, {why}; name an engine's own address")]
    Refused {
        /// The host.
        host: String,
        /// Its address.
        address: IpAddr,
        /// What kind of address it is.
        why: &'static str,
    },
}

/// The URL of `/v1/{route}` under a base URL, see [`under`].
pub fn join(base: &str, route: &str) -> Result<Url, AddressError> {
    under(base, &format!("v1/{route}"))
}

/// The URL of a path, such as `version` or `v1/models`, under a base URL that may or may not name `/v1`, a path before
/// it, the beginning of the path, or all of it. Azure's deployments have no `/v1`.
pub fn under(base: &str, path: &str) -> Result<Url, AddressError> {
    let mut url = parse(base)?;
    let segments: Vec<&str> = url
        .path()
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let mut path: Vec<&str> = path.split('/').collect();
    let prefix = match (deployment(&segments), &path[..]) {
        (Some(end), ["v1", ..]) => {
            path.remove(0);
            &segments[..end]
        }
        _ => prefix(&segments, &path),
    };
    let joined = [prefix, &path].concat().join("/");
    url.set_path(&joined);
    Ok(url)
}

/// What of the base comes before the path.
fn prefix<'a, 'b>(base: &'b [&'a str], path: &[&str]) -> &'b [&'a str] {
    if let Some(v1) = base.iter().rposition(|segment| *segment == "v1") {
        return &base[..v1];
    }
    let begun = |length: &usize| base.ends_with(&path[..*length]);
    let shared = (1..=path.len().min(base.len())).rev().find(begun);
    &base[..base.len() - shared.unwrap_or(0)]
}

/// The end of `openai/deployments/{name}`, where that is how the base names a model.
fn deployment(base: &[&str]) -> Option<usize> {
    let start = base
        .windows(2)
        .position(|pair| pair == ["openai", "deployments"])?;
    Some(start + 3).filter(|end| *end <= base.len())
}

fn parse(base: &str) -> Result<Url, AddressError> {
    let base = base.trim();
    if !["http://", "https://"]
        .iter()
        .any(|scheme| base.to_ascii_lowercase().starts_with(scheme))
    {
        return Err(AddressError::NoScheme {
            url: base.to_owned(),
        });
    }
    Url::parse(base).map_err(|cause| AddressError::Unreadable {
        url: base.to_owned(),
        cause,
    })
}

/// Every address of the URL's host, each of them checked; load then uses exactly these.
pub fn resolve(url: &Url) -> Result<Vec<SocketAddr>, AddressError> {
    let port = url.port_or_known_default().unwrap_or(80);
    let host = url.host_str().unwrap_or_default().to_owned();
    let addresses: Vec<SocketAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![(address, port).into()],
        Some(Host::Ipv6(address)) => vec![(address, port).into()],
        _ => match (host.as_str(), port).to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(cause) => return Err(AddressError::Unresolved { host, cause }),
        },
    };
    match addresses
        .iter()
        .find_map(|address| Some((address.ip(), refusal(address.ip())?)))
    {
        Some((address, why)) => Err(AddressError::Refused { host, address, why }),
        None => Ok(addresses),
    }
}

/// Why an address is refused; `None` when it is not.
fn refusal(address: IpAddr) -> Option<&'static str> {
    match unwrapped(address) {
        four if METADATA.contains(&four) => Some("a cloud's metadata address"),
        IpAddr::V4(four) if four.is_link_local() => {
            Some("a link-local address (cloud metadata lives there)")
        }
        IpAddr::V4(four) if four.is_broadcast() => Some("the broadcast address"),
        IpAddr::V6(six) if six.is_unicast_link_local() => Some("a link-local address"),
        any if any.is_unspecified() => Some("the unspecified address"),
        IpAddr::V4(four) if four.octets()[0] == 0 => {
            Some("an address of 0.0.0.0/8, which is no machine's")
        }
        any if any.is_multicast() => Some("a multicast address"),
        _ => None,
    }
}

/// Where clouds tell a machine its own secrets, beside the link-local addresses: Alibaba, Azure, Oracle, AWS, Google.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// The IPv4 address that an IPv6 address stands for: mapped (`::ffff:0:0/96`), compatible (`::/96`), translated
/// (`64:ff9b::/96` and `64:ff9b:1::/48`) or tunnelled (6to4, `2002::/16`). Any other address is itself.
pub fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else {
        return address;
    };
    let parts = six.segments();
    let four = |high: u16, low: u16| IpAddr::V4((u32::from(high) << 16 | u32::from(low)).into());
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] => four(high, low),
        // Not `::` and `::1`, which are addresses of their own.
        [0, 0, 0, 0, 0, 0, high, low] if 0 < high || 1 < low => four(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => four(high, low),
        [0x64, 0xff9b, 1, _, _, _, high, low] => four(high, low),
        [0x2002, high, low, ..] => four(high, low),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn joins(base: &str, expected: &str) {
        assert_eq!(
            join(base, "chat/completions").expect(base).as_str(),
            expected
        );
    }

    #[test]
    fn there_is_always_one_v1_and_one_route() {
        let expected = "http://h.test:8000/v1/chat/completions";
        for base in ["", "/", "/v1", "/v1/", "//v1//", "/v1/chat/completions"] {
            joins(&format!("http://h.test:8000{base}"), expected);
        }
    }

    #[test]
    fn a_path_before_v1_and_a_query_are_kept() {
        joins(
            "http://h.test/team-a",
            "http://h.test/team-a/v1/chat/completions",
        );
        joins(
            "https://h.test/team-a/v1/",
            "https://h.test/team-a/v1/chat/completions",
        );
        joins("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions");
        joins(
            "https://h.test/d/x?api-version=1",
            "https://h.test/d/x/v1/chat/completions?api-version=1",
        );
    }

    #[track_caller]
    fn goes_under(base: &str, path: &str, expected: &str) {
        assert_eq!(under(base, path).expect(base).as_str(), expected, "{base}");
    }

    #[test]
    fn a_native_route_may_be_named_in_part_in_whole_or_not_at_all() {
        let expected = "http://h.test:11434/p/api/chat";
        for base in [
            "/p",
            "/p/",
            "/p/v1",
            "/p/api",
            "/p/api/chat",
            "/p/api/chat/",
        ] {
            goes_under(&format!("http://h.test:11434{base}"), "api/chat", expected);
        }
        let route = "v2/models/m/generate_stream";
        for base in ["", "/v2", "/v2/models/m/generate_stream"] {
            goes_under(
                &format!("http://h.test{base}"),
                route,
                "http://h.test/v2/models/m/generate_stream",
            );
        }
        goes_under(
            "http://h.test/chat",
            "api/chat",
            "http://h.test/chat/api/chat",
        );
    }

    #[test]
    fn a_deployment_of_azure_has_no_v1() {
        let expected = "https://x.test/openai/deployments/d/chat/completions?api-version=1";
        for rest in ["", "/", "/chat/completions"] {
            joins(
                &format!("https://x.test/openai/deployments/d{rest}?api-version=1"),
                expected,
            );
        }
        joins(
            "https://x.test/openai/v1",
            "https://x.test/openai/v1/chat/completions",
        );
    }

    #[test]
    fn a_path_beside_v1_replaces_it() {
        assert_eq!(
            under("http://h.test/a/v1", "version")
                .expect("url")
                .as_str(),
            "http://h.test/a/version"
        );
    }

    #[test]
    fn a_missing_scheme_is_named_with_its_mend() {
        let error = join("h.test:8000", "models")
            .expect_err("no scheme")
            .to_string();
        assert_eq!(
            error,
            "the engine URL \"h.test:8000\" has no scheme; write http://h.test:8000"
        );
    }

    #[track_caller]
    fn refused(base: &str, expected: bool) {
        let url = parse(base).expect("url");
        assert_eq!(resolve(&url).is_err(), expected, "{base}");
    }

    #[test]
    fn metadata_link_local_unspecified_and_multicast_addresses_are_refused() {
        let bad = [
            "169.254.169.254",
            "169.254.0.1",
            "0.0.0.0",
            "0.0.0.1",
            "0.255.255.255",
            "224.0.0.1",
            "255.255.255.255",
        ];
        for host in bad.into_iter().chain([
            "[fe80::1]",
            "[fd00:ec2::254]",
            "[::]",
            "[ff02::1]",
            "[::ffff:169.254.169.254]",
            "[::ffff:0.1.2.3]",
        ]) {
            refused(&format!("http://{host}:80"), true);
        }
        // The URL parser reads these as 169.254.169.254 too.
        refused("http://0xa9fea9fe/", true);
        refused("http://2852039166/", true);
    }

    #[test]
    fn metadata_addresses_are_refused_in_every_dress() {
        for host in [
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::169.254.169.254",
            "::ffff:100.100.100.200",
            "64:ff9b::169.254.169.254",
            "64:ff9b::a83f:8110",
            "64:ff9b:1::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "2002:6464:64c8::",
        ] {
            let address = host.parse().expect(host);
            assert!(refusal(address).is_some(), "{host}");
        }
    }

    #[test]
    fn other_addresses_in_these_dresses_are_judged_as_what_they_are() {
        for (dressed, bare) in [
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("::10.0.0.5", "10.0.0.5"),
            ("64:ff9b::10.0.0.5", "10.0.0.5"),
            ("2002:a00:5::", "10.0.0.5"),
            ("::1", "::1"),
            ("fd00::5", "fd00::5"),
        ] {
            let address = dressed.parse().expect(dressed);
            assert_eq!(unwrapped(address).to_string(), bare);
            assert_eq!(refusal(address), None, "{dressed}");
        }
    }

    #[test]
    fn private_and_loopback_addresses_are_engines_like_any_other() {
        for host in ["127.0.0.1", "[::1]", "10.0.0.5", "192.168.1.9", "[fd00::5]"] {
            refused(&format!("http://{host}:8000"), false);
        }
    }
}
