//! Makes records for a command that rebuilds them, the same as a tick would make.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::work_records::{RecordSource, record_of};
use crate::engine::input::pull::{Pull, PullFile};
use crate::model::PullNumber;
use crate::plan::Plan;
use crate::state::State;
use crate::work::{HOT_PATH, WorkFile, WorkRecord, segment_path};

/// Records pull requests with their files: changes the state and the files of records, and returns the paths of the changed
/// ones. `files` has all files of records that can be read; pull requests from forks are left out.
pub fn rebuild_records(
    plan: &Plan,
    state: &mut State,
    files: &mut BTreeMap<String, WorkFile>,
    pulls: &[(Pull, Vec<PullFile>)],
    now: Timestamp,
) -> BTreeSet<String> {
    let mut changed = BTreeSet::from([HOT_PATH.to_owned()]);
    for (pull, changes) in pulls.iter().filter(|(pull, _)| pull.same_repository) {
        let segment = segment_path(pull.number.0);
        let settled = files.get_mut(&segment);
        let settled = settled.and_then(|file| file.remove(pull.number.0));
        let hot = files.entry(HOT_PATH.to_owned()).or_default();
        let earlier = hot.get(pull.number.0).or(settled.as_ref());
        let source = RecordSource { plan, state, now };
        let record = record_of(&source, pull, changes, earlier);
        record_in_state(state, &record);
        hot.insert(record);
        if settled.is_some() {
            changed.insert(segment);
        }
    }
    changed.extend(leave_hot_file(plan, files, now));
    let hot = files.entry(HOT_PATH.to_owned()).or_default();
    state.work.remembered = hot.len() as u64;
    changed
}

fn record_in_state(state: &mut State, record: &WorkRecord) {
    let (number, work) = (PullNumber(record.pr), &mut state.work);
    // A tick has still to judge an open one that it does not know.
    if !record.is_open() {
        work.open.remove(&number);
        work.refused.remove(&number);
        work.forgotten.remove(&number);
        work.marks.remove(&number);
        work.facts.remove(&number);
    }
}

/// Moves the records that are no longer remembered to their segments.
fn leave_hot_file(
    plan: &Plan,
    files: &mut BTreeMap<String, WorkFile>,
    now: Timestamp,
) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    let hot = files.entry(HOT_PATH.to_owned()).or_default();
    let leaving = hot.leaving(now, plan.novelty.remember());
    let leaving: Vec<WorkRecord> = leaving
        .into_iter()
        .filter_map(|pr| hot.remove(pr))
        .collect();
    for mut record in leaving {
        let segment = segment_path(record.pr);
        record.compact();
        files.entry(segment.clone()).or_default().insert(record);
        changed.insert(segment);
    }
    changed
}
