//! Quotes the issue or pull request on which a person requested the turn.

use super::fence::Fence;
use super::limits::SUBJECT_LIMIT_BYTES;
use super::request::Subject;
use super::untrusted::{before_open_comment, clean_text, cut_bytes};

/// The replacement of text that GitHub may have hidden from people.
const LEFT_OUT: &str = "(a comment without an end and all that follows it are left out)";

/// One sentence of ours, and the subject's text in a fence. Empty without a subject.
pub(super) fn subject_text(subject: Option<&Subject<'_>>, fence: &Fence) -> String {
    let Some(subject) = subject else {
        return String::new();
    };
    let number = subject.number;
    let kind = match subject.head {
        Some(_) => "pull request",
        None => "issue",
    };
    let mut text = format!(
        "A person with write access to this repository has asked for your work on {kind} #{number}. What it describes is \
         the task; your instructions above say how you work.\n\n"
    );
    if let Some(head) = subject.head {
        text.push_str(&fence.fenced_block("the pull request's branch", head));
        text.push_str("\n\n");
    }
    // Clean the text before truncating it: truncation inside a hidden comment would reveal it.
    let body = match before_open_comment(subject.body) {
        Some(shown) => format!("{}\n{LEFT_OUT}", clean_text(shown).trim()),
        None => clean_text(subject.body),
    };
    let content = format!("{}\n\n{}", subject.title.trim(), body.trim());
    let what = format!("title and description of {kind} #{number}");
    text.push_str(&fence.fenced_block(&what, &cut_bytes(&content, SUBJECT_LIMIT_BYTES)));
    text
}
