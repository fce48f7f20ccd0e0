//! The command `merge`.

use super::request::Request;
use crate::engine::lookup::pending_merges::{PendingMerge, pending_merges};
use crate::engine::lookup::pull_owner::{Refusal, merge_allowed};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::{Oid, PullNumber};

/// Checks whether a merge may be requested, and returns its commit.
pub(crate) fn check_merge(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<Oid, Refusal> {
    let Some(ends) = &request.subject.pull else {
        let text = "only a pull request can be merged".to_owned();
        return Err((Reason::NothingToDo, text));
    };
    let pull = PullNumber(request.subject.number);
    merge_allowed(builder, pull)?;
    let is_same = |one: &PendingMerge| {
        let known = builder.state.requests.get(&one.key);
        let merge = known.and_then(|request| request.merge.as_ref());
        one.pull == pull && merge.is_some_and(|merge| merge.head == ends.head_oid)
    };
    if pending_merges(builder).iter().any(is_same) {
        let text = "it is requested already".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    Ok(ends.head_oid.clone())
}
