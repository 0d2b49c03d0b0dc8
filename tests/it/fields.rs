//! What `goodput bench` says to an engine, read off the socket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::bench::goodput;

/// An engine that nobody knows. It keeps every body and refuses a field by its name.
struct Engine {
    url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Engine {
    fn start(refuses: &'static str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let bodies = Arc::<Mutex<Vec<Value>>>::default();
        let kept = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(socket, &kept, refuses));
            }
        });
        Ok(Self { url, bodies })
    }

    /// Runs with these arguments: the status, and the bodies that came.
    fn bench(&self, args: &[&str]) -> (u8, Vec<Value>) {
        let base = ["bench", "--url", &self.url, "--model", "m"];
        let few = [
            "--requests",
            "2",
            "--input-tokens",
            "4",
            "--output-tokens",
            "3",
        ];
        let status = goodput(&[&base[..], &few, args].concat());
        let bodies = std::mem::take(&mut *self.bodies.lock().expect("lock"));
        (status, bodies)
    }
}

fn serve(mut socket: TcpStream, kept: &Mutex<Vec<Value>>, refuses: &str) -> Option<()> {
    loop {
        let (head, body) = request(&mut socket)?;
        let (status, kind, answer) = if head.starts_with("GET") {
            (
                200,
                "application/json",
                r#"{"data":[{"id":"m"}]}"#.to_owned(),
            )
        } else if head.contains("/tokenize") {
            (404, "application/json", "{}".to_owned())
        } else {
            let said = serde_json::from_slice(&body).ok()?;
            let refused = !refuses.is_empty() && find(&said, refuses).is_some();
            kept.lock().ok()?.push(said);
            if refused {
                let why = format!(r#"{{"error":{{"message":"unknown field {refuses}"}}}}"#);
                (400, "application/json", why)
            } else {
                (200, "text/event-stream", stream(&head))
            }
        };
        let length = answer.len();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{answer}"
        );
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

/// Three tokens, in the dialect of the route.
fn stream(head: &str) -> String {
    if head.contains("/generate") {
        let event = |n: usize, finish: &str| {
            let text = " w".repeat(n);
            format!(
                "data: {{\"text\":\"{text}\",\"meta_info\":{{\"completion_tokens\":{n},\"finish_reason\":{finish}}}}}\n\n"
            )
        };
        return [
            event(1, "null"),
            event(2, "null"),
            event(3, "{\"type\":\"length\"}"),
            "data: [DONE]\n\n".into(),
        ]
        .concat();
    }
    let piece = if head.contains("/chat/") {
        "\"delta\":{\"content\":\" w\"}"
    } else {
        "\"text\":\" w\""
    };
    let event = |n: usize| {
        let finish = if n == 3 { "\"length\"" } else { "null" };
        format!(
            "data: {{\"choices\":[{{\"index\":0,{piece},\"finish_reason\":{finish}}}],\"usage\":{{\"prompt_tokens\":4,\"completion_tokens\":{n}}}}}\n\n"
        )
    };
    [event(1), event(2), event(3), "data: [DONE]\n\n".into()].concat()
}

fn request(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    socket.read_exact(&mut body).ok()?;
    Some((head.replacen("get", "GET", 1), body))
}

/// A field, wherever it stands.
fn find<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    let inner = || object.values().find_map(|inner| find(inner, field));
    object.get(field).or_else(inner)
}

#[test]
fn what_is_asked_for_by_name_is_in_every_request_and_nothing_else_is() -> anyhow::Result<()> {
    let engine = Engine::start("")?;
    let both = ["--min-tokens", "--continuous-usage"];
    for (api, args, min_tokens, running) in [
        ("openai.chat", &both[..], Some("min_tokens"), true),
        ("openai.completions", &both, Some("min_tokens"), true),
        ("openai.completions", &both[..1], Some("min_tokens"), false),
        ("openai.completions", &both[1..], None, true),
        ("sglang.generate", &both[..1], Some("min_new_tokens"), false),
        ("openai.chat", &[], None, false),
        ("sglang.generate", &[], None, false),
    ] {
        for probe in [&[][..], &["--no-probe"]] {
            let (status, bodies) = engine.bench(&[&["--api", api], args, probe].concat());
            assert_eq!(status, 0, "{api} {args:?}");
            assert!(2 <= bodies.len(), "{api} {args:?}");
            for body in bodies {
                let limit = ["max_tokens", "max_new_tokens"]
                    .into_iter()
                    .find_map(|it| find(&body, it));
                let least = ["min_tokens", "min_new_tokens"]
                    .into_iter()
                    .find(|it| find(&body, it).is_some());
                assert_eq!(least, min_tokens, "{body}");
                assert_eq!(
                    least.and_then(|it| find(&body, it)),
                    limit.filter(|_| least.is_some()),
                    "{body}"
                );
                let told = find(&body, "continuous_usage_stats").and_then(Value::as_bool);
                assert_eq!(told, running.then_some(true), "{body}");
            }
        }
    }
    Ok(())
}

#[test]
fn what_a_dialect_or_an_engine_does_not_know_is_refused_and_not_left_out() -> anyhow::Result<()> {
    let engine = Engine::start("")?;
    for (api, option) in [
        ("ollama.chat", "--min-tokens"),
        ("tgi.generate_stream", "--min-tokens"),
        ("llamacpp.completion", "--min-tokens"),
        ("sglang.generate", "--continuous-usage"),
        ("openai.responses", "--continuous-usage"),
    ] {
        let (status, bodies) = engine.bench(&["--api", api, option]);
        assert_eq!(
            (status, bodies.len()),
            (2, 0),
            "{api} {option}: before anything is sent"
        );
    }
    for (refuses, option) in [
        ("min_tokens", "--min-tokens"),
        ("continuous_usage_stats", "--continuous-usage"),
        ("stream_options", "--continuous-usage"),
    ] {
        let engine = Engine::start(refuses)?;
        let (status, bodies) = engine.bench(&["--api", "openai.chat", option]);
        assert_eq!(status, 3, "{refuses}");
        assert!(bodies.len() <= 3, "the load never began");
        let (status, _) = engine.bench(&["--api", "openai.chat"]);
        assert_eq!(
            status, 0,
            "{refuses}: what nobody asked for by name is left out"
        );
    }
    Ok(())
}
