//! The issue or pull request that a person asked on.

use super::Subject;
use super::fence::Fence;
use super::limits::SUBJECT_LIMIT_BYTES;
use super::untrusted::cut_bytes;

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
    let content = format!("{}\n\n{}", subject.title.trim(), subject.body.trim());
    let what = format!("title and description of {kind} #{number}");
    text.push_str(&fence.block(&what, &cut_bytes(&content, SUBJECT_LIMIT_BYTES)));
    text
}
