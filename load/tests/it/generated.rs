//! Streams made up at random, in every dialect, with the right answer known before a byte is written.
//!
//! A [`script::Script`] says what an engine does: tokens, pings, roles, nulls and empty texts between them, running or
//! final usage, an error, a finish reason, an end; [`wire`] writes that in a dialect. Whatever the script, the reading
//! must be what the script says, at the moments of its events and in every cut. Together with the recorded streams, this
//! is what holds each kind of fault that clients of such streams are known for:
//!
//! | kind of fault | held by |
//! | --- | --- |
//! | B01 role first, B02 null, B03 role in every event, B08 empty beside thinking, B96 empty text first | `the_reading_is_what_the_script_says` (`Beat::Nothing`), `dialect::tests::only_non_empty_output_is_a_token`, cases 001 to 004, 009, 084 |
//! | B04, B07 thinking, B09 tool calls only | the same (`Kind`), cases 005, 008, 010 |
//! | B10 two words for two first tokens | `measure::request`: `ttft` and `ttfa` |
//! | B11 headers or first byte as TTFT | `the_reading_is_what_the_script_says`: the head comes first and is its own column |
//! | B12 several tokens in an event, B13 all in one, B15 a proxy's burst | `engines::what_is_odd_in_them_is_there_and_read_right`, `a_cut_or_a_burst_changes_only_times`, cases 012 to 014 |
//! | B16 TPOT's formula, B17 ITL and TPOT, B21 one token | `measure::request::tests`, `measure::calc_cases` |
//! | B18 an event that is no token by another's count | nothing is counted by tokenizing on the way |
//! | B19 the finish event has the last token, B25 usage beside choices, B27 usage after the finish | `the_reading_is_what_the_script_says` (`finish_with_last`, `Usage`), cases 018, 020, 025 |
//! | B22 empty choices, B23 Azure | `wire`: usage comes with empty choices; case 016 |
//! | B28 running usage added up, B29 thinking added, B36 timings as usage | the same (`Usage::Running`), cases 021, 022, 062 |
//! | B31 a proxy's own count, B34 no usage | `Usage::None`: no count, never the number of events; `measure::fidelity` |
//! | B33 blanks are tokens | texts of the script are blanks, line ends and single characters |
//! | B37 no blank after the colon, B38 CRLF, B41 comments, B44 empty data | `wire::Style`, `Beat::Ping`, `sse::tests` |
//! | B47 trimmed reads, B48 split, B49 coalesced, B50 cut characters, B51 charset, B52 separators | `a_cut_or_a_burst_changes_only_times`, `sse::tests::any_cut_gives_the_same_events` |
//! | B56 wrong content type | `the_reading_is_what_the_script_says`: any content type will do |
//! | B58 no blank line at the end, B60 no mark, B61 no finish reason | `End::MarkAtEof`, `End::NoMark`, `finish` |
//! | B63 a polite cut, B64 a reset, B66 silence | `End::Cut`, `End::Reset`, `End::Stall`; `engines::a_stream_cut_short_before_its_end_is_never_a_success` |
//! | B68 a total timeout | there is none; case 060 |
//! | B70, B71, B82, B83 errors in the stream, B75 a bare one, B76 an error that is null | `Fault`, `Beat::Nothing`, case 068 |
//! | B78 no token is no success, B79 no stream | `the_reading_is_what_the_script_says`, cases 072 to 076 |
//! | B80 429, B81 bodies of refusals | `dialect::tests`, `engines`: the errors, cases 077 to 081 |
//! | B84 a key that is refused | `probe::tests`, `trial` |
//! | B85 to B92 the engines' own dialects, B94 counts that are missing | all of this, in each dialect; cases 089 to 105 |
//! | B98 URLs | `address::tests` |
//! | B99, B101 fields that are refused | `trial`, `dialect::quirks::tests` |
//! | B102 prompts and lengths that are not what was asked | `measure::fidelity` |
//! | B104, B106 certificates and addresses | the connection's own tests |
//! | B107 the key's header | `dialect::tests::a_key_goes_where_it_is_looked_for` |

mod script; // what an engine does
mod wire; // in the words of a dialect

use std::time::Duration;

use load::dialect::{self, Asked, Flow, Head, Stream};
use measure::request::{ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::Api;
use measure::units::Nanos;
use proptest::prelude::*;

use script::{End, Script, script};

fn any_api() -> impl Strategy<Value = Api> {
    prop::sample::select(Api::ALL.to_vec())
}

/// Plays events or pieces, one a millisecond; after the last comes the script's end.
fn play<'a>(api: Api, script: &Script, reads: impl Iterator<Item = &'a [u8]>) -> RequestRecord {
    let mut stream = Stream::new(api, true, 8);
    let head = Head {
        status: 200,
        content_type: script.content_type,
        retry_after: None,
        date: None,
        location: None,
    };
    stream.head(Nanos(1), head);
    let mut at = 0;
    let mut done = false;
    for read in reads {
        at += 1;
        done |= stream.bytes(Nanos::from_millis(at), read) == Flow::Done;
    }
    if !done {
        let how = match script.end {
            End::Reset => dialect::End::Reset("reset".into()),
            End::Stall => dialect::End::Stalled(Duration::from_secs(1)),
            _ => dialect::End::Clean,
        };
        stream.end(Nanos::from_millis(at), how);
    }
    let asked = Asked {
        request_id: "r".into(),
        session: 0,
        turn: 0,
        scheduled: Nanos::ZERO,
        input_tokens: 1,
        output_tokens: 8,
    };
    stream.into_record(asked, Some(Nanos::ZERO), None)
}

fn timeless(record: &RequestRecord) -> impl PartialEq + std::fmt::Debug + use<> {
    let chunks: Vec<_> = record
        .chunks
        .iter()
        .map(|it| (it.kind, it.tokens))
        .collect();
    (
        (record.outcome, record.error_detail.clone(), chunks),
        (record.text.clone(), record.reasoning_text.clone()),
        (
            record.output_tokens,
            record.token_source,
            record.prompt_tokens,
        ),
        (record.finish_reason.clone(), record.warnings.clone()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_reading_is_what_the_script_says(api in any_api(), script in script()) {
        let script = script.for_dialect(api);
        let written = wire::write(api, &script);
        let record = play(api, &script, written.events.iter().map(Vec::as_slice));
        let expected = script.outcome(api);
        prop_assert_eq!(record.outcome, expected, "{:?}", record.error_detail);
        prop_assert_eq!(&record.text, &Some(script.answer()));
        prop_assert_eq!(record.reasoning_text.unwrap_or_default(), script.thinking());
        let moments: Vec<u64> = record.chunks.iter().map(|chunk| chunk.at.0 / 1_000_000).collect();
        prop_assert_eq!(&moments, &written.token_moments);
        prop_assert_eq!(record.headers, Some(Nanos(1)));
        if expected == Outcome::Ok {
            prop_assert_eq!(record.output_tokens, script.counted(api));
            prop_assert_eq!(record.token_source, script.token_source(api));
        }
        if expected == Outcome::Error(ErrorKind::InBandError) {
            prop_assert_eq!(record.error_detail.as_deref(), Some(script::MESSAGE));
        }
    }

    #[test]
    fn a_cut_or_a_burst_changes_only_times(
        api in any_api(), script in script(), cuts in prop::collection::vec(1usize..12, 1..20),
    ) {
        let script = script.for_dialect(api);
        let bytes = wire::write(api, &script).events.concat();
        let whole = play(api, &script, std::iter::once(bytes.as_slice()));
        let mut rest = bytes.as_slice();
        let pieces = cuts.iter().cycle().map_while(|cut| {
            let (piece, later) = rest.split_at_checked((*cut).min(rest.len()))?;
            rest = later;
            (!piece.is_empty()).then_some(piece)
        });
        prop_assert_eq!(timeless(&play(api, &script, pieces)), timeless(&whole));
    }

    /// Nothing that a server says before its end mark makes an abrupt end a success.
    #[test]
    fn a_prefix_is_a_success_only_with_an_end(api in any_api(), script in script(), share in 0.0..1.0f64) {
        let script = Script { end: End::Reset, fault: None, ..script }.for_dialect(api);
        let bytes = wire::write(api, &script).events.concat();
        let prefix = &bytes[..(bytes.len() as f64 * share) as usize];
        let record = play(api, &script, std::iter::once(prefix));
        prop_assert_ne!(record.outcome, Outcome::Ok);
        prop_assert!(record.token_source != TokenSource::Tokenizer);
    }
}
