//! Removes secrets from untrusted text before it is sent anywhere.
//!
//! CI jobs may print secrets, and Jules stores messages and shows them to everyone with access to the session. Hiding a
//! word too many does little harm, because a failure can be understood without it.

use std::ops::Range;

/// The replacement of a secret.
pub(super) const HIDDEN: &str = "[hidden]";

/// The prefixes of API keys and tokens, and the least number of characters that follow.
const SHAPES: [(&str, usize); 22] = [
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("AIza", 20),
    ("ya29.", 16),
    ("AKIA", 12),
    ("ASIA", 12),
    ("eyJ", 20),
    ("sk-", 16),
    ("sk_live_", 12),
    ("rk_live_", 12),
    ("npm_", 20),
    ("pypi-", 20),
    ("crates-io_", 8),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxa-", 8),
    ("hf_", 20),
];

/// Parts of names whose values are secret: `API_TOKEN=…`, `"password": "…"`.
const NAMES: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "private_key",
    "authorization",
];
/// Shorter values are more likely words than secrets.
const VALUE_LEAST: usize = 8;

/// The text with all likely secrets hidden.
#[must_use]
pub fn hide_secrets(text: &str) -> String {
    let mut out = Vec::new();
    let mut in_key = false;
    for line in text.split('\n') {
        let is_key = line.contains("-----BEGIN") && line.contains("PRIVATE KEY");
        if is_key {
            in_key = true;
            out.push(HIDDEN.to_owned());
        }
        if !in_key {
            out.push(hide_in_line(line));
        }
        if line.contains("-----END") {
            in_key = false;
        }
    }
    out.join("\n")
}

fn hide_in_line(line: &str) -> String {
    let line = without_credentials(line);
    let line = without_shapes(&line);
    without_values(&line)
}

fn is_key_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-.~+/=".contains(character)
}

/// Hides words that begin like an API key.
fn without_shapes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let before = out.chars().next_back();
        let begins = before.is_none_or(|c| !c.is_ascii_alphanumeric());
        let found = SHAPES.iter().find_map(|(prefix, least)| {
            let after = rest.strip_prefix(prefix).filter(|_| begins)?;
            let length = after.find(|c| !is_key_character(c)).unwrap_or(after.len());
            (length >= *least).then_some(prefix.len() + length)
        });
        match (found, rest.chars().next()) {
            (Some(length), _) => {
                out.push_str(HIDDEN);
                rest = &rest[length..];
            }
            (None, Some(first)) => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
            (None, None) => break,
        }
    }
    out
}

/// Hides the user name and password of `https://name:password@host`.
fn without_credentials(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#'))
            .unwrap_or(after.len());
        let name = after[..end]
            .rfind('@')
            .filter(|at| after[..*at].contains(':'));
        match name {
            Some(at) => {
                out.push_str(HIDDEN);
                rest = &after[at..];
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// How files of code end.
const CODE_ENDINGS: [&str; 18] = [
    "c", "cc", "cpp", "cs", "go", "h", "java", "js", "jsx", "kt", "php", "py", "rb", "rs", "scala",
    "swift", "ts", "tsx",
];

/// Hides the values of names that suggest a secret. It reads each character a bounded number of times, because people and
/// programs write lines of any length.
fn without_values(line: &str) -> String {
    let mut known = known_names(line).into_iter().peekable();
    let mut last_known = None;
    let mut out = String::with_capacity(line.len());
    let (mut name_from, mut from, mut judged) = (0, 0, 0);
    for (at, character) in line.char_indices() {
        if character.is_whitespace() || matches!(character, ',' | ';') {
            name_from = at + character.len_utf8();
        }
        if !matches!(character, ':' | '=') || at < judged {
            continue;
        }
        if character == ':' && is_path(&line[name_from..at], &line[at + 1..]) {
            continue;
        }
        while let Some(found) = known.next_if(|found| found.end <= at) {
            last_known = last_known.max(Some(found.start));
        }
        if last_known.is_none_or(|start| start < name_from) {
            continue;
        }
        let value = value_of(&line[at + 1..]);
        let begin = line.len() - value.len();
        // Each separator before the value has the same one.
        judged = begin;
        if value.starts_with(HIDDEN) {
            continue;
        }
        let length = value
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';'))
            .unwrap_or(value.len());
        if length >= VALUE_LEAST {
            out.push_str(&line[from..begin]);
            out.push_str(HIDDEN);
            from = begin + length;
            judged = from;
        }
    }
    out.push_str(&line[from..]);
    out
}

/// Whether a colon is part of a path in code, such as `tokenizer::splits` or `src/tokens.rs:12`, and no value follows it.
fn is_path(before: &str, after: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_pair = before.ends_with(':') || after.starts_with(':');
    let inner = after.strip_prefix(':').unwrap_or(after);
    let part = inner.split(|c: char| !is_name(c)).next();
    let is_part = part.is_some_and(|part| part.starts_with(|c: char| !c.is_ascii_digit()));
    let file = before.rsplit(|c: char| !is_name(c) && !"/.-".contains(c));
    let ending = file.take(1).find_map(|file| file.rsplit_once('.'));
    let is_file = ending.is_some_and(|(_, ending)| CODE_ENDINGS.contains(&ending));
    (is_pair && is_part) || (is_file && part.is_some_and(|part| !part.is_empty()))
}

/// Where parts of names that suggest a secret stand, by their ends.
fn known_names(line: &str) -> Vec<Range<usize>> {
    let lower = line.to_ascii_lowercase();
    let all = NAMES.iter().flat_map(|name| lower.match_indices(name));
    let mut found: Vec<Range<usize>> = all.map(|(start, name)| start..start + name.len()).collect();
    found.sort_unstable_by_key(|found| found.end);
    found
}

/// The value that follows a separator, without quotation marks and the scheme of a header.
fn value_of(after: &str) -> &str {
    let value = after.trim_start_matches([' ', '\t', '"', '\'', '=', ':']);
    ["bearer ", "basic ", "token "]
        .iter()
        .find_map(|scheme| {
            let begins = value.get(..scheme.len())?.eq_ignore_ascii_case(scheme);
            begins.then(|| value[scheme.len()..].trim_start())
        })
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// White space of several bytes before a name.
    #[test]
    fn r21_a_name_behind_any_white_space_is_found() {
        for space in ["\u{200a}", "\u{3000}", "\u{2028}", "\u{a0}"] {
            let said = format!("x{space}token: 0123456789 y{space}a:b");
            assert_eq!(
                hide_secrets(&said),
                format!("x{space}token: [hidden] y{space}a:b")
            );
        }
    }

    #[test]
    fn r21_what_looks_like_a_secret_is_hidden() {
        let long = "0123456789abcdefghij0123456789";
        for (said, kept) in [
            (format!("token ghp_{long} end"), "token [hidden] end"),
            (format!("github_pat_{long}"), "[hidden]"),
            (format!("key=AIza{long}"), "key=[hidden]"),
            (format!("x \"eyJ{long}.{long}\" y"), "x \"[hidden]\" y"),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "[hidden]"),
            (
                "git clone https://x-access-token:abc@github.com/a/b".to_owned(),
                "git clone https://[hidden]@github.com/a/b",
            ),
            (
                "config/token: abcdefgh12".to_owned(),
                "config/token: [hidden]",
            ),
            (
                "config/prod.json:{\"token\":\"abcdefgh12345\"}".to_owned(),
                "config/prod.json:{\"token\":\"[hidden]\"}",
            ),
            (
                "secrets/token.txt:abcdefgh12345".to_owned(),
                "secrets/token.txt:[hidden]",
            ),
            ("password::1234567890".to_owned(), "password::[hidden]"),
            (
                "Authorization: Bearer abcdefgh12".to_owned(),
                "Authorization: Bearer [hidden]",
            ),
            (
                "DB_PASSWORD=hunter2hunter2 x".to_owned(),
                "DB_PASSWORD=[hidden] x",
            ),
            (
                "{\"api_key\": \"0123456789\", \"a\": 1}".to_owned(),
                "{\"api_key\": \"[hidden]\", \"a\": 1}",
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb"
                    .to_owned(),
                "a\n[hidden]\nb",
            ),
        ] {
            assert_eq!(hide_secrets(&said), kept, "{said}");
        }
    }

    /// Each of these would take minutes if a separator had the line before or after it read again.
    #[test]
    fn r21_a_long_line_is_read_once() {
        for (start, part) in [
            ("", "a:"),
            ("", "a="),
            ("token", ":"),
            ("token", ":\""),
            ("token", "=[hidden]"),
            ("", "://"),
            ("", "sk-"),
            ("", "token=a,"),
        ] {
            let said = format!("{start}{}", part.repeat(300_000 / part.len()));
            let kept = hide_secrets(&said);
            assert!(kept == said || kept.ends_with(HIDDEN), "{start}{part}");
        }
    }

    #[test]
    fn r21_each_value_behind_a_name_is_judged() {
        for (said, kept) in [
            ("token::\"0123456789\"", "token::\"[hidden]\""),
            ("token=short=0123456789", "token=[hidden]"),
            (
                "token=a:0123456789,x=0123456789",
                "token=[hidden],x=0123456789",
            ),
            (
                "x=1,api-key=0123456789;y=0123456789",
                "x=1,api-key=[hidden];y=0123456789",
            ),
            (
                "token=[hidden] secret: 0123456789",
                "token=[hidden] secret: [hidden]",
            ),
        ] {
            assert_eq!(hide_secrets(said), kept, "{said}");
        }
    }

    /// The counterpart: what explains a failure is kept.
    #[test]
    fn r21_plain_words_stay() {
        for text in [
            "error[E0308]: mismatched types at src/main.rs:10:5",
            "test tokenizer::splits_on_whitespace ... FAILED",
            "use crate::prompt::secrets::hide_in_line;",
            "loc: [src/tokens.rs:parse_all]",
            "src/token.rs:1000-1450",
            "expected token `;`, found `}`",
            "task-management-and-more-words-that-are-long",
            "see https://docs.rs/serde/latest/serde?x=1 and mail a@b.example",
            "commit 4c1d4c1d4c1d4c1d4c1d4c1d4c1d4c1d4c1d4c1d",
            "",
        ] {
            assert_eq!(hide_secrets(text), text);
        }
    }
}
