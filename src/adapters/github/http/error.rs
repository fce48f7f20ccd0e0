//! Builds failures of the runtime: one line, with GitHub's request id, without secrets.

use super::answer::Answer;
use crate::runtime::ports::{Disposition, Failure};

/// The length at which GitHub's messages are cut, in characters.
pub const DETAIL_LIMIT_CHARS: usize = 300;

/// The prefixes of GitHub's tokens, Google's keys and JSON Web Tokens. Their lengths vary and change.
const SECRET_PREFIXES: [&str; 8] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "AIza",
    "eyJ",
];

/// A failure with the message of an answer.
pub(crate) fn answer_failure(what: &str, answer: &Answer, disposition: Disposition) -> Failure {
    failure_saying(what, answer, disposition, &answer.error_message())
}

/// A failure from an answer, with a message of our own. The message comes first, then the request.
pub(crate) fn failure_saying(
    what: &str,
    answer: &Answer,
    disposition: Disposition,
    said: &str,
) -> Failure {
    let said = sanitize(&answer.token.redact_in(said));
    let status = answer.status.as_u16();
    let request = answer
        .header_text("x-github-request-id")
        .map(|id| format!(", request {}", sanitize(&answer.token.redact_in(id))))
        .unwrap_or_default();
    let said = if said.is_empty() { "no message" } else { &said };
    let detail = format!("{said} (GitHub: {what}: {status}{request})");
    Failure {
        disposition,
        detail,
    }
}

/// GitHub's message, beside a status of 200, when it has aborted a query.
const GAVE_UP: &str = "Something went wrong while executing your query";

/// The type of GitHub's error, beside a status of 200 and a part of the data, when one query needs too many resources.
/// <https://github.blog/changelog/2025-09-01-graphql-api-resource-limits>, yoshi389111/github-profile-3d-contrib#163
pub(crate) const RESOURCE_LIMIT: &str = "RESOURCE_LIMITS_EXCEEDED";

/// Whether GitHub ran out of time: it answers 502 or 504, or a query with 200 and an error. A query that needs too many
/// resources counts, too: both fail again unless less is asked for.
/// <https://docs.github.com/en/graphql/overview/rate-limits-and-node-limits-for-the-graphql-api#timeouts>
pub(crate) fn is_too_slow(failure: &Failure) -> bool {
    let has_status = |status: &u16| failure.detail.contains(&format!(": {status}"));
    failure.disposition == Disposition::Retry { after: None }
        && ([502, 504].iter().any(has_status) || failure.detail.contains(GAVE_UP))
        || is_too_costly(failure)
}

/// Whether a query needs more resources than GitHub grants to one.
pub(crate) fn is_too_costly(failure: &Failure) -> bool {
    failure.disposition == Disposition::Retry { after: None }
        && failure.detail.starts_with(RESOURCE_LIMIT)
}

/// Whether the same read of one pull request fails each time, so that it must not hold back the others. What takes GitHub
/// too long takes it too long again.
pub(crate) fn is_lasting(failure: &Failure) -> bool {
    match failure.disposition {
        Disposition::NotFound | Disposition::Refused | Disposition::TooLarge => true,
        Disposition::Retry { .. } => is_too_slow(failure),
        Disposition::Denied | Disposition::Unknown => false,
    }
}

/// Whether an answer was too large. Texts of unlimited length are then read in parts.
pub(crate) fn is_too_large(failure: &Failure) -> bool {
    failure.disposition == Disposition::TooLarge
}

/// A failure without an answer.
pub(crate) fn local_failure(what: &str, said: &str, disposition: Disposition) -> Failure {
    Failure {
        disposition,
        detail: format!("{} (GitHub: {what})", sanitize(said)),
    }
}

/// One line of at most [`DETAIL_LIMIT_CHARS`] characters, without anything that looks like a secret.
pub(crate) fn sanitize(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let secret = SECRET_PREFIXES
            .iter()
            .filter_map(|prefix| word.find(prefix))
            .min();
        match secret {
            Some(at) => {
                line.push_str(&word[..at]);
                line.push_str("[hidden]");
            }
            None => line.push_str(word),
        }
    }
    match line.char_indices().nth(DETAIL_LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Response;
    use phileas_domain::model::PullNumber;
    use serde_json::json;

    use super::*;
    use crate::adapters::github::auth::account::Credential;
    use crate::adapters::github::auth::token::Token;
    use crate::adapters::github::scripted::set_as;
    use crate::adapters::log_capture::LogCapture;
    use crate::adapters::transport::TransportError;

    /// Tokens are opaque: a proxy's has no shape that could be known.
    const SHAPELESS: &str = "Zk3x9/QpL2mN8=vB4tR6yW1sD5fG7hJ0";

    /// A front end echoes what it was sent: plainly, escaped, in its headers, and in answers that cannot be read.
    #[tokio::test]
    async fn r15_the_very_token_in_use_stands_in_no_failure_and_no_log() {
        let escaped: String = SHAPELESS
            .chars()
            .map(|c| format!("\\u{:04x}", u32::from(c)))
            .collect();
        let address = SHAPELESS.replace('/', "%2F").replace('=', "%3D");
        let echoes = [
            json!({ "message": format!("bad token {SHAPELESS}!") }).to_string(),
            json!({ "message": "no", "errors": [{ "message": SHAPELESS }, SHAPELESS] }).to_string(),
            format!("{{\"message\": \"{escaped}\"}}"),
            format!("<html>Authorization: Bearer {SHAPELESS}</html>"),
            format!("GET /?access_token={address}"),
            json!({ "data": null, "errors": [{ "message": SHAPELESS, "type": SHAPELESS }] })
                .to_string(),
            json!({ "permission": [SHAPELESS], "data": SHAPELESS }).to_string(),
        ];
        let log = LogCapture::begin();
        let mut shown = Vec::new();
        for status in [200, 400, 401, 403, 404, 422, 429, 500, 502] {
            for body in &echoes {
                let reply = || {
                    let id = format!("1:{SHAPELESS}");
                    let reply = Response::builder()
                        .status(status)
                        .header("x-github-request-id", id);
                    Ok(reply.body(Bytes::from(body.clone())).unwrap())
                };
                let token = Credential::Token(Token::new(SHAPELESS).unwrap());
                let set = set_as(token.clone(), (0..9).map(|_| reply()));
                shown.push(format!(
                    "{:?}",
                    set.client.permission_of(&"ada".into()).await
                ));
                let set = set_as(token, (0..9).map(|_| reply()));
                shown.push(format!("{:?}", set.client.merge_facts(PullNumber(1)).await));
            }
        }
        let lost = || {
            Err(TransportError::Lost(format!(
                "cut while sending {SHAPELESS}"
            )))
        };
        let token = Credential::Token(Token::new(SHAPELESS).unwrap());
        let set = set_as(token, (0..9).map(|_| lost()));
        shown.push(format!(
            "{:?}",
            set.client.permission_of(&"ada".into()).await
        ));
        shown.push(log.end());
        for text in shown {
            for form in [SHAPELESS, &address, &escaped] {
                assert!(!text.contains(form), "{text}");
            }
        }
    }

    #[test]
    fn one_line_cut_and_without_secrets() {
        assert_eq!(
            sanitize("bad\n token \"ghs_12_abc.def\" and github_pat_1 eyJhbGciOi.x"),
            "bad token \"[hidden] and [hidden] [hidden]"
        );
        assert_eq!(
            sanitize(&"ä".repeat(400)).chars().count(),
            DETAIL_LIMIT_CHARS + 1
        );
    }
}
