use proptest::prelude::*;

use super::*;
use crate::testing::{answered, failed};

fn nanos() -> impl Strategy<Value = Option<Nanos>> {
    prop::option::of((0..u64::MAX).prop_map(Nanos))
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    (0..=ErrorKind::ALL.len()).prop_map(|i| {
        if i == 0 {
            Outcome::Ok
        } else {
            Outcome::Error(ErrorKind::ALL[i - 1])
        }
    })
}

prop_compose! {
    fn some_score()(
        session: u32, turn: u32, scheduled: u64,
        sent in nanos(), ttft in nanos(), ttfa in nanos(), e2e in nanos(), tpot in nanos(), itl_p95 in nanos(), stall in nanos(),
        n in prop::option::of(0..u32::MAX), outcome in outcomes(),
    ) -> Score {
        Score { session, turn, scheduled: Nanos(scheduled), sent, ttft, ttfa, e2e, tpot, itl_p95, stall, n, outcome }
    }
}

proptest! {
    #[test]
    fn scores_survive_their_bytes(scores in prop::collection::vec(some_score(), 0..20)) {
        prop_assert_eq!(decode(&encode(&scores)), Ok(scores));
    }

    #[test]
    fn bytes_cut_short_are_refused(scores in prop::collection::vec(some_score(), 1..5), cut in 1usize..100) {
        let bytes = encode(&scores);
        let shorter = &bytes[..bytes.len() - cut.min(bytes.len())];
        prop_assert!(decode(shorter).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
        let _ = decode(&[b"GPSC\x01\0\0\0".as_slice(), &bytes].concat());
    }
}

#[test]
fn the_layout_is_fixed() {
    let record = answered(1, 2.0, 3.0, &[4.0]);
    let bytes = encode(&[Score::from(&record)]);
    assert_eq!(&bytes[..12], b"GPSC\x01\0\0\0\x01\0\0\0");
    assert_eq!(bytes.len(), 12 + 77);
    assert_eq!(&bytes[12..16], &1u32.to_le_bytes());
    assert_eq!(&bytes[20..28], &2_000_000u64.to_le_bytes());
    assert_eq!(&bytes[36..44], &3_000_000u64.to_le_bytes());
    assert_eq!(bytes.last(), Some(&0));
}

#[test]
fn strange_blocks_are_named() {
    assert_eq!(decode(b"PAR1"), Err(DecodeError::NotScores));
    assert_eq!(
        decode(b"GPSC\x02\0\0\0\0\0\0\0"),
        Err(DecodeError::Version(2))
    );
    assert_eq!(decode(b"GPSC\x01\0\0\0\x01\0\0\0"), Err(DecodeError::Short));
    assert_eq!(
        decode(b"GPSC\x01\0\0\0\xff\xff\xff\xff"),
        Err(DecodeError::Short)
    );
    let mut bytes = encode(&[Score::from(&failed(0, 0.0, ErrorKind::Truncated))]);
    *bytes.last_mut().expect("outcome") = 99;
    assert_eq!(decode(&bytes), Err(DecodeError::Outcome(99)));
}

#[test]
fn a_score_says_what_its_record_says() {
    let score = Score::from(&answered(3, 10.0, 5.0, &[1.0, 3.0]));
    assert_eq!(score.scheduled_ttft(), Some(Nanos::from_millis(5)));
    assert_eq!(score.e2e, Some(Nanos::from_millis(9)));
    assert_eq!(score.tpot, Some(Nanos::from_millis(2)));
    assert_eq!(score.stall, Some(Nanos::from_millis(3)));
    assert_eq!(score.n, Some(3));
}
