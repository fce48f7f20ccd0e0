//! Makes text of agents safe for comments: no mention, no closing keyword, no bot command, no image and no key.

use crate::model::SessionId;
use crate::prompt;

/// Longer texts are truncated, in characters.
const LIMIT: usize = 300;

/// An agent's text as one line of inline code. GitHub does not interpret code, but other bots read the raw text, so
/// anything that could be a command is broken as well.
pub(crate) fn quote_as_code(text: &str) -> String {
    format!("`{}`", inert_line(text, LIMIT))
}

/// An agent's text as one line that neither GitHub (inside code) nor other bots interpret, truncated to `limit`
/// characters.
pub(crate) fn inert_line(text: &str, limit: usize) -> String {
    // A person who steers an agent can read its words here, so a key must not appear in them, not even behind invisible
    // characters.
    let line = prompt::without_secrets(&prompt::clean_line(text));
    let mut out = String::new();
    let mut before = ' ';
    for character in line.chars().take(limit) {
        match character {
            '`' => out.push('\''),
            '@' => out.push_str("(at)"),
            '#' => out.push_str("no. "),
            '<' => out.push('‹'),
            '>' => out.push('›'),
            '[' if before == '!' => out.push_str(" ["),
            // A bot's command starts a word; a slash inside a path may stay.
            '/' if before == ' ' => out.push('∕'),
            other => out.push(other),
        }
        before = character;
    }
    if line.chars().count() > limit {
        out.push('…');
    }
    out.trim().to_owned()
}

/// A word of the plan, or a login, for use inside backticks.
pub(crate) fn sanitize_word(word: &str) -> String {
    prompt::clean_line(word).replace('`', "'")
}

pub(crate) fn session_link(id: &SessionId) -> String {
    format!("[session {}]({})", session_number(id), session_page(id))
}

/// The address of a session's page.
#[must_use]
pub fn session_page(id: &SessionId) -> String {
    format!("https://jules.google.com/session/{}", session_number(id))
}

/// A session's id as commands take it; without anything that an address or Markdown would interpret.
pub(crate) fn session_number(id: &SessionId) -> String {
    let id = id.as_str().chars();
    id.filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r22_agent_text_mentions_no_user_closes_nothing_and_shows_no_picture() {
        for (written, shown) in [
            ("thanks @octocat", "`thanks (at)octocat`"),
            ("fixes #12", "`fixes no. 12`"),
            ("/merge now", "`∕merge now`"),
            ("do /approve", "`do ∕approve`"),
            ("![x](http://evil)", "`! [x](http://evil)`"),
            ("<img src=x>", "`‹img src=x›`"),
            ("a <!-- phileas:status --> b", "`a b`"),
            ("`code` ``` fence", "`'code' ''' fence`"),
            ("line\n/phileas run x", "`line ∕phileas run x`"),
            ("\u{202e}@\u{200b}all", "`(at)all`"),
        ] {
            assert_eq!(quote_as_code(written), shown);
        }
    }

    /// An agent that was told to write down its keys once had them published by the program's own comment.
    #[test]
    fn incident_comment_and_control_a_key_in_an_agents_words_is_not_published() {
        let tail = "Zk3x9QpL2mN8vB4tR6yW1sD5fG7hJ0aC";
        for begin in [
            "ghp_",
            "ghs_",
            "github_pat_",
            "AIza",
            "g\u{200b}hp_",
            "gh<!-- x -->s_",
        ] {
            let shown = quote_as_code(&format!("it failed with {begin}{tail}"));
            assert!(!shown.contains(&tail[8..]), "{shown}");
            assert!(shown.starts_with("`it failed with [hidden]"), "{shown}");
        }
        let named = quote_as_code(&format!("JULES_API_KEY={tail}"));
        assert_eq!(named, "`JULES_API_KEY=[hidden]`");
        // A key that the limit truncates is hidden, too.
        let long = quote_as_code(&format!("{} ghp_{tail}", "x".repeat(LIMIT - 12)));
        assert!(!long.contains(&tail[..4]), "{long}");
    }

    #[test]
    fn incident_comment_and_control_words_about_keys_stay() {
        for text in [
            "the token is too short",
            "ghp_ is how they begin",
            "3 keys of 5",
        ] {
            assert_eq!(quote_as_code(text), format!("`{text}`"));
        }
    }

    #[test]
    fn an_id_that_is_none_leaves_no_address() {
        for (id, part) in [
            ("15481661885092594092", "15481661885092594092"),
            ("../x?\"<", "x"),
        ] {
            let page = format!("https://jules.google.com/session/{part}");
            assert_eq!(session_page(&SessionId::from(id)), page);
        }
    }

    /// The counterpart: text that has no meaning to a bot stays as it is.
    #[test]
    fn r22_plain_words_and_paths_stay() {
        let text = "see src/main.rs, 3 tests failed (exit 1)";
        assert_eq!(quote_as_code(text), format!("`{text}`"));
        let long = quote_as_code(&"x".repeat(500));
        assert_eq!(long.chars().count(), LIMIT + 3);
    }
}
