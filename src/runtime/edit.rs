//! Edits the ledger for a person: reads, changes, checks and commits it by compare-and-swap, and
//! repeats that after a lost race.

use phileas_domain::engine::Ledger;
use phileas_domain::model::{Holder, RepositoryName, TrackName};
use phileas_domain::state::{self, STATE_PATH, State};

use super::observe::ledger_of;
use super::ports::{Commit, CommitError, Failure, GitHubObservation, WriteGitHub};
use super::signature::commit_trailers;
use super::tick::TickError;

/// How often an edit starts again because another process committed first.
const MAX_LOST_RACES: usize = 6;

/// An edit of the state.
pub struct Edit<'a> {
    /// The commit's subject, without the prefix `phileas: `.
    pub headline: &'a str,
    /// The process that edits.
    pub holder: &'a Holder,
    /// A track whose pointer may be moved back.
    pub moves_pointer_of: Option<&'a TrackName>,
}

/// Why an edit failed. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// There is no ledger to edit.
    #[error(
        "{0} has no ledger yet: there is no {STATE_PATH} on the branch jules; the first tick creates it"
    )]
    NoLedger(RepositoryName),
    /// The ledger cannot be read.
    #[error("the state file cannot be read: {0}")]
    Corrupt(String),
    /// The change does not fit the state.
    #[error("{0}")]
    Refused(String),
    /// Any error of a tick.
    #[error(transparent)]
    Tick(#[from] TickError),
}

impl From<Failure> for EditError {
    fn from(failure: Failure) -> Self {
        Self::Tick(failure.into())
    }
}

/// Changes the state, commits it and returns what `change` returned. `change` is called again after each
/// lost race.
///
/// # Errors
///
/// When there is no readable ledger, when `change` refuses, or when the commit fails.
pub async fn edit_state<T>(
    github: &impl WriteGitHub,
    edit: &Edit<'_>,
    change: impl Fn(&mut State, &GitHubObservation) -> Result<T, String>,
) -> Result<T, EditError> {
    for _ in 0..MAX_LOST_RACES {
        let observation = github.observe_repository().await?;
        let (head, before) = match ledger_of(observation.ledger.clone()) {
            Ledger::Present { head, state } => (head, *state),
            Ledger::Missing { .. } => return Err(EditError::NoLedger(observation.repository.name)),
            Ledger::Corrupt { diagnostics, .. } => {
                let first = diagnostics
                    .first()
                    .map_or_else(String::new, ToString::to_string);
                return Err(EditError::Corrupt(first));
            }
        };
        let mut after = before.clone();
        let changed = change(&mut after, &observation).map_err(EditError::Refused)?;
        if after == before {
            return Ok(changed);
        }
        let mut broken = state::invariant::check_state(&after);
        broken.extend(match edit.moves_pointer_of {
            Some(track) => state::invariant::check_track_set(&before, &after, track),
            None => state::invariant::check_step(&before, &after),
        });
        if let Some(first) = broken.first() {
            return Err(TickError::Invariant(first.to_string()).into());
        }
        let commit = Commit {
            base: Some(head),
            headline: format!("phileas: {}", edit.headline),
            body: commit_trailers(edit.holder),
            files: [(STATE_PATH.to_owned(), Some(state::codec::save(&after)))].into(),
        };
        match github.commit_ledger(&commit).await {
            Ok(_) => return Ok(changed),
            Err(CommitError::Stale) => {}
            Err(CommitError::Failed(failure)) => return Err(failure.into()),
        }
    }
    Err(TickError::Contended(MAX_LOST_RACES).into())
}
