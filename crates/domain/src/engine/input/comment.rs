//! Commands in comments: what a comment says, and whether it says anything to phileas at all.

use jiff::Timestamp;

use super::subject::Actor;

/// The first word of every command.
const COMMAND: &str = "/phileas";

/// A comment on an issue or pull request. Its text is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its node id.
    pub id: String,
    /// Its number.
    pub number: u64,
    /// The number of the issue or pull request that it stands on.
    pub thread: u64,
    /// When it was written.
    pub created_at: Timestamp,
    /// Whether it was changed since.
    pub edited: bool,
    /// Who wrote it; `None` when the account is gone.
    pub author: Option<Actor>,
    /// Whether GitHub calls its author an owner, a member or a collaborator. That is no permission; it says whose
    /// permission is looked up first.
    pub insider: bool,
    /// What it says.
    pub body: String,
}

/// The words behind `/phileas`, where a text begins with it. A quotation begins with `>`, a block of code with a fence
/// or with blanks, so none of these is a command; neither is one in the middle of a text.
#[must_use]
pub fn command_in(body: &str) -> Option<Vec<&str>> {
    let line = body.lines().next()?;
    let rest = line.strip_prefix(COMMAND)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(command_in(text), None, "{text:?}");
        }
    }

    #[test]
    fn r9_a_text_that_begins_with_it_is_one() {
        for (text, words) in [
            ("/phileas run a", &["run", "a"][..]),
            ("/phileas  run\ta\r\nplease", &["run", "a"]),
            ("/phileas", &[]),
            ("/phileas\nrun a", &[]),
        ] {
            assert_eq!(command_in(text).as_deref(), Some(words), "{text:?}");
        }
    }
}
