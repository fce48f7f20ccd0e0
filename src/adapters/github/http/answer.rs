//! One answer of GitHub, with the limits that its headers announce.

use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::adapters::github::auth::token::Token;
use crate::runtime::inbox::LONGEST_RETRY_AFTER;

/// How long to pause after a secondary limit without a figure.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>: at least one minute.
pub const SECONDARY_LIMIT_WAIT: Duration = Duration::from_secs(60);
/// The length of the window of a primary limit. A reset that is further away comes from a wrong clock or a wrong value.
pub(crate) const LIMIT_WINDOW: Duration = Duration::from_secs(3_600);

/// A whole answer.
///
/// A proxy may echo the request, including a token of any form.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The token of the request.
    pub(crate) token: Token,
}

impl Answer {
    /// An answer whose body does not contain the token of its request, because parts of the body reach messages, the
    /// ledger and prompts. Tokens that GitHub creates, such as an installation's, stay.
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes, token: &Token) -> Self {
        let body = match String::from_utf8_lossy(&body) {
            text if token.appears_in(&text) => Bytes::from(token.redact_in(&text)),
            _ => body,
        };
        Self {
            status,
            headers,
            body,
            token: token.clone(),
        }
    }

    pub(crate) fn header_text(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn header_number(&self, name: &str) -> Option<u64> {
        self.header_text(name)?.trim().parse().ok()
    }

    /// GitHub's time.
    pub(crate) fn date_header(&self) -> Option<Timestamp> {
        DateTimeParser::new()
            .parse_timestamp(self.header_text(DATE.as_str())?)
            .ok()
    }

    pub(crate) fn location_header(&self) -> Option<&str> {
        self.header_text(LOCATION.as_str())
    }

    /// GitHub's error message: `error_message` of the JSON with the `errors`, or the beginning of the text.
    pub(crate) fn error_message(&self) -> String {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(&self.body) else {
            return String::from_utf8_lossy(&self.body).trim().to_owned();
        };
        let mut text = value["message"].as_str().unwrap_or_default().to_owned();
        for error in value["errors"].as_array().into_iter().flatten() {
            let said = match error {
                serde_json::Value::String(said) => Some(said.as_str()),
                other => other["message"].as_str().or(other["code"].as_str()),
            };
            if let Some(said) = said {
                text.push_str("; ");
                text.push_str(said);
            }
        }
        // JSON escapes may have hidden the token from the first replacement.
        self.token.redact_in(&text)
    }

    /// The wait that GitHub asks for explicitly. A longer one than [`LONGEST_RETRY_AFTER`] is a mistake.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let asked = Duration::from_secs(self.header_number(RETRY_AFTER.as_str())?);
        Some(asked.min(LONGEST_RETRY_AFTER.unsigned_abs()))
    }

    /// The wait that a rate limit demands, if this answer reports one. `said` is its text.
    ///
    /// The order is the one that GitHub documents: `retry-after`, then the reset of a spent primary limit, then at
    /// least a minute.
    pub(crate) fn rate_limit_wait(&self, said: &str, now: Timestamp) -> Option<Duration> {
        let refused = matches!(
            self.status,
            StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS
        );
        let secondary = mentions_secondary_limit(said);
        if !refused && !secondary {
            return None;
        }
        if let Some(after) = self.retry_after() {
            return Some(after);
        }
        if let Some(reset) = self.time_to_reset(now) {
            return Some(reset);
        }
        (secondary || self.status == StatusCode::TOO_MANY_REQUESTS).then_some(SECONDARY_LIMIT_WAIT)
    }

    /// The time until the primary limit resets, if nothing of it remains.
    pub(crate) fn time_to_reset(&self, now: Timestamp) -> Option<Duration> {
        if self.header_number("x-ratelimit-remaining") != Some(0) {
            return None;
        }
        let reset = i64::try_from(self.header_number("x-ratelimit-reset")?).ok()?;
        let now = self.date_header().unwrap_or(now).as_second();
        let left = Duration::from_secs(u64::try_from(reset.saturating_sub(now)).unwrap_or(0));
        // GitHub may still count the second of the reset itself to the old window.
        Some(left.min(LIMIT_WINDOW) + Duration::from_secs(1))
    }
}

/// GitHub has no error code for secondary limits, only texts.
fn mentions_secondary_limit(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["secondary rate limit", "abuse detection"]
        .iter()
        .any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            map.insert(name, value.parse().unwrap());
        }
        let token = Token::new("a-token-of-a-test").unwrap();
        let body = Bytes::copy_from_slice(body.as_bytes());
        Answer::new(StatusCode::from_u16(status).unwrap(), map, body, &token)
    }

    fn limit(status: u16, headers: &[(&str, &str)], body: &str) -> Option<u64> {
        let answer = answer(status, headers, body);
        let now = "2026-01-05T00:00:00Z".parse().unwrap();
        answer
            .rate_limit_wait(&answer.error_message(), now)
            .map(|wait| wait.as_secs())
    }

    #[test]
    fn limits_are_told_from_refusals() {
        let date = ("date", "Mon, 05 Jan 2026 00:00:00 GMT");
        let spent = ("x-ratelimit-remaining", "0");
        let reset = ("x-ratelimit-reset", "1767571800");
        assert_eq!(limit(403, &[("retry-after", "7"), spent], "{}"), Some(7));
        assert_eq!(limit(403, &[date, spent, reset], "{}"), Some(601));
        assert_eq!(limit(429, &[], "{}"), Some(60));
        let secondary = r#"{"message":"You have exceeded a secondary rate limit. Please wait"}"#;
        assert_eq!(limit(403, &[], secondary), Some(60));
        assert_eq!(limit(200, &[], secondary), Some(60));
        let refused = r#"{"message":"Resource not accessible by integration"}"#;
        assert_eq!(
            limit(403, &[("x-ratelimit-remaining", "12")], refused),
            None
        );
        assert_eq!(limit(404, &[("retry-after", "7")], "{}"), None);
    }

    /// One wrong value closes no account for years.
    #[test]
    fn no_wait_is_longer_than_github_means() {
        const DAY: u64 = 86_400;
        for wrong in ["86401", "18446744073709551615"] {
            assert_eq!(limit(403, &[("retry-after", wrong)], "{}"), Some(DAY));
        }
        let date = ("date", "Mon, 05 Jan 2026 00:00:00 GMT");
        let spent = ("x-ratelimit-remaining", "0");
        // In milliseconds instead of seconds, and the greatest that can be read.
        for wrong in ["1767571800000", "9223372036854775807"] {
            let reset = ("x-ratelimit-reset", wrong);
            assert_eq!(limit(403, &[date, spent, reset], "{}"), Some(3_601));
        }
    }

    #[test]
    fn what_is_wrong_is_told_in_one_text() {
        let told = answer(
            422,
            &[],
            r#"{"message":"Validation Failed","errors":[{"code":"invalid"},"no",{"message":"why"}]}"#,
        );
        assert_eq!(told.error_message(), "Validation Failed; invalid; no; why");
        assert_eq!(answer(502, &[], " <html> \n").error_message(), "<html>");
    }
}
