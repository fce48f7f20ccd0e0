//! Completes an entry of the history, also one that is archived.

use crate::state::{Amendment, HistoryEntry, State};

/// Why an amendment is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AmendError {
    /// No entry has this key.
    #[error("there is no entry {key}")]
    Unknown {
        /// The key.
        key: u64,
    },
    /// The entry contradicts it.
    #[error("entry {key}: {detail}")]
    Contradicts {
        /// The key.
        key: u64,
        /// A sentence about it.
        detail: String,
    },
}

/// Completes an entry with a later change: in place, or as an amendment if the entry is archived.
///
/// # Errors
///
/// [`AmendError`]. The state is unchanged then.
pub fn amend(state: &mut State, key: u64, news: &Amendment) -> Result<(), AmendError> {
    if let Some(entry) = state.history.get_mut(&key) {
        return complete_entry(entry, news)
            .map_err(|detail| AmendError::Contradicts { key, detail });
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

pub(super) fn complete_entry(entry: &mut HistoryEntry, news: &Amendment) -> Result<(), String> {
    news.apply(
        &mut entry.outcome,
        &mut entry.pr_number,
        &mut entry.finished_at,
    )?;
    entry.extra.extend(news.extra.clone());
    Ok(())
}
