//! Tests of the module above.

use super::*;

#[test]
fn long_names_are_cut() {
    assert_eq!(cut("abcdefgh", 6), "abc...");
    assert_eq!(cut("äöü", 3), "äöü");
}

#[test]
fn what_the_font_lacks_is_spelled() {
    assert_eq!(ascii("≤ 500\u{202f}µs, 10–12, −3"), "<= 500 us, 10-12, -3");
}

#[test]
fn an_empty_sheet_is_a_picture_all_the_same() {
    let sheet = Sheet {
        title: "nothing".into(),
        facts: Vec::new(),
        legend: Vec::new(),
        panels: Vec::new(),
    };
    assert!(draw(&sheet).png().expect("png").starts_with(b"\x89PNG"));
}
