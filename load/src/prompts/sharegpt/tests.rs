//! Tests of the module above.

use serde_json::json;

use super::*;

#[track_caller]
fn check(content: &str) -> Result<u32, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("upload");
    std::fs::write(&at, content).expect("written");
    let checked = check_sharegpt(&at, "rep.json").map_err(|error| error.to_string());
    if let Err(error) = &checked {
        assert!(error.contains("rep.json"), "{error}");
        assert!(
            !error.contains(&*folder.path().to_string_lossy()),
            "{error}"
        );
    }
    checked
}

fn talk(words: &str) -> Value {
    json!({"conversations": [{"from": "human", "value": words}, {"from": "gpt", "value": "yes"}]})
}

#[test]
fn a_file_is_checked_to_its_end() {
    let good = json!([{"id": "odd"}, talk("hello"), talk("there")]).to_string();
    assert_eq!(check(&good), Ok(2));
    let cut = check(&good[..good.len() - 1]).expect_err("cut");
    assert!(cut.contains("line 1 column"), "{cut}");
    let more = check(&format!("{good} x")).expect_err("more");
    assert!(more.contains("trailing characters"), "{more}");
    for nothing in ["[]", "[1, 2]", r#"[{"conversations": []}]"#] {
        let error = check(nothing).expect_err(nothing);
        assert!(error.contains("is a conversation"), "{error}");
    }
}

#[test]
fn one_huge_conversation_is_refused_by_its_number() {
    let huge = "word ".repeat((LARGEST_ROW / 5) as usize);
    let error = check(&json!([talk("hello"), talk(&huge)]).to_string()).expect_err("too large");
    assert!(
        error.contains("conversation 2 is larger than 8 MiB"),
        "{error}"
    );
    // Many that are not are no matter.
    let half = talk(&huge[..huge.len() / 2]);
    assert_eq!(check(&json!([half, half, half]).to_string()), Ok(3));
}
