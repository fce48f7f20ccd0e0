//! The words of a title that carry its meaning.

use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// So many words of a title count. GitHub takes titles of 256 characters.
const WORD_COUNT: usize = 32;
/// A longer word is cut, in bytes.
const WORD_LENGTH: usize = 48;

/// Words that titles of pull requests share whatever they are about: English function words and the types of
/// conventional commits (<https://www.conventionalcommits.org>).
const STOP_WORDS: [&str; 61] = [
    "a", "add", "all", "an", "and", "any", "are", "as", "at", "be", "build", "by", "can", "chore",
    "ci", "do", "docs", "feat", "fix", "for", "from", "has", "have", "if", "improve", "in", "into",
    "is", "it", "its", "make", "more", "new", "no", "not", "of", "on", "or", "our", "perf",
    "refactor", "so", "some", "style", "test", "tests", "that", "the", "their", "this", "to", "up",
    "update", "use", "using", "was", "we", "when", "which", "will", "with",
];

/// The words of a title: in lower case, without emoji, punctuation and stop words, English endings removed, each once,
/// sorted. The marker of a session does not count.
#[must_use]
pub fn title_words(title: &str) -> Vec<String> {
    let words = meaningful_words(without_marker(title), WORD_COUNT);
    words.into_iter().collect()
}

/// The words of a text as [`title_words`] has them, of the first so many that carry meaning.
pub(super) fn meaningful_words(text: &str, count: usize) -> BTreeSet<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let stop_stems = STOP_WORDS.map(|word| stemmer.stem(word));
    let lower = text.to_lowercase();
    let words = lower
        .unicode_words()
        .map(|word| match word.is_ascii() {
            true => stemmer.stem(word).into_owned(),
            false => word.to_owned(),
        })
        .filter(|stem| !stop_stems.iter().any(|stop| stop == stem));
    words.take(count).map(cut_word).collect()
}

/// The title without the marker ` [phileas:<turn>.<attempt>]` that phileas puts at the end of a session's title.
#[must_use]
pub fn without_marker(title: &str) -> &str {
    match title.rfind("[phileas:") {
        Some(start) if title.trim_end().ends_with(']') => title[..start].trim_end(),
        _ => title,
    }
}

fn cut_word(mut word: String) -> String {
    word.truncate(word.floor_char_boundary(WORD_LENGTH));
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_its_meaning() {
        let words = |title| title_words(title).join(" ");
        let plain = title_words("escape quote attribute html").join(" ");
        assert_eq!(words("Escape quotes in HTML attributes"), plain);
        assert_eq!(
            words("fixes(html): ⚡ Escaping the quote of an attribute!"),
            plain
        );
        assert_eq!(
            words("Escape HTML attribute quotes [phileas:k3v9w2m1q8zt.1]"),
            plain
        );
    }

    #[test]
    fn only_a_marker_at_the_end_is_left_out() {
        assert_eq!(without_marker("Sort words [phileas:k3v9.1] "), "Sort words");
        let other = "Explain [phileas: what] in the guide";
        assert_eq!(without_marker(other), other);
    }

    #[test]
    fn titles_of_every_script_have_words() {
        assert_eq!(title_words("修复登录").len(), 4);
        assert_eq!(title_words("Исправить вход").join(" "), "вход исправить");
        for nothing in ["", "🚀🚀", "the", "[phileas:k3v9w2m1q8zt.1]", "!!!"] {
            assert!(title_words(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn long_titles_are_cut() {
        let many: String = (0..1000).map(|number| format!("w{number} ")).collect();
        assert_eq!(title_words(&many).len(), WORD_COUNT);
        assert_eq!(title_words(&"é".repeat(1000))[0].len(), WORD_LENGTH);
    }
}
