//! Just enough HTTP to ask a loopback server whether it is healthy.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The status of `GET path` on 127.0.0.1; `None` while nothing answers there.
pub fn status(port: u16, path: &str) -> Option<u16> {
    let limit = Duration::from_secs(2);
    let mut stream =
        TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), limit).ok()?;
    stream.set_read_timeout(Some(limit)).ok()?;
    let ask = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(ask.as_bytes()).ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head)
        .ok()?
        .strip_prefix("HTTP/1.1 ")?
        .parse()
        .ok()
}

/// A port on 127.0.0.1 that was free a moment ago.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_read_from_the_first_line() -> anyhow::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let server = std::thread::spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            let _ = stream.read(&mut [0; 512])?;
            stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
        });
        assert_eq!(status(port, "/health"), Some(503));
        assert!(server.join().is_ok_and(|result| result.is_ok()));
        Ok(())
    }

    #[test]
    fn nobody_there_is_no_status() -> anyhow::Result<()> {
        assert_eq!(status(free_port()?, "/health"), None);
        Ok(())
    }
}
