//! Counting, by each of the three.

use std::fs;

use measure::study::{Api, Endpoint};

use super::*;

/// A tokenizer of a model that never was: words in pieces of four letters, with the blank before them.
pub(crate) fn tokenizer(folder: &Path) -> PathBuf {
    let path = folder.join("tokenizer.json");
    fs::write(&path, include_str!("tests/tokenizer.json")).expect("written");
    path
}

#[test]
fn a_tokenizer_counts_as_it_encodes() {
    let folder = tempfile::tempdir().expect("a folder");
    let counter = Counter::local(&tokenizer(folder.path())).expect("a tokenizer");
    assert_eq!(counter.source(), LengthSource::Tokenizer);
    let many: Vec<String> = (0..500).map(|index| "a ".repeat(index)).collect();
    let counts = counter.count(&many).expect("counts");
    let single: Vec<u32> = many
        .iter()
        .flat_map(|text| counter.count(std::slice::from_ref(text)).expect("a count"))
        .collect();
    assert_eq!(counts, single);
    assert!(counts.is_sorted() && counts[499] > 400);
}

#[test]
fn a_file_that_is_no_tokenizer_is_named_with_the_mend() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.json");
    fs::write(&path, "{}").expect("written");
    for path in [path, folder.path().join("none.json")] {
        let error = Counter::local(&path).err().expect("refused").to_string();
        assert!(
            error.contains(&*path.to_string_lossy())
                && error.contains("tokenizer.json of the model"),
            "{error}"
        );
    }
}

#[test]
fn words_are_guessed_by_their_factor() {
    let counter = Counter::Words { per_word: 1.5 };
    let texts = ["".to_owned(), "one two three four".to_owned()];
    assert_eq!(counter.count(&texts).expect("counts"), [0, 6]);
}

fn endpoint(url: String) -> Endpoint {
    Endpoint::new(url, Api::OpenAiChat, "m")
}

/// A server whose `/tokenize` answers `answer` of the words of either form's text.
async fn serve(answer: fn(&serde_json::Value) -> serde_json::Value) -> String {
    use axum::{Json, Router, routing::post};
    let tokenize =
        move |Json(question): Json<serde_json::Value>| async move { Json(answer(&question)) };
    let app = Router::new().route("/tokenize", post(tokenize));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/v1")
}

fn words(question: &serde_json::Value, field: &str) -> usize {
    question[field]
        .as_str()
        .map_or(0, |text| text.split_whitespace().count())
}

#[tokio::test]
async fn an_engines_own_count_is_read_in_both_forms() {
    let vllm = serve(|question| serde_json::json!({"count": words(question, "prompt"), "max_model_len": 9, "tokens": []})).await;
    let llamacpp =
        serve(|question| serde_json::json!({"tokens": vec![7; words(question, "content")]})).await;
    for url in [vllm, llamacpp] {
        let counter = Counter::of_engine(&endpoint(url), &crate::Wire::default())
            .await
            .expect("it counts");
        assert_eq!(counter.source(), LengthSource::Engine);
        let texts: Vec<String> = (1..1500)
            .map(|count| "so ".repeat(count % 40 + 1))
            .collect();
        let expected: Vec<u32> = texts
            .iter()
            .map(|text| text.split_whitespace().count() as u32)
            .collect();
        let counts = tokio::task::spawn_blocking(move || counter.count(&texts))
            .await
            .expect("no panic");
        assert_eq!(counts.expect("counts"), expected);
    }
    let none = serve(|_| serde_json::json!({"error": "no"})).await;
    assert!(
        Counter::of_engine(&endpoint(none), &crate::Wire::default())
            .await
            .is_none()
    );
}
