use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::*;

fn serve(config: Config) -> Running {
    start(config, SocketAddr::from(([127, 0, 0, 1], 0)), None).expect("a truth server")
}

fn quick() -> Config {
    Config {
        ttft_ns: 20_000_000,
        itl_ns: 5_000_000,
        ..Config::default()
    }
}

fn connect(server: &Running) -> TcpStream {
    let address = server.url.strip_prefix("http://").expect("a URL");
    let socket = TcpStream::connect(address).expect("a connection");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    socket
}

fn post(id: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: t\r\nx-request-id: {id}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Reads until `mark` has come, or the other side ends it.
fn read_until(socket: &mut TcpStream, mark: &str) -> String {
    let (mut said, mut piece) = (String::new(), [0; 4096]);
    while !said.contains(mark) {
        match socket.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => said.push_str(&String::from_utf8_lossy(&piece[..length])),
            Err(error) => {
                said.push_str(&format!("<{:?}>", error.kind()));
                break;
            }
        }
    }
    said
}

fn ask(server: &Running, id: &str, body: &str) -> String {
    let mut socket = connect(server);
    let request = post(id, "/v1/completions", body);
    socket.write_all(request.as_bytes()).expect("written");
    read_until(&mut socket, "0\r\n\r\n")
}

/// Waits for so many requests in the log.
fn logged(server: &Running, count: usize) -> Vec<Record> {
    let (began, mut records) = (Instant::now(), Vec::new());
    while records.len() < count && began.elapsed() < Duration::from_secs(5) {
        records.extend(server.take_log());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(records.len(), count);
    records
}

const STREAM: &str =
    r#"{"stream":true,"max_tokens":6,"prompt":"a b c","stream_options":{"include_usage":true}}"#;

#[test]
fn tokens_leave_at_their_deadlines_and_the_log_knows_when() {
    let server = serve(quick());
    let said = ask(&server, "r-1", STREAM);
    assert_eq!(said.matches("\"text\":\"").count(), 6, "{said}");
    assert!(
        said.contains(r#""usage":{"prompt_tokens":3,"total_tokens":9,"completion_tokens":6}"#),
        "{said}"
    );
    assert!(said.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{said}");
    let record = logged(&server, 1).remove(0);
    assert!(record.is_whole() && record.client_id == "r-1", "{record:?}");
    assert!(record.rx_ns <= record.body_ns && record.body_ns <= record.first_ns);
    for (token, at) in (0u64..).zip(&record.tok_ns) {
        let due = record.body_ns + 20_000_000 + token * 5_000_000;
        assert!(due <= *at && *at <= due + record.late_max_ns, "{record:?}");
    }
    assert_eq!(
        (record.tok_ns.len(), record.sent_tokens, record.max_tokens),
        (6, 6, 6)
    );
}

#[test]
fn requests_on_one_connection_follow_each_other() {
    let server = serve(Config {
        blast: true,
        ..Config::default()
    });
    let mut socket = connect(&server);
    let last = post("b", "/v1/chat/completions", STREAM).replace("host: t", "connection: close");
    let both = post("a", "/v1/completions", STREAM) + &last;
    // In two pieces that fit nowhere.
    let (first, second) = both.split_at(37);
    socket.write_all(first.as_bytes()).expect("written");
    std::thread::sleep(Duration::from_millis(5));
    socket.write_all(second.as_bytes()).expect("written");
    let said = read_until(&mut socket, "<never>");
    assert_eq!(said.matches("HTTP/1.1 200").count(), 2, "{said}");
    let records = logged(&server, 2);
    let ids: Vec<&str> = records
        .iter()
        .map(|record| record.client_id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert!(
        records
            .iter()
            .all(|record| record.is_whole() && record.conn == 1)
    );
}

#[test]
fn chunks_carry_several_tokens_and_answers_may_come_whole() {
    let server = serve(Config {
        chunk_tokens: 4,
        ..quick()
    });
    let said = ask(&server, "c", STREAM);
    assert_eq!(said.matches("\"text\":\"").count(), 2, "{said}");
    let record = logged(&server, 1).remove(0);
    let due = [35, 45].map(|ms| record.body_ns + ms * 1_000_000);
    assert!(
        due[0] <= record.tok_ns[0] && due[1] <= record.tok_ns[1],
        "{record:?}"
    );
    let mut socket = connect(&server);
    let request = post("w", "/v1/completions", r#"{"max_tokens":3}"#);
    socket.write_all(request.as_bytes()).expect("written");
    let said = read_until(&mut socket, "}}");
    assert!(said.contains(r#""text":" the of and""#), "{said}");
    assert!(logged(&server, 1)[0].is_whole());
}

#[test]
fn what_is_no_request_is_refused_and_the_server_goes_on() {
    let server = serve(quick());
    let mut socket = connect(&server);
    socket
        .write_all(b"\xff\x03 hello\r\n\r\n")
        .expect("written");
    assert!(read_until(&mut socket, "<never>").contains("HTTP/1.1 400"));
    let mut socket = connect(&server);
    let bad = post("bad", "/v1/completions", "{");
    socket.write_all(bad.as_bytes()).expect("written");
    assert!(read_until(&mut socket, "}}").contains("HTTP/1.1 400"));
    assert_eq!(logged(&server, 1)[0].status, 400);
    socket
        .write_all(b"GET /v1/models HTTP/1.1\r\n\r\n")
        .expect("written");
    assert!(read_until(&mut socket, "}]}").contains(MODEL));
}

#[test]
fn each_fault_shows_on_the_wire_and_in_the_log() {
    #[track_caller]
    fn check(fault: Fault, shows: &str, whole: bool) {
        let faults = Faults {
            share: 1.0,
            kinds: vec![fault],
        };
        let server = serve(Config { faults, ..quick() });
        let mut socket = connect(&server);
        socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .expect("a timeout");
        // An id for which something comes before the fault.
        let request = post("id-7", "/v1/completions", STREAM);
        socket.write_all(request.as_bytes()).expect("written");
        let said = read_until(&mut socket, "<never>");
        assert!(said.contains(shows), "{fault:?}: {said}");
        assert_eq!(said.contains("0\r\n\r\n"), whole, "{fault:?}: {said}");
        drop(socket);
        let record = logged(&server, 1).remove(0);
        assert_eq!(record.fault, Some(fault));
        assert!(!record.is_whole());
        assert_eq!(record.disconnected, fault == Fault::Stall);
    }
    check(Fault::ResetBefore, "<ConnectionReset>", false);
    check(Fault::ResetAfter, "<ConnectionReset>", false);
    check(Fault::Stall, "<WouldBlock>", false);
    check(Fault::Truncate, "0\r\n\r\n", true);
    check(Fault::Cut, "200 OK", false);
    check(Fault::InBandError, "\"error\"", true);
    check(Fault::TooManyRequests, "retry-after: 1", false);
    check(Fault::Unavailable, "503", false);
    check(Fault::Empty, r#""text":"""#, true);
    check(Fault::Abort, r#""finish_reason":"abort""#, true);
    check(Fault::Malformed, "cut in the mid\n", true);
}

#[test]
fn faults_follow_from_seed_and_id_and_come_as_often_as_asked() {
    let config = Config {
        faults: Faults {
            share: 0.2,
            kinds: Vec::new(),
        },
        ..Config::default()
    };
    let fate = |number: u32| config.fate(&format!("r-{number}"), 8).fault;
    let mut counts: BTreeMap<Option<Fault>, u32> = BTreeMap::new();
    for number in 0..20_000 {
        assert_eq!(fate(number), fate(number));
        *counts.entry(fate(number)).or_default() += 1;
    }
    let good = counts.remove(&None).unwrap_or_default();
    assert!((15_800..16_200).contains(&good), "{good}");
    assert_eq!(counts.len(), Fault::ALL.len());
    assert!(
        counts.values().all(|count| (250..500).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn jitter_has_the_mean_of_what_it_spreads() {
    let config = Config {
        jitter: 0.5,
        ..Config::default()
    };
    let mut draws = config.fate("x", 1).draws;
    let spans: Vec<u64> = (0..20_000)
        .map(|_| config.jittered(1_000_000, &mut draws))
        .collect();
    let mean = spans.iter().sum::<u64>() / 20_000;
    assert!((980_000..1_020_000).contains(&mean), "{mean}");
    assert!(spans.iter().any(|span| *span < 600_000));
}

#[test]
fn a_client_that_leaves_is_noticed_and_a_log_can_be_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("truth.jsonl");
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = start(quick(), listen, Some(path.clone())).expect("a truth server");
    let mut socket = connect(&server);
    let request = post("gone", "/v1/completions", STREAM);
    socket.write_all(request.as_bytes()).expect("written");
    read_until(&mut socket, "\"text\"");
    drop(socket);
    std::thread::sleep(Duration::from_millis(100));
    ask(&server, "cut", STREAM);
    assert!(server.end().is_empty());
    let text = std::fs::read_to_string(&path).expect("a log");
    let records: Vec<Record> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    assert_eq!(
        records
            .iter()
            .map(|record| (record.client_id.as_str(), record.disconnected))
            .collect::<Vec<_>>(),
        [("gone", true), ("cut", false)]
    );
    assert!(0 < records[0].sent_tokens && records[0].sent_tokens < 6);
}
