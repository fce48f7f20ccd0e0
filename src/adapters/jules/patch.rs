//! Reads what a session changed: from its outputs, otherwise from the last change set of its activities.

use phileas_domain::model::Oid;

use super::client::Client;
use super::error::ApiError;
use super::wire::{ChangeSet, Output};
use crate::runtime::ports::Patch;

impl Client {
    /// Reads a session's patch. Some sessions show no outputs although their activities have change sets; the last of
    /// these contains everything.
    pub(super) async fn read_patch(&self, session: &str) -> Result<Option<Patch>, ApiError> {
        let shown = self.get_session(session).await?;
        let outputs = shown.outputs.into_iter().rev();
        let mut sets = outputs.filter_map(|output| match output {
            Output::ChangeSet(changes) if changes.has_changes() => Some(changes),
            _ => None,
        });
        if let Some(changes) = sets.next() {
            return Ok(Some(into_patch(changes)));
        }
        let mut last: Option<(String, ChangeSet)> = None;
        self.each_activity(session, None, |activity| {
            let newer = |known: &(String, ChangeSet)| known.0 <= activity.create_time;
            if let Some(changes) = activity.change_set()
                && last.as_ref().is_none_or(newer)
            {
                last = Some((activity.create_time.clone(), changes.clone()));
            }
        })
        .await?;
        Ok(last.map(|(_, changes)| into_patch(changes)))
    }
}

fn into_patch(changes: ChangeSet) -> Patch {
    let base = changes.git_patch.base_commit_id;
    Patch {
        diff: changes.git_patch.unidiff_patch,
        base: (!base.is_empty()).then(|| Oid::new(base)),
    }
}
