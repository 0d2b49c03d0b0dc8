//! What a person sees, in a real Chromium against the real binary.

mod add_engine; // the dialog that adds one
mod bench; // what pages cost
mod chart; // axes, keys, zoom, the map
mod compare; // configurations side by side, and what is shared
mod declare; // what an engine does not tell
mod engines; // those that the studio starts: the form, their starts, their page
mod everywhere; // what every page does
mod example; // studies from elsewhere
mod exercise; // the study of the goodput exercise, and what its page must show
mod gallery; // pictures for the documentation
mod history; // earlier runs of the same
mod journey; // define, launch, watch, reload, compare, share
mod live; // a study that runs, seen by two at once
mod many; // pages of a store of thousands of studies
mod passed_on; // a comparison behind a link, a curve in a frame elsewhere
mod point; // windows by pointer, keyboard and link; rows; one request
mod promise; // another SLO, and what is none
mod real_engine; // the same way against llama.cpp
mod screens; // every page: both themes, wide and narrow, no complaint
mod start; // the page of studies
mod still; // nothing moves by itself
mod typing; // with real keys, into every kind of field
mod uploads; // files that a workload and its tokenizer name
mod why; // what is wrong, and which knob first

use tests::browser::Browser;

/// Nothing in the console: no error, no violation of the content security policy, no hydration warning.
async fn without_complaints(browser: &Browser) -> anyhow::Result<()> {
    let complaints = browser.complaints().await?;
    anyhow::ensure!(complaints.is_empty(), "the console says: {complaints:#?}");
    Ok(())
}

/// Types into a field as far as the page can tell: its value changes and it is told.
async fn fill(browser: &Browser, id: &str, value: &str) -> anyhow::Result<()> {
    let (id, value) = (serde_json::to_string(id)?, serde_json::to_string(value)?);
    let script = format!(
        "const field = document.getElementById({id});
         if (!field) return false;
         field.value = {value};
         for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, {{bubbles: true}}));
         return true"
    );
    browser.until(&format!("the field {id}"), &script).await
}

/// Presses the first button or link whose text is `words`.
async fn press(browser: &Browser, words: &str) -> anyhow::Result<()> {
    let quoted = serde_json::to_string(words)?;
    let script = format!(
        "const all = [...document.querySelectorAll('button, a')];
         const found = all.find(it => it.textContent.trim() === {quoted} && !it.disabled);
         if (!found) return false;
         found.click();
         return true"
    );
    browser
        .until(&format!("the button {words:?}"), &script)
        .await
}
