//! Escapes texts of other people for a page that GitHub renders.
//!
//! Agents and unauthorized users wrote much of what a summary shows. None of it may become a heading, a link, an image,
//! a table's edge or markup. GitHub's renderer shows a character literally when it is written as a numeric entity.

/// The longest text of other people that is shown in one place, in characters.
pub const MAX_TEXT_CHARS: usize = 300;

/// Characters with a meaning in Markdown, in HTML, or in what GitHub turns into links.
const SPECIAL_CHARS: &str = "&<>\"`*_[]#|~\\@:$";
/// Prevents a name after `@` from becoming a mention. It is invisible.
const WORD_JOINER: &str = "&#8288;";

/// One line of at most [`MAX_TEXT_CHARS`] characters in which no character is markup.
#[must_use]
pub fn escape_text(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    let words = text.split(|c: char| c.is_whitespace() || is_invisible(c));
    for word in words.filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= MAX_TEXT_CHARS {
                out.push('…');
                return out;
            }
            count += 1;
            push_escaped(&mut out, c);
        }
    }
    out
}

fn push_escaped(out: &mut String, c: char) {
    // GitHub links an address without a scheme that begins with these letters.
    let www = c == '.' && out.to_ascii_lowercase().ends_with("www");
    if SPECIAL_CHARS.contains(c) || www {
        out.push_str(&format!("&#{};", u32::from(c)));
        if c == '@' {
            out.push_str(WORD_JOINER);
        }
    } else {
        out.push(c);
    }
}

/// A link to an address of phileas. Its text may come from other people.
#[must_use]
pub fn link_to(text: &str, address: &str) -> String {
    // An address that could end the link is not one that phileas made.
    if address.contains(|c: char| c.is_whitespace() || c.is_control() || "()<>\"|".contains(c)) {
        return escape_text(text);
    }
    format!("[{}]({address})", escape_text(text))
}

/// A name as code.
#[must_use]
pub fn code_span(text: &str) -> String {
    format!("<code>{}</code>", escape_text(text))
}

/// Control characters, and characters that hide text or change its direction.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let text = "# <img src=x>\n| [a](http://evil) ![b] `c` **d** @octocat www.evil.example \u{202e}x\u{200b}y";
        let shown = escape_text(text);
        for word in [
            "#\u{20}", "<", ">", "[", "]", "`", "*", "|", "@", "://", "www.", "\u{202e}", "\n",
        ] {
            assert!(!shown.contains(word), "{word:?} in {shown}");
        }
        assert!(shown.starts_with("&#35; &#60;img src=x&#62;"), "{shown}");
        assert!(shown.contains("&#64;&#8288;octocat"), "{shown}");
        assert!(shown.ends_with("x y"), "{shown}");
    }

    #[test]
    fn plain_sentences_stay_readable() {
        let text = "It was the track's turn; 2 of 5, at 09:30.";
        assert_eq!(
            escape_text(text),
            "It was the track's turn; 2 of 5, at 09&#58;30."
        );
        assert_eq!(escape_text(&"ä".repeat(400)), "ä".repeat(300) + "…");
    }

    #[test]
    fn a_link_leads_to_one_place() {
        assert_eq!(
            link_to("a]b", "https://jules.google.com/session/1"),
            "[a&#93;b](https://jules.google.com/session/1)"
        );
        assert_eq!(link_to("a", "https://x/) [b](https://evil"), "a");
    }
}
