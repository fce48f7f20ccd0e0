//! Texts of others, made fit for a page that GitHub renders.
//!
//! Much of what a summary shows agents and strangers wrote. None of it may become a heading, a link, an image, a table's
//! edge, or markup; GitHub's renderer takes a character for what it is when it is written as a number.

/// The longest text of others that is shown in one place, in characters.
pub const MAX_TEXT: usize = 300;

/// Characters that mean something to Markdown, to HTML, or to what GitHub makes links of.
const SPECIAL: &str = "&<>\"`*_[]#|~\\@:$";
/// Keeps a name that follows `@` from being a mention, and shows nothing.
const WORD_JOINER: &str = "&#8288;";

/// One line of a text of others, of at most [`MAX_TEXT`] characters, in which nothing means anything.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    let words = text.split(|c: char| c.is_whitespace() || is_invisible(c));
    for word in words.filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= MAX_TEXT {
                out.push('…');
                return out;
            }
            count += 1;
            push(&mut out, c);
        }
    }
    out
}

fn push(out: &mut String, c: char) {
    // An address without a scheme begins with these letters.
    let www = c == '.' && out.to_ascii_lowercase().ends_with("www");
    if SPECIAL.contains(c) || www {
        out.push_str(&format!("&#{};", u32::from(c)));
        if c == '@' {
            out.push_str(WORD_JOINER);
        }
    } else {
        out.push(c);
    }
}

/// A link with a text of ours or of others, to an address of ours.
#[must_use]
pub fn link(text: &str, address: &str) -> String {
    // An address that could end the link is none of ours.
    if address.contains(|c: char| c.is_whitespace() || c.is_control() || "()<>\"|".contains(c)) {
        return plain(text);
    }
    format!("[{}]({address})", plain(text))
}

/// A name as code.
#[must_use]
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(text))
}

/// Control characters, and those that hide or turn what is read.
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
    fn nothing_of_a_text_means_anything() {
        let text = "# <img src=x>\n| [a](http://evil) ![b] `c` **d** @octocat www.evil.example \u{202e}x\u{200b}y";
        let shown = plain(text);
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
    fn usual_sentences_stay_readable() {
        let text = "It was the track's turn; 2 of 5, at 09:30.";
        assert_eq!(
            plain(text),
            "It was the track's turn; 2 of 5, at 09&#58;30."
        );
        assert_eq!(plain(&"ä".repeat(400)), "ä".repeat(300) + "…");
    }

    #[test]
    fn a_link_leads_to_one_place() {
        assert_eq!(
            link("a]b", "https://jules.google.com/session/1"),
            "[a&#93;b](https://jules.google.com/session/1)"
        );
        assert_eq!(link("a", "https://x/) [b](https://evil"), "a");
    }
}
