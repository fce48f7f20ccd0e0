//! Sends the reviews of people with write access to the session of a pull request, where a person with write access
//! requests it: once for each commit.
//!
//! The request is recorded in the ledger and processed from there, because the session may be working when it is made.
//! The message is recorded before it is sent.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::message::{self, Delivery, Feedback, Pusher, Reachability};
use super::tracked::{self, OpenPull};
use crate::engine::input::pull::{PullState, Reviews};
use crate::engine::lookup::pending_reviews::{PendingReview, pending_reviews};
use crate::engine::lookup::permissions;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    CHECKS_POLL, GRACE, MAX_REVIEW_ROUNDS, POLL, PULL_POLL, REQUEST_VALID, REVIEW_AUTHORS_READ,
    REVIEWS_READ,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::review_request::refuse_review_request;
use crate::model::{Login, Oid};
use crate::prompt::{self, ReviewRemark, ReviewSaying};
use crate::state::{PullAction, RequestOutcome};

/// The status of a pending request.
enum ReviewStatus {
    /// The message is to be sent.
    Send {
        text: String,
        /// Ends the report's sentence.
        remark: &'static str,
    },
    /// The message was delivered.
    Sent,
    /// It waits.
    Waits(Box<Line>),
    /// It is refused, and why.
    Refused(Reason, String),
}

/// Reports pending requests while the repository is paused.
pub(crate) fn report_paused(builder: &mut DecisionBuilder<'_>, reason: Reason) {
    for open in pending_reviews(builder) {
        let text = format!(
            "the session of pull request #{} is told nothing while everything is paused",
            open.pull
        );
        builder.report_line(Line::about_track(
            &open.track,
            Verdict::Paused,
            reason,
            text,
        ));
    }
}

/// Processes the pending requests. `may_send`: another round of this tick records Jules' answer.
pub(crate) fn process_reviews(builder: &mut DecisionBuilder<'_>, may_send: bool) {
    for open in pending_reviews(builder) {
        let Some(tracked) = tracked::open_pull(builder, open.pull) else {
            refuse_untracked(builder, &open);
            continue;
        };
        match check_review_request(builder, &open, &tracked) {
            ReviewStatus::Send { text, remark } if may_send => {
                send_reviews(builder, &open, &tracked, text, remark)
            }
            ReviewStatus::Send { .. } => {
                let text = format!("the session of pull request #{} is told next", open.pull);
                let soon = builder.now();
                builder.report_line(open.waiting_line(Reason::NextCommit, text).with_until(soon));
            }
            ReviewStatus::Sent => finish_review_request(builder, &open),
            ReviewStatus::Waits(line) => builder.report_line(*line),
            ReviewStatus::Refused(reason, text) => {
                refuse_review_request(builder, &open, reason, &text)
            }
        }
    }
}

/// Handles a pull request that is closed, was not read, or that the plan leaves to people.
fn refuse_untracked(builder: &mut DecisionBuilder<'_>, open: &PendingReview) {
    match builder
        .snapshot
        .pulls
        .get(&open.pull)
        .map(|pull| pull.state)
    {
        Some(PullState::Open) => {
            let text =
                "the plan leaves it to people (`mode = \"observe\"`), or it is of no session";
            refuse_review_request(builder, open, Reason::PlanForbids, text);
        }
        Some(PullState::Merged | PullState::Closed) => {
            refuse_review_request(
                builder,
                open,
                Reason::SubjectClosed,
                "it is not open any more",
            );
        }
        None if builder.snapshot.missing_pulls.contains(&open.pull) => {
            refuse_review_request(builder, open, Reason::SubjectClosed, "it is gone");
        }
        None => {
            builder.reads.pulls.insert(open.pull);
            let text = format!("pull request #{} is read next", open.pull);
            let soon = builder.now_plus(POLL);
            builder.report_line(
                open.waiting_line(Reason::RequestUnread, text)
                    .with_until(soon),
            );
        }
    }
}

/// The status of a pending request, with the message where it may be sent.
fn check_review_request(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    tracked: &OpenPull<'_>,
) -> ReviewStatus {
    let told = sent_message(builder, tracked, &open.head);
    if let Some(status) = told
        .as_ref()
        .and_then(|told| check_delivery(builder, open, tracked, told))
    {
        return status;
    }
    let created_at = builder.state.requests.get(&open.key);
    let created_at = created_at.and_then(|request| request.created_at);
    let age = created_at.map(|at| builder.now().duration_since(at));
    let Some(age) = age.filter(|age| *age < REQUEST_VALID) else {
        return refused(Reason::RequestOld, "it could not be told for a week");
    };
    if tracked.pull.head_oid != open.head {
        return moved(builder, open, age);
    }
    match check_recipient(builder, open, tracked, told.is_none()) {
        Some(status) => status,
        None => check_reviews(builder, open, tracked, age),
    }
}

fn waits(open: &PendingReview, reason: Reason, text: &str, until: Timestamp) -> ReviewStatus {
    let text = format!("pull request #{}: {text}", open.pull);
    ReviewStatus::Waits(Box::new(open.waiting_line(reason, text).with_until(until)))
}

fn refused(reason: Reason, text: &str) -> ReviewStatus {
    ReviewStatus::Refused(reason, text.to_owned())
}

/// The status of a request whose commit is not the newest one. A commit that was pushed meanwhile may be the requested
/// change, and a read may lag behind.
fn moved(builder: &DecisionBuilder<'_>, open: &PendingReview, age: SignedDuration) -> ReviewStatus {
    if age < GRACE {
        let text = "its newest commit does not show yet";
        return waits(open, Reason::RequestUnread, text, builder.now_plus(POLL));
    }
    let text = "a commit was pushed after the request; check it and request it again";
    refused(Reason::ContentChanged, text)
}

/// The status by a message that was counted before; `None`: it is to be sent.
fn check_delivery(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    tracked: &OpenPull<'_>,
    told: &PullAction,
) -> Option<ReviewStatus> {
    match message::delivery_of(builder, tracked, told, &open.message_marker()) {
        Delivery::Delivered => Some(ReviewStatus::Sent),
        Delivery::Unknown { until } => {
            let text = "its session was told what reviewers want changed";
            Some(waits(open, Reason::ReviewsSent, text, until))
        }
        Delivery::GivenUp => {
            let text = "its session does not receive messages";
            Some(refused(Reason::SessionGone, text))
        }
        Delivery::Missing => None,
    }
}

/// The status by the session and the pull request; `None`: the session can get the message now.
fn check_recipient(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    tracked: &OpenPull<'_>,
    is_new: bool,
) -> Option<ReviewStatus> {
    let record = tracked.record(builder);
    let rounds = record.map_or(0, |known| known.review_rounds);
    if is_new && rounds >= MAX_REVIEW_ROUNDS {
        let text =
            format!("it was told {rounds} times what reviewers want changed; that is enough");
        return Some(ReviewStatus::Refused(Reason::RoundsSpent, text));
    }
    if tracked.is_held(builder) {
        let text = format!(
            "pull request #{}: `phileas:hold` keeps it for people",
            open.pull
        );
        let line = Line::about_track(&open.track, Verdict::Paused, Reason::SubjectHeld, text);
        let until = builder.now_plus(PULL_POLL);
        return Some(ReviewStatus::Waits(Box::new(line.with_until(until))));
    }
    if let Some(until) = message::settling_until(builder, tracked) {
        let text = "its session just got another message";
        return Some(waits(open, Reason::ReviewsRequested, text, until));
    }
    if let Some(text) = message::busy_text(builder, tracked) {
        let until = builder.now_plus(CHECKS_POLL);
        return Some(waits(open, Reason::BudgetActive, &text, until));
    }
    match message::check_reachability(builder, tracked) {
        Reachability::Listens => None,
        Reachability::Later { why, until } => {
            Some(waits(open, Reason::ReviewsRequested, &why, until))
        }
        Reachability::Gone(why) => Some(refused(Reason::SessionGone, why)),
    }
}

/// The status by the reviews themselves, with the message where it may be sent.
fn check_reviews(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    tracked: &OpenPull<'_>,
    age: SignedDuration,
) -> ReviewStatus {
    let snapshot = builder.snapshot;
    let soon = builder.now_plus(CHECKS_POLL);
    let unread = |text: &str| waits(open, Reason::RequestUnread, text, soon);
    let Some(read) = snapshot.reviews.get(&open.pull) else {
        if snapshot.reviews.len() + builder.reads.reviews.len() < REVIEWS_READ {
            builder.reads.reviews.insert(open.pull);
        }
        return unread("what its reviewers want changed is read next");
    };
    let Some(read) = read else {
        return refused(Reason::SubjectClosed, "it is gone");
    };
    if read.head != open.head {
        return moved(builder, open, age);
    }
    // The list of commits may lag behind the head. The newest commit's author must be known, because the session
    // overwrites it.
    if read.committed_at.is_none() {
        return unread("GitHub does not tell yet when its newest commit was made");
    }
    match message::newest_pusher(builder, tracked, read.committed_at, read.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            let text = "its newest commit is not its session's, which would write over it; fix it by hand, or close it";
            return refused(Reason::PushedByOthers, text);
        }
        Pusher::Unread => return unread("what its session does is read next"),
    }
    let Some(remarks) = writer_remarks(builder, read) else {
        return unread("the permissions of its reviewers are read next");
    };
    if remarks.is_empty() {
        let text = "no account with write access requests changes: none of their reviews does, and none of their threads is open";
        return refused(Reason::NothingToDo, text);
    }
    let remark = match remarks.len() < read.remarks.len() || read.more {
        true => ", without what others than writers say and what is too old",
        false => "",
    };
    let text = reviews_message(builder, open, &remarks);
    ReviewStatus::Send { text, remark }
}

/// The record of the message about this commit.
pub(crate) fn sent_message(
    builder: &DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    head: &Oid,
) -> Option<PullAction> {
    let told = tracked.record(builder)?.reviews.as_ref()?;
    (told.head == *head).then(|| told.clone())
}

/// The reviews of people with write access in this tick; any account may review a public repository. `None`:
/// permissions must be read first.
fn writer_remarks(builder: &mut DecisionBuilder<'_>, read: &Reviews) -> Option<Vec<ReviewRemark>> {
    let mut asked: BTreeSet<Login> = BTreeSet::new();
    let mut heard = Vec::new();
    let mut is_known = true;
    for remark in &read.remarks {
        let mut said = Vec::new();
        for one in &remark.said {
            let Some(author) = &one.author else {
                continue;
            };
            if !asked.contains(&author.login) && asked.len() == REVIEW_AUTHORS_READ {
                continue;
            }
            asked.insert(author.login.clone());
            match permissions::may_request(builder, Some(author)) {
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

fn reviews_message(
    builder: &DecisionBuilder<'_>,
    open: &PendingReview,
    heard: &[ReviewRemark],
) -> String {
    let marker = open.message_marker();
    let said = prompt::review_remarks(&builder.snapshot.entropy, &marker, heard);
    format!(
        "People with write access have reviewed your pull request #{} and want something changed on its newest commit \
         {}. Do what they ask for as far as it belongs to the task of this session, run the project's own checks, and push \
         to the same branch. Leave alone what they did not ask for. Where you do not agree or do not understand, change \
         nothing there and say so.\n\n{said}\n\n{marker}",
        open.pull, open.head
    )
}

/// Counts the message; after the commit it is sent.
fn send_reviews(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    tracked: &OpenPull<'_>,
    text: String,
    remark: &str,
) {
    let now = builder.now();
    let told = sent_message(builder, tracked, &open.head);
    let record = tracked.record_mut(builder);
    if told.is_none() {
        record.review_rounds += 1;
    }
    // A message about another commit is finished: each request names its commit.
    message::count_message(&mut record.reviews, &mut Vec::new(), &open.head, now);
    let rounds = record.review_rounds;
    tracked.add_headline(builder, "reviews");
    let text_of_line = format!("pull request #{}: its session is told", open.pull);
    let soon = builder.now_plus(POLL);
    builder.report_line(
        open.waiting_line(Reason::ReviewsSent, text_of_line)
            .with_until(soon),
    );
    let feedback = Feedback {
        problem: "reviewers want something changed",
        marker: open.message_marker(),
        earlier: told,
        rounds,
        max_rounds: MAX_REVIEW_ROUNDS,
        waiting_reason: Reason::ReviewsRequested,
        sent_reason: Reason::ReviewsSent,
    };
    message::send_feedback(builder, tracked, feedback, text, remark);
}

fn finish_review_request(builder: &mut DecisionBuilder<'_>, open: &PendingReview) {
    let now = builder.now();
    if let Some(request) = builder.state.requests.get_mut(&open.key) {
        request.set_outcome(&RequestOutcome::Done);
        request.answer = Some("its session was told what its reviewers want changed".to_owned());
        request.finished_at = Some(now);
    }
    builder.add_headline(format!("{} told", open.track), None);
    let text = format!("the session of pull request #{} was told", open.pull);
    let line = Line::about_track(&open.track, Verdict::Settled, Reason::CommandExecuted, text);
    builder.report_line(line);
}
