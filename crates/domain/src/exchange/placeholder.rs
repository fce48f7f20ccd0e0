//! What a template shows where something must be written, and what of it was left behind.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::shape::{Key, Kind};
use super::shapes::SHAPES;

/// What templates elsewhere show; agents that learned from them leave these behind.
const FOREIGN: [&str; 4] = [
    "<6_random_lowercase_alphanumeric_chars>",
    "<Descriptive Title>",
    "<condition 1>",
    "<condition 2>",
];
/// The day that a template shows.
pub(super) const DAY: &str = "YYYY-MM-DD";
/// What a template shows for an id.
pub(super) const ID: &str = "<six letters and digits>";

/// What is left behind wherever it stands in a text. A single word in angle brackets may be meant, so that counts only
/// where it is all there is.
static ANYWHERE: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let mut found: BTreeSet<_> = FOREIGN.into_iter().chain([ID]).collect();
    let mut fills = Vec::new();
    for shape in SHAPES {
        collect_fills(shape.keys, &mut fills);
    }
    found.extend(fills.into_iter().filter(|fill| fill.contains(' ')));
    found
});

fn collect_fills(keys: &'static [Key], fills: &mut Vec<&'static str>) {
    for key in keys {
        collect_fills_of_kind(&key.kind, fills);
    }
}

fn collect_fills_of_kind(kind: &'static Kind, fills: &mut Vec<&'static str>) {
    match kind {
        Kind::Line(fill) | Kind::Text(fill) | Kind::Command(fill) | Kind::Spot(fill) => {
            fills.push(fill);
        }
        Kind::List(list) => collect_fills_of_kind(list.of, fills),
        Kind::Map(keys) | Kind::Open(keys) => collect_fills(keys, fills),
        _ => {}
    }
}

/// The placeholder in a text, if one was left behind.
pub(super) fn left_behind(text: &str) -> Option<&str> {
    let whole = text.trim_matches([' ', '\t', '\r', '\n']);
    let inside = whole
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    if whole == DAY || inside.is_some_and(|inside| !inside.contains(['<', '>', '\r', '\n'])) {
        return Some(whole);
    }
    ANYWHERE.iter().copied().find(|one| text.contains(one))
}

/// The same as a pattern.
pub(super) fn placeholder_pattern() -> String {
    let mut pattern = format!("^[ \\t\\r\\n]*(<[^<>\\r\\n]*>|{DAY})[ \\t\\r\\n]*$");
    for one in ANYWHERE.iter() {
        pattern.push('|');
        pattern.push_str(one);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_texts() {
        for text in [
            "<path>",
            " <anything at all>\n",
            "YYYY-MM-DD",
            "Fix <Descriptive Title> now",
            "see <path of the file>",
            "<>",
        ] {
            assert!(left_behind(text).is_some(), "{text}");
        }
        for text in [
            "the element <path> has no title",
            "a < b > c",
            "<a> and <b>",
            "write dates as YYYY-MM-DD",
            "",
        ] {
            assert_eq!(left_behind(text), None, "{text}");
        }
    }

    /// The pattern is made by joining; nothing in it may mean something else there.
    #[test]
    fn placeholders_need_no_escape() {
        for one in ANYWHERE.iter() {
            let plain = |c: char| c.is_ascii_alphanumeric() || "<> _,".contains(c);
            assert!(one.chars().all(plain), "{one}");
        }
        assert!(ANYWHERE.len() > 20);
    }
}
