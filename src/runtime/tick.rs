//! One tick: observes, decides, commits and executes, and repeats that until nothing is left to do.
//!
//! Guarantees: at most one session an attempt and no lost turn, even if other processes tick at the
//! same time, and wherever this process dies. The order of steps achieves this. The commit that
//! announces a session precedes the call that creates it, and is a compare-and-swap on the head
//! that was read. So of several processes one wins, and only the winner calls.
//!
//! After a lost commit another process has decided: the tick reads and decides again, and keeps
//! only the results of effects that it has executed. A process that dies leaves an intent. Its
//! successor finds the session by its marker, or finds in a complete listing after the grace period
//! that there is none.

use std::collections::BTreeMap;

use phileas_domain::engine::{
    self, Change, Decision, Effect, Event, LABEL_PREFIX, Ledger, PullState, Reason, Snapshot,
    Verdict,
};
use phileas_domain::model::Oid;
use phileas_domain::state::segment::{HISTORY_KEPT, HISTORY_SEGMENT};
use phileas_domain::state::{self, STATE_PATH, State};
use sha2::{Digest, Sha256};

use super::exchange_reads;
use super::execute::{execute_effects, missing_branch};
use super::observe::{Observation, observe_repository, read_requested};
use super::off_workers::off_workers;
use super::ports::{
    Commit, CommitError, Failure, ReadGitHub, ReadJules, Stopwatch, WriteGitHub, WriteJules,
};
use super::report::{TickReport, count_issues, record_lines, record_results};
use super::settings::Settings;
use super::signature::commit_trailers;
use super::work_reads;

/// How often a tick starts again because another process was faster.
const MAX_LOST_RACES: usize = 6;
/// How often a tick decides on one read of the facts; the last time only about the results of
/// effects.
const MAX_ROUNDS: usize = 8;

/// Why a tick failed. Everything that it had committed stays.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TickError {
    /// GitHub or Jules failed.
    #[error(transparent)]
    Outside(#[from] Failure),
    /// Another process was faster each time.
    #[error("the ledger branch moved {0} times while this tick was deciding; try again")]
    Contended(usize),
    /// A decision broke an invariant; nothing was written.
    #[error("nothing was written, because a decision would break an invariant of the ledger: {0}")]
    Invariant(String),
}

/// The clients of a tick.
pub struct Tick<'a, G, J, S> {
    /// GitHub, for one repository.
    pub github: &'a G,
    /// Jules, for that repository and one key.
    pub jules: &'a J,
    /// The stopwatch of the tick.
    pub stopwatch: &'a S,
}

impl<G: WriteGitHub, J: WriteJules, S: Stopwatch> Tick<'_, G, J, S> {
    /// Runs one tick.
    ///
    /// # Errors
    ///
    /// When GitHub cannot be read or written, when every race was lost, or when a decision would
    /// break an invariant.
    pub async fn run(&self, settings: &Settings) -> Result<TickReport, TickError> {
        self.run_until(settings, &|| false).await
    }

    /// Runs one tick that ends early when `stop` returns true: before the first read, and between
    /// any two steps. Then nothing new is started, an announced session that was not created is
    /// taken back, and the results so far are still committed. [`TickReport::stopped`] reports it.
    ///
    /// # Errors
    ///
    /// As for [`Tick::run`].
    pub async fn run_until(
        &self,
        settings: &Settings,
        stop: &(impl Fn() -> bool + Sync),
    ) -> Result<TickReport, TickError> {
        let mut report = TickReport::default();
        let _kept = settings.renderer.keep_ready();
        // The results of effects that are not in the ledger yet. They outlive a lost race, because
        // their sessions exist.
        let mut events: Vec<Event> = Vec::new();
        for attempt in 0..MAX_LOST_RACES {
            // The results of effects are recorded even after a request to stop.
            if stop() && events.is_empty() {
                report.stopped = true;
                return Ok(report);
            }
            let settings = Settings {
                entropy: entropy_of(settings.entropy, attempt),
                ..settings.clone()
            };
            let mut sight =
                observe_repository(self.github, self.jules, self.stopwatch, &settings).await?;
            report
                .plan_diagnostics
                .clone_from(&sight.snapshot.plan_diagnostics);
            report.warn_missed_comments(&sight.snapshot);
            match self
                .run_rounds(&settings, &mut sight, &mut events, &mut report, stop)
                .await
            {
                Err(RoundsEnd::Lost) => report.lost_races += 1,
                Err(RoundsEnd::Failed(error)) => return Err(error),
                Ok(()) => {
                    report.now = sight.current_time(self.stopwatch);
                    report.head = ledger_head(&sight.snapshot.ledger);
                    sight.snapshot.now = report.now;
                    report.seen = Some(Box::new(sight.snapshot));
                    return Ok(report);
                }
            }
        }
        Err(TickError::Contended(MAX_LOST_RACES))
    }

    async fn run_rounds(
        &self,
        settings: &Settings,
        sight: &mut Observation,
        events: &mut Vec<Event>,
        report: &mut TickReport,
        stop: &(impl Fn() -> bool + Sync),
    ) -> Result<(), RoundsEnd> {
        let mut approved: Vec<Effect> = Vec::new();
        for round in 1..=MAX_ROUNDS {
            // What earlier rounds have started may make room for other turns, which need journals
            // of their own.
            let by = (&*settings.renderer, events.as_slice());
            read_requested(self.github, self.jules, self.stopwatch, by, sight).await;
            report.stopped |= stop();
            // The result of a session that the last round starts would not be recorded.
            let goes_on = round < MAX_ROUNDS && !report.stopped;
            let mut decision = off_workers(|| match goes_on {
                true => engine::decide(&sight.snapshot, events),
                false => engine::decide_without_starts(&sight.snapshot, events),
            })
            .await;
            // The facts were read before Jules got the approval, so they do not show it.
            decision.effects.retain(|effect| !approved.contains(effect));
            let is_approval = |effect: &&Effect| matches!(effect, Effect::ApprovePlan { .. });
            approved.extend(decision.effects.iter().filter(is_approval).cloned());
            let at = sight.snapshot.now;
            let quiet = decision.change.is_none() && decision.effects.is_empty();
            if let Some(change) = decision.change {
                let (commit, state) = off_workers(|| prepare_commit(sight, change)).await?;
                match self.github.commit_ledger(&commit).await {
                    Ok(head) => {
                        let parent = commit.base.as_ref();
                        exchange_reads::apply_commit(
                            &mut sight.snapshot,
                            parent,
                            &head,
                            &commit.files,
                        );
                        work_reads::apply_commit(&mut sight.snapshot, parent, &head, &commit.files);
                        sight.snapshot.ledger = Ledger::Present {
                            head,
                            state: Box::new(state),
                        }
                    }
                    Err(CommitError::Stale) => return Err(RoundsEnd::Lost),
                    Err(CommitError::Failed(failure)) => {
                        return Err(RoundsEnd::Failed(failure.into()));
                    }
                }
                report.commits += 1;
            }
            events.clear();
            record_lines(report, at, decision.report);
            report.wake_at = decision.wake_at;
            if quiet {
                break;
            }
            let now = || sight.current_time(self.stopwatch);
            let failed;
            (*events, failed) =
                execute_effects(self.github, self.jules, &decision.effects, now, stop).await;
            report.failed.extend(failed);
            record_results(report, events);
            count_issues(report, &decision.effects, events);
            // A later round decides on the same facts, in which these are still open.
            let notices = &mut sight.snapshot.notices;
            notices.retain(|notice| !report.closed.contains(&notice.number));
            forget_labels(&mut sight.snapshot, &decision.effects);
            close_pulls(&mut sight.snapshot, events);
            forget_merge_facts(&mut sight.snapshot, &decision.effects);
            // Without new events the next decision would be the same.
            if !events
                .iter()
                .any(|event| !matches!(event, Event::EffectFailed { .. }))
            {
                break;
            }
        }
        Ok(())
    }
}

/// Decides about the repository with clients that cannot write.
///
/// # Errors
///
/// When GitHub cannot be read.
pub async fn explain_repository(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    stopwatch: &impl Stopwatch,
    settings: &Settings,
) -> Result<(TickReport, Observation), TickError> {
    let _kept = settings.renderer.keep_ready();
    let sight = observe_repository(github, jules, stopwatch, settings).await?;
    let mut decision = off_workers(|| engine::decide(&sight.snapshot, &[])).await;
    foresee_refusals(github, &sight.snapshot, &mut decision).await;
    let mut report = TickReport {
        plan_diagnostics: sight.snapshot.plan_diagnostics.clone(),
        ..TickReport::default()
    };
    report.warn_missed_comments(&sight.snapshot);
    record_lines(&mut report, sight.snapshot.now, decision.report);
    count_issues(&mut report, &decision.effects, &[]);
    report.wake_at = decision.wake_at;
    report.now = sight.snapshot.now;
    report.head = ledger_head(&sight.snapshot.ledger);
    Ok((report, sight))
}

/// Predicts that Jules refuses a session whose start branch does not exist.
async fn foresee_refusals(github: &impl ReadGitHub, snapshot: &Snapshot, decision: &mut Decision) {
    for effect in &decision.effects {
        let Effect::CreateSession(create) = effect else {
            continue;
        };
        let is_known =
            create.make_branch.is_some() || create.branch == snapshot.repository.default_branch;
        if is_known || github.has_branch(&create.branch).await != Ok(false) {
            continue;
        }
        let announced = decision.report.lines.iter_mut().find(|line| {
            line.verdict == Verdict::Dispatched && line.turn.as_ref() == Some(&create.marker.turn)
        });
        if let Some(line) = announced {
            line.verdict = Verdict::Refused;
            line.reason = Reason::PersonaRefused;
            line.detail = missing_branch(&create.branch);
        }
    }
}

enum RoundsEnd {
    Lost,
    Failed(TickError),
}

fn ledger_head(ledger: &Ledger) -> Option<Oid> {
    match ledger {
        Ledger::Missing { head } => head.clone(),
        Ledger::Present { head, .. } | Ledger::Corrupt { head, .. } => Some(head.clone()),
    }
}

/// Each attempt draws from a stream of its own, so that two processes with one seed do not draw the
/// same.
fn entropy_of(entropy: [u8; 32], attempt: usize) -> [u8; 32] {
    if attempt == 0 {
        return entropy;
    }
    Sha256::new()
        .chain_update(entropy)
        .chain_update(attempt.to_be_bytes())
        .finalize()
        .into()
}

/// Builds the commit of a change, after its state has passed every invariant.
fn prepare_commit(sight: &Observation, change: Change) -> Result<(Commit, State), RoundsEnd> {
    let mut state = *change.state;
    let mut files: BTreeMap<String, Option<String>> = change.files;
    let before = match &sight.snapshot.ledger {
        Ledger::Present { state, .. } => Some(&**state),
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
    };
    if state.history.len() > HISTORY_SEGMENT {
        let segments = state::segment::rotate(&mut state, before, HISTORY_SEGMENT, HISTORY_KEPT);
        files.extend(segments.into_iter().map(|(path, text)| (path, Some(text))));
    }
    let mut broken = state::invariant::check_state(&state);
    if let Some(before) = before {
        broken.extend(state::invariant::check_step(before, &state));
    }
    if let Some(first) = broken.first() {
        return Err(RoundsEnd::Failed(TickError::Invariant(first.to_string())));
    }
    files.insert(STATE_PATH.to_owned(), Some(state::codec::save(&state)));
    let turns: String = change
        .turns
        .iter()
        .map(|turn| format!("Phileas-Turn: {turn}\n"))
        .collect();
    let body = turns + &commit_trailers(&sight.snapshot.holder);
    Ok((
        Commit {
            base: change.base,
            headline: format!("phileas: {}", change.headline),
            body,
            files,
        },
        state,
    ))
}

/// Removes labels from the snapshot that this tick removes. The next tick reads whether they are
/// gone.
fn forget_labels(snapshot: &mut Snapshot, effects: &[Effect]) {
    for effect in effects {
        if let Effect::RemoveLabel { thread, label } = effect
            && let Some(words) = snapshot.labelled.get_mut(thread)
        {
            words.retain(|word| label.strip_prefix(LABEL_PREFIX) != Some(word.as_str()));
        }
    }
}

/// Closes pull requests in the snapshot that this tick has closed: one that is open afterwards was reopened by a person.
fn close_pulls(snapshot: &mut Snapshot, events: &[Event]) {
    for event in events {
        if let Event::PullClosed { pull } = event
            && let Some(known) = snapshot.pulls.get_mut(pull)
        {
            known.state = PullState::Closed;
            known.closed_at = Some(snapshot.now);
        }
    }
}

/// Drops the merge facts: a merge changes the base of all other pull requests, so they must be read
/// again.
fn forget_merge_facts(snapshot: &mut Snapshot, effects: &[Effect]) {
    let merges = |effect: &Effect| matches!(effect, Effect::MergePull { .. });
    if effects.iter().any(merges) {
        snapshot.merges.clear();
    }
}
