//! Files that workloads name, over HTTP.

use axum::body::Body;
use bytes::Bytes;
use serde_json::json;
use tests::edge::OnEdge;

#[tokio::test]
async fn data_sets_are_uploaded_into_the_one_folder() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let put = async |name: &str, body: &str| {
        edge.send(
            "PUT",
            &format!("/api/v1/datasets/{name}"),
            &[],
            body.to_owned(),
        )
        .await
    };
    let turn = |from: &str| json!({ "from": from, "value": "hello" });
    let good = format!(
        " {}",
        json!([{ "conversations": [turn("human"), turn("gpt")] }])
    );
    let row = json!({ "file": "mine.json", "bytes": good.len(), "kind": "share_gpt", "rows": 1 });
    let saved = put("mine.json", &good).await;
    assert_eq!((saved.status, saved.json()), (200, row.clone()));
    for (worse, place) in [
        (&good[..good.len() - 1], "line 1 column"),
        ("[1, 2, 3]", "none of its 3 elements"),
        ("[", "line 1 column"),
    ] {
        let refused = put("mine.json", worse).await;
        let text = refused.text();
        assert!(refused.status == 422 && text.contains(place), "{text}");
        let folder = edge.dir.path().to_string_lossy().into_owned();
        assert!(
            text.contains("mine.json") && !text.contains(&folder),
            "{text}"
        );
    }
    assert_eq!(edge.get("/api/v1/datasets").await.json(), json!([row]));
    let kept = std::fs::read_to_string(edge.studio.datasets_dir().join("mine.json"))?;
    assert_eq!(kept, good, "a worse file takes no good one's place");
    assert_eq!(put("empty.json", "").await.status, 422);
    assert_eq!(put("object.json", "{}").await.status, 422);
    for (name, status) in [
        ("..%2Fout.json", 400),
        ("%2Fetc%2Fx.json", 422),
        (".hidden.json", 422),
        ("x.sh", 422),
    ] {
        assert_eq!(put(name, "[]").await.status, status, "{name}");
    }
    let left = std::fs::read_dir(edge.studio.datasets_dir())?.flatten();
    let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(
        left,
        [".mine.json.about", "mine.json"],
        "nothing half done stays"
    );
    Ok(())
}

#[tokio::test]
async fn whatever_a_workload_can_name_is_uploaded_and_known_by_its_content() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let put = async |name: &str, body: &str| {
        let path = format!("/api/v1/datasets/{name}");
        edge.send("PUT", &path, &[], body.to_owned()).await
    };
    let tokenizer = include_str!("../../../load/src/tokens/tests/tokenizer.json");
    let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n";
    let mut rows = Vec::new();
    for (name, body, kind) in [
        ("azure.csv", azure, "azure"),
        (
            "burst.csv",
            "Timestamp,Model,Request tokens,Response tokens\n5,m,472,18\n",
            "burst_gpt",
        ),
        (
            "mooncake.txt",
            "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 5}\n",
            "mooncake",
        ),
        (
            "own.jsonl",
            "{\"at_ms\": 1, \"input_tokens\": 3, \"output_tokens\": 4}",
            "jsonl",
        ),
        ("prompts.jsonl", "{\"prompt\": \"a\"}\n", "prompts"),
        ("tokenizer.json", tokenizer, "tokenizer"),
    ] {
        let saved = put(name, body).await;
        let row = saved.json();
        assert_eq!(
            (saved.status, row["kind"].as_str(), row["bytes"].as_u64()),
            (200, Some(kind), Some(body.len() as u64)),
            "{row}"
        );
        assert!(0 < row["rows"].as_u64().unwrap_or_default(), "{row}");
        rows.push(row);
    }
    assert_eq!(edge.get("/api/v1/datasets").await.json(), json!(rows));
    for (body, why) in [
        (
            "{\"prompt\": \"a\"}\nwhat\n",
            "the data set prompts.jsonl, line 2: is no prompt",
        ),
        ("PK\u{3}\u{4}", "line 1: is packed (zip); unpack"),
        ("a\0b", "no text; unpack"),
        ("", "line 1: is empty"),
        ("a,b,c\n", "column names"),
    ] {
        let refused = put("prompts.jsonl", body).await;
        let text = refused.text();
        assert!(refused.status == 422 && text.contains(why), "{text}");
    }
    assert_eq!(edge.get("/api/v1/datasets").await.json(), json!(rows));
    Ok(())
}

#[tokio::test]
async fn a_large_upload_is_streamed() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let turn = |from: &str| json!({ "from": from, "value": "hello ".repeat(80_000) });
    let row = json!({ "conversations": [turn("human"), turn("gpt")] }).to_string();
    let bytes = 20 * (row.len() + 1) + 1;
    let chunks = (0..20).map(move |index| {
        let (before, after) = match index {
            0 => ("[", ","),
            19 => ("", "]"),
            _ => ("", ","),
        };
        Ok::<_, std::io::Error>(Bytes::from(format!("{before}{row}{after}")))
    });
    let body = Body::from_stream(futures_util::stream::iter(chunks));
    let answer = edge
        .send("PUT", "/api/v1/datasets/large.json", &[], body)
        .await;
    assert_eq!(
        (answer.status, &answer.json()["bytes"]),
        (200, &json!(bytes))
    );
    Ok(())
}
