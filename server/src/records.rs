//! A point's records as one Parquet file: one row a request, in schedule order, lists for its chunks.
//!
//! Stored bytes are the exported bytes: a download is a copy. The file says its own version and what its numbers mean;
//! docs/schema.md lists the columns. Reading gives back exactly what was written.

mod read; // Parquet to records

use std::sync::Arc;

use arrow_array::builder::{
    ListBuilder, StringBuilder, UInt8Builder, UInt32Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt16Array, UInt32Array, UInt64Array};
use measure::request::{ChunkKind, Outcome, RequestRecord, TokenSource};
use measure::units::Nanos;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

pub use read::{ReadError, from_parquet, looked_through, rows};

/// The version of the columns, in the file's metadata.
const VERSION: &str = "2";
const VERSION_KEY: &str = "goodput.records";
const ABOUT: &str = "one row a scheduled request, in schedule order; *_ns count monotonic nanoseconds from the start of the point; \
                     chunk_kind: 0 answer, 1 reasoning, 2 tool call; null means: has no value";

/// Records as bytes of a Parquet file.
pub fn to_parquet(records: &[RequestRecord]) -> Result<Vec<u8>, ParquetError> {
    let batch = RecordBatch::try_from_iter_with_nullable(columns(records))?;
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties()?))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}

fn properties() -> Result<WriterProperties, ParquetError> {
    let rising = ["chunk_at_ns", "chunk_at_kernel_ns"];
    // As parts: a path in one piece names no column and is passed over in silence.
    let rising =
        rising.map(|name| ColumnPath::new([name, "list", "item"].map(String::from).into()));
    let metadata = [(VERSION_KEY, VERSION), ("goodput.about", ABOUT)];
    let metadata = metadata
        .map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()))
        .to_vec();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_key_value_metadata(Some(metadata));
    for column in rising {
        // Instants rise: their differences are small, themselves they never repeat.
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties.build())
}

/// Every column: its name, its values, whether it may lack one.
fn columns(records: &[RequestRecord]) -> Vec<(&'static str, ArrayRef, bool)> {
    let mut columns = of_request(records);
    columns.extend(of_chunks(records));
    columns.extend(of_outcome(records));
    columns.extend(of_tokens(records));
    columns
}

fn of_request(records: &[RequestRecord]) -> Vec<(&'static str, ArrayRef, bool)> {
    vec![
        (
            "request_id",
            words(records, |it| Some(&it.request_id)),
            false,
        ),
        ("session", counts(records, |it| Some(it.session)), false),
        ("turn", counts(records, |it| Some(it.turn)), false),
        (
            "scheduled_ns",
            instants(records, |it| Some(it.scheduled)),
            false,
        ),
        ("connect_ns", instants(records, |it| it.connect), true),
        ("sent_ns", instants(records, |it| it.sent), true),
        ("headers_ns", instants(records, |it| it.headers), true),
        ("finish_ns", instants(records, |it| it.finish), true),
        ("end_ns", instants(records, |it| it.end), true),
    ]
}

fn of_chunks(records: &[RequestRecord]) -> Vec<(&'static str, ArrayRef, bool)> {
    let mut at = ListBuilder::new(UInt64Builder::new());
    let mut at_kernel = ListBuilder::new(UInt64Builder::new());
    let mut kind = ListBuilder::new(UInt8Builder::new());
    let mut tokens = ListBuilder::new(UInt32Builder::new());
    for record in records {
        at.append_value(record.chunks.iter().map(|chunk| Some(chunk.at.0)));
        at_kernel.append_value(
            record
                .chunks
                .iter()
                .map(|chunk| chunk.at_kernel.map(|at| at.0)),
        );
        kind.append_value(
            record
                .chunks
                .iter()
                .map(|chunk| Some(kind_code(chunk.kind))),
        );
        tokens.append_value(record.chunks.iter().map(|chunk| chunk.tokens));
    }
    vec![
        ("chunk_at_ns", Arc::new(at.finish()), false),
        ("chunk_at_kernel_ns", Arc::new(at_kernel.finish()), false),
        ("chunk_kind", Arc::new(kind.finish()), false),
        ("chunk_tokens", Arc::new(tokens.finish()), false),
    ]
}

fn of_outcome(records: &[RequestRecord]) -> Vec<(&'static str, ArrayRef, bool)> {
    let mut warnings = ListBuilder::new(StringBuilder::new());
    for record in records {
        warnings.append_value(record.warnings.iter().map(Some));
    }
    let status: UInt16Array = records.iter().map(|record| record.http_status).collect();
    vec![
        (
            "outcome",
            words(records, |it| Some(outcome_word(it.outcome))),
            false,
        ),
        (
            "error_detail",
            words(records, |it| it.error_detail.as_deref()),
            true,
        ),
        ("http_status", Arc::new(status), true),
        (
            "retry_after",
            words(records, |it| it.retry_after.as_deref()),
            true,
        ),
        (
            "finish_reason",
            words(records, |it| it.finish_reason.as_deref()),
            true,
        ),
        (
            "coalesced_reads",
            counts(records, |it| Some(it.coalesced_reads)),
            false,
        ),
        ("warnings", Arc::new(warnings.finish()), false),
    ]
}

fn of_tokens(records: &[RequestRecord]) -> Vec<(&'static str, ArrayRef, bool)> {
    vec![
        (
            "prompt_tokens",
            counts(records, |it| it.prompt_tokens),
            true,
        ),
        (
            "cached_tokens",
            counts(records, |it| it.cached_tokens),
            true,
        ),
        (
            "output_tokens",
            counts(records, |it| it.output_tokens),
            true,
        ),
        (
            "token_source",
            words(records, |it| Some(source_word(it.token_source))),
            false,
        ),
        (
            "input_tokens_planned",
            counts(records, |it| Some(it.input_tokens_planned)),
            false,
        ),
        (
            "output_tokens_asked",
            counts(records, |it| Some(it.output_tokens_asked)),
            false,
        ),
        ("text", words(records, |it| it.text.as_deref()), true),
        (
            "reasoning_text",
            words(records, |it| it.reasoning_text.as_deref()),
            true,
        ),
    ]
}

fn instants(records: &[RequestRecord], of: fn(&RequestRecord) -> Option<Nanos>) -> ArrayRef {
    Arc::new(
        records
            .iter()
            .map(|record| of(record).map(|at| at.0))
            .collect::<UInt64Array>(),
    )
}

fn counts(records: &[RequestRecord], of: fn(&RequestRecord) -> Option<u32>) -> ArrayRef {
    Arc::new(records.iter().map(of).collect::<UInt32Array>())
}

fn words(records: &[RequestRecord], of: fn(&RequestRecord) -> Option<&str>) -> ArrayRef {
    Arc::new(records.iter().map(of).collect::<StringArray>())
}

fn kind_code(kind: ChunkKind) -> u8 {
    match kind {
        ChunkKind::Answer => 0,
        ChunkKind::Reasoning => 1,
        ChunkKind::ToolCall => 2,
    }
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Error(kind) => kind.name(),
    }
}

fn source_word(source: TokenSource) -> &'static str {
    match source {
        TokenSource::Usage => "usage",
        TokenSource::EngineFinal => "engine_final",
        TokenSource::Tokenizer => "tokenizer",
        TokenSource::None => "none",
    }
}
