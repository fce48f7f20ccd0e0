//! Notes what people who review an open pull request need to know of its files, when its record is made.
//!
//! The facts stand in the state, so that the dashboards show them without reading any file of records.

use std::collections::BTreeSet;

use super::work_outcome::is_merged_copy;
use super::work_verdict::{no_op_of, twin_of};
use crate::engine::input::pull::{Pull, PullFile};
use crate::engine::lookup::protected_paths::ProtectedPaths;
use crate::engine::lookup::work_files::open_work;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::PullNumber;
use crate::plan::Plan;
use crate::state::{Outcome, WorkFacts};
use crate::work::no_op::NoOp;
use crate::work::{WorkFile, WorkRecord};

/// Open pull requests with a record whose facts are missing, or tell of an earlier commit. A mark judges new commits by
/// itself. They are not urgent: a tick that does something else leaves them to the next one.
pub(crate) fn outdated_facts(builder: &DecisionBuilder<'_>) -> BTreeSet<PullNumber> {
    let work = &builder.state.work;
    let is_outdated = |number: &PullNumber, pull: &Pull| {
        let facts = work.facts.get(number);
        work.open.contains(number)
            && !work.marks.contains_key(number)
            && facts.is_none_or(|facts| facts.head != pull.head_oid)
    };
    let open = open_work(builder).into_iter();
    let outdated: BTreeSet<PullNumber> = open
        .filter(|(number, (pull, _))| is_outdated(number, pull))
        .map(|(number, _)| number)
        .collect();
    match outdated.is_empty() || builder.is_changed() {
        true => BTreeSet::new(),
        false => outdated,
    }
}

/// Notes the facts of an open pull request. `files`: `None` where GitHub does not list them.
pub(crate) fn note_facts(
    builder: &mut DecisionBuilder<'_>,
    pull: &Pull,
    files: Option<&[PullFile]>,
    record: &WorkRecord,
    hot: &WorkFile,
) {
    let mut facts = WorkFacts::new(pull.head_oid.clone());
    if let Some(files) = files {
        let sum = |lines: fn(&PullFile) -> u64| {
            let counts = files.iter().map(lines);
            counts.fold(0, u64::saturating_add)
        };
        let no_op = no_op_of(files, record.persona.as_deref().unwrap_or_default());
        facts.files = Some(files.len() as u64);
        facts.added = sum(|file| file.added);
        facts.removed = sum(|file| file.removed);
        facts.protected = changes_protected(&builder.snapshot.plan, files);
        facts.no_op = no_op == Some(NoOp::Empty);
        facts.white_space = no_op == Some(NoOp::WhiteSpace);
    }
    note_twin(builder, &mut facts, record, hot);
    builder.state.work.facts.insert(pull.number, facts);
}

/// Notes again what the pull requests repeat whose twin has just ended.
pub(crate) fn renew_twins(
    builder: &mut DecisionBuilder<'_>,
    ended: &BTreeSet<PullNumber>,
    hot: &WorkFile,
) {
    let facts = builder.state.work.facts.iter();
    let repeats_ended = |facts: &WorkFacts| facts.twin.is_some_and(|twin| ended.contains(&twin));
    let due: Vec<PullNumber> = facts
        .filter(|(_, facts)| repeats_ended(facts))
        .map(|(number, _)| *number)
        .collect();
    for number in due {
        let record = hot.get(number.0);
        let facts = builder.state.work.facts.remove(&number);
        if let (Some(record), Some(mut facts)) = (record, facts) {
            note_twin(builder, &mut facts, record, hot);
            builder.state.work.facts.insert(number, facts);
        }
    }
}

fn note_twin(
    builder: &DecisionBuilder<'_>,
    facts: &mut WorkFacts,
    record: &WorkRecord,
    hot: &WorkFile,
) {
    let merged = || hot.records().find(|other| is_merged_copy(record, other));
    let twin = twin_of(builder, record, hot).or_else(merged);
    facts.twin = twin.map(|twin| PullNumber(twin.pr));
    facts.twin_outcome = twin.and_then(|twin| match twin.outcome {
        None => None,
        Some(Outcome::Merged) => Some(Outcome::Merged),
        Some(_) => Some(Outcome::Rejected),
    });
}

/// Whether only people merge it. A pattern that cannot be read protects everything, as it does at the merge.
fn changes_protected(plan: &Plan, files: &[PullFile]) -> bool {
    let protected = ProtectedPaths::with_patterns(&plan.gate.protected_paths);
    protected.is_none_or(|protected| files.iter().any(|file| protected.is_protected(&file.path)))
}
