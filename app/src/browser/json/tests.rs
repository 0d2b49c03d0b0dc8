use std::collections::BTreeMap;
use std::fmt::Debug;

use measure::study::StudySpec;
use measure::workload::Workload;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Unfit, from_str, to_string};
use crate::fixture;
use crate::studio::{StudioError, StudyView};

/// Reads what serde_json writes, and writes what it reads.
#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("json");
    assert_eq!(from_str::<T>(&text).as_ref(), Ok(value), "{text}");
    let spaced = serde_json::to_string_pretty(value).expect("json");
    assert_eq!(from_str::<T>(&spaced).as_ref(), Ok(value), "{spaced}");
    let ours = to_string(value);
    assert_eq!(from_str::<T>(&ours).as_ref(), Ok(value), "{ours}");
    assert_eq!(&serde_json::from_str::<T>(&ours).expect("json"), value);
}

#[track_caller]
fn check_text<T: DeserializeOwned + PartialEq + Debug>(text: &str, expected: Result<T, Unfit>) {
    assert_eq!(from_str::<T>(text), expected, "{text}");
}

#[test]
fn what_the_studio_sends_is_read() {
    check(&fixture::study());
    check(&StudySpec::goodput_exercise());
    let workload: Workload = StudySpec::goodput_exercise().workload;
    check(&workload);
    check::<Result<StudyView, StudioError>>(&Ok(fixture::study()));
    check::<Result<StudyView, StudioError>>(&Err(StudioError::NotFound {
        what: "\"study\"\n".into(),
    }));
    check::<Result<(), StudioError>>(&Ok(()));
}

#[test]
fn numbers_keep_their_value() {
    check(&[0.1, -2.5, 1e300, 5e-324, 1.0, -7.0, 16_777_217.5]);
    check(&[u64::MAX, 0, 1 << 53, (1 << 53) + 1]);
    check(&[i64::MIN, -1, 0, i64::MAX]);
    check_text("300", Err::<u8, _>(Unfit));
    check_text("-1", Err::<u32, _>(Unfit));
    check_text("1.5", Err::<u32, _>(Unfit));
    check_text("1", Ok(1.0));
}

#[test]
fn texts_keep_every_letter() {
    for text in ["", "plain", "a\"b\\c/d", "\n\u{1}", "ü→𝄞", "\\u0041"] {
        check(&text.to_owned());
        check(&BTreeMap::from([(text.to_owned(), 1)]));
    }
    check_text(r#""\u0041\/\ud834\udd1e!""#, Ok("A/𝄞!".to_owned()));
    check_text(r#""\ud834 \udd1e""#, Ok("\u{fffd} \u{fffd}".to_owned()));
    check_text(r#""\u00""#, Err::<String, _>(Unfit));
    check_text(r#""open"#, Err::<String, _>(Unfit));
}

#[test]
fn every_shape_is_written_and_read_back() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Bare,
        One(u8),
        Two(u8, char),
        Named { a: (), b: Option<bool> },
    }
    let shapes = vec![
        Shape::Bare,
        Shape::One(1),
        Shape::Two(2, '"'),
        Shape::Named { a: (), b: None },
    ];
    let text = r#"["Bare",{"One":1},{"Two":[2,"\""]},{"Named":{"a":null,"b":null}}]"#;
    assert_eq!(to_string(&shapes), text);
    assert_eq!(to_string(&(f64::NAN, [-0.5, 1.0])), "[null,[-0.5,1.0]]");
    check_text(
        "[\r\n \"\\b\\f\\r\\t\"]",
        Ok(vec!["\u{8}\u{c}\r\t".to_owned()]),
    );
}

#[derive(Debug, PartialEq, Deserialize)]
struct Fields {
    needed: u32,
    #[serde(default)]
    list: Vec<u32>,
    optional: Option<bool>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[test]
fn fields_come_in_any_order_and_may_be_missing_where_that_is_said() {
    let fields = |needed, list: &[u32], optional, kind: Option<&str>| Fields {
        needed,
        list: list.to_vec(),
        optional,
        kind: kind.map(str::to_owned),
    };
    check_text(r#"{"needed":1}"#, Ok(fields(1, &[], None, None)));
    check_text(
        r#" {"type" : "t", "other": {"needed": [2]}, "list":[3, 4 ] ,"optional":null,"needed":5}"#,
        Ok(fields(5, &[3, 4], None, Some("t"))),
    );
    check_text(
        r#"{"optional":true,"needed":1}"#,
        Ok(fields(1, &[], Some(true), None)),
    );
    check_text(r#"{"list":[]}"#, Err::<Fields, _>(Unfit));
    check_text(r#"{"needed":1,"list":["a"]}"#, Err::<Fields, _>(Unfit));
    check_text(r#"{"needed":1,"list":null}"#, Err::<Fields, _>(Unfit));
    check_text("[1]", Err::<Fields, _>(Unfit));
}

#[test]
fn what_is_not_json_is_refused_and_takes_no_stack() {
    for text in [
        "", "{", "[1,", "[1,]", "{\"a\"}", "nul", "1 2", "[1}", "\"\\", "--1", "{}x",
    ] {
        check_text(text, Err::<BTreeMap<String, u32>, _>(Unfit));
        check_text(text, Err::<Vec<u32>, _>(Unfit));
    }
    check_text(&"[".repeat(1_000_000), Err::<Vec<u32>, _>(Unfit));
}
