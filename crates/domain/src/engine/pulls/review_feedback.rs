//! What reviewers want changed goes back to the session whose pull request it is, where somebody with write access asks
//! for it: once for each commit, and only what people say who may write themselves.
//!
//! The wish is taken up into the ledger and worked off from there, since its session may be at work when it is asked for.
//! That it is told stands in the ledger before it is.

use std::collections::BTreeSet;

use super::message::{self, Heard, Listener, Matter, Pusher};
use super::tracked::{self, Watched};
use crate::engine::input::pull::{PullState, Reviews};
use crate::engine::input::request_kind::DONE;
use crate::engine::lookup::pending_reviews::{Open, open_wishes};
use crate::engine::lookup::permissions;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    CHECKS_POLL, GRACE, MAX_REVIEW_ROUNDS, POLL, PULL_POLL, REMARKERS_READ, REQUEST_VALID,
    REVIEWS_READ,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::review_request::refuse;
use crate::model::{Login, Oid};
use crate::prompt::{self, ReviewRemark, ReviewSaying};
use crate::state::Told;

/// What is known of a wish at this moment.
enum Stand {
    /// Its session is to be told.
    Tell {
        text: String,
        /// Ends the report's sentence.
        remark: &'static str,
    },
    /// Its session was told.
    Told,
    /// It waits.
    Waits(Box<Line>),
    /// It is not done, and why.
    Refused(Reason, String),
}

/// While everything is paused nobody is told anything.
pub(crate) fn say_paused(draft: &mut Draft<'_>, reason: Reason) {
    for open in open_wishes(draft) {
        let text = format!(
            "the session of pull request #{} is told nothing while everything is paused",
            open.pull
        );
        draft.say(Line::track(&open.track, Verdict::Paused, reason, text));
    }
}

/// Works off what was asked for. `may_send`: there is another round that writes down what Jules answers.
pub(crate) fn due(draft: &mut Draft<'_>, may_send: bool) {
    for open in open_wishes(draft) {
        let Some(watched) = tracked::of(draft, open.pull) else {
            unwatched(draft, &open);
            continue;
        };
        match stand(draft, &open, &watched) {
            Stand::Tell { text, remark } if may_send => tell(draft, &open, &watched, text, remark),
            Stand::Tell { .. } => {
                let text = format!("the session of pull request #{} is told next", open.pull);
                let soon = draft.now();
                draft.say(open.line(Reason::NextCommit, text).until(soon));
            }
            Stand::Told => finish(draft, &open),
            Stand::Waits(line) => draft.say(*line),
            Stand::Refused(reason, text) => refuse(draft, &open, reason, &text),
        }
    }
}

/// It is closed, was not read, or the plan leaves it to people by now.
fn unwatched(draft: &mut Draft<'_>, open: &Open) {
    match draft.snapshot.pulls.get(&open.pull).map(|pull| pull.state) {
        Some(PullState::Open) => {
            let text =
                "the plan leaves it to people (`mode = \"observe\"`), or it is of no session";
            refuse(draft, open, Reason::PlanForbids, text);
        }
        Some(PullState::Merged | PullState::Closed) => {
            refuse(
                draft,
                open,
                Reason::SubjectClosed,
                "it is not open any more",
            );
        }
        None if draft.snapshot.missing_pulls.contains(&open.pull) => {
            refuse(draft, open, Reason::SubjectClosed, "it is gone");
        }
        None => {
            draft.needs.pulls.insert(open.pull);
            let text = format!("pull request #{} is read next", open.pull);
            let soon = draft.after(POLL);
            draft.say(open.line(Reason::RequestUnread, text).until(soon));
        }
    }
}

/// Whether its session is to be told, and what.
fn stand(draft: &mut Draft<'_>, open: &Open, watched: &Watched<'_>) -> Stand {
    let number = open.pull;
    let waits = |reason, text: String, until| {
        let text = format!("pull request #{number}: {text}");
        Stand::Waits(Box::new(open.line(reason, text).until(until)))
    };
    let refused = |reason, text: &str| Stand::Refused(reason, text.to_owned());
    let told = told(draft, watched, &open.head);
    if let Some(told) = &told {
        match message::heard(draft, watched, told, &open.marker()) {
            Heard::Yes => return Stand::Told,
            Heard::Unknown { until } => {
                let text = "its session was told what reviewers want changed".to_owned();
                return waits(Reason::ReviewsTold, text, until);
            }
            Heard::GivenUp => return refused(Reason::SessionGone, "its session does not hear"),
            Heard::No => {}
        }
    }
    let created_at = draft.state.requests.get(&open.key);
    let created_at = created_at.and_then(|request| request.created_at);
    let age = created_at.map(|at| draft.now().duration_since(at));
    if age.is_none_or(|age| age >= REQUEST_VALID) {
        return refused(Reason::RequestOld, "it could not be told for a week");
    }
    // A commit that was pushed meanwhile may be the very change that was asked for; and a look may lag behind.
    let moved = |draft: &Draft<'_>| {
        if age.is_some_and(|age| age < GRACE) {
            let text = "its newest commit does not show yet".to_owned();
            return waits(Reason::RequestUnread, text, draft.after(POLL));
        }
        let text = "a commit was pushed after it was asked for; look at it and ask again";
        refused(Reason::ContentChanged, text)
    };
    if watched.pull.head_oid != open.head {
        return moved(draft);
    }
    let rounds = watched.known(draft).map_or(0, |known| known.review_rounds);
    if told.is_none() && rounds >= MAX_REVIEW_ROUNDS {
        let text =
            format!("it was told {rounds} times what reviewers want changed; that is enough");
        return Stand::Refused(Reason::RoundsSpent, text);
    }
    if watched.is_held(draft) {
        let text = format!("pull request #{number}: `phileas:hold` keeps it for people");
        let line = Line::track(&open.track, Verdict::Paused, Reason::SubjectHeld, text);
        return Stand::Waits(Box::new(line.until(draft.after(PULL_POLL))));
    }
    if let Some(until) = message::is_listening(draft, watched) {
        let text = "its session was just told something else".to_owned();
        return waits(Reason::ReviewsAsked, text, until);
    }
    if let Some(text) = message::is_crowded(draft, watched) {
        return waits(Reason::BudgetActive, text, draft.after(CHECKS_POLL));
    }
    match message::listener(draft, watched) {
        Listener::Listens => {}
        Listener::Later { why, until } => return waits(Reason::ReviewsAsked, why, until),
        Listener::Gone(why) => return refused(Reason::SessionGone, why),
    }
    let snapshot = draft.snapshot;
    let Some(read) = snapshot.reviews.get(&number) else {
        if snapshot.reviews.len() + draft.needs.reviews.len() < REVIEWS_READ {
            draft.needs.reviews.insert(number);
        }
        let text = "what its reviewers want changed is read next".to_owned();
        return waits(Reason::RequestUnread, text, draft.after(CHECKS_POLL));
    };
    let Some(read) = read else {
        return refused(Reason::SubjectClosed, "it is gone");
    };
    if read.head != open.head {
        return moved(draft);
    }
    // The list of commits may lag behind the head; whose the newest is must be known before its session writes over it.
    if read.committed_at.is_none() {
        let text = "GitHub does not tell yet when its newest commit was made";
        return waits(
            Reason::RequestUnread,
            text.to_owned(),
            draft.after(CHECKS_POLL),
        );
    }
    match message::pusher(draft, watched, read.committed_at, read.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            let text = "its newest commit is not its session's, which would write over it; mend it by hand, or close it";
            return refused(Reason::PushedByOthers, text);
        }
        Pusher::Unread => {
            let text = "what its session does is read next".to_owned();
            return waits(Reason::RequestUnread, text, draft.after(CHECKS_POLL));
        }
    }
    let Some(heard) = of_writers(draft, read) else {
        let text = "who has reviewed it is looked at next".to_owned();
        return waits(Reason::RequestUnread, text, draft.after(CHECKS_POLL));
    };
    if heard.is_empty() {
        let text = "nobody with write access asks for changes: no review of theirs does, and no thread of theirs is open";
        return refused(Reason::NothingToDo, text);
    }
    let remark = match heard.len() < read.remarks.len() || read.more {
        true => ", without what others than writers say and what is too old",
        false => "",
    };
    let text = message(draft, open, &heard);
    Stand::Tell { text, remark }
}

/// What was said about this very commit.
pub(crate) fn told(draft: &Draft<'_>, watched: &Watched<'_>, head: &Oid) -> Option<Told> {
    let told = watched.known(draft)?.reviews.as_ref()?;
    (told.head == *head).then(|| told.clone())
}

/// What people say who may write, by GitHub's word of this very tick: everybody may review a public repository. `None`:
/// it has not been read who they are.
fn of_writers(draft: &mut Draft<'_>, read: &Reviews) -> Option<Vec<ReviewRemark>> {
    let mut asked: BTreeSet<Login> = BTreeSet::new();
    let mut heard = Vec::new();
    let mut is_known = true;
    for remark in &read.remarks {
        let mut said = Vec::new();
        for one in &remark.said {
            let Some(author) = &one.author else {
                continue;
            };
            if !asked.contains(&author.login) && asked.len() == REMARKERS_READ {
                continue;
            }
            asked.insert(author.login.clone());
            match permissions::may_ask(draft, Some(author)) {
                Some(true) => said.push(ReviewSaying {
                    author: author.login.to_string(),
                    text: one.text.clone(),
                }),
                Some(false) => {}
                None => is_known = false,
            }
        }
        said.retain(|one| !one.text.trim().is_empty());
        if !said.is_empty() {
            let place = remark.place.clone();
            heard.push(ReviewRemark { place, said });
        }
    }
    is_known.then_some(heard)
}

fn message(draft: &Draft<'_>, open: &Open, heard: &[ReviewRemark]) -> String {
    let marker = open.marker();
    let said = prompt::review_remarks(&draft.snapshot.entropy, &marker, heard);
    format!(
        "People with write access have reviewed your pull request #{} and want something changed on its newest commit \
         {}. Do what they ask for as far as it belongs to the task of this session, run the project's own checks, and push \
         to the same branch. Leave alone what they did not ask for. Where you do not agree or do not understand, change \
         nothing there and say so.\n\n{said}\n\n{marker}",
        open.pull, open.head
    )
}

/// It is counted, with the commit; then its session is told.
fn tell(draft: &mut Draft<'_>, open: &Open, watched: &Watched<'_>, text: String, remark: &str) {
    let now = draft.now();
    let told = told(draft, watched, &open.head);
    let record = watched.record(draft);
    if told.is_none() {
        record.review_rounds += 1;
    }
    // Another commit's word is over: each wish names its commit.
    message::count(&mut record.reviews, &mut Vec::new(), &open.head, now);
    let rounds = record.review_rounds;
    watched.headline(draft, "reviews");
    let text_of_line = format!("pull request #{}: its session is told", open.pull);
    let soon = draft.after(POLL);
    draft.say(open.line(Reason::ReviewsTold, text_of_line).until(soon));
    let matter = Matter {
        problem: "reviewers want something changed",
        marker: open.marker(),
        told,
        rounds,
        most: MAX_REVIEW_ROUNDS,
        waits: Reason::ReviewsAsked,
        said: Reason::ReviewsTold,
    };
    message::say(draft, watched, matter, text, remark);
}

fn finish(draft: &mut Draft<'_>, open: &Open) {
    let now = draft.now();
    if let Some(request) = draft.state.requests.get_mut(&open.key) {
        request.outcome = Some(DONE.to_owned());
        request.answer = Some("its session was told what its reviewers want changed".to_owned());
        request.finished_at = Some(now);
    }
    draft.headline(format!("{} told", open.track), None);
    let text = format!("the session of pull request #{} was told", open.pull);
    let line = Line::track(&open.track, Verdict::Settled, Reason::Obeyed, text);
    draft.say(line);
}
