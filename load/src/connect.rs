//! From an address to a connection: TCP, through a proxy where one is asked for, encrypted where the URL says so.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::dialect::End;
use crate::fault::chain;
use crate::limits::{self, Room};
use crate::socket::{Socket, Stamps};

/// Most bytes of a proxy's answer.
const PROXY_ANSWER: usize = 8 << 10;

/// Where connections lead, checked and resolved once.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The engine's, or the proxy's.
    pub addresses: Vec<SocketAddr>,
    /// Encrypts, for this server.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// The engine's host and port, where a proxy opens a tunnel to it.
    pub tunnel: Option<String>,
    /// HTTP/2, and nothing else.
    pub http2: bool,
    pub connect_timeout: Duration,
    pub kernel_time: bool,
    /// Whether the other side closes connections that it said it keeps, as far as any thread has seen.
    pub breaks_off: Arc<AtomicBool>,
    /// Connections that there may be at once, where the engine takes its files from the same process.
    pub room: Option<Arc<Room>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Tcp(#[from] io::Error),
    #[error("{0}")]
    Limit(String),
    #[error("no connection within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error(
        "{0}; name its authority (--ca-file, or the CA file of its connection), or believe anybody (--insecure)"
    )]
    Untrusted(io::Error),
    #[error("the proxy opens no tunnel; it answers {0:?}")]
    Proxy(String),
    #[error("the server speaks no HTTP/2 here; leave it at HTTP/1.1")]
    NoHttp2,
    #[error("{}", chain(.0))]
    Http(#[from] hyper::Error),
}

/// What a connection runs over.
pub(crate) enum Stream {
    Plain(Socket),
    Encrypted(Box<TlsStream<Socket>>),
}

impl Target {
    /// Opens a connection, within the limit; when its bytes arrive.
    pub(crate) async fn open(&self) -> Result<(Stream, Rc<Stamps>), ConnectError> {
        let limit = self.connect_timeout;
        let opened = tokio::time::timeout(limit, self.open_unbounded()).await;
        opened.map_err(|_| ConnectError::TimedOut(limit))?
    }

    /// A socket to the first address that takes it. A limit of this machine counts for more than what another address says.
    async fn tcp(&self) -> Result<Socket, ConnectError> {
        let place = self.room.as_ref().map(|room| room.place()).transpose();
        let place = place.map_err(ConnectError::Limit)?;
        let mut failed = None;
        for address in &self.addresses {
            match self.tcp_to(*address).await {
                Ok(socket) => return Ok(socket.holding(place)),
                Err(error) => {
                    let limit = limits::met(&error, *address).map(ConnectError::Limit);
                    let met = failed.take().filter(ConnectError::is_limit);
                    failed = met.or(limit).or(Some(ConnectError::Tcp(error)));
                }
            }
        }
        Err(failed.unwrap_or_else(|| io::Error::from(io::ErrorKind::AddrNotAvailable).into()))
    }

    async fn tcp_to(&self, address: SocketAddr) -> io::Result<Socket> {
        let tcp = tokio::net::TcpStream::connect(address).await?;
        tcp.set_nodelay(true)?;
        Socket::new(tcp.into_std()?, self.kernel_time)
    }

    async fn open_unbounded(&self) -> Result<(Stream, Rc<Stamps>), ConnectError> {
        let mut socket = self.tcp().await?;
        let stamps = socket.stamps();
        if let Some(engine) = &self.tunnel {
            dig(&mut socket, engine).await?;
        }
        let Some((config, server)) = &self.tls else {
            return Ok((Stream::Plain(socket), stamps));
        };
        let connector = TlsConnector::from(Arc::clone(config));
        let encrypted = connector.connect(server.clone(), socket).await;
        let encrypted = encrypted.map_err(untrusted)?;
        if self.http2 && encrypted.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Err(ConnectError::NoHttp2);
        }
        Ok((Stream::Encrypted(Box::new(encrypted)), stamps))
    }
}

impl ConnectError {
    /// Whether the failure is the client's own: this machine allowed it no connection.
    pub(crate) fn is_limit(&self) -> bool {
        matches!(self, Self::Limit(_))
    }
}

impl From<ConnectError> for End {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Limit(why) => Self::ClientLimit(why),
            other => Self::ConnectFailed(other.to_string()),
        }
    }
}

/// A certificate that is not believed has its own mend; everything else speaks for itself.
fn untrusted(error: io::Error) -> ConnectError {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => ConnectError::Untrusted(error),
        _ => ConnectError::Tcp(error),
    }
}

/// Has a proxy open a tunnel.
async fn dig(socket: &mut Socket, engine: &str) -> Result<(), ConnectError> {
    let ask = format!("CONNECT {engine} HTTP/1.1\r\nhost: {engine}\r\n\r\n");
    socket.write_all(ask.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < PROXY_ANSWER {
        // Byte by byte, since what follows the head is the tunnel's.
        answer.push(socket.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&answer);
    let line = line.lines().next().unwrap_or_default();
    match line.split(' ').nth(1) {
        Some(status) if status.starts_with('2') && answer.ends_with(b"\r\n\r\n") => Ok(()),
        _ => Err(ConnectError::Proxy(line.to_owned())),
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Self::Encrypted(tls) => Pin::new(tls).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Encrypted(tls) => Pin::new(tls).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, bytes),
            Self::Encrypted(tls) => Pin::new(tls).poll_write_vectored(cx, bytes),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(socket) => socket.is_write_vectored(),
            Self::Encrypted(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Self::Encrypted(tls) => Pin::new(tls).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Encrypted(tls) => Pin::new(tls).poll_shutdown(cx),
        }
    }
}
