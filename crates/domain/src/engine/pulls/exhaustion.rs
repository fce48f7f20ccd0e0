//! Notes what a persona rests for after unwanted pull requests.

use crate::engine::lookup::work_files::entry_of;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{REST_PATHS, WORK_COMPARED};
use crate::engine::record::rest::rest_for_paths;
use crate::model::PullNumber;
use crate::state::Outcome;
use crate::work::{WorkFile, WorkRecord};

/// Lets the persona of an unwanted pull request, if it rests, do so until a file changes that one of its newest pull
/// requests changed. The work of layers comes from requirements, so their members rest for a while only.
pub(super) fn note_rest(builder: &mut DecisionBuilder<'_>, record: &WorkRecord, hot: &WorkFile) {
    if !record.outcome.as_ref().is_some_and(Outcome::is_unwanted) {
        return;
    }
    let Some(entry) = entry_of(&builder.state, PullNumber(record.pr)) else {
        return;
    };
    if entry
        .slot
        .as_ref()
        .is_some_and(|slot| !slot.as_str().is_empty())
    {
        return;
    }
    let persona = entry.persona_id.clone();
    let is_own = |other: &&WorkRecord| {
        other.persona.as_deref() == Some(persona.as_str()) && other.pr != record.pr
    };
    let older = hot.records().rev().filter(is_own);
    let newest = std::iter::once(record).chain(older).take(WORK_COMPARED);
    let mut paths: Vec<String> = Vec::new();
    for path in newest.flat_map(|one| &one.fingerprint.paths) {
        if paths.len() < REST_PATHS && !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    rest_for_paths(builder, &persona, paths);
}
