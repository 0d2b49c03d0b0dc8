//! A server that does as it is told: raw HTTP/1.1 over TCP, down to resets and silence.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does with a request.
#[derive(Clone)]
pub struct Script {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Wait, then write.
    pub segments: Vec<(Duration, Vec<u8>)>,
    pub end: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Clean,
    /// Closes the connection behind the whole response, without having said so.
    Gone,
    /// Without the end of the body.
    Cut,
    Reset,
    Hang,
}

/// What a request looked like.
#[derive(Clone, Debug)]
pub struct Request {
    pub head: String,
    pub body: String,
}

/// What a server saw.
#[derive(Default)]
pub struct Seen {
    pub posts: AtomicUsize,
    pub connections: AtomicUsize,
    pub in_flight: AtomicUsize,
    pub most_in_flight: AtomicUsize,
    pub requests: std::sync::Mutex<Vec<Request>>,
}

/// A server of its own runtime; stops when dropped.
pub struct Double {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for Double {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Double {
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers every POST with what `script` makes of it, and everything else with an empty list.
    pub fn start(script: impl Fn(&Request) -> Script + Send + Sync + 'static) -> Self {
        Self::start_at(0, script)
    }

    /// The same at a port of one's own choice.
    pub fn start_at(
        port: u16,
        script: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime");
        let listener = std::net::TcpListener::bind(("127.0.0.1", port)).expect("bind");
        listener.set_nonblocking(true).expect("nonblocking");
        let address = listener.local_addr().expect("address");
        let seen = Arc::new(Seen::default());
        let (script, kept) = (Arc::new(script), Arc::clone(&seen));
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("listener");
            while let Ok((socket, _)) = listener.accept().await {
                kept.connections.fetch_add(1, SeqCst);
                tokio::spawn(serve(socket, Arc::clone(&script), Arc::clone(&kept)));
            }
        });
        Self {
            address,
            seen,
            runtime: Some(runtime),
        }
    }
}

async fn serve(mut socket: TcpStream, script: Arc<impl Fn(&Request) -> Script>, seen: Arc<Seen>) {
    socket.set_nodelay(true).expect("nodelay");
    while let Some(request) = read_request(&mut socket).await {
        if request.head.starts_with("GET") {
            let answer =
                "HTTP/1.1 200 OK\r\ncontent-length: 22\r\n\r\n{\"data\":[{\"id\":\"m\"}]}\n";
            if socket.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
            continue;
        }
        seen.posts.fetch_add(1, SeqCst);
        let now = seen.in_flight.fetch_add(1, SeqCst) + 1;
        seen.most_in_flight.fetch_max(now, SeqCst);
        let todo = script(&request);
        seen.requests.lock().expect("lock").push(request);
        let goes_on = answer(&mut socket, todo).await;
        seen.in_flight.fetch_sub(1, SeqCst);
        if !goes_on {
            return;
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
                .unwrap_or(0);
            while bytes.len() < end + 4 + length {
                if socket.read_buf(&mut bytes).await.ok()? == 0 {
                    return None;
                }
            }
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            return Some(Request {
                head,
                body: String::from_utf8_lossy(&bytes[end + 4..]).into_owned(),
            });
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Plays a script; whether the connection can be used again.
async fn answer(socket: &mut TcpStream, script: Script) -> bool {
    let mut head = format!(
        "HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n",
        script.status
    );
    for (name, value) in &script.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let mut due = tokio::time::Instant::now();
    if socket.write_all(head.as_bytes()).await.is_err() {
        return false;
    }
    for (wait, bytes) in script.segments {
        due += wait;
        tokio::time::sleep_until(due).await;
        let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
        if socket.write_all(&chunk).await.is_err() {
            return false;
        }
    }
    match script.end {
        Ending::Clean => socket.write_all(b"0\r\n\r\n").await.is_ok(),
        Ending::Gone => {
            let _ = socket.write_all(b"0\r\n\r\n").await;
            false
        }
        Ending::Cut => false,
        Ending::Reset => {
            // Whatever was written should have been read by then.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let _ = socket.set_zero_linger();
            false
        }
        Ending::Hang => {
            // Until the other side gives up.
            let _ = socket.read_u8().await;
            false
        }
    }
}

/// A good stream in the completions dialect: the head at once, a first token after `ttft`, then one every `itl`.
pub fn stream(tokens: usize, ttft: Duration, itl: Duration) -> Script {
    let mut segments = Vec::new();
    for token in 0..tokens {
        let wait = if token == 0 { ttft } else { itl };
        let finish = if token + 1 == tokens {
            "\"length\""
        } else {
            "null"
        };
        let mut text = format!(
            "data: {{\"choices\":[{{\"index\":0,\"text\":\" w\",\"finish_reason\":{finish}}}]}}\n\n"
        );
        if token + 1 == tokens {
            text.push_str(&format!("data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":5,\"completion_tokens\":{tokens}}}}}\n\ndata: [DONE]\n\n"));
        }
        segments.push((wait, text.into_bytes()));
    }
    Script {
        status: 200,
        headers: vec![("content-type".into(), "text/event-stream".into())],
        segments,
        end: Ending::Clean,
    }
}
