//! Whether many streams keep their time: `cargo run --release -p sim --example streams serve STREAMS` on one core, and
//! `... streams URL STREAMS TOKENS` on another (`taskset`; both need more open files than streams: `ulimit -n`).
//!
//! A step gives one token to every stream, so its events should arrive together and the next ones a step later. The client
//! prints how long the events of a step take from the first to the last (everything between the engine and the client's read),
//! and how far apart the steps are, beside what the simulator calculated.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use measure::knobs::{KnobValue, Knobs};
use measure::quantile::percentile_linear;
use sim::Config;
use sim::cost::Work;
use tokio::net::TcpStream;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const PROMPT: u32 = 20;
/// Events of a step arrive closer to each other than this, and steps further apart.
const PAUSE: Duration = Duration::from_millis(5);

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok());
    let streams = number(1).unwrap_or(2000);
    let config = config(streams)?;
    match arguments.first().map(String::as_str) {
        Some("serve") | None => serve(config),
        Some(url) => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(watch(url, streams, number(2).unwrap_or(100), &config)),
    }
}

/// An 8B model on an H100 that runs all streams at once.
fn config(streams: u32) -> Result<Config, Failure> {
    let whole = |number: u32| KnobValue::Whole(number.into());
    let knobs: Knobs = [
        ("max-num-seqs".to_owned(), whole(streams)),
        ("max-num-batched-tokens".to_owned(), whole(2 * streams)),
    ]
    .into();
    Ok(Config::preset("llama-8b-h100", &knobs)?)
}

fn serve(config: Config) -> Result<(), Failure> {
    let running = sim::start(config)?;
    println!("{}", running.url);
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

async fn watch(url: &str, streams: u32, tokens: u32, config: &Config) -> Result<(), Failure> {
    let address = url.trim_start_matches("http://").to_owned();
    let begun = Instant::now();
    let tasks: Vec<_> = (0..streams)
        .map(|index| tokio::spawn(stream(address.clone(), index, tokens, begun)))
        .collect();
    let mut times = Vec::with_capacity((streams * tokens) as usize);
    for task in tasks {
        times.extend(task.await??);
    }
    times.sort_unstable();
    println!("{} of {} events", times.len(), streams * tokens);
    report(&times, streams, tokens, config);
    Ok(())
}

/// Asks once; returns when each event came.
async fn stream(
    address: String,
    index: u32,
    tokens: u32,
    begun: Instant,
) -> Result<Vec<Duration>, Failure> {
    let socket = TcpStream::connect(&address).await?;
    socket.set_nodelay(true)?;
    let prompt: Vec<u32> = (0..PROMPT).map(|word| index * PROMPT + word).collect();
    let body =
        format!(r#"{{"prompt":{prompt:?},"max_tokens":{tokens},"stream":true,"ignore_eos":true}}"#);
    let head = format!(
        "POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = head + &body;
    socket.writable().await?;
    if socket.try_write(request.as_bytes())? < request.len() {
        return Err("a new connection does not take a whole request".into());
    }
    let (mut times, mut buffer) = (Vec::with_capacity(tokens as usize), vec![0; 4096]);
    loop {
        socket.readable().await?;
        let read = match socket.try_read(&mut buffer) {
            Ok(0) => return Ok(times),
            Err(cause) if cause.kind() == ErrorKind::WouldBlock => continue,
            read => read?,
        };
        let events = memchr::memmem::find_iter(&buffer[..read], r#"{"index""#).count();
        times.extend(std::iter::repeat_n(begun.elapsed(), events));
    }
}

/// Prints how long steps took to arrive, of those that served every stream.
fn report(times: &[Duration], streams: u32, tokens: u32, config: &Config) {
    let steps: Vec<&[Duration]> = times
        .chunk_by(|before, after| after.saturating_sub(*before) < PAUSE)
        .filter(|step| step.len() == streams as usize)
        .collect();
    let millis = |span: Duration| span.as_secs_f64() * 1e3;
    let spreads = steps
        .iter()
        .map(|step| millis(step[step.len() - 1] - step[0]));
    let periods = steps.windows(2).map(|two| millis(two[1][0] - two[0][0]));
    print("first to last event of a step", spreads.collect());
    print("from step to step", periods.collect());
    let mut work = Work::default();
    (0..streams).for_each(|_| work.decode((PROMPT + tokens / 2).into()));
    println!(
        "{} whole steps; calculated: {:.1} ms a step in the middle",
        steps.len(),
        config.cost.step(&work).as_millis_f64()
    );
}

fn print(what: &str, mut millis: Vec<f64>) {
    millis.sort_by(f64::total_cmp);
    let [p50, p99, max] =
        [50.0, 99.0, 100.0].map(|p| percentile_linear(&millis, p).unwrap_or(f64::NAN));
    println!("{what}: p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms");
}
