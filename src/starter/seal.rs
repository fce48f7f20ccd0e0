//! The line that marks a file which `phileas init` wrote, and that shows whether the file was changed.
//!
//! It holds a digest of everything else in the file. Line ends do not count, since git may change them, and neither does
//! the commit that an action is pinned to, since programs raise it.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// What the line begins with; a template holds this much of it.
const START: &str = "# Written by phileas init";
/// How many digits of the digest are kept: enough to notice a change, and no obstacle to making one.
const DIGITS: usize = 16;

/// What a file says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// It is as it was written.
    Unchanged,
    /// It was written by us, and is no longer the same.
    Changed,
    /// It was not written by us.
    None,
}

/// A template with its seal.
pub(super) fn sealed(template: &str) -> String {
    let seal = format!(
        "{START} {} ({}); phileas deinit removes this file as long as it is unchanged.",
        env!("CARGO_PKG_VERSION"),
        text_digest(template)
    );
    let lines = template
        .lines()
        .map(|line| if line == START { seal.as_str() } else { line });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Whether a text is one of ours, and still the same.
#[must_use]
pub fn seal_of(text: &str) -> Seal {
    if !text.lines().any(|line| line.starts_with(START)) {
        return Seal::None;
    }
    if written_digest(text) == Some(text_digest(text).as_str()) {
        Seal::Unchanged
    } else {
        Seal::Changed
    }
}

/// The digest of the text that was written, as the line tells it.
pub(super) fn written_digest(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with(START))?;
    let (_, rest) = line.split_once('(')?;
    rest.split_once(')').map(|(digest, _)| digest)
}

fn text_digest(text: &str) -> String {
    let mut hash = Sha256::new();
    for line in text.lines().filter(|line| !line.starts_with(START)) {
        let step = line.trim_start().trim_start_matches("- ");
        let line = match line.split_once('@') {
            Some((action, _)) if step.starts_with("uses:") => action,
            _ => line,
        };
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    HEXLOWER.encode(&hash.finalize())[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_and_a_newer_pin_or_another_line_end_is_none() {
        let text = sealed("# Written by phileas init\non: push\n  uses: a/b@1111 # v1\n");
        assert_eq!(seal_of(&text), Seal::Unchanged);
        assert_eq!(seal_of(&text.replace('\n', "\r\n")), Seal::Unchanged);
        assert_eq!(
            seal_of(&text.replace("1111 # v1", "2222 # v2")),
            Seal::Unchanged
        );
        for other in [
            text.replace("push", "pull_request"),
            text.replace("a/b@", "a/c@"),
            format!("{text}# more\n"),
            text.replace('(', ""),
        ] {
            assert_eq!(seal_of(&other), Seal::Changed, "{other}");
        }
        assert_eq!(seal_of("on: push\n"), Seal::None);
    }
}
