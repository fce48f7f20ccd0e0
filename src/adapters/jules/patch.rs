//! Reads what a session changed: from its outputs, otherwise from the last change set of its activities.

use phileas_domain::model::Oid;

use super::activities::MAX_PAGES;
use super::client::Client;
use super::error::{ApiError, Cause};
use super::query::{PageQuery, PageSize};
use super::routes;
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
        let mut last = None;
        let mut token = String::new();
        let mut size = PageSize::default();
        for _ in 0..MAX_PAGES {
            let query = PageQuery {
                filter: None,
                page_size: Some(size.get()),
                page_token: (!token.is_empty()).then_some(&token),
            };
            let page = match self.list_activities(session, query).await {
                Err(error) if size.shrink_on(&error) => continue,
                page => page?,
            };
            size.grow_back();
            for activity in page.activities {
                let newer = |known: &(String, ChangeSet)| known.0 <= activity.create_time;
                if let Some(changes) = activity.change_set()
                    && last.as_ref().is_none_or(newer)
                {
                    last = Some((activity.create_time.clone(), changes.clone()));
                }
            }
            token = page.next_page_token;
            if token.is_empty() {
                return Ok(last.map(|(_, changes)| into_patch(changes)));
            }
        }
        Err(ApiError {
            route: routes::LIST_ACTIVITIES,
            cause: Cause::TooManyPages { pages: MAX_PAGES },
        })
    }
}

fn into_patch(changes: ChangeSet) -> Patch {
    let base = changes.git_patch.base_commit_id;
    Patch {
        diff: changes.git_patch.unidiff_patch,
        base: (!base.is_empty()).then(|| Oid::new(base)),
    }
}
