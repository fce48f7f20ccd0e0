//! Completes an entry of the history, also one that is archived.

use crate::state::{Amendment, HistoryEntry, State};

/// Why an amendment cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmendError {
    /// There was never such an entry.
    #[error("there is no entry {key}")]
    Unknown {
        /// The key.
        key: u64,
    },
    /// What is written already says otherwise.
    #[error("entry {key}: {detail}")]
    Contradicts {
        /// The key.
        key: u64,
        /// A sentence about it.
        detail: String,
    },
}

/// Completes an entry by later news: in place, or as an amendment when it is archived.
///
/// # Errors
///
/// [`AmendError`]; the state is then as it was.
pub fn amend(state: &mut State, key: u64, news: &Amendment) -> Result<(), AmendError> {
    if let Some(entry) = state.history.get_mut(&key) {
        return complete(entry, news).map_err(|detail| AmendError::Contradicts { key, detail });
    }
    if key >= state.next_history_key() {
        return Err(AmendError::Unknown { key });
    }
    let mut amended = state.amendments.get(&key).cloned().unwrap_or_default();
    news.apply(
        &mut amended.outcome,
        &mut amended.pr_number,
        &mut amended.finished_at,
    )
    .map_err(|detail| AmendError::Contradicts { key, detail })?;
    amended.extra.extend(news.extra.clone());
    state.amendments.insert(key, amended);
    Ok(())
}

pub(super) fn complete(entry: &mut HistoryEntry, news: &Amendment) -> Result<(), String> {
    news.apply(
        &mut entry.outcome,
        &mut entry.pr_number,
        &mut entry.finished_at,
    )?;
    entry.extra.extend(news.extra.clone());
    Ok(())
}
