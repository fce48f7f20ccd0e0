//! Error replies in the form of google.rpc.Status.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

/// Why a request is refused; becomes `{"error": {code, message, status, details}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The HTTP status.
    pub code: StatusCode,
    /// The canonical name, such as `INVALID_ARGUMENT`.
    pub status: &'static str,
    /// The text for people.
    pub message: String,
    /// Typed details, each with `@type`.
    pub details: Vec<Value>,
    /// Seconds for a `Retry-After` header.
    pub retry_after: Option<u32>,
}

impl Refusal {
    fn new(code: StatusCode, status: &'static str, message: impl Into<String>) -> Refusal {
        Refusal {
            code,
            status,
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
        }
    }

    /// 400 with the generic text alone, as the service answers a missing `startingBranch`.
    pub(super) fn invalid_argument() -> Refusal {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            "Request contains an invalid argument.",
        )
    }

    /// 400 that names the field at fault; an empty `field` is left out, as proto3 does.
    pub(super) fn bad_field(field: &str, message: impl Into<String>) -> Refusal {
        let message = message.into();
        let mut violation = json!({});
        if !field.is_empty() {
            violation["field"] = json!(field);
        }
        violation["description"] = json!(message);
        let mut refusal = Refusal::new(StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message);
        refusal.details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [violation],
        }));
        refusal
    }

    /// 400 for an action that the session's state does not allow.
    pub(super) fn failed_precondition() -> Refusal {
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "FAILED_PRECONDITION",
            "Precondition check failed.",
        )
    }

    /// 401 without any key.
    pub(super) fn no_credentials() -> Refusal {
        Refusal::unauthenticated(
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
            "CREDENTIALS_MISSING",
        )
    }

    /// 401 for a key of the wrong kind.
    pub(super) fn wrong_credentials() -> Refusal {
        Refusal::unauthenticated(
            "API keys are not supported by this API. Expected OAuth2 access token or other authentication credentials that assert a principal.",
            "CREDENTIALS_MISSING",
        )
    }

    /// 400 for an unknown key, as most other Google services answer it.
    pub(super) fn invalid_key() -> Refusal {
        let mut refusal = Refusal::new(
            StatusCode::BAD_REQUEST,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        );
        refusal.details.push(error_info("API_KEY_INVALID"));
        refusal
    }

    /// 403 for a key that was disabled because it was found in public.
    pub(super) fn disabled_key() -> Refusal {
        let mut refusal = Refusal::new(
            StatusCode::FORBIDDEN,
            "PERMISSION_DENIED",
            "The caller does not have permission",
        );
        refusal.details.push(error_info("CONSUMER_SUSPENDED"));
        refusal
    }

    fn unauthenticated(message: &str, reason: &str) -> Refusal {
        let mut refusal = Refusal::new(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED", message);
        refusal.details.push(error_info(reason));
        refusal
    }

    /// 404 for an unknown resource or method.
    pub(super) fn not_found() -> Refusal {
        Refusal::new(
            StatusCode::NOT_FOUND,
            "NOT_FOUND",
            "Requested entity was not found.",
        )
    }

    /// 404 as it was seen under load, where the true reason is a limit.
    pub(super) fn no_source() -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "NOT_FOUND", "Could not get source")
    }

    /// 429 for a quota, a burst or a rate.
    pub(super) fn resource_exhausted(retry_after: Option<u32>) -> Refusal {
        let mut refusal = Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        );
        refusal.retry_after = retry_after;
        refusal
    }

    /// 503.
    pub(super) fn unavailable() -> Refusal {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "UNAVAILABLE",
            "The service is currently unavailable.",
        )
    }

    /// The reply.
    pub fn to_reply(&self) -> Response<Bytes> {
        let mut error = json!({
            "code": self.code.as_u16(),
            "message": self.message,
            "status": self.status,
        });
        if !self.details.is_empty() {
            error["details"] = json!(self.details);
        }
        let mut reply = json_reply(self.code, &json!({ "error": error }));
        if let Some(seconds) = self.retry_after {
            reply
                .headers_mut()
                .insert(header::RETRY_AFTER, seconds.into());
        }
        reply
    }
}

fn error_info(reason: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": { "service": "jules.googleapis.com" },
    })
}

/// A reply that carries JSON.
pub(super) fn json_reply(code: StatusCode, body: &Value) -> Response<Bytes> {
    let mut reply = Response::new(Bytes::from(body.to_string()));
    *reply.status_mut() = code;
    reply.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json; charset=UTF-8"),
    );
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_that_of_google_rpc_status() {
        let refusal = Refusal::bad_field("session.prompt", "Invalid value");
        let reply = refusal.to_reply();
        assert_eq!(reply.status(), 400);
        let body: Value = serde_json::from_slice(reply.body()).unwrap();
        assert_eq!(body["error"]["status"], "INVALID_ARGUMENT");
        assert_eq!(body["error"]["code"], 400);
        assert_eq!(
            body["error"]["details"][0]["fieldViolations"][0]["field"],
            "session.prompt"
        );
    }

    #[test]
    fn retry_after_is_sent_only_when_asked_for() {
        assert!(
            !Refusal::resource_exhausted(None)
                .to_reply()
                .headers()
                .contains_key("retry-after")
        );
        assert_eq!(
            Refusal::resource_exhausted(Some(30)).to_reply().headers()["retry-after"],
            "30"
        );
    }
}
