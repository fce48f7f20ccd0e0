//! A request to send reviews to the session of a pull request.

use super::record::record;
use super::request::Wish;
use crate::engine::input::request_kind::PENDING;
use crate::engine::input::subject::Ends;
use crate::engine::lookup::pending_reviews::{Open, open_wishes};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::MESSAGE_REPEATS;
use crate::engine::output::report::Reason;
use crate::engine::record::review_request::refuse;
use crate::model::PullNumber;

/// Takes up the wish that a session is told what is wrong with its open pull request.
pub(crate) fn take_up(draft: &mut Draft<'_>, wish: &Wish<'_>, ends: &Ends) {
    let pull = PullNumber(wish.subject.number);
    let head = ends.head_oid.clone();
    let stands = open_wishes(draft);
    let stands = stands
        .iter()
        .any(|one| one.pull == pull && one.head == head);
    let known = draft.state.pulls.get_mut(&pull);
    let mut is_told = false;
    if let Some(known) = known {
        // Who asks now wants its session to be looked at now.
        known.look = None;
        if let Some(told) = known.reviews.as_mut().filter(|told| told.head == head) {
            is_told = told.told;
            // What was tried often enough and never heard is tried once more for each wish.
            told.repeats = told.repeats.min(MESSAGE_REPEATS - 1);
        }
    }
    let track = record(draft, wish, |request, _| {
        request.outcome = Some(PENDING.to_owned());
        request.reviews_of = Some(head.clone());
    });
    draft.headline(format!("{track} reviews of pull request #{pull}"), None);
    let open = Open {
        key: wish.key.clone().into_owned(),
        track,
        pull,
        head,
    };
    if stands {
        refuse(draft, &open, Reason::NothingToDo, "it is asked for already");
    } else if is_told {
        let text = "it was told of the reviews of this commit before; once it has pushed another one, say \
                    `/phileas retry` again for what was said since";
        refuse(draft, &open, Reason::NothingToDo, text);
    }
}
