//! Tests of the module above.

use app::chart::Fill;

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

#[test]
fn suspect_is_half_filled_and_void_is_hollow() {
    let colour = [200, 0, 0];
    let inside = |fill: Fill| {
        let mut canvas = Canvas::new(24, 24, [255; 3]);
        plot::disc(&mut canvas, (12.0, 12.0), fill, colour);
        [10, 13].map(|x| canvas.at(x, 12))
    };
    assert_eq!(inside(Fill::Solid), [colour; 2]);
    assert_eq!(inside(Fill::Half), [[255; 3], colour], "as on every page");
    assert_eq!(inside(Fill::Hollow), [[255; 3]; 2]);
}
