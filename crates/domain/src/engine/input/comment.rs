//! Comments on issues and pull requests, and the commands in them.

use jiff::Timestamp;

use super::subject::Actor;

/// The first word of every command.
const COMMAND: &str = "/phileas";

/// A comment on an issue or pull request. Its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The node id in GraphQL.
    pub id: String,
    /// The number in REST.
    pub number: u64,
    /// The number of the issue or pull request that it stands on.
    pub thread: u64,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether it was changed since.
    pub edited: bool,
    /// Who wrote it; `None` when the account is gone.
    pub author: Option<Actor>,
    /// Whether GitHub calls its author an owner, a member or a collaborator. This is no permission; it only decides
    /// whose permission is read first.
    pub may_belong_to_project: bool,
    /// The text.
    pub body: String,
}

/// Returns the words after `/phileas`, where a text begins with it. Quotations, code blocks and text before it make it
/// no command. `/phileas:hold` is returned as the one word `phileas:hold`. It is no command; the caller answers with the
/// list of commands.
#[must_use]
pub fn parse_command(body: &str) -> Option<Vec<&str>> {
    let line = body.lines().next()?;
    let rest = line.strip_prefix(COMMAND)?;
    if rest.starts_with(':') {
        return Some(line[1..].split_whitespace().collect());
    }
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.split_whitespace().collect())
}

/// The words behind a command `/phileas refuse REASON [never]`, with the lines below it; empty where there are none.
#[must_use]
pub(crate) fn refusal_words(body: &str) -> &str {
    if parse_command(body).is_none_or(|words| words.first() != Some(&"refuse")) {
        return "";
    }
    let (_refuse, rest) = split_word(&body[COMMAND.len()..]);
    let (_reason, rest) = split_word(rest);
    match split_word(rest) {
        ("never", rest) => rest.trim(),
        _ => rest.trim(),
    }
}

/// The first word on the line, and the text behind it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// Whether a text is a command about why a pull request is closed. Such a command counts on a closed one, too.
#[must_use]
pub fn concerns_closing(body: &str) -> bool {
    let words = parse_command(body).unwrap_or_default();
    words
        .first()
        .is_some_and(|word| ["refuse", "forget"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_behind_a_refusal_are_found() {
        for (body, words) in [
            ("/phileas refuse wrong", ""),
            ("/phileas refuse wrong \n", ""),
            ("/phileas refuse wrong never", ""),
            ("/phileas refuse wrong It fails.", "It fails."),
            (
                "/phileas  refuse\twrong  never It fails.\n\nSee above.",
                "It fails.\n\nSee above.",
            ),
            (
                "/phileas refuse wrong\r\nnever say never",
                "never say never",
            ),
            ("/phileas refuse wrong\nIt fails.", "It fails."),
            ("/phileas refuse", ""),
            ("/phileas forget it", ""),
            ("refuse wrong It fails.", ""),
            ("> /phileas refuse wrong It fails.", ""),
        ] {
            assert_eq!(refusal_words(body), words, "{body:?}");
        }
    }

    #[test]
    fn r9_only_the_first_word_of_a_text_is_a_command() {
        for text in [
            "> /phileas run a",
            "```\n/phileas run a\n```",
            "    /phileas run a",
            " /phileas run a",
            "please /phileas run a",
            "please\n/phileas run a",
            "`/phileas run a`",
            "/phileasrun a",
            "/Phileas run a",
            "<!-- -->/phileas run a",
            "",
        ] {
            assert_eq!(parse_command(text), None, "{text:?}");
        }
    }

    #[test]
    fn r9_a_text_that_begins_with_the_prefix_is_a_command() {
        for (text, words) in [
            ("/phileas run a", &["run", "a"][..]),
            ("/phileas  run\ta\r\nplease", &["run", "a"]),
            ("/phileas", &[]),
            ("/phileas\nrun a", &[]),
            ("/phileas:hold now", &["phileas:hold", "now"]),
        ] {
            assert_eq!(parse_command(text).as_deref(), Some(words), "{text:?}");
        }
    }
}
