//! What went wrong, in the words of the person who asked.

use app::studio::StudioError;
use measure::study::FieldError;
use tracing::error;

use crate::records::ReadError;
use crate::store::StoreError;

/// The cause is logged here, once; people learn that the log has it, or that they can mend it by themselves.
pub(crate) fn internal(cause: impl std::error::Error + 'static) -> StudioError {
    let cause: &(dyn std::error::Error + 'static) = &cause;
    error!(cause, "a request failed inside the studio");
    if let Some(why) = cause.downcast_ref::<ReadError>() {
        return unreadable(why);
    }
    match cause.downcast_ref::<StoreError>() {
        Some(store) if store.is_full() => StudioError::Full,
        _ => StudioError::Internal,
    }
}

/// What is stored is not what a studio stores: nothing follows from it, however often it is asked.
pub(crate) fn unreadable(why: &dyn std::error::Error) -> StudioError {
    let message = format!(
        "what is stored of the requests is unreadable ({why}); open the study's bundle again, or measure it anew"
    );
    StudioError::Conflict { message }
}

pub(crate) fn missing(what: &str) -> StudioError {
    StudioError::NotFound {
        what: what.to_owned(),
    }
}

pub(crate) fn conflict(message: impl Into<String>) -> StudioError {
    StudioError::Conflict {
        message: message.into(),
    }
}

pub(crate) fn invalid(field: &str, message: impl Into<String>) -> StudioError {
    StudioError::Invalid {
        fields: vec![FieldError {
            field: field.to_owned(),
            message: message.into(),
        }],
    }
}
