//! Files that a workload names: another one takes no place that is not its own.

use serde_json::json;
use tests::browser::Browser;
use tests::process::StudioProcess;

use super::fill;

/// Chooses a file as a person does, in the field of an upload.
async fn upload(browser: &Browser, place: &str, name: &str, text: &str) -> anyhow::Result<()> {
    let (name, text) = (serde_json::to_string(name)?, serde_json::to_string(text)?);
    let script = format!(
        "const input = document.querySelector('{place} input[type=file]');
         if (!input) return false;
         const chosen = new DataTransfer();
         chosen.items.add(new File([{text}], {name}));
         input.files = chosen.files;
         input.dispatchEvent(new Event('change', {{bubbles: true}}));
         return true"
    );
    browser
        .until(&format!("the upload of {name}"), &script)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tokenizer_leaves_the_prompts_where_they_are() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    let open = "for (const it of document.querySelectorAll('details')) it.open = true;
        document.querySelector('[name=\"workload.kind\"][value=prompt_file]').click(); return true";
    browser.until("prompts", open).await?;
    let prompts = "{\"prompt\": \"say one\"}\n{\"prompt\": \"say two\"}\n";
    upload(
        &browser,
        ".row.end:has([id=\"workload.file\"])",
        "p.jsonl",
        prompts,
    )
    .await?;
    let has = "return document.getElementById('workload.file')?.value === 'p.jsonl'";
    browser.until("the prompts", has).await?;
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "Whitespace" }, "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "say": 0, "one": 1, "[UNK]": 2 }, "unk_token": "[UNK]" },
    });
    upload(
        &browser,
        ".row.end:has([id=\"tokenizer\"])",
        "t.json",
        &tokenizer.to_string(),
    )
    .await?;
    let both = "return document.getElementById('tokenizer')?.value === 't.json'
        && document.getElementById('workload.file')?.value === 'p.jsonl'
        && document.querySelector('[name=\"workload.kind\"][value=prompt_file]').checked";
    browser.until("both files", both).await?;
    fill(&browser, "workload.output_tokens", "8").await?;
    browser.shows("prompts of p.jsonl").await?;
    browser.close().await
}
