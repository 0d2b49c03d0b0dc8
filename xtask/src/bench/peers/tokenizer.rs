//! A small tokenizer of whole words, so that nothing has to be fetched for one.

use serde_json::{Map, json};
use std::fs;
use std::path::Path;

const WORDS: usize = 2000;

/// Writes the folder that `--tokenizer` names.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let mut words = Map::new();
    words.insert("[UNK]".into(), 0.into());
    words.insert("[EOS]".into(), 1.into());
    for (number, word) in words_of_the_server()
        .chain((0..WORDS).map(|word| format!("w{word}")))
        .enumerate()
    {
        words.insert(word, (number + 2).into());
    }
    let special = |id: usize, content: &str| json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [special(0, "[UNK]"), special(1, "[EOS]")],
        "normalizer": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" },
        "post_processor": null,
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": words, "unk_token": "[UNK]" },
    });
    let config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "[UNK]",
        "eos_token": "[EOS]",
        "model_max_length": 1_048_576,
    });
    let model = json!({ "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": WORDS + 10 });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string())?;
    fs::write(folder.join("tokenizer_config.json"), config.to_string())?;
    fs::write(folder.join("config.json"), model.to_string())?;
    Ok(())
}

fn words_of_the_server() -> impl Iterator<Item = String> {
    ["the", "of", "and", "to", "in", "is", "that", "for"]
        .into_iter()
        .map(str::to_owned)
}
