//! What is in a file: its kind by its content, whatever its name, and whether it can be read to its end.
//!
//! Read as a stream, a row at a time, so that the size of a file does not matter. What is wrong is named by its line.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use measure::workload::{DataKind, TraceFormat};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::dataset::DataSet;
use super::{PromptError, check_sharegpt, prompt_file, trace};
use crate::tokens::{Counter, LARGEST_TOKENIZER};

/// So much of a file tells what it is, unless its first row is longer.
const BEGINNING: u64 = 64 << 10;
/// Names of fields that are looked at.
const MOST_NAMES: usize = 64;
/// How a packed file begins, and how it is called.
const PACKED: [(&[u8], &str); 5] = [
    (&[0x1f, 0x8b], "gzip"),
    (b"PK\x03\x04", "zip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (b"BZh", "bzip2"),
    (b"PAR1", "Parquet"),
];

/// What was found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// What it is.
    pub kind: DataKind,
    /// Its rows: conversations, prompts, requests, or tokens of a vocabulary.
    pub rows: u64,
}

/// Reads a file to its end; `named` is its name for people.
pub fn inspect(at: &Path, named: &str) -> Result<Inspected, PromptError> {
    let data = data_set(at, named);
    let kind = kind(&data)?;
    let rows = match kind {
        DataKind::ShareGpt => check_sharegpt(at, named)?.into(),
        DataKind::Prompts => prompt_file::check(&data)?,
        DataKind::Azure => trace::check(&data, TraceFormat::Azure)?,
        DataKind::BurstGpt => trace::check(&data, TraceFormat::BurstGpt)?,
        DataKind::Mooncake => trace::check(&data, TraceFormat::Mooncake)?,
        DataKind::Jsonl => trace::check(&data, TraceFormat::Jsonl)?,
        DataKind::Tokenizer => vocabulary(&data)?,
    };
    Ok(Inspected { kind, rows })
}

/// What a file is, by its beginning alone.
pub fn kind_of(at: &Path, named: &str) -> Result<DataKind, PromptError> {
    kind(&data_set(at, named))
}

fn data_set(at: &Path, named: &str) -> DataSet {
    DataSet {
        at: at.to_owned(),
        named: named.into(),
    }
}

fn kind(data: &DataSet) -> Result<DataKind, PromptError> {
    let unreadable = |cause| data.unreadable(cause);
    let mut file = File::open(&data.at).map_err(unreadable)?;
    let mut beginning = Vec::new();
    let mut bounded = Read::by_ref(&mut file).take(BEGINNING);
    bounded.read_to_end(&mut beginning).map_err(unreadable)?;
    if let Some((_, packing)) = PACKED.iter().find(|(mark, _)| beginning.starts_with(mark)) {
        return Err(data.wrong(1, format!("is packed ({packing}); unpack the file first")));
    }
    let text = beginning
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&beginning);
    match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => Err(data.wrong(1, "is empty; there is nothing in the file")),
        Some(b'[') => Ok(DataKind::ShareGpt),
        Some(b'{') => of_object(data, BufReader::new(Cursor::new(text).chain(file))),
        Some(_) => of_table(data, text),
    }
}

/// By the fields of the first JSON object: a row, or the whole file.
fn of_object(data: &DataSet, from: impl Read) -> Result<DataKind, PromptError> {
    let bounded = from.take(LARGEST_TOKENIZER);
    let mut json = serde_json::Deserializer::from_reader(bounded);
    let Names(names) = Names::deserialize(&mut json).map_err(|error| {
        let line = error.line().max(1) as u64;
        data.wrong(line, format!("is no JSON ({error}); mend it there"))
    })?;
    let has = |name: &str| names.contains(name);
    if has("model") && (has("added_tokens") || has("pre_tokenizer") || has("normalizer")) {
        Ok(DataKind::Tokenizer)
    } else if has("at_ms") {
        Ok(DataKind::Jsonl)
    } else if has("input_length") && has("timestamp") {
        Ok(DataKind::Mooncake)
    } else if has("prompt") || has("messages") {
        Ok(DataKind::Prompts)
    } else if has("conversations") {
        Err(data.wrong(1, "is one conversation; ShareGPT's form is one JSON array of all of them, as `jq -s .` makes it"))
    } else {
        let names: Vec<&str> = names.iter().map(String::as_str).take(8).collect();
        let names = names.join(", ");
        Err(data.wrong(1, format!("is of no kind that is known, by its fields ({names}); a prompt has \"prompt\" or \"messages\", a request of a trace \"at_ms\" or \"timestamp\" and \"input_length\"")))
    }
}

/// By the names of the columns.
fn of_table(data: &DataSet, text: &[u8]) -> Result<DataKind, PromptError> {
    let head = text
        .split(|byte| *byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let Ok(head) = std::str::from_utf8(head.unwrap_or_default()) else {
        return Err(data.wrong(1, "is no UTF-8 text; convert the file"));
    };
    let names: Vec<String> = trace::fields(head.trim())
        .map(str::to_ascii_lowercase)
        .collect();
    let has = |name: &str| names.iter().any(|it| it == name);
    if has("contexttokens") {
        Ok(DataKind::Azure)
    } else if has("request tokens") {
        Ok(DataKind::BurstGpt)
    } else {
        let head: String = head.trim().chars().take(80).collect();
        Err(data.wrong(1, format!("begins no kind of file that is known, with {head:?}; a table begins with its column names (TIMESTAMP,ContextTokens,GeneratedTokens or Timestamp,Model,Request tokens,Response tokens), JSON with [ or {{")))
    }
}

fn vocabulary(data: &DataSet) -> Result<u64, PromptError> {
    let file = File::open(&data.at).map_err(|cause| data.unreadable(cause))?;
    let mut bytes = Vec::new();
    let mut bounded = file.take(LARGEST_TOKENIZER + 1);
    let read: io::Result<usize> = bounded.read_to_end(&mut bytes);
    read.map_err(|cause| data.unreadable(cause))?;
    if LARGEST_TOKENIZER < bytes.len() as u64 {
        let mebibytes = LARGEST_TOKENIZER >> 20;
        return Err(data.wrong(1, format!("begins a tokenizer of more than {mebibytes} MiB; take the model's own tokenizer.json")));
    }
    let counter = Counter::read(&bytes, &data.named).map_err(PromptError::Tokens)?;
    Ok(counter.vocabulary())
}

/// The names of an object's fields; what they hold is passed over.
struct Names(BTreeSet<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Names, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            fields.next_value::<IgnoredAny>()?;
            if names.len() < MOST_NAMES {
                names.insert(name);
            }
        }
        Ok(Names(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: impl AsRef<[u8]>) -> Result<Inspected, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        inspect(file.path(), "mine.dat").map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_known_by_its_content() {
        let talk = r#" [{"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}]"#;
        let tokenizer = include_str!("../tokens/tests/tokenizer.json");
        let flat: String = tokenizer.split('\n').map(str::trim).collect();
        let prompts = "\u{feff}{\"prompt\": \"a\"}\n\n{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}\n";
        let azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n2023-11-16 18:17:04.03,3180,8\n";
        let burst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,log\n";
        let mooncake =
            r#"{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0]}"#;
        let own = "{\"at_ms\": 1, \"prompt\": \"a\", \"output_tokens\": 4}\n{\"at_ms\": 1, \"input_tokens\": 3, \"output_tokens\": 4}";
        for (text, kind, rows) in [
            (talk, DataKind::ShareGpt, 1),
            (prompts, DataKind::Prompts, 2),
            (azure, DataKind::Azure, 2),
            (burst, DataKind::BurstGpt, 1),
            (mooncake, DataKind::Mooncake, 1),
            (own, DataKind::Jsonl, 2),
        ] {
            assert_eq!(found(text), Ok(Inspected { kind, rows }), "{text}");
        }
        for text in [tokenizer, &flat] {
            let found = found(text).expect("a tokenizer");
            assert!(
                found.kind == DataKind::Tokenizer && 0 < found.rows,
                "{found:?}"
            );
        }
    }

    #[track_caller]
    fn refused(text: impl AsRef<[u8]>, line: u32, why: &str) {
        let error = found(text).expect_err(why);
        let place = format!("the data set mine.dat, line {line}: ");
        assert!(error.starts_with(&place) && error.contains(why), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_mend() {
        refused("", 1, "empty");
        refused(" \n\t", 1, "empty");
        refused([0x1f, 0x8b, 8, 0], 1, "packed (gzip); unpack");
        refused(b"PAR1....", 1, "packed (Parquet)");
        refused(b"\xff\xfeT\0I\0", 1, "convert the file");
        refused("a,b\n1,2", 1, "column names (TIMESTAMP");
        refused("hello", 1, "JSON with [ or {");
        refused("{\"prompt\": \"a\"}\n{\"prompt\": \"a\"", 2, "is no prompt");
        refused(
            "{\"prompt\": \"a\"}\n{\"prompt\": \" \"}",
            2,
            "says nothing",
        );
        refused("{\"prompt\": \"a", 1, "is no JSON");
        refused("{\"conversations\": []}\n", 1, "jq -s");
        refused("{\"question\": \"a\"}", 1, "(question)");
        refused("TIMESTAMP,ContextTokens,GeneratedTokens\n", 1, "no row");
        refused(
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,1,1\n2023-11-16 18:17:03,1,1",
            3,
            "sort the file",
        );
        refused(
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:04,many,1",
            2,
            "whole number",
        );
        refused(
            "{\"at_ms\": 1, \"output_tokens\": 4}",
            1,
            "input_tokens nor a prompt",
        );
        refused(
            "{\"timestamp\": 1, \"input_length\": 4}",
            1,
            "is no request",
        );
        let tokenizer = found("{\"model\": {}, \"added_tokens\": []}").expect_err("none");
        assert!(
            tokenizer.starts_with("the tokenizer mine.dat cannot be used"),
            "{tokenizer}"
        );
        let array = found("[1, 2, 3]").expect_err("none");
        assert!(array.contains("none of its 3 elements"), "{array}");
    }

    #[test]
    fn no_row_fills_the_memory() {
        let long = "so ".repeat(3 << 20);
        let prompt = format!("{{\"prompt\": \"a\"}}\n{{\"prompt\": \"{long}\"}}\n");
        refused(prompt, 2, "is larger than 8 MiB");
        let turn = format!("{{\"from\": \"human\", \"value\": \"{long}\"}}");
        let talk = found(format!("[{{\"conversations\": [{turn}]}}]")).expect_err("refused");
        assert!(
            talk.contains("conversation 1 is larger than 8 MiB"),
            "{talk}"
        );
    }
}
