//! Chooses the earlier work that a persona's prompt lists.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::refusal_quotes::refusal_quotes;
use crate::engine::input::pull::PullState;
use crate::engine::lookup::work_files::{hot_records, open_work};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    PULLS_FOLLOWED, WORK_COMPARED, WORK_MERGED_SHOWN, WORK_REFUSED_SHOWN,
};
use crate::model::{PersonaId, PullNumber};
use crate::plan::{NoveltyMode, RefusalsFor};
use crate::prompt::{EarlierWork, WorkKind};
use crate::state::Outcome;
use crate::work::paths::path_similarity;
use crate::work::title::without_marker;
use crate::work::{Fingerprint, WorkFile, WorkRecord};

/// A record, and how near it is to a persona's work.
struct Near<'w> {
    record: &'w WorkRecord,
    kind: WorkKind,
    is_own: bool,
    /// How much its files are those of the persona's own newest records, 0 to 1.
    shared_paths: f64,
}

/// The files and folders of a persona's newest records.
struct Area<'w> {
    paths: Vec<&'w [String]>,
    folders: BTreeSet<&'w str>,
}

impl<'w> Area<'w> {
    fn of_records(newest: impl Iterator<Item = &'w WorkRecord>) -> Self {
        let paths = newest.map(|record| record.fingerprint.paths.as_slice());
        let paths: Vec<&[String]> = paths.take(WORK_COMPARED).collect();
        let folders = paths.iter().flat_map(|paths| folders_of(paths)).collect();
        Self { paths, folders }
    }

    fn shared_paths(&self, paths: &[String]) -> f64 {
        let shares = self.paths.iter().map(|own| path_similarity(own, paths));
        shares.fold(0.0, f64::max)
    }

    fn has_folder_of(&self, paths: &[String]) -> bool {
        folders_of(paths).any(|folder| self.folders.contains(folder))
    }
}

/// The folder of each file. The root is no area, as most repositories have files of all kinds there.
fn folders_of(paths: &[String]) -> impl Iterator<Item = &str> {
    let split = paths.iter().filter_map(|path| path.rsplit_once('/'));
    split.map(|(folder, _)| folder)
}

/// Open work of all personas, what was refused or closed, and what was merged in the same area; nearest first. None
/// while the records cannot be read, and none for a request: a person wants that work.
pub(crate) fn earlier_work(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Vec<EarlierWork> {
    let is_off = builder.snapshot.plan.novelty.mode == NoveltyMode::Off;
    if is_off || candidate.is_request() {
        return Vec::new();
    }
    let mut records = match builder.state.work.remembered {
        0 => WorkFile::default(),
        _ => hot_records(builder).map_or_else(WorkFile::default, |hot| (*hot).clone()),
    };
    add_unrecorded(builder, &mut records);
    // A further attempt of a turn is to do the turn's work, not to avoid it.
    if let Some(turn) = builder.find_turn(&candidate.track, &candidate.work.slot) {
        records.remove_turn(turn.turn.as_str());
    }
    let near = nearest_records(builder, &records, &candidate.work.persona);
    // The ledger keeps no titles, so they are read where the first read did not show them.
    let snapshot = builder.snapshot;
    let numbers = near.iter().map(|one| PullNumber(one.record.pr));
    let numbers = numbers.take(PULLS_FOLLOWED);
    let unread = numbers.filter(|number| {
        !snapshot.pulls.contains_key(number) && !snapshot.missing_pulls.contains(number)
    });
    builder.reads.pulls.extend(unread);
    let refused = near.iter().map(|one| (one.kind, one.record));
    let refused = refused.filter(|(kind, _)| matches!(kind, WorkKind::Refused | WorkKind::Closed));
    let refused: Vec<&WorkRecord> = refused.map(|(_, record)| record).collect();
    let mut quotes = refusal_quotes(builder, &refused);
    near.iter()
        .map(|one| EarlierWork {
            quotes: quotes.remove(&one.record.pr).unwrap_or_default(),
            ..shown_work(builder, one)
        })
        .collect()
}

/// Adds open pull requests that have no record yet, without their files.
fn add_unrecorded(builder: &DecisionBuilder<'_>, records: &mut WorkFile) {
    for (number, (pull, entry)) in open_work(builder) {
        if records.get(number.0).is_none_or(|record| !record.is_open()) {
            records.insert(WorkRecord {
                pr: number.0,
                persona: entry.map(|entry| entry.persona_id.to_string()),
                turn: entry.and_then(|entry| Some(entry.turn.as_ref()?.to_string())),
                opened_at: pull.created_at,
                closed_at: None,
                fingerprint: Fingerprint::default(),
                outcome: None,
                refused: None,
                forgotten: false,
                unknown: BTreeMap::new(),
            });
        }
    }
}

/// What became of a pull request. The ledger may not have recorded it yet.
fn outcome_of(builder: &DecisionBuilder<'_>, record: &WorkRecord) -> Option<Outcome> {
    let pull = builder.snapshot.pulls.get(&PullNumber(record.pr));
    match pull.map(|pull| pull.state) {
        Some(PullState::Merged) if record.outcome != Some(Outcome::Reverted) => {
            Some(Outcome::Merged)
        }
        Some(PullState::Closed) if record.outcome.is_none() => Some(Outcome::Rejected),
        _ => record.outcome.clone(),
    }
}

fn nearest_records<'w>(
    builder: &DecisionBuilder<'_>,
    records: &'w WorkFile,
    persona: &PersonaId,
) -> Vec<Near<'w>> {
    let is_own = |record: &WorkRecord| record.persona.as_deref() == Some(persona.as_str());
    let newest_first = records.records().rev();
    let area = Area::of_records(newest_first.filter(|record| is_own(record)));
    let mut near: Vec<Near<'w>> = records
        .records()
        .filter_map(|record| {
            let is_own = is_own(record);
            let kind = kind_of(builder, record, is_own, &area)?;
            Some(Near {
                record,
                kind,
                is_own,
                shared_paths: area.shared_paths(&record.fingerprint.paths),
            })
        })
        .collect();
    near.sort_by(|one, other| {
        // Open and refused work forbids a repeat, so what was merged takes the room that it leaves.
        let is_merged = |near: &Near<'_>| near.kind == WorkKind::Merged;
        let merged_last = is_merged(one).cmp(&is_merged(other));
        let is_own = other.is_own.cmp(&one.is_own);
        let paths = other.shared_paths.total_cmp(&one.shared_paths);
        let newest = Reverse(one.record.pr).cmp(&Reverse(other.record.pr));
        merged_last.then(is_own).then(paths).then(newest)
    });
    let (mut refused, mut merged) = (0, 0);
    near.retain(|one| match one.kind {
        WorkKind::Open => true,
        WorkKind::Refused | WorkKind::Closed => {
            refused += 1;
            refused <= WORK_REFUSED_SHOWN
        }
        WorkKind::Merged => {
            merged += 1;
            merged <= WORK_MERGED_SHOWN
        }
    });
    near
}

/// What a record is to a persona. `None`: nothing that its prompt lists.
fn kind_of(
    builder: &DecisionBuilder<'_>,
    record: &WorkRecord,
    is_own: bool,
    area: &Area<'_>,
) -> Option<WorkKind> {
    let novelty = &builder.snapshot.plan.novelty;
    let number = PullNumber(record.pr);
    // A command counts before its record shows it.
    let work = &builder.state.work;
    let is_forgotten = record.forgotten || work.forgotten.contains(&number);
    if is_forgotten || !record.is_remembered(builder.now(), novelty.remember()) {
        return None;
    }
    let is_refused = record.refused.is_some() || work.refused.contains_key(&number);
    match outcome_of(builder, record) {
        None => Some(WorkKind::Open),
        Some(Outcome::Merged) => {
            let paths = &record.fingerprint.paths;
            let is_near = is_own || area.has_folder_of(paths) || area.shared_paths(paths) > 0.0;
            is_near.then_some(WorkKind::Merged)
        }
        // GitHub does not show it any more, so no person is known to have closed it.
        Some(outcome) if !outcome.is_closed_unmerged() => None,
        Some(_) if builder.snapshot.missing_pulls.contains(&number) => None,
        Some(_) if is_own || novelty.refusals_for == RefusalsFor::All => Some(match is_refused {
            true => WorkKind::Refused,
            false => WorkKind::Closed,
        }),
        Some(_) => None,
    }
}

fn shown_work(builder: &DecisionBuilder<'_>, near: &Near<'_>) -> EarlierWork {
    let record = near.record;
    let pull = builder.snapshot.pulls.get(&PullNumber(record.pr));
    // The words of a title are better than nothing.
    let title = pull.map_or_else(
        || record.fingerprint.title.join(" "),
        |pull| without_marker(&pull.title).to_owned(),
    );
    let refused = builder.state.work.refused.get(&PullNumber(record.pr));
    let recorded = record.refused.as_ref();
    let reason = refused
        .map(|refusal| (refusal.reason.as_str(), refusal.never))
        .or_else(|| recorded.map(|refusal| (refusal.reason.as_str(), refusal.never)));
    let reason = reason.map(|(reason, never)| match never {
        true => format!("{reason}, never"),
        false => reason.to_owned(),
    });
    EarlierWork {
        number: record.pr,
        kind: near.kind,
        persona: record.persona.clone(),
        reason,
        title,
        paths: record.fingerprint.paths.clone(),
        quotes: Vec::new(),
    }
}
