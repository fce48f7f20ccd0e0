//! Ends the rest of a persona when a file has changed that its pull requests changed.

use crate::engine::input::commits::{CommitSpan, Commits};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::RESTS_COMPARED;
use crate::engine::record::rest::end_rest;
use crate::model::PersonaId;

/// Compares the default branch with what it was when a persona's rest began, and ends the rest if one of its files has
/// changed. Called only when the persona's turn is due; the state keeps what is known, so that each commit is compared
/// once.
pub(crate) fn check_rest(builder: &mut DecisionBuilder<'_>, persona: &PersonaId) {
    let Some(known) = builder.state.personas.get(persona) else {
        return;
    };
    if known.rested_at.is_none() || known.rests_for.is_empty() {
        return;
    }
    let Some(until) = builder.snapshot.repository.default_head.clone() else {
        return;
    };
    if known.rests_since.as_ref() == Some(&until) {
        return;
    }
    let span = CommitSpan {
        after: known.rests_since.clone(),
        until: until.clone(),
    };
    let Some(commits) = builder.snapshot.commits_of(&span) else {
        if builder.snapshot.commits.len() + builder.reads.commits.len() < RESTS_COMPARED {
            builder.reads.commits.insert(span);
        }
        return;
    };
    let is_over = may_change(commits, &known.rests_for);
    let Some(known) = builder.state.personas.get_mut(persona) else {
        return;
    };
    if is_over {
        end_rest(known);
        builder.add_headline(format!("end of the rest of {persona}"), None);
    } else {
        known.rests_since = Some(until);
    }
}

/// Whether these commits change one of the files, or may do so: GitHub lists not all files of a large span, and none of
/// one whose beginning no longer exists.
fn may_change(commits: &Commits, paths: &[String]) -> bool {
    let is_change = commits.files.iter().any(|file| paths.contains(file));
    is_change || commits.cut || !commits.whole
}
