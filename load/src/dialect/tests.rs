//! What single events mean, beyond the recorded streams in `tests/cases`.

use measure::request::{ChunkKind, ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::Api;
use measure::units::Nanos;
use proptest::prelude::*;

use super::{Asked, End, Flow, Head, Stream};

const EVENT_STREAM: Head<'_> = Head {
    status: 200,
    content_type: Some("text/event-stream"),
    retry_after: None,
    date: None,
    location: None,
};

fn asked() -> Asked {
    Asked {
        request_id: "r".into(),
        session: 0,
        turn: 0,
        scheduled: Nanos::ZERO,
        input_tokens: 1,
        output_tokens: 2,
    }
}

/// Reads a whole body, one read a millisecond.
fn read(api: Api, head: Head<'_>, reads: &[&[u8]], end: End) -> RequestRecord {
    let mut stream = Stream::new(api, true, 2);
    stream.head(Nanos::ZERO, head);
    for (index, bytes) in reads.iter().enumerate() {
        stream.bytes(Nanos::from_millis(index as u64 + 1), bytes);
    }
    stream.end(Nanos::from_millis(reads.len() as u64 + 1), end);
    stream.into_record(asked(), Some(Nanos::ZERO), None)
}

/// Events in `data:` lines, one read each, then a clean end.
fn chat(events: &[&str]) -> RequestRecord {
    let events: Vec<Vec<u8>> = events
        .iter()
        .map(|event| format!("data: {event}\n\n").into_bytes())
        .collect();
    let events: Vec<&[u8]> = events.iter().map(Vec::as_slice).collect();
    read(Api::OpenAiChat, EVENT_STREAM, &events, End::Clean)
}

#[track_caller]
fn kinds(delta: &str, expected: &[ChunkKind]) {
    let event = format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#);
    let record = chat(&[&event]);
    let kinds: Vec<ChunkKind> = record.chunks.iter().map(|chunk| chunk.kind).collect();
    assert_eq!(kinds, expected, "{delta}");
}

#[test]
fn only_non_empty_output_is_a_token() {
    for delta in [
        "{}",
        "null",
        r#"{"role":"assistant"}"#,
        r#"{"content":null}"#,
        r#"{"content":""}"#,
        r#"{"tool_calls":[]}"#,
        r#"{"tool_calls":[{"index":0,"function":{"name":"","arguments":""}}]}"#,
        r#"{"content":7}"#,
    ] {
        kinds(delta, &[]);
    }
    for delta in [
        r#"{"content":" "}"#,
        r#"{"content":"\n"}"#,
        r#"{"content":[{"type":"text","text":"a"}]}"#,
    ] {
        kinds(delta, &[ChunkKind::Answer]);
    }
    for name in ["reasoning", "reasoning_content", "thinking"] {
        kinds(
            &format!(r#"{{"{name}":"hm","content":""}}"#),
            &[ChunkKind::Reasoning],
        );
    }
    kinds(
        r#"{"tool_calls":[{"function":{"arguments":"{"}}]}"#,
        &[ChunkKind::ToolCall],
    );
    kinds(r#"{"function_call":{"name":"f"}}"#, &[ChunkKind::ToolCall]);
    kinds(r#"{"reasoning":"a","content":"b"}"#, &[ChunkKind::Answer]);
}

#[test]
fn thinking_sent_under_two_names_is_kept_once() {
    let record = chat(&[r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#]);
    assert_eq!(record.reasoning_text.as_deref(), Some("hm"));
}

#[test]
fn tool_calls_join_by_index() {
    let mut stream = Stream::new(Api::OpenAiChat, true, 2);
    let call = |index: u32, function: &str| {
        format!(
            "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"function\":{function}}}]}}}}]}}\n\n"
        )
    };
    for event in [
        call(0, r#"{"name":"a","arguments":""}"#),
        call(1, r#"{"name":"b","arguments":"{"}"#),
        call(0, r#"{"arguments":"1"}"#),
        call(1, r#"{"arguments":"}"}"#),
    ] {
        stream.bytes(Nanos::ZERO, event.as_bytes());
    }
    assert_eq!(
        stream.tool_calls(),
        [("a".into(), "1".into()), ("b".into(), "{}".into())]
    );
}

const TOKEN: &str = r#"{"choices":[{"delta":{"content":"a"}}]}"#;
const FINISH: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

#[track_caller]
fn outcome(events: &[&str], expected: Outcome) {
    let record = chat(events);
    assert_eq!(
        record.outcome, expected,
        "{events:?}: {:?}",
        record.error_detail
    );
}

#[test]
fn the_outcome_is_that_of_the_first_failure() {
    use ErrorKind::{Aborted, EmptyStream, InBandError, MalformedEvent, Truncated};
    outcome(&[TOKEN, FINISH], Outcome::Ok);
    outcome(&[TOKEN, "[DONE]"], Outcome::Ok);
    outcome(
        &[
            TOKEN,
            r#"{"error":null,"choices":[]}"#,
            r#"{"error":false}"#,
            r#"{"error":""}"#,
            "[DONE]",
        ],
        Outcome::Ok,
    );
    outcome(&["null", TOKEN, "[DONE]"], Outcome::Ok);
    outcome(&[TOKEN], Outcome::Error(Truncated));
    outcome(&[FINISH, "[DONE]"], Outcome::Error(EmptyStream));
    outcome(
        &[TOKEN, r#"{"error":"out of memory"}"#, "[DONE]"],
        Outcome::Error(InBandError),
    );
    outcome(
        &[
            r#"{"object":"error","message":"too long","code":400}"#,
            "[DONE]",
        ],
        Outcome::Error(InBandError),
    );
    outcome(
        &[
            TOKEN,
            r#"{"choices":[{"finish_reason":"abort"}]}"#,
            "[DONE]",
        ],
        Outcome::Error(Aborted),
    );
    outcome(
        &[
            TOKEN,
            r#"{"choices":[{"finish_reason":"error"}]}"#,
            "[DONE]",
        ],
        Outcome::Error(InBandError),
    );
    outcome(
        &[TOKEN, "not json", FINISH, "[DONE]"],
        Outcome::Error(MalformedEvent),
    );
    outcome(
        &[TOKEN, "not json", r#"{"error":"later"}"#],
        Outcome::Error(MalformedEvent),
    );
}

#[test]
fn nothing_after_the_end_mark_counts() {
    let record = chat(&[TOKEN, "[DONE]", TOKEN, r#"{"error":"late"}"#]);
    assert_eq!((record.outcome, record.chunks.len()), (Outcome::Ok, 1));
    assert_eq!(record.end, Some(Nanos::from_millis(2)));
}

#[test]
fn the_end_mark_is_told_at_once() {
    let mut stream = Stream::new(Api::OpenAiChat, false, 2);
    assert_eq!(
        stream.bytes(Nanos::ZERO, format!("data: {TOKEN}\n\n").as_bytes()),
        Flow::Continue
    );
    assert_eq!(stream.bytes(Nanos::ZERO, b"data: [DONE]\n\n"), Flow::Done);
}

#[test]
fn events_without_blank_lines_between_them_are_still_read() {
    let bytes = format!("data: {TOKEN}\ndata: {TOKEN}\ndata: [DONE]\n\n");
    let record = read(
        Api::OpenAiChat,
        EVENT_STREAM,
        &[bytes.as_bytes()],
        End::Clean,
    );
    assert_eq!(
        (record.outcome, record.chunks.len(), record.coalesced_reads),
        (Outcome::Ok, 2, 1)
    );
    assert_eq!(record.warnings, ["missing_finish_reason", "unframed_line"]);
}

fn used(tokens: &str, choices: &str) -> String {
    format!(
        r#"{{"choices":[{choices}],"usage":{{"prompt_tokens":9,"completion_tokens":{tokens}}}}}"#
    )
}

#[test]
fn a_running_count_says_how_many_tokens_each_event_carried() {
    let text = r#"{"delta":{"content":"a b"}}"#;
    let events = [
        used("0", r#"{"delta":{"role":"assistant"}}"#),
        used("1", text),
        used("4", text),
        used("4", ""),
    ];
    let events: Vec<&str> = events
        .iter()
        .map(String::as_str)
        .chain(["[DONE]"])
        .collect();
    let record = chat(&events);
    let tokens: Vec<Option<u32>> = record.chunks.iter().map(|chunk| chunk.tokens).collect();
    assert_eq!(
        (tokens, record.output_tokens),
        (vec![Some(1), Some(3)], Some(4))
    );
}

#[test]
fn a_count_that_comes_once_says_nothing_of_single_events() {
    let last = used("5", r#"{"delta":{"content":"a"},"finish_reason":"stop"}"#);
    let record = chat(&[TOKEN, TOKEN, &last]);
    assert!(
        record.chunks.iter().all(|chunk| chunk.tokens.is_none()),
        "{:?}",
        record.chunks
    );
    assert_eq!(
        (record.output_tokens, record.token_source),
        (Some(5), TokenSource::Usage)
    );
}

#[test]
fn counts_may_be_null_or_floats_and_later_nulls_erase_nothing() {
    let record = chat(&[
        TOKEN,
        &used("3.0", ""),
        &used("null", ""),
        &used("\"x\"", ""),
        "[DONE]",
    ]);
    assert_eq!(
        (record.output_tokens, record.prompt_tokens),
        (Some(3), Some(9))
    );
}

#[test]
fn cached_tokens_come_from_the_details() {
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":600,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":512}}}"#;
    assert_eq!(chat(&[TOKEN, usage, "[DONE]"]).cached_tokens, Some(512));
    let without = r#"{"choices":[],"usage":{"prompt_tokens":600,"completion_tokens":1,"prompt_tokens_details":null}}"#;
    assert_eq!(chat(&[TOKEN, without, "[DONE]"]).cached_tokens, None);
}

#[test]
fn the_engines_own_count_stands_in_where_there_is_no_usage() {
    let timings = r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"timings":{"predicted_n":7,"cache_n":3}}"#;
    let record = chat(&[TOKEN, timings, "[DONE]"]);
    assert_eq!(
        (
            record.output_tokens,
            record.token_source,
            record.cached_tokens
        ),
        (Some(7), TokenSource::EngineFinal, Some(3))
    );
}

#[test]
fn a_pretty_printed_error_body_is_an_error_and_a_page_is_no_stream() {
    let head = Head {
        content_type: Some("application/json"),
        ..EVENT_STREAM
    };
    let error = read(
        Api::OpenAiChat,
        head,
        &[b"{\n \"error\": {\n  \"message\": \"no model\"\n }\n}\n"],
        End::Clean,
    );
    assert_eq!(
        (error.outcome, error.error_detail.as_deref()),
        (Outcome::Error(ErrorKind::InBandError), Some("no model"))
    );
    let page = read(
        Api::OpenAiChat,
        head,
        &[b"<html>\n<p>Sign in</p>\n"],
        End::Clean,
    );
    assert_eq!(page.outcome, Outcome::Error(ErrorKind::NotAStream));
    assert_eq!(
        page.error_detail.as_deref(),
        Some("the answer is no event stream but starts with: <html>\n<p>Sign in</p>\n")
    );
    assert_eq!(page.warnings, ["content_type"]);
}

#[test]
fn a_refusal_keeps_a_bounded_text_cut_between_characters() {
    let head = Head {
        status: 500,
        ..EVENT_STREAM
    };
    let body = "é".repeat(5000);
    let record = read(Api::OpenAiChat, head, &[body.as_bytes()], End::Clean);
    let detail = record.error_detail.expect("detail");
    assert!(
        detail.len() <= 2048 + 3 && detail.starts_with("éé"),
        "{}",
        detail.len()
    );
}

#[test]
fn a_refusal_that_never_ends_is_still_a_refusal() {
    let head = Head {
        status: 429,
        retry_after: Some("soon"),
        ..EVENT_STREAM
    };
    let record = read(
        Api::OpenAiChat,
        head,
        &[b"slow"],
        End::Reset("reset".into()),
    );
    assert_eq!(
        (record.outcome, record.retry_after.as_deref()),
        (Outcome::Error(ErrorKind::RateLimited), Some("soon"))
    );
}

#[test]
fn a_date_to_retry_at_is_told_in_seconds() {
    let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
    for (retry_after, date, expected) in [
        ("Sun, 06 Nov 1994 08:50:07 GMT", now, "30"),
        ("Sun, 06 Nov 1994 08:49:00 GMT", now, "0"),
        ("2", now, "2"),
        (
            "Sun, 06 Nov 1994 08:50:07 GMT",
            None,
            "Sun, 06 Nov 1994 08:50:07 GMT",
        ),
    ] {
        let head = Head {
            status: 429,
            retry_after: Some(retry_after),
            date,
            ..EVENT_STREAM
        };
        let record = read(Api::OpenAiChat, head, &[b"slow"], End::Clean);
        assert_eq!(record.retry_after.as_deref(), Some(expected));
    }
}

#[test]
fn silence_before_the_head_is_a_stall_and_no_connection_has_its_own_name() {
    let ended = |end| {
        let mut stream = Stream::new(Api::OpenAiChat, false, 2);
        stream.end(Nanos::from_millis(3), end);
        stream.into_record(asked(), Some(Nanos::ZERO), Some(Nanos(1)))
    };
    assert_eq!(
        ended(End::Stalled(std::time::Duration::from_millis(3))).outcome,
        Outcome::Error(ErrorKind::StallTimeout)
    );
    let failed = ended(End::ConnectFailed("refused".into()));
    assert_eq!(
        (failed.outcome, failed.ttft(), failed.warnings.len()),
        (Outcome::Error(ErrorKind::ConnectFailed), None, 0)
    );
}

#[test]
fn a_key_goes_where_it_is_looked_for() {
    let bearer = ("authorization", "Bearer k".to_owned());
    assert_eq!(super::key_header("http://127.0.0.1:8000/v1", "k"), bearer);
    for url in [
        "https://NAME.openai.azure.com/openai/v1",
        "https://gateway.test/openai/deployments/d?api-version=1",
    ] {
        assert_eq!(
            super::key_header(url, "k"),
            ("api-key", "k".to_owned()),
            "{url}"
        );
    }
}

/// The body of a request for "a b", two messages, and 7 tokens.
fn body(api: Api, quirks: super::Quirks) -> serde_json::Value {
    let message = |role, content| super::Message { role, content };
    let messages = [message("user", "a"), message("assistant", "b")];
    let body = super::body(api, "m", &messages, 7, quirks).expect("a body");
    serde_json::from_slice(&body).expect("json")
}

#[test]
fn each_dialect_says_what_its_engine_knows() {
    use serde_json::json;
    let messages =
        json!([{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }]);
    let openai = json!({
        "model": "m", "max_tokens": 7, "temperature": 0.0, "seed": 0, "ignore_eos": true, "stream": true,
        "stream_options": { "include_usage": true },
    });
    let with = |name: &str, value: &serde_json::Value| {
        let mut body = openai.clone();
        body[name] = value.clone();
        body
    };
    let expected = [
        (Api::OpenAiChat, with("messages", &messages)),
        (Api::OpenAiCompletions, with("prompt", &json!("a b"))),
        (
            Api::OpenAiResponses,
            json!({
                "model": "m", "input": messages, "max_output_tokens": 7, "temperature": 0.0, "ignore_eos": true, "store": false,
                "stream": true,
            }),
        ),
        (
            Api::OllamaChat,
            json!({
                "model": "m", "messages": messages, "stream": true,
                "options": { "num_predict": 7, "temperature": 0.0, "seed": 0 },
            }),
        ),
        (
            Api::TgiGenerateStream,
            json!({
                "inputs": "a b", "parameters": { "max_new_tokens": 7, "do_sample": false, "details": true },
            }),
        ),
        (
            Api::TritonGenerateStream,
            json!({ "text_input": "a b", "max_tokens": 7, "stream": true, "ignore_eos": true }),
        ),
        (
            Api::SglangGenerate,
            json!({
                "text": "a b", "sampling_params": { "max_new_tokens": 7, "temperature": 0.0, "ignore_eos": true }, "stream": true,
            }),
        ),
        (
            Api::LlamacppCompletion,
            json!({
                "model": "m", "prompt": "a b", "n_predict": 7, "temperature": 0.0, "seed": 0, "ignore_eos": true, "stream": true,
            }),
        ),
    ];
    for (api, expected) in expected {
        assert_eq!(
            body(api, super::Quirks::default()),
            expected,
            "{}",
            api.name()
        );
    }
}

#[test]
fn quirks_change_what_is_said() {
    use super::{Limit, Quirks};
    let bare = Quirks {
        limit: Limit::MaxCompletionTokens,
        ignore_eos: false,
        min_tokens: true,
        usage: true,
        continuous_usage: true,
        temperature: false,
        seed: false,
    };
    let expected = serde_json::json!({
        "model": "m", "prompt": "a b", "max_completion_tokens": 7, "min_tokens": 7, "stream": true,
        "stream_options": { "include_usage": true, "continuous_usage_stats": true },
    });
    assert_eq!(body(Api::OpenAiCompletions, bare), expected);
}

fn any_event() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ a-zé\\\\n\"{}]{0,5}".prop_map(|text| format!(
            "data: {}\n\n",
            serde_json::json!({"choices":[{"delta":{"content":text}}]})
        )),
        Just(format!("data:{FINISH}\r\n\r\n")),
        Just(": ping\n\n".to_owned()),
        Just("data: null\n\n".to_owned()),
        Just("data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\n".to_owned()),
        Just("data: {\"error\":{\"message\":\"x\"}}\n\n".to_owned()),
        Just("data: [DONE]\n\n".to_owned()),
        Just("data: {\"cut\n\n".to_owned()),
        Just("<p>\n".to_owned()),
        Just("{\"error\":\"bare\"}\n".to_owned()),
    ]
}

proptest! {
    #[test]
    fn a_cut_changes_nothing_but_times(events in prop::collection::vec(any_event(), 0..12), cut in 1usize..40) {
        let bytes = events.concat().into_bytes();
        let whole = read(Api::OpenAiChat, EVENT_STREAM, &[&bytes], End::Clean);
        let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
        let cut = read(Api::OpenAiChat, EVENT_STREAM, &pieces, End::Clean);
        let timeless = |record: RequestRecord| (record.outcome, record.error_detail, record.chunks.len(), record.text,
            record.output_tokens, record.finish_reason, record.warnings);
        prop_assert_eq!(timeless(cut), timeless(whole));
    }

    #[test]
    fn no_bytes_at_all_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(Api::OpenAiCompletions, EVENT_STREAM, &[&bytes], End::Clean);
    }
}
