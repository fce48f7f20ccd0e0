//! Records the decisions of ticks: in the audit log each one that acts or refuses, in the log when
//! a repository begins or stops to need a person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{Ledger, Line, Reason, Verdict};
use phileas_domain::model::{RepositoryId, TrackName};

use crate::runtime::TickReport;
use crate::runtime::inbox::Fault;
use crate::server::admin::audit::{Audit, AuditDecision};
use crate::server::admin::dashboard::board::{MAX_KNOWN, RepositoryStatus, line_status};
use crate::server::repositories::Member;
use crate::server::worker::tick_observer::TickObserver;

/// One matter for a person: its track, and the reason.
type JournalSubject = (Option<TrackName>, Reason);

/// Records the decisions of ticks.
#[derive(Debug)]
pub struct Journal {
    audit: Arc<Audit>,
    /// The open matters of each repository, so that each is logged once. Of [`MAX_KNOWN`]
    /// repositories at most.
    open: Mutex<BTreeMap<RepositoryId, BTreeSet<JournalSubject>>>,
}

impl Journal {
    /// Writes into this audit log.
    #[must_use]
    pub fn new(audit: Arc<Audit>) -> Self {
        Self {
            audit,
            open: Mutex::default(),
        }
    }

    fn record_decision(&self, member: &Member, report: &TickReport, at: Timestamp, line: &Line) {
        let about = member.name.to_string();
        self.audit.record_decision(&AuditDecision {
            at,
            who: "tick",
            what: line.verdict.as_str(),
            about: &about,
            reason: line.reason.code(),
            track: line.track.as_ref().map(ToString::to_string),
            turn: line.turn.as_ref().map(ToString::to_string),
            session: line.session_id.as_ref().map(ToString::to_string),
            pull: line.pr_number.map(|number| number.0),
            prompt_sha256: prompt_of(report, line),
            commit: report.head.as_ref().map(ToString::to_string),
        });
    }

    /// Stores the present matters. Returns those that are new, and those that have ended.
    fn replace_subjects(
        &self,
        id: RepositoryId,
        now: &BTreeSet<JournalSubject>,
    ) -> (Vec<JournalSubject>, Vec<JournalSubject>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let before = open.remove(&id).unwrap_or_default();
        let new = now.difference(&before).cloned().collect();
        let over = before.difference(now).cloned().collect();
        if !now.is_empty() {
            if open.len() >= MAX_KNOWN {
                open.pop_first();
            }
            open.insert(id, now.clone());
        }
        (new, over)
    }
}

/// The digest of the prompt of the line's session, while its turn is live.
fn prompt_of(report: &TickReport, line: &Line) -> Option<String> {
    let Ledger::Present { state, .. } = &report.seen.as_deref()?.ledger else {
        return None;
    };
    let (track, turn) = line.track.as_ref().zip(line.turn.as_ref())?;
    let mut turns = state.tracks.get(track)?.turns.values();
    let live = turns.find(|live| live.turn == *turn)?;
    Some(live.intent.as_ref()?.prompt_sha256.clone())
}

fn line_subject(line: &Line) -> JournalSubject {
    (line.track.clone(), line.reason)
}

impl TickObserver for Journal {
    fn tick_finished(&self, member: &Member, report: &TickReport, _: Duration) {
        for (at, line) in &report.done {
            self.record_decision(member, report, *at, line);
        }
        // A tick that ended early, or read no facts, does not know what waits.
        if report.stopped || report.seen.is_none() {
            return;
        }
        let grave: Vec<&(Timestamp, Line)> = report
            .waiting
            .iter()
            .filter(|(_, line)| line_status(line) == RepositoryStatus::Attention)
            .collect();
        let now = grave.iter().map(|(_, line)| line_subject(line)).collect();
        let (new, over) = self.replace_subjects(member.id, &now);
        let repository = &member.name;
        for (at, line) in grave {
            if !new.contains(&line_subject(line)) {
                continue;
            }
            let refuses = matches!(
                line.verdict,
                Verdict::Refused | Verdict::Paused | Verdict::Held
            );
            if refuses {
                self.record_decision(member, report, *at, line);
            }
            tracing::warn!(
                %repository,
                track = line.track.as_ref().map(tracing::field::display),
                session = line.session_id.as_ref().map(tracing::field::display),
                reason = line.reason.code(),
                "needs a person: {}",
                line.detail
            );
        }
        for (track, reason) in over {
            tracing::info!(
                %repository,
                track = track.as_ref().map(tracing::field::display),
                reason = reason.code(),
                "no longer needs a person for this"
            );
        }
    }

    fn tick_failed(&self, _: &Member, _: &Fault, _: Duration) {
        // The driver logs the fault, and what it does about it.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matter_is_told_when_it_comes_and_when_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::open(folder.path()).unwrap();
        let journal = Journal::new(Arc::new(audit));
        let one = RepositoryId(1);
        let stuck: JournalSubject = (None, Reason::SessionStuck);
        let asked: JournalSubject = (None, Reason::PersonAnswer);
        let set = |matters: &[&JournalSubject]| matters.iter().map(|one| (*one).clone()).collect();
        assert_eq!(
            journal.replace_subjects(one, &set(&[&stuck])),
            (vec![stuck.clone()], vec![])
        );
        assert_eq!(
            journal.replace_subjects(one, &set(&[&stuck])),
            (vec![], vec![])
        );
        assert_eq!(
            journal.replace_subjects(one, &set(&[&asked])),
            (vec![asked.clone()], vec![stuck.clone()])
        );
        assert_eq!(
            journal.replace_subjects(one, &set(&[])),
            (vec![], vec![asked])
        );
        // Another repository has matters of its own.
        assert_eq!(
            journal.replace_subjects(RepositoryId(2), &set(&[&stuck])),
            (vec![stuck], vec![])
        );
        assert!(journal.open.lock().unwrap().keys().eq([&RepositoryId(2)]));
    }
}
