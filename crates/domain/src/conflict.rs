//! Finds merge markers that git left in a file.

/// A marker is this many equal characters at the start of a line (`git help merge`, "How conflicts are presented").
const MARKER_LENGTH: usize = 7;
/// How far a Markdown fence may be indented.
const FENCE_INDENT: usize = 3;

/// The message.
pub(crate) const MESSAGE: &str = "merge markers stand here: a merge was committed unfinished";
/// The fix.
pub(crate) const HELP: &str = "keep one side, remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`, and commit; put an example of a \
     conflict into a code block (```)";

/// The first line, from 1, with such a marker. In a code block it is an example, and a line of `=======` alone
/// underlines a Markdown heading.
pub(crate) fn marker_line(text: &str) -> Option<u32> {
    let mut fence = None;
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim_start_matches(' ');
        if line.len() - bare.len() <= FENCE_INDENT {
            let opened = ["```", "~~~"]
                .into_iter()
                .find(|fence| bare.starts_with(fence));
            match (fence, opened) {
                (None, Some(_)) => fence = opened,
                (Some(_), Some(_)) if fence == opened => fence = None,
                _ => {}
            }
        }
        if fence.is_none() && is_marker(line) {
            return Some(number);
        }
    }
    None
}

fn is_marker(line: &str) -> bool {
    ['<', '>', '|'].into_iter().any(|sign| {
        let rest = line.trim_start_matches(sign);
        line.len() - rest.len() == MARKER_LENGTH
            && (rest.is_empty() || rest.starts_with([' ', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_quotes_and_examples_are_no_markers() {
        for (text, line) in [
            ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n", Some(2)),
            ("\r\n<<<<<<<\r\n", Some(2)),
            ("a\n>>>>>>> 1f2e\n", Some(2)),
            ("||||||| base\n", Some(1)),
            ("```\n<<<<<<< HEAD\n=======\n>>>>>>> x\n```\nb\n", None),
            ("~~~ diff\n```\n<<<<<<< HEAD\n~~~\n", None),
            ("```\nx\n```\n<<<<<<< HEAD\n", Some(4)),
            ("A heading\n=======\n", None),
            ("Look for `<<<<<<<` in files.\n", None),
            ("<<<<<<<< eight\n<<<<<<<x\n >>>>>>> indented\n", None),
        ] {
            assert_eq!(marker_line(text), line, "{text:?}");
        }
    }
}
