//! Tests of the module above.

use super::*;

#[test]
fn axes_are_logarithmic() {
    assert_eq!(share((1.0, 100.0), 10.0), 0.5);
    assert_eq!(
        share((1.0, 100.0), 1e9),
        1.0,
        "what lies outside stays at the edge"
    );
    assert_eq!(
        powers((0.4, 9.0), 2.0).collect::<Vec<_>>(),
        [0.5, 1.0, 2.0, 4.0, 8.0]
    );
}

#[test]
fn a_study_without_points_still_has_axes() {
    assert_eq!(range(std::iter::empty(), (0.5, 32.0)), (0.5, 32.0));
}

#[test]
fn long_names_are_cut() {
    assert_eq!(cut("abcdefgh", 6), "abc...");
    assert_eq!(cut("äöü", 3), "äöü");
}

#[test]
fn a_ceiling_is_said_in_words() {
    assert_eq!(
        say(Some(Ceiling::Bracket {
            value: 11.42,
            lo: 10.0,
            hi: 12.0
        })),
        "up to 11.4/s"
    );
    assert_eq!(say(Some(Ceiling::AtLeast { lo: 8.0 })), "at least 8.00/s");
    assert_eq!(say(None), "not measured yet");
}
