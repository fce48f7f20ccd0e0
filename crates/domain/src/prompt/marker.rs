//! Marks a session as phileas' own, at the end of its title and in the last line of its prompt.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use super::limits::TITLE_LIMIT_CHARS;
use super::untrusted::cut_chars;
use crate::model::{Marker, PromptLine};

/// The prompt, an empty line, and the marker line as the last one, without a final newline.
#[must_use]
pub fn with_marker(prompt: &str, line: &PromptLine) -> String {
    format!("{}\n\n{}", prompt.trim_end(), line.render())
}

/// The title with its marker, in at most [`TITLE_LIMIT_CHARS`] characters. The title is truncated, the marker never.
#[must_use]
pub fn title_with_marker(title: &str, marker: &Marker) -> String {
    let suffix = marker.title_suffix();
    let room = TITLE_LIMIT_CHARS.saturating_sub(suffix.chars().count());
    format!("{}{suffix}", cut_chars(title.trim_end(), room))
}

/// The SHA-256 of a prompt as it is sent, in lower-case hexadecimal.
#[must_use]
pub fn prompt_sha256(prompt: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(prompt))
}

/// Whether a prompt has the given hash. Line ends and trailing space do not count, because a server that stores a text
/// may normalize them.
#[must_use]
pub fn is_sent(prompt: &str, sent_sha256: &str) -> bool {
    let tidied = || prompt.replace("\r\n", "\n");
    prompt_sha256(prompt) == sent_sha256 || prompt_sha256(tidied().trim_end()) == sent_sha256
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RepositoryId, TurnId};

    fn marker() -> Marker {
        Marker {
            turn: TurnId::parse("0123456789ab").unwrap(),
            attempt: 12,
        }
    }

    #[test]
    fn a_long_title_is_cut_and_the_marker_is_not() {
        let title = title_with_marker(&"🔧ä".repeat(200), &marker());
        assert_eq!(title.chars().count(), TITLE_LIMIT_CHARS);
        assert!(title.ends_with("… [phileas:0123456789ab.12]"));
        assert_eq!(Marker::from_title(&title), Some(marker()));
        assert_eq!(
            title_with_marker("short ", &marker()),
            "short [phileas:0123456789ab.12]"
        );
    }

    #[test]
    fn the_marker_is_the_last_line() {
        let line = PromptLine {
            marker: marker(),
            repository: RepositoryId(7),
            track: "default".into(),
            seq: 3,
            slot: "".into(),
            persona: "a".into(),
        };
        let prompt = with_marker("Do it.\n\n", &line);
        assert!(prompt.starts_with("Do it.\n\nphileas-turn: 0123456789ab.12 "));
        assert!(!prompt.ends_with('\n'));
        assert_eq!(Marker::from_prompt(&prompt), Some(line));
    }

    #[test]
    fn digests_as_sha256_does() {
        assert_eq!(
            prompt_sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
