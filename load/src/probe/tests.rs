//! Engines by what they say of themselves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;

fn found(models: Value) -> Found {
    Found {
        models: json!({ "data": [models] }),
        ..Found::default()
    }
}

#[track_caller]
fn check(found: &Found, engine: &str, version: Option<&str>) {
    let probe = found.probe(false, false);
    assert_eq!(
        (probe.engine.as_str(), probe.version.as_deref()),
        (engine, version)
    );
}

#[test]
fn engines_are_told_apart_by_what_they_say_of_themselves() {
    let version = Some(json!({ "version": "0.32.0" }));
    let props = Some(json!({ "total_slots": 4, "build_info": "b10434" }));
    let sglang = Some(json!({ "model_path": "tiny", "version": "0.5.23" }));
    check(
        &Found {
            version: version.clone(),
            ..found(json!({ "id": "m", "owned_by": "vllm" }))
        },
        "vLLM",
        Some("0.32.0"),
    );
    check(
        &Found {
            version,
            ..found(json!({ "id": "m", "owned_by": "goodput-sim" }))
        },
        "Goodput simulator",
        Some("0.32.0"),
    );
    check(
        &Found {
            props,
            ..found(json!({ "id": "m", "owned_by": "llamacpp" }))
        },
        "llama.cpp",
        Some("b10434"),
    );
    check(
        &Found {
            props: Some(json!({ "total_slots": 4, "build_info": "b0-unknown" })),
            ..found(json!({ "id": "m", "owned_by": "llamacpp" }))
        },
        "llama.cpp",
        None,
    );
    check(
        &Found {
            info: sglang,
            ..found(json!({ "id": "m", "owned_by": "sglang" }))
        },
        "SGLang",
        Some("0.5.23"),
    );
    check(&found(json!({ "id": "m" })), "unknown", None);
}

#[test]
fn facts_are_what_the_engine_reports() {
    let props = Some(json!({ "total_slots": 4, "default_generation_settings": { "n_ctx": 1024 } }));
    let facts = Found {
        props,
        ..found(json!({ "id": "m" }))
    }
    .facts();
    let facts: Vec<(&str, &str)> = facts
        .iter()
        .map(|(name, fact)| (name.as_str(), fact.value.as_str()))
        .collect();
    assert_eq!(
        facts,
        [("knob:parallel", "4"), ("seen:context length", "1024")]
    );
}

#[test]
fn no_field_is_longer_than_its_bound() {
    let long = "x\n".repeat(5000);
    let probe = found(json!({ "id": long })).probe(false, false);
    assert_eq!(probe.models, ["x".repeat(FIELD_LIMIT)]);
}

#[track_caller]
fn answers(status: u16, body: &str, key: Option<&str>, mend: &str) {
    let answer = Answer {
        status,
        body: body.into(),
    };
    let error = answer
        .models(Api::OpenAiChat, key)
        .expect_err("no models")
        .to_string();
    assert!(error.contains(mend), "{status}: {error}");
}

#[test]
fn what_stands_in_place_of_the_models_has_its_own_mend() {
    let page = "<!doctype html><title>Hello</title>";
    answers(200, page, None, "web page); check port and path");
    answers(404, page, None, "status 404); check port and path");
    answers(301, page, None, "status 301); check port and path");
    answers(401, "", None, "name the environment variable");
    answers(403, "", None, "name the environment variable");
    answers(401, "", Some("that place"), "right key into that place");
    for status in [429, 502, 503, 504] {
        answers(status, page, None, "wait until it is ready");
    }
    answers(500, page, None, "its own log says why");
}

#[test]
fn where_a_key_comes_from_is_told_and_a_key_typed_in_place_of_its_name_is_not() {
    let mut endpoint = Endpoint::new("http://127.0.0.1:1", Api::OpenAiChat, "m");
    let source = |endpoint: &Endpoint| engine::key_source(endpoint).unwrap_or_default();
    assert_eq!(source(&endpoint), "");
    endpoint.api_key_env = Some("VLLM_API_KEY".into());
    assert_eq!(source(&endpoint), "the environment variable VLLM_API_KEY");
    endpoint.api_key_env = Some("sk-SECRET".into());
    assert_eq!(source(&endpoint), "the environment variable");
    endpoint.api_key_secret = Some("VLLM".into());
    assert_eq!(source(&endpoint), "the stored secret VLLM");
    endpoint.api_key_secret = Some("sk-SECRET".into());
    assert_eq!(source(&endpoint), "the stored secret");
}

#[track_caller]
fn lists(api: Api, answer: Value, engine: &str, models: &[&str]) {
    let found = Found {
        models: listing::models(api, answer).expect("a list"),
        ..Found::default()
    };
    let probe = found.probe(false, false);
    assert_eq!(
        (probe.engine.as_str(), probe.models),
        (engine, models.iter().map(|it| (*it).to_owned()).collect())
    );
}

#[test]
fn each_dialects_engines_list_their_models_in_their_own_form() {
    let tags = json!({ "models": [{ "name": "llama3:8b", "model": "llama3:8b" }, { "name": "qwen3:4b" }] });
    lists(Api::OllamaChat, tags, "Ollama", &["llama3:8b", "qwen3:4b"]);
    let info = json!({ "model_id": "mistral-7b", "version": "3.3.4", "max_total_tokens": 4096 });
    lists(Api::TgiGenerateStream, info, "TGI", &["mistral-7b"]);
    let index = json!([{ "name": "ensemble", "state": "READY" }, { "name": "broken", "state": "UNAVAILABLE" }, { "name": "pre" }]);
    lists(
        Api::TritonGenerateStream,
        index,
        "Triton",
        &["ensemble", "pre"],
    );
    for (api, answer) in [
        (Api::OllamaChat, json!({ "data": [] })),
        (Api::TgiGenerateStream, json!({ "data": [] })),
        (Api::TritonGenerateStream, json!({ "error": "no" })),
        (Api::OpenAiChat, json!({ "models": [] })),
    ] {
        assert_eq!(listing::models(api, answer), None, "{}", api.name());
    }
}

/// A server that answers each `METHOD /path` as it is told, and keeps what it was asked. Bodies are written until nobody reads.
fn server(
    answer: impl Fn(&str) -> (u16, Vec<u8>) + Send + Sync + 'static,
) -> (Endpoint, Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (asked, sent) = <(Arc<Mutex<Vec<String>>>, Arc<AtomicUsize>)>::default();
    let (kept, written) = (asked.clone(), sent.clone());
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let Some(line) = request_line(&socket) else {
                continue;
            };
            let (status, body) = answer(&line);
            kept.lock().expect("a list").push(line);
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
            );
            let mut socket = &socket;
            let _ = socket.write_all(head.as_bytes());
            for part in body.chunks(1 << 16) {
                if socket.write_all(part).is_err() {
                    break;
                }
                written.fetch_add(part.len(), SeqCst);
            }
        }
    });
    (Endpoint::new(&url, Api::OpenAiChat, "m"), asked, sent)
}

/// `POST /path` of a request, which is read whole.
fn request_line(socket: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(socket);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(told) = line.strip_prefix("content-length:") {
            length = told.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    let mut words = first.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}

#[track_caller]
fn resets(
    answer: impl Fn(&str) -> (u16, Vec<u8>) + Send + Sync + 'static,
    expected: bool,
    posts: &[&str],
) {
    let (endpoint, asked, _) = server(answer);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let reset = runtime.block_on(reset_prefix_cache(&endpoint, Wire::default()));
    let asked = asked.lock().expect("a list");
    let posted = asked.iter().map(String::as_str);
    let posted: Vec<&str> = posted.filter(|it| it.starts_with("POST")).collect();
    assert_eq!((reset, &posted[..]), (expected, posts), "{asked:?}");
}

#[test]
fn a_reset_is_believed_only_where_the_engine_has_the_route() {
    let page = || b"<html>hi</html>".to_vec();
    // A server that answers everything has no route, and is not even asked.
    resets(move |_| (200, page()), false, &[]);
    resets(move |_| (200, b"{\"data\":[]}".to_vec()), false, &[]);
    resets(move |_| (404, page()), false, &[]);
    let vllm = |line: &str| match line {
        "GET /reset_prefix_cache" => (405, Vec::new()),
        "POST /reset_prefix_cache" => (200, Vec::new()),
        _ => (404, Vec::new()),
    };
    resets(vllm, true, &["POST /reset_prefix_cache"]);
    let busy = |line: &str| match line {
        "GET /reset_prefix_cache" => (405, Vec::new()),
        _ => (200, b"{\"success\":false}".to_vec()),
    };
    resets(busy, false, &["POST /reset_prefix_cache"]);
    let sglang = |line: &str| match line {
        "GET /get_server_info" => (200, b"{\"model_path\":\"m\"}".to_vec()),
        "POST /flush_cache" => (200, b"Cache flushed.".to_vec()),
        _ => (404, Vec::new()),
    };
    resets(sglang, true, &["POST /flush_cache"]);
}

#[test]
fn what_is_posted_is_answered_in_bounded_size() {
    const MUCH: usize = 64 << 20;
    let (endpoint, _, sent) = server(|line| match line {
        "POST /tokenize" => (200, vec![b' '; MUCH]),
        "POST /short" => (200, b"{\"count\":3}".to_vec()),
        _ => (503, Vec::new()),
    });
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let post = async |path| {
        let asker = Asker::made(&endpoint, Wire::default(), Duration::from_secs(20)).await;
        asker.expect("an address").post(path, &json!({})).await
    };
    runtime.block_on(async {
        assert_eq!(post("tokenize").await, Err("more than 1 MiB".to_owned()));
        assert_eq!(post("short").await, Ok(json!({ "count": 3 })));
        assert_eq!(post("other").await, Err("status 503".to_owned()));
    });
    let sent = sent.load(SeqCst);
    assert!(sent < MUCH / 2, "{sent} bytes were taken");
}
