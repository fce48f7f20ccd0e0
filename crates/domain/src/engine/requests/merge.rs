//! A request to merge a pull request.

use super::record::record;
use super::request::Wish;
use crate::engine::input::request_kind::PENDING;
use crate::engine::lookup::pending_merges::{Open, open_wishes};
use crate::engine::lookup::pull_owner::{Refusal, allowed};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::model::PullNumber;
use crate::state::{Extra, MergeState};

/// Takes up the wish. What is settled at once is refused at once.
pub(crate) fn take_up(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Result<(), Refusal> {
    let Some(ends) = &wish.subject.pull else {
        let text = "only a pull request can be merged".to_owned();
        return Err((Reason::NothingToDo, text));
    };
    let pull = PullNumber(wish.subject.number);
    allowed(draft, pull)?;
    let head = ends.head_oid.clone();
    let stands = |one: &Open| {
        let known = draft.state.requests.get(&one.key);
        let merge = known.and_then(|request| request.merge.as_ref());
        one.pull == pull && merge.is_some_and(|merge| merge.head == head)
    };
    if open_wishes(draft).iter().any(stands) {
        let text = "it is asked for already".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    let track = record(draft, wish, |request, _| {
        request.outcome = Some(PENDING.to_owned());
        request.merge = Some(MergeState {
            head,
            sent_at: None,
            attempts: 0,
            not_before: None,
            put_off: 0,
            extra: Extra::new(),
        });
    });
    draft.headline(format!("{track} merge of pull request #{pull}"), None);
    Ok(())
}
