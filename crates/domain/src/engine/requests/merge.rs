//! The command `merge`.

use super::record::record_request;
use super::request::Request;
use crate::engine::lookup::pending_merges::{PendingMerge, pending_merges};
use crate::engine::lookup::pull_owner::{Refusal, merge_allowed};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::{Oid, PullNumber};
use crate::state::{Extra, MergeState, RequestOutcome};

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

/// Records a request to merge a commit.
pub(crate) fn record_merge(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, head: Oid) {
    let track = record_request(builder, request, |stored, _| {
        stored.set_outcome(&RequestOutcome::Pending);
        stored.merge = Some(MergeState {
            head,
            sent_at: None,
            attempts: 0,
            not_before: None,
            put_off: 0,
            extra: Extra::new(),
        });
    });
    let pull = request.subject.number;
    builder.add_headline(format!("{track} merge of pull request #{pull}"), None);
}
