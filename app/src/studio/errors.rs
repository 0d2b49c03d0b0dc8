//! What went wrong, for the one who asked.

use super::*;

/// What went wrong, in the words of the person who asked. The HTTP edge maps each to a status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "error", from = "ErrorText")]
pub enum StudioError {
    /// 404.
    #[error("no such {what}")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// 422, each at its field.
    #[error("{}", fields.iter().map(|e| format!("{}: {}", e.field, e.message)).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// The errors.
        fields: Vec<FieldError>,
    },
    /// 409.
    #[error("{message}")]
    Conflict {
        /// Why, and the mend.
        message: String,
    },
    /// 403.
    #[error("{message}")]
    Forbidden {
        /// Why, and the mend.
        message: String,
    },
    /// 502: the engine, not the studio.
    #[error("{message}")]
    Engine {
        /// What the engine did, and the mend.
        message: String,
    },
    /// 507: a person must make room first.
    #[error(
        "there is no room left to store this; free space on the disk of the studio's data directory, then try again"
    )]
    Full,
    /// 500; the cause is in the server's log.
    #[error("something went wrong inside the studio; its log says what")]
    Internal,
}

/// An error as it is read: flat, for the reasons of [`measure::wire`]. What is unknown is an internal one.
#[derive(Deserialize)]
struct ErrorText {
    error: String,
    what: Option<String>,
    fields: Option<Vec<FieldError>>,
    message: Option<String>,
}

impl From<ErrorText> for StudioError {
    fn from(text: ErrorText) -> Self {
        let message = text.message.unwrap_or_default();
        match text.error.as_str() {
            "not_found" => Self::NotFound {
                what: text.what.unwrap_or_default(),
            },
            "invalid" => Self::Invalid {
                fields: text.fields.unwrap_or_default(),
            },
            "conflict" => Self::Conflict { message },
            "forbidden" => Self::Forbidden { message },
            "engine" => Self::Engine { message },
            _ => Self::Internal,
        }
    }
}
