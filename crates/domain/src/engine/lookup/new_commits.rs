//! Finds the commits since the narrator's last summary.

use crate::engine::input::commits::{CommitSpan, Commits};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::Oid;

/// Folders of phileas itself, which summaries leave out.
const OWN: [&str; 2] = [".jules/", ".jlo/"];

/// Whether there are commits to summarize.
pub(crate) enum NewCommits {
    /// The commits are being read.
    Unread,
    /// There are some.
    Some,
    /// There are none, for this reason.
    None(Reason, String),
}

/// The commits for the next summary. `None`: they were not read.
pub(crate) fn unsummarized_commits<'s>(builder: &DecisionBuilder<'s>) -> Option<&'s Commits> {
    let span = unsummarized_span(builder)?;
    builder.snapshot.commits_of(&span)
}

/// Whether there are commits to summarize. Commits that change only phileas' own folders are skipped for good.
pub(crate) fn find_new_commits(builder: &mut DecisionBuilder<'_>) -> NewCommits {
    let Some(span) = unsummarized_span(builder) else {
        let text = "the repository has no commit yet".to_owned();
        return NewCommits::None(Reason::Unchanged, text);
    };
    if span.after.as_ref() == Some(&span.until) {
        let text = "the default branch has not moved since the last summary".to_owned();
        return NewCommits::None(Reason::Unchanged, text);
    }
    let Some(commits) = unsummarized_commits(builder) else {
        builder.reads.commits.insert(span);
        return NewCommits::Unread;
    };
    let own = |path: &String| OWN.iter().any(|folder| path.starts_with(folder));
    if commits.whole && !commits.cut && commits.files.iter().all(own) {
        mark_summarized(builder, &span.until);
        let text = "nothing has changed beside .jules/ and .jlo/ since the last summary".to_owned();
        return NewCommits::None(Reason::Unchanged, text);
    }
    NewCommits::Some
}

/// Requests the commits for the next summary where they were not read. Returns whether it did.
pub(crate) fn request_commits(builder: &mut DecisionBuilder<'_>) -> bool {
    let wanted = unsummarized_span(builder).filter(|_| unsummarized_commits(builder).is_none());
    let unread = wanted.is_some();
    builder.reads.commits.extend(wanted);
    unread
}

/// Records that everything up to this commit was summarized.
pub(crate) fn mark_summarized(builder: &mut DecisionBuilder<'_>, until: &Oid) {
    builder.state.cursors.summarized_commit = Some(until.clone());
}

fn unsummarized_span(builder: &DecisionBuilder<'_>) -> Option<CommitSpan> {
    Some(CommitSpan {
        after: builder.state.cursors.summarized_commit.clone(),
        until: builder.snapshot.repository.default_head.clone()?,
    })
}
