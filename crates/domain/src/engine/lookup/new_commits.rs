//! What there is to tell of: the commits since the narrator's last summary.

use crate::engine::input::commits::{CommitSpan, Commits};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::model::Oid;

/// What is below these folders is not told of: it is phileas' own business.
const OWN: [&str; 2] = [".jules/", ".jlo/"];

/// Whether there is something to tell of.
pub(crate) enum News {
    /// It is being read.
    Unread,
    /// There is something.
    Some,
    /// There is nothing, for this reason.
    None(Reason, String),
}

/// The commits that the next summary is about. `None`: they were not read.
pub(crate) fn commits<'s>(draft: &Draft<'s>) -> Option<&'s Commits> {
    let span = span(draft)?;
    draft
        .snapshot
        .commits
        .as_ref()
        .filter(|commits| commits.span == span)
}

/// Whether there is something to tell of. Commits that touch nothing but phileas' own folders are passed over for good.
pub(crate) fn news(draft: &mut Draft<'_>) -> News {
    let Some(span) = span(draft) else {
        let text = "the repository has no commit yet".to_owned();
        return News::None(Reason::Unchanged, text);
    };
    if span.after.as_ref() == Some(&span.until) {
        let text = "the default branch has not moved since the last summary".to_owned();
        return News::None(Reason::Unchanged, text);
    }
    let Some(commits) = commits(draft) else {
        draft.needs.commits = Some(span);
        return News::Unread;
    };
    let own = |path: &String| OWN.iter().any(|folder| path.starts_with(folder));
    if commits.whole && !commits.cut && commits.files.iter().all(own) {
        told(draft, &span.until);
        let text = "nothing has changed beside .jules/ and .jlo/ since the last summary".to_owned();
        return News::None(Reason::Unchanged, text);
    }
    News::Some
}

/// Asks for the commits that a summary is about, where they were not read. Whether that is so.
pub(crate) fn unread(draft: &mut Draft<'_>) -> bool {
    let wanted = span(draft).filter(|_| commits(draft).is_none());
    let unread = wanted.is_some();
    draft.needs.commits = wanted.or(draft.needs.commits.take());
    unread
}

/// Everything up to this commit was told of.
pub(crate) fn told(draft: &mut Draft<'_>, until: &Oid) {
    draft.state.cursors.narrated = Some(until.clone());
}

fn span(draft: &Draft<'_>) -> Option<CommitSpan> {
    Some(CommitSpan {
        after: draft.state.cursors.narrated.clone(),
        until: draft.snapshot.repository.default_head.clone()?,
    })
}
