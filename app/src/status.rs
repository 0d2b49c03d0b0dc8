//! The status of the HTTP response that carries a page or an answer. In the browser there is none: nothing happens.

use crate::studio::StudioError;

/// The status that says what went wrong.
pub fn status_of(error: &StudioError) -> u16 {
    match error {
        StudioError::NotFound { .. } => 404,
        StudioError::Invalid { .. } => 422,
        StudioError::Conflict { .. } => 409,
        StudioError::Forbidden { .. } => 403,
        StudioError::Engine { .. } => 502,
        StudioError::Full => 507,
        StudioError::Internal => 500,
    }
}

/// Sets the status of the response under way.
#[cfg(feature = "ssr")]
pub fn set_status(code: u16) {
    let options = leptos::prelude::use_context::<leptos_axum::ResponseOptions>();
    if let (Some(options), Ok(code)) = (options, http::StatusCode::from_u16(code)) {
        options.set_status(code);
    }
}

/// In the browser the response has long arrived.
#[cfg(not(feature = "ssr"))]
pub fn set_status(_code: u16) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_a_404_and_what_is_ours_a_500() {
        assert_eq!(
            status_of(&StudioError::NotFound {
                what: "study".into()
            }),
            404
        );
        assert_eq!(status_of(&StudioError::Internal), 500);
    }
}
