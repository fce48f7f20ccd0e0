//! The issue or pull request that a person asked on.

use super::Subject;
use super::fence::Fence;
use super::limits::SUBJECT_LIMIT_BYTES;
use super::untrusted::{before_open_comment, clean, cut_bytes};

/// Stands where a text goes on that people may not have seen.
const LEFT_OUT: &str = "(a comment without an end and all that follows it are left out)";

/// One sentence of ours, and the subject's own text behind the fence. Empty where nobody asked on anything.
pub(super) fn subject(subject: Option<&Subject<'_>>, fence: &Fence) -> String {
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
        text.push_str(&fence.block("the pull request's branch", head));
        text.push_str("\n\n");
    }
    // It is cleaned before it is cut, or else a cut inside of a hidden comment would bring that to light.
    let body = match before_open_comment(subject.body) {
        Some(shown) => format!("{}\n{LEFT_OUT}", clean(shown).trim()),
        None => clean(subject.body),
    };
    let content = format!("{}\n\n{}", subject.title.trim(), body.trim());
    let what = format!("title and description of {kind} #{number}");
    text.push_str(&fence.block(&what, &cut_bytes(&content, SUBJECT_LIMIT_BYTES)));
    text
}
