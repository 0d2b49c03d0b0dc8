//! The simulated engine over a real socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use measure::knobs::{KnobValue, Knobs};
use sim::{Config, Running, start};

fn knobs(pairs: &[(&str, &str)]) -> Knobs {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value))).collect()
}

fn engine(preset: &str, pairs: &[(&str, &str)]) -> Running {
    start(Config::preset(preset, &knobs(pairs)).unwrap()).unwrap()
}

/// Sends a request and leaves the answer unread.
fn send(engine: &Running, method: &str, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(engine.url.trim_start_matches("http://")).unwrap();
    socket.set_nodelay(true).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nhost: x\r\nx-request-id: r1\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    socket
}

/// Head and de-chunked body.
fn ask(engine: &Running, method: &str, path: &str, body: &str) -> (String, String) {
    let mut all = String::new();
    send(engine, method, path, body).read_to_string(&mut all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap();
    let body = if head.contains("transfer-encoding: chunked") { dechunk(body) } else { body.to_owned() };
    (head.to_owned(), body)
}

fn dechunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
        if size == 0 {
            break;
        }
    }
    body
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

fn chat(engine: &Running, prompt: &str, max_tokens: u32) -> String {
    let model = &engine.model;
    format!(
        r#"{{"model":"{model}","messages":[{{"role":"user","content":"{prompt}"}}],"max_tokens":{max_tokens},"stream":true,"stream_options":{{"include_usage":true}},"ignore_eos":true,"temperature":0}}"#
    )
}

/// Times of the first and the last bytes of events, and all bytes, from just before the request was sent.
fn timed(engine: &Running, body: &str) -> (Duration, Duration, String) {
    let begun = Instant::now();
    let mut socket = send(engine, "POST", "/v1/chat/completions", body);
    let (mut first, mut all, mut buffer) = (None, Vec::new(), [0; 65536]);
    loop {
        let read = socket.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        all.extend_from_slice(&buffer[..read]);
        if first.is_none() && all.windows(6).any(|bytes| bytes == b"data: ") {
            first = Some(begun.elapsed());
        }
    }
    (first.unwrap(), begun.elapsed(), String::from_utf8(all).unwrap())
}

#[test]
fn a_chat_streams_as_vllm_does() {
    let engine = engine("tiny", &[]);
    let (head, body) = ask(&engine, "POST", "/v1/chat/completions", &chat(&engine, "hello there", 3));
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/event-stream; charset=utf-8"), "{head}");
    assert!(head.contains("server: goodput-sim-"), "{head}");
    assert!(head.contains("x-request-id: r1"), "{head}");
    let events: Vec<&str> = body.split_terminator("\n\n").collect();
    let head = events[0].split_once(r#""choices":["#).unwrap().0;
    assert!(head.starts_with(r#"data: {"id":"chatcmpl-r1","object":"chat.completion.chunk","created":"#), "{head}");
    assert!(head.ends_with(r#","model":"simulated-tiny","#), "{head}");
    let rest: Vec<&str> = events.iter().map(|event| event.strip_prefix(head).unwrap_or(event)).collect();
    let is_token = |event: &str, finish: &str| {
        event.starts_with(r#""choices":[{"index":0,"delta":{"content":""#)
            && event.ends_with(&format!(r#""}},"logprobs":null,"finish_reason":{finish}"token_ids":null}}]}}"#))
    };
    assert_eq!(
        rest[0],
        r#""choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null,"prompt_text":null}"#
    );
    assert!(is_token(rest[1], "null,"), "{}", rest[1]);
    assert!(is_token(rest[2], "null,"), "{}", rest[2]);
    assert!(is_token(rest[3], r#""length","stop_reason":null,"#), "{}", rest[3]);
    assert_eq!(
        rest[4],
        r#""choices":[],"usage":{"prompt_tokens":9,"total_tokens":12,"completion_tokens":3},"system_fingerprint":"goodput-sim-0.1.0"}"#
    );
    assert_eq!(rest[5..], ["data: [DONE]"]);
}

#[test]
fn alone_a_request_takes_what_the_cost_says() {
    let engine = engine("small-fast", &[]);
    let cost = Config::preset("small-fast", &Knobs::new()).unwrap().cost;
    let prompt = 300.0;
    let (first, last, _) = timed(&engine, &chat(&engine, &words(293), 31));
    let prefill = cost.base_ns + cost.prefill_token_ns * prompt + cost.attention_pair_ns * prompt * 301.0 / 2.0 + cost.sequence_ns;
    let token = cost.base_ns + cost.sequence_ns + cost.kv_token_ns * 315.0;
    let (expected_first, expected_last) = (prefill / 1e6, (prefill + 30.0 * token) / 1e6);
    let (first, last) = (first.as_secs_f64() * 1e3, last.as_secs_f64() * 1e3);
    assert!(expected_first <= first && first < expected_first + 20.0, "first {first} ms, expected {expected_first}");
    assert!(expected_last <= last && last < expected_last + 25.0, "last {last} ms, expected {expected_last}");
}
