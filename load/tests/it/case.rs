//! Recorded streams: what a server sent, when, and what must be read from it. See `tests/cases/*.json`.

use std::collections::BTreeMap;
use std::path::Path;

use measure::request::{ChunkKind, ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::Api;
use measure::units::Nanos;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Case {
    pub id: String,
    pub name: String,
    pub api: Api,
    pub http_status: u16,
    pub headers: BTreeMap<String, String>,
    pub segments: Vec<Segment>,
    pub close: Close,
    #[serde(default)]
    pub client: Client,
    pub expect: Value,
}

#[derive(Deserialize)]
pub struct Segment {
    pub after_ms: u64,
    bytes_utf8: Option<String>,
    bytes_base64: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    Clean,
    Reset,
    Hang,
}

#[derive(Default, Deserialize)]
pub struct Client {
    pub idle_timeout_ms: Option<u64>,
}

impl Segment {
    pub fn bytes(&self) -> Vec<u8> {
        match (&self.bytes_utf8, &self.bytes_base64) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(text)) => base64(text),
            _ => panic!("a segment has text or base64"),
        }
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = group
            .iter()
            .fold(0u32, |bits, digit| bits << 6 | u32::from(*digit))
            << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    bytes.collect()
}

/// All of them, by id.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = folder
        .read_dir()
        .expect("tests/cases")
        .map(|entry| entry.expect("entry").path())
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        serde_json::from_slice(&std::fs::read(path).expect("file")).expect("a case")
    };
    let cases: Vec<Case> = files.iter().map(read).collect();
    assert!(cases.len() > 50, "the cases are gone");
    cases
}

/// How exactly moments must agree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Times {
    Exact,
    Within(f64),
    Ignored,
}

impl Case {
    /// Every way in which the record differs from what is expected.
    pub fn faults(
        &self,
        record: &RequestRecord,
        tool_calls: Option<&[(String, String)]>,
        times: Times,
    ) -> Vec<String> {
        let mut check = Check {
            case: self,
            faults: Vec::new(),
        };
        check.outcome(record);
        if self.expect["outcome"] == "ok" {
            check.reading(record, tool_calls);
            if times != Times::Ignored {
                check.times(record, times);
            }
        } else {
            check.failure(record);
        }
        check.faults
    }
}

struct Check<'a> {
    case: &'a Case,
    faults: Vec<String>,
}

impl Check<'_> {
    fn same(&mut self, what: &str, got: Value) {
        let expected = self.case.expect.get(what).unwrap_or(&Value::Null);
        if *expected != got {
            let Case { id, name, .. } = self.case;
            self.faults.push(format!(
                "{id} {name}: {what} should be {expected} but is {got}"
            ));
        }
    }

    fn outcome(&mut self, record: &RequestRecord) {
        let (outcome, kind) = match record.outcome {
            Outcome::Ok => ("ok", Value::Null),
            Outcome::Error(kind) => ("error", kind.name().into()),
        };
        self.same("outcome", outcome.into());
        self.same("error_kind", kind);
    }

    fn reading(&mut self, record: &RequestRecord, tool_calls: Option<&[(String, String)]>) {
        self.same("text", record.text.clone().into());
        self.same("reasoning_text", record.reasoning_text.clone().into());
        self.same("output_tokens", record.output_tokens.into());
        self.same("prompt_tokens", record.prompt_tokens.into());
        self.same("finish_reason", record.finish_reason.clone().into());
        self.same("chunk_count", record.chunks.len().into());
        self.same("itl_count", record.gaps().count().into());
        let source = match record.token_source {
            TokenSource::Usage => "usage",
            TokenSource::EngineFinal => "engine_final",
            TokenSource::Tokenizer => "tokenizer",
            TokenSource::None => "none",
        };
        self.same("token_source", source.into());
        // A foreign content type is a warning that the cases leave open.
        let warnings: Vec<&String> = record
            .warnings
            .iter()
            .filter(|name| *name != "content_type")
            .collect();
        self.same("warnings", serde_json::json!(warnings));
        if let Some(calls) = tool_calls {
            let calls: Vec<Value> = calls
                .iter()
                .map(
                    |(name, arguments)| serde_json::json!({ "name": name, "arguments": arguments }),
                )
                .collect();
            self.same(
                "tool_calls",
                if calls.is_empty() {
                    Value::Null
                } else {
                    calls.into()
                },
            );
        }
    }

    fn times(&mut self, record: &RequestRecord, times: Times) {
        let sent = record.sent.expect("sent");
        let first = record
            .chunks
            .iter()
            .find(|chunk| chunk.kind != ChunkKind::Reasoning);
        self.time("ttft_ms", record.ttft(), times);
        self.time("ttfo_ms", first.map(|chunk| chunk.at.since(sent)), times);
        self.time("e2e_ms", record.e2e(), times);
        self.time(
            "last_token_ms",
            record.chunks.last().map(|chunk| chunk.at.since(sent)),
            times,
        );
        self.time("tpot_ms", record.tpot(), times);
        let gaps = self.case.expect["chunk_gaps_ms"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        for (place, (expected, got)) in gaps.iter().zip(record.gaps()).enumerate() {
            self.close(&format!("gap {place}"), expected, Some(got), times);
        }
    }

    fn time(&mut self, what: &str, got: Option<Nanos>, times: Times) {
        let expected = self.case.expect.get(what).cloned().unwrap_or_default();
        self.close(what, &expected, got, times);
    }

    fn close(&mut self, what: &str, expected: &Value, got: Option<Nanos>, times: Times) {
        let allowed = match times {
            Times::Within(ms) => ms,
            _ => 1e-3,
        };
        let agree = match (expected.as_f64(), got) {
            (Some(expected), Some(got)) => (expected - got.as_millis_f64()).abs() <= allowed,
            // On a socket a burst is spread over some microseconds, so that it has a pace, if a meaningless one.
            (None, Some(got)) => {
                what == "tpot_ms" && times != Times::Exact && got.as_millis_f64() <= allowed
            }
            (None, None) => true,
            (Some(_), None) => false,
        };
        if !agree {
            let Case { id, name, .. } = self.case;
            self.faults.push(format!(
                "{id} {name}: {what} should be {expected} ms but is {got:?}"
            ));
        }
    }

    fn failure(&mut self, record: &RequestRecord) {
        if self.case.expect.get("partial_text").is_some() {
            self.same("partial_text", record.text.clone().into());
            self.same("partial_chunk_count", record.chunks.len().into());
        }
        if self.case.expect.get("http_status").is_some() {
            self.same("http_status", record.http_status.into());
            let seconds = record
                .retry_after
                .as_ref()
                .and_then(|text| text.parse::<u64>().ok());
            self.same("retry_after_s", seconds.into());
        }
        if self.case.expect.get("error_message").is_some() {
            self.same("error_message", record.error_detail.clone().into());
        }
        if record.outcome == Outcome::Error(ErrorKind::ConnectionReset) && record.chunks.is_empty()
        {
            assert_eq!(record.ttft(), None);
        }
    }
}
