//! A Parquet file back into records.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use bytes::Bytes;
use measure::request::{Chunk, ChunkKind, Chunks, ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::MAX_REQUESTS;
use measure::units::Nanos;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;

use super::{VERSION, VERSION_KEY};

/// Version 1 knew neither the kernel's moments nor how long connections took to open.
const READABLE: [&str; 2] = ["1", VERSION];

/// Most rows of a file: a point has as many requests as a study allows, and the rest of their sessions.
const MOST_ROWS: u64 = 2 * MAX_REQUESTS as u64;
/// Most values of a column within a group of rows: chunks of all its requests.
const MOST_VALUES: u64 = 200_000_000;
/// Rows that are unpacked at a time.
const BATCH: usize = 256;
/// Most bytes of all values of a file.
const MOST_UNPACKED: usize = 4 << 30;

/// Why a file cannot be read as records.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No Parquet file.
    #[error("not a Parquet file of records")]
    Parquet(#[source] ParquetError),
    /// Its rows cannot be read.
    #[error("the rows of the records cannot be read")]
    Rows(#[source] arrow_schema::ArrowError),
    /// Another version's columns.
    #[error("records of version {found:?}, this build reads version {VERSION}")]
    Version {
        /// What the file says.
        found: Option<String>,
    },
    /// More than any point has.
    #[error("they are more than the requests of any point")]
    TooMuch,
    /// A column is missing or of another type.
    #[error("the records have no column {0} of the expected type")]
    Column(&'static str),
    /// A word or code that is not known.
    #[error("the records hold an unknown {what}: {value}")]
    Unknown {
        /// Of which kind.
        what: &'static str,
        /// The value.
        value: String,
    },
}

/// The inverse of [`super::to_parquet`].
pub fn from_parquet(bytes: Bytes) -> Result<Vec<RequestRecord>, ReadError> {
    let mut records = Vec::new();
    each(bytes, |record| records.push(record))?;
    Ok(records)
}

/// How many rows a file has by its footer. Nothing else of it is read.
pub fn rows(bytes: Bytes) -> Result<u64, ReadError> {
    Ok(opened(bytes)?.1)
}

/// Reads a file to its end and keeps nothing: how many of its requests are due in a window, or all of them.
pub fn looked_through(bytes: Bytes, window: Option<(Nanos, Nanos)>) -> Result<u64, ReadError> {
    let is_due = |at: Nanos| window.is_none_or(|(from, to)| from <= at && at <= to);
    let mut due = 0;
    each(bytes, |record| due += u64::from(is_due(record.scheduled)))?;
    Ok(due)
}

/// Every record in turn. A few bytes of Parquet can stand for any number of values, so what is unpacked is counted batch by batch.
fn each(bytes: Bytes, mut take: impl FnMut(RequestRecord)) -> Result<(), ReadError> {
    let (builder, _) = opened(bytes)?;
    let batches = builder.with_batch_size(BATCH).build();
    let mut unpacked = 0;
    for batch in batches.map_err(ReadError::Parquet)? {
        let batch = Batch(batch.map_err(ReadError::Rows)?);
        unpacked += batch.0.get_array_memory_size();
        if MOST_UNPACKED < unpacked {
            return Err(ReadError::TooMuch);
        }
        for row in 0..batch.0.num_rows() {
            take(batch.record(row)?);
        }
    }
    Ok(())
}

/// A file of records with the rows that its footer tells; refused where these are more than any point has.
fn opened(bytes: Bytes) -> Result<(ParquetRecordBatchReaderBuilder<Bytes>, u64), ReadError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(ReadError::Parquet)?;
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let version = metadata.and_then(|pairs| {
        pairs
            .iter()
            .find(|pair| pair.key == VERSION_KEY)?
            .value
            .clone()
    });
    if !version
        .as_deref()
        .is_some_and(|version| READABLE.contains(&version))
    {
        return Err(ReadError::Version { found: version });
    }
    let groups = || builder.metadata().row_groups().iter();
    let rows: u64 = groups()
        .map(|it| it.num_rows().unsigned_abs())
        .fold(0, u64::saturating_add);
    let columns = groups().flat_map(|group| group.columns());
    let values = columns.map(|it| it.num_values().unsigned_abs()).max();
    if MOST_ROWS < rows || MOST_VALUES < values.unwrap_or(0) {
        return Err(ReadError::TooMuch);
    }
    Ok((builder, rows))
}

/// Rows read together.
struct Batch(RecordBatch);

impl Batch {
    fn record(&self, row: usize) -> Result<RequestRecord, ReadError> {
        Ok(RequestRecord {
            request_id: self.must("request_id", self.word("request_id", row)?)?,
            session: self.must("session", self.count("session", row)?)?,
            turn: self.must("turn", self.count("turn", row)?)?,
            scheduled: self.must("scheduled_ns", self.instant("scheduled_ns", row)?)?,
            sent: self.instant("sent_ns", row)?,
            headers: self.instant("headers_ns", row)?,
            chunks: self.chunks(row)?,
            finish: self.instant("finish_ns", row)?,
            end: self.instant("end_ns", row)?,
            outcome: outcome(&self.must("outcome", self.word("outcome", row)?)?)?,
            error_detail: self.word("error_detail", row)?,
            http_status: self.number::<UInt16Type>("http_status", row)?,
            retry_after: self.word("retry_after", row)?,
            finish_reason: self.word("finish_reason", row)?,
            prompt_tokens: self.count("prompt_tokens", row)?,
            cached_tokens: self.count("cached_tokens", row)?,
            output_tokens: self.count("output_tokens", row)?,
            token_source: source(&self.must("token_source", self.word("token_source", row)?)?)?,
            input_tokens_planned: self.must(
                "input_tokens_planned",
                self.count("input_tokens_planned", row)?,
            )?,
            output_tokens_asked: self.must(
                "output_tokens_asked",
                self.count("output_tokens_asked", row)?,
            )?,
            connect: self.connect(row)?,
            coalesced_reads: self.must("coalesced_reads", self.count("coalesced_reads", row)?)?,
            warnings: self.warnings(row)?,
            text: self.word("text", row)?,
            reasoning_text: self.word("reasoning_text", row)?,
        })
    }

    fn chunks(&self, row: usize) -> Result<Chunks, ReadError> {
        let (at, kind, tokens) = (
            self.list("chunk_at_ns", row)?,
            self.list("chunk_kind", row)?,
            self.list("chunk_tokens", row)?,
        );
        let at = at
            .as_primitive_opt::<UInt64Type>()
            .ok_or(ReadError::Column("chunk_at_ns"))?;
        let kind = kind
            .as_primitive_opt::<UInt8Type>()
            .ok_or(ReadError::Column("chunk_kind"))?;
        let tokens = tokens
            .as_primitive_opt::<UInt32Type>()
            .ok_or(ReadError::Column("chunk_tokens"))?;
        if kind.len() != at.len() || tokens.len() != at.len() {
            return Err(ReadError::Column("chunk_kind"));
        }
        let at_kernel = self.at_kernel(row, at.len())?;
        let chunk = |(((at, kind), tokens), at_kernel): (((&u64, &u8), Option<u32>), _)| {
            Ok(Chunk {
                at: Nanos(*at),
                at_kernel,
                kind: chunk_kind(*kind)?,
                tokens,
            })
        };
        at.values()
            .iter()
            .zip(kind.values())
            .zip(tokens.iter())
            .zip(at_kernel)
            .map(chunk)
            .collect()
    }

    /// The kernel's moments, as many as there are events; version 1 has none.
    fn at_kernel(&self, row: usize, count: usize) -> Result<Vec<Option<Nanos>>, ReadError> {
        const NAME: &str = "chunk_at_kernel_ns";
        if self.0.column_by_name(NAME).is_none() {
            return Ok(vec![None; count]);
        }
        let list = self.list(NAME, row)?;
        let moments = list
            .as_primitive_opt::<UInt64Type>()
            .ok_or(ReadError::Column(NAME))?;
        Ok(moments.iter().map(|at| at.map(Nanos)).collect())
    }

    /// How long opening a connection took; version 1 knows only that one was opened.
    fn connect(&self, row: usize) -> Result<Option<Nanos>, ReadError> {
        if self.0.column_by_name("connect_ns").is_some() {
            return self.instant("connect_ns", row);
        }
        Ok(self.flag("connected_fresh", row)?.then_some(Nanos::ZERO))
    }

    fn warnings(&self, row: usize) -> Result<Vec<String>, ReadError> {
        let list = self.list("warnings", row)?;
        let words = list
            .as_string_opt::<i32>()
            .ok_or(ReadError::Column("warnings"))?;
        Ok(words.iter().flatten().map(str::to_owned).collect())
    }

    fn column(&self, name: &'static str) -> Result<&ArrayRef, ReadError> {
        self.0.column_by_name(name).ok_or(ReadError::Column(name))
    }

    fn must<T>(&self, name: &'static str, value: Option<T>) -> Result<T, ReadError> {
        value.ok_or(ReadError::Column(name))
    }

    fn number<T: ArrowPrimitiveType>(
        &self,
        name: &'static str,
        row: usize,
    ) -> Result<Option<T::Native>, ReadError> {
        let column = self
            .column(name)?
            .as_primitive_opt::<T>()
            .ok_or(ReadError::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }

    fn count(&self, name: &'static str, row: usize) -> Result<Option<u32>, ReadError> {
        self.number::<UInt32Type>(name, row)
    }

    fn instant(&self, name: &'static str, row: usize) -> Result<Option<Nanos>, ReadError> {
        Ok(self.number::<UInt64Type>(name, row)?.map(Nanos))
    }

    fn word(&self, name: &'static str, row: usize) -> Result<Option<String>, ReadError> {
        let column = self
            .column(name)?
            .as_string_opt::<i32>()
            .ok_or(ReadError::Column(name))?;
        Ok(column.is_valid(row).then(|| column.value(row).to_owned()))
    }

    fn flag(&self, name: &'static str, row: usize) -> Result<bool, ReadError> {
        Ok(self
            .column(name)?
            .as_boolean_opt()
            .ok_or(ReadError::Column(name))?
            .value(row))
    }

    fn list(&self, name: &'static str, row: usize) -> Result<ArrayRef, ReadError> {
        Ok(self
            .column(name)?
            .as_list_opt::<i32>()
            .ok_or(ReadError::Column(name))?
            .value(row))
    }
}

fn chunk_kind(code: u8) -> Result<ChunkKind, ReadError> {
    match code {
        0 => Ok(ChunkKind::Answer),
        1 => Ok(ChunkKind::Reasoning),
        2 => Ok(ChunkKind::ToolCall),
        _ => Err(ReadError::Unknown {
            what: "chunk kind",
            value: code.to_string(),
        }),
    }
}

fn outcome(word: &str) -> Result<Outcome, ReadError> {
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.name() == word);
    match (word, kind) {
        ("ok", _) => Ok(Outcome::Ok),
        (_, Some(kind)) => Ok(Outcome::Error(kind)),
        (_, None) => Err(ReadError::Unknown {
            what: "outcome",
            value: word.to_owned(),
        }),
    }
}

fn source(word: &str) -> Result<TokenSource, ReadError> {
    const ALL: [TokenSource; 4] = [
        TokenSource::Usage,
        TokenSource::EngineFinal,
        TokenSource::Tokenizer,
        TokenSource::None,
    ];
    let found = ALL
        .into_iter()
        .find(|source| super::source_word(*source) == word);
    found.ok_or_else(|| ReadError::Unknown {
        what: "token source",
        value: word.to_owned(),
    })
}
