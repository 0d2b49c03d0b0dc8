//! The floor: the least code that can read these streams honestly. What is possible on a host, as a measure for the instrument.
//!
//! One thread, connections opened before the clock, HTTP written by hand, one stamp for each read, no parser, no records but
//! stamps. Nothing here is to be made slower to flatter anybody.
//!
//! `floor HOST:PORT streams=256 requests=1024` or `floor HOST:PORT rate=200 requests=2000 connections=400`, with
//! `tokens=64 prompt=128 seed=1`; prints JSON.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, ready};

use measure::quantile::percentile_linear;
use measure::sampling::Draws;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use serde_json::{Value, json};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, spawn_local};

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 64 << 10]);
}

/// CLOCK_MONOTONIC in nanoseconds, as the server's log has it.
fn now() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

/// A request's stamps.
#[derive(Default)]
struct Stamps {
    scheduled: u64,
    sent: u64,
    tokens: Vec<u64>,
}

/// One read: when, whether it brought a token, whether it was the last.
async fn read(socket: &mut TcpStream) -> io::Result<(u64, bool, bool)> {
    poll_fn(|cx| {
        BUFFER.with_borrow_mut(|buffer| {
            let mut into = ReadBuf::new(buffer);
            ready!(Pin::new(&mut *socket).poll_read(cx, &mut into))?;
            let (at, said) = (now(), into.filled());
            if said.is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            let token = memchr::memmem::find(said, b"data: {").is_some();
            Poll::Ready(Ok((at, token, said.ends_with(b"\r\n0\r\n\r\n"))))
        })
    })
    .await
}

async fn exchange(socket: &mut TcpStream, request: &[u8], stamps: &mut Stamps) -> io::Result<()> {
    stamps.sent = now();
    socket.write_all(request).await?;
    loop {
        let (at, token, end) = read(socket).await?;
        if token {
            stamps.tokens.push(at);
        }
        if end {
            return Ok(());
        }
    }
}

async fn connect(address: &str) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// What was asked for on the command line.
struct Asked {
    address: String,
    number: HashMap<String, f64>,
}

impl Asked {
    fn get(&self, name: &str, default: f64) -> f64 {
        self.number.get(name).copied().unwrap_or(default)
    }

    /// The bytes of a request.
    fn request(&self, number: usize) -> Vec<u8> {
        let (tokens, words) = (self.get("tokens", 64.0), self.get("prompt", 128.0) as usize);
        let body = format!(
            r#"{{"model":"truth","prompt":"{number}{}","max_tokens":{tokens},"stream":true,"stream_options":{{"include_usage":true}},"ignore_eos":true}}"#,
            " word".repeat(words.saturating_sub(1))
        );
        format!(
            "POST /v1/completions HTTP/1.1\r\nhost: {}\r\nx-request-id: floor-{number}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .into_bytes()
    }
}

async fn closed_loop(asked: &Asked, streams: usize, count: usize) -> io::Result<Vec<Stamps>> {
    let requests: Vec<Vec<u8>> = (0..count).map(|number| asked.request(number)).collect();
    let left = Rc::new(RefCell::new(requests));
    let mut sockets = Vec::with_capacity(streams);
    for _ in 0..streams.min(count) {
        sockets.push(connect(&asked.address).await?);
    }
    let running: Vec<JoinHandle<io::Result<Vec<Stamps>>>> = sockets
        .into_iter()
        .map(|mut socket| {
            let left = Rc::clone(&left);
            spawn_local(async move {
                let mut done = Vec::new();
                loop {
                    let Some(request) = left.borrow_mut().pop() else {
                        return Ok(done);
                    };
                    let mut stamps = Stamps {
                        scheduled: now(),
                        ..Stamps::default()
                    };
                    exchange(&mut socket, &request, &mut stamps).await?;
                    done.push(stamps);
                }
            })
        })
        .collect();
    let mut all = Vec::with_capacity(count);
    for stream in running {
        all.extend(stream.await??);
    }
    Ok(all)
}

/// Waits for moments, finer than the runtime's millisecond.
struct Alarm(AsyncFd<std::os::fd::OwnedFd>);

impl Alarm {
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for files that are not owned; this one is"
    )]
    fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Self(AsyncFd::new(timer)?))
    }

    async fn wait(&self, at: u64) -> io::Result<()> {
        while now() < at {
            let it_value = Timespec {
                tv_sec: (at / 1_000_000_000) as i64,
                tv_nsec: (at % 1_000_000_000) as i64,
            };
            let it_interval = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            timerfd_settime(
                &self.0,
                TimerfdTimerFlags::ABSTIME,
                &Itimerspec {
                    it_interval,
                    it_value,
                },
            )?;
            self.0.readable().await?.clear_ready();
        }
        Ok(())
    }
}

async fn open_loop(asked: &Asked, rate: f64, count: usize) -> io::Result<Vec<Stamps>> {
    let requests: Vec<Vec<u8>> = (0..count).map(|number| asked.request(number)).collect();
    let idle = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..asked.get("connections", rate * 2.0) as usize {
        let socket = connect(&asked.address).await?;
        idle.borrow_mut().push(socket);
    }
    let (mut draws, alarm) = (Draws::new(asked.get("seed", 1.0) as u64), Alarm::new()?);
    let mut running: Vec<JoinHandle<io::Result<Stamps>>> = Vec::with_capacity(count);
    let mut due = now() as f64 + 10e6;
    for request in requests {
        alarm.wait(due as u64).await?;
        let (idle, address) = (Rc::clone(&idle), asked.address.clone());
        let scheduled = due as u64;
        running.push(spawn_local(async move {
            let socket = idle.borrow_mut().pop();
            let mut socket = match socket {
                Some(socket) => socket,
                None => connect(&address).await?,
            };
            let mut stamps = Stamps {
                scheduled,
                ..Stamps::default()
            };
            exchange(&mut socket, &request, &mut stamps).await?;
            idle.borrow_mut().push(socket);
            Ok(stamps)
        }));
        due += draws.exponential(rate) * 1e9;
    }
    let mut all = Vec::with_capacity(count);
    for request in running {
        all.push(request.await??);
    }
    Ok(all)
}

/// Milliseconds at p50, p95 and p99.
fn percentiles(mut values: Vec<f64>) -> Value {
    values.sort_unstable_by(f64::total_cmp);
    let at = |p: f64| percentile_linear(&values, p);
    json!({ "n": values.len(), "p50": at(50.0), "p95": at(95.0), "p99": at(99.0), "max": values.last() })
}

fn report(all: &[Stamps]) -> Value {
    let ms = |later: u64, sooner: u64| later.saturating_sub(sooner) as f64 / 1e6;
    let whole = || {
        all.iter()
            .filter_map(|stamps| Some((stamps, *stamps.tokens.first()?, *stamps.tokens.last()?)))
    };
    let gaps = all.iter().flat_map(|stamps| {
        stamps
            .tokens
            .windows(2)
            .map(move |pair| ms(pair[1], pair[0]))
    });
    let tpot = whole().filter(|(stamps, ..)| 1 < stamps.tokens.len());
    json!({
        "requests": all.len(),
        "reads": all.iter().map(|stamps| stamps.tokens.len()).sum::<usize>(),
        "ttft_ms": percentiles(whole().map(|(stamps, first, _)| ms(first, stamps.sent)).collect()),
        "e2e_ms": percentiles(whole().map(|(stamps, _, last)| ms(last, stamps.sent)).collect()),
        "tpot_ms": percentiles(tpot.map(|(stamps, first, last)| ms(last, first) / (stamps.tokens.len() - 1) as f64).collect()),
        "itl_ms": percentiles(gaps.collect()),
        "lateness_ms": percentiles(all.iter().map(|stamps| ms(stamps.sent, stamps.scheduled)).collect()),
        "scheduled_ns": all.iter().map(|stamps| stamps.scheduled).collect::<Vec<_>>(),
        "sent_ns": all.iter().map(|stamps| stamps.sent).collect::<Vec<_>>(),
    })
}

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let address = words.next().unwrap_or_default();
    let number = words.filter_map(|word| {
        Some((
            word.split_once('=')?.0.to_owned(),
            word.split_once('=')?.1.parse().ok()?,
        ))
    });
    let asked = Asked {
        address,
        number: number.collect(),
    };
    let maximum = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let limit = rustix::process::Rlimit {
        current: maximum,
        maximum,
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit)?;
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (streams, rate) = (asked.get("streams", 0.0) as usize, asked.get("rate", 0.0));
    let count = asked.get("requests", 100.0) as usize;
    let all = tokio::task::LocalSet::new().block_on(&runtime, async {
        match streams {
            0 => open_loop(&asked, rate, count).await,
            _ => closed_loop(&asked, streams, count).await,
        }
    })?;
    println!("{}", report(&all));
    Ok(())
}
