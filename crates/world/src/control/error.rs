//! An error in a request to the control, with the status of its reply.

use ::http::StatusCode;

/// An error and the status of its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ControlError(pub(super) StatusCode, pub(super) String);

impl ControlError {
    pub(super) fn malformed(what: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, what.into())
    }

    pub(super) fn missing(what: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, what.into())
    }

    pub(super) fn impossible(what: impl Into<String>) -> Self {
        Self(StatusCode::CONFLICT, what.into())
    }
}
