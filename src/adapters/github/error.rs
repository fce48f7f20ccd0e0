//! Failures in the runtime's words: one line, with GitHub's request id, without secrets.

use crate::runtime::ports::{Disposition, Failure};

use super::answer::Answer;

/// How much of what GitHub said is kept, in characters.
pub const DETAIL_LIMIT_CHARS: usize = 300;

/// What tokens of GitHub, keys of Google and JSON Web Tokens begin with. Their lengths differ and change.
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

/// A failure that an answer tells of.
pub(super) fn refused(what: &str, answer: &Answer, disposition: Disposition) -> Failure {
    told(what, answer, disposition, &answer.message())
}

/// A failure that an answer tells of, with a text of its own.
pub(super) fn told(what: &str, answer: &Answer, disposition: Disposition, said: &str) -> Failure {
    let mut detail = format!("GitHub: {what}: {}", answer.status.as_u16());
    let said = clean(said);
    if !said.is_empty() {
        detail.push_str(": ");
        detail.push_str(&said);
    }
    if let Some(id) = answer.header("x-github-request-id") {
        detail.push_str(&format!(" (request {})", clean(id)));
    }
    Failure {
        disposition,
        detail,
    }
}

/// What GitHub says beside an answer of 200 when it has given a query up.
const GAVE_UP: &str = "Something went wrong while executing your query";

/// Whether GitHub has not come to the end of a query in the time that it gives one: it says so with 502 or 504, or by an
/// error beside an answer of 200.
/// <https://docs.github.com/en/graphql/overview/rate-limits-and-node-limits-for-the-graphql-api#timeouts>
pub(super) fn is_too_slow(failure: &Failure) -> bool {
    let told = |status: &u16| failure.detail.contains(&format!("): {status}"));
    failure.disposition == Disposition::Retry { after: None }
        && ([502, 504].iter().any(told) || failure.detail.contains(GAVE_UP))
}

/// A failure without an answer.
pub(super) fn plain(what: &str, said: &str, disposition: Disposition) -> Failure {
    Failure {
        disposition,
        detail: format!("GitHub: {what}: {}", clean(said)),
    }
}

/// One line of at most [`DETAIL_LIMIT_CHARS`], in which nothing that looks like a secret is left.
pub(super) fn clean(text: &str) -> String {
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
    use super::*;

    #[test]
    fn one_line_cut_and_without_secrets() {
        assert_eq!(
            clean("bad\n token \"ghs_12_abc.def\" and github_pat_1 eyJhbGciOi.x"),
            "bad token \"[hidden] and [hidden] [hidden]"
        );
        assert_eq!(
            clean(&"ä".repeat(400)).chars().count(),
            DETAIL_LIMIT_CHARS + 1
        );
    }
}
