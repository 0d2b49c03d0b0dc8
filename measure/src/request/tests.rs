use super::*;
use crate::testing::{answered, ms, sent};

fn burst(at: Nanos, kinds: &[ChunkKind]) -> Chunks {
    kinds
        .iter()
        .map(|kind| Chunk {
            at,
            at_kernel: None,
            kind: *kind,
            tokens: None,
        })
        .collect()
}

#[test]
fn ttft_counts_from_sent_and_scheduled_ttft_from_the_slot() {
    let late = RequestRecord {
        scheduled: ms(70.0),
        ..answered(0, 100.0, 30.0, &[])
    };
    assert_eq!(late.ttft(), Some(ms(30.0)));
    assert_eq!(late.scheduled_ttft(), Some(ms(60.0)));
    assert_eq!(late.dispatch_lag(), Some(ms(30.0)));
}

#[test]
fn thinking_is_a_first_token_and_no_first_answer() {
    let mut record = answered(0, 0.0, 10.0, &[20.0, 20.0]);
    let thought = |(place, chunk): (usize, Chunk)| Chunk {
        kind: [
            ChunkKind::Reasoning,
            ChunkKind::Reasoning,
            ChunkKind::Answer,
        ][place],
        ..chunk
    };
    record.chunks = record.chunks.iter().enumerate().map(thought).collect();
    assert_eq!(
        (record.ttft(), record.ttfa()),
        (Some(ms(10.0)), Some(ms(50.0)))
    );
}

#[test]
fn every_latency_that_begins_at_the_send_begins_earlier_when_it_is_counted_from_the_slot() {
    let mut late = RequestRecord {
        scheduled: ms(70.0),
        ..answered(0, 100.0, 30.0, &[20.0])
    };
    let thought = |(place, chunk): (usize, Chunk)| Chunk {
        kind: [ChunkKind::Reasoning, ChunkKind::Answer][place],
        ..chunk
    };
    late.chunks = late.chunks.iter().enumerate().map(thought).collect();
    let of = |it: &RequestRecord| [it.scheduled_ttft(), it.scheduled_ttfa(), it.scheduled_e2e()];
    assert_eq!(of(&late), [ms(60.0), ms(80.0), ms(80.0)].map(Some));
    late.finish = Some(ms(160.0));
    assert_eq!(of(&late), [ms(60.0), ms(80.0), ms(90.0)].map(Some));
    let never = RequestRecord { sent: None, ..late };
    assert_eq!(never.scheduled_e2e(), None);
}

#[test]
fn a_tool_call_is_an_answer() {
    let record = RequestRecord {
        chunks: burst(ms(5.0), &[ChunkKind::ToolCall]),
        ..sent(0, 0.0)
    };
    assert_eq!(record.ttfa(), Some(ms(5.0)));
}

#[test]
fn e2e_ends_with_the_last_token_or_the_finish_reason_whichever_is_later() {
    let record = answered(0, 100.0, 30.0, &[20.0]);
    assert_eq!(record.e2e(), Some(ms(50.0)));
    assert_eq!(
        RequestRecord {
            finish: Some(ms(160.0)),
            ..record.clone()
        }
        .e2e(),
        Some(ms(60.0))
    );
    assert_eq!(
        RequestRecord {
            finish: None,
            ..record.clone()
        }
        .e2e(),
        Some(ms(50.0))
    );
    // Usage and the end mark come later and do not stretch it.
    assert_eq!(
        RequestRecord {
            end: Some(ms(900.0)),
            ..record
        }
        .e2e(),
        Some(ms(50.0))
    );
}

#[test]
fn tpot_goes_by_counted_tokens_never_by_chunks() {
    let record = answered(0, 0.0, 30.0, &[20.0, 20.0]);
    assert_eq!(record.tpot(), Some(ms(20.0)));
    assert_eq!(
        RequestRecord {
            output_tokens: Some(5),
            ..record.clone()
        }
        .tpot(),
        Some(ms(10.0))
    );
    assert_eq!(
        RequestRecord {
            output_tokens: None,
            ..record.clone()
        }
        .tpot(),
        None
    );
    assert_eq!(
        RequestRecord {
            output_tokens: Some(1),
            ..record
        }
        .tpot(),
        None
    );
}

#[test]
fn tpot_reaches_to_the_finish_reason() {
    let record = RequestRecord {
        finish: Some(ms(90.0)),
        output_tokens: Some(4),
        ..answered(0, 0.0, 30.0, &[20.0])
    };
    assert_eq!(record.tpot(), Some(ms(20.0)));
}

#[test]
fn one_burst_has_no_pace() {
    let record = answered(0, 0.0, 30.0, &[0.0, 0.0]);
    assert!(record.is_single_burst());
    assert_eq!(
        (record.tpot(), record.itl_p95(), record.stall()),
        (None, None, None)
    );
    assert!(!answered(0, 0.0, 30.0, &[]).is_single_burst());
}

#[test]
fn gaps_are_between_events() {
    let record = answered(0, 0.0, 30.0, &[10.0, 40.0, 20.0]);
    assert_eq!(
        record.gaps().collect::<Vec<_>>(),
        [ms(10.0), ms(40.0), ms(20.0)]
    );
    assert_eq!(record.stall(), Some(ms(40.0)));
    assert_eq!(record.itl_p95(), Some(ms(38.0)));
}

#[test]
fn a_failed_request_keeps_what_arrived() {
    let record = RequestRecord {
        outcome: Outcome::Error(ErrorKind::ConnectionReset),
        ..answered(0, 0.0, 30.0, &[10.0])
    };
    assert!(!record.is_ok());
    assert_eq!(record.ttft(), Some(ms(30.0)));
}

#[test]
fn a_request_that_was_never_sent_has_no_latency() {
    let record = RequestRecord {
        sent: None,
        ..sent(0, 5.0)
    };
    assert_eq!(
        (
            record.dispatch_lag(),
            record.ttft(),
            record.e2e(),
            record.tpot()
        ),
        (None, None, None, None)
    );
}

#[test]
fn error_names_are_those_of_json() {
    for kind in ErrorKind::ALL {
        assert_eq!(serde_json::to_value(kind).expect("json"), kind.name());
    }
}

#[test]
fn the_kernel_s_moment_counts_where_there_is_one() {
    let mut record = answered(0, 0.0, 100.0, &[20.0]);
    let stamped = |chunk: Chunk| Chunk {
        at_kernel: Some(Nanos(chunk.at.0 - ms(3.0).0)),
        ..chunk
    };
    record.chunks = record.chunks.iter().map(stamped).collect();
    assert_eq!(
        (record.ttft(), record.read_ttft()),
        (Some(ms(97.0)), Some(ms(100.0)))
    );
    assert_eq!(
        record.chunks.first().and_then(|chunk| chunk.read_lag()),
        Some(ms(3.0))
    );
}
