//! Keeps one status comment on each issue or pull request with a request, and edits it as things change.
//!
//! Its text is computed from the state each time, so a process that dies loses nothing. The ledger gets the digest of a
//! text before it is written: of several processes, the one whose commit wins writes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::comment_text::{CommentText, comment_text, is_question, shows_repository};
use super::status_answer::status_answer;
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::pull_owner;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    DAY, INTENT_VALID, STATUS_AGAIN, STATUS_INTERVAL, STATUS_REPEATS, STATUS_SETTLES,
};
use crate::engine::text::markers::STATUS_MARKER;
use crate::engine::text::time::time_after;
use crate::model::PullNumber;
use crate::prompt;
use crate::state::{Extra, RequestState, StatusState};

/// Replaces an older answer in the ledger.
const REPLACED: &str = "a newer answer stands in its place";

/// Updates every status comment.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    answer_questions(builder);
    let now = builder.now();
    // A request that ended a day ago and was reported does not change, so its turn is not searched again. A pause may
    // end much later.
    let is_over = |request: &RequestState| {
        !shows_repository(request)
            && request
                .finished_at
                .is_some_and(|at| now.duration_since(at) >= DAY)
            && request.status.as_ref().is_none_or(|status| status.notified)
    };
    let mut subjects: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    let mut open = BTreeSet::new();
    let pulls = pulls_at_work(builder);
    for (key, request) in &builder.state.requests {
        if let (Some(subject), Some(thread), Some(number)) =
            (&request.subject, request.thread, request.number)
        {
            let of_it = subjects.entry(subject.clone()).or_default();
            of_it.push((number, key.clone()));
            if !is_over(request) || pulls.contains(&PullNumber(thread)) {
                open.insert(subject.clone());
            }
        }
    }
    subjects.retain(|subject, _| open.contains(subject));
    for mut requests in subjects.into_values() {
        requests.sort_unstable();
        requests.reverse();
        update_subject(builder, &requests);
    }
}

/// Pull requests of sessions that are open, or were when this decision began, so that their end is reported, too.
fn pulls_at_work(builder: &DecisionBuilder<'_>) -> BTreeSet<PullNumber> {
    let before = match &builder.snapshot.ledger {
        Ledger::Present { state, .. } => Some(&**state),
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
    };
    let states = before.into_iter().chain([&builder.state]);
    states
        .flat_map(|state| pull_owner::pull_owners(state).into_keys())
        .collect()
}

/// Answers `status` and `explain`. The state keeps an answer until the next one replaces it.
fn answer_questions(builder: &mut DecisionBuilder<'_>) {
    let waits = |request: &RequestState| is_question(request) && request.answer.is_none();
    let keys: Vec<String> = builder
        .state
        .requests
        .iter()
        .filter(|(_, request)| waits(request))
        .map(|(key, _)| key.clone())
        .collect();
    for key in keys {
        let Some(request) = builder.state.requests.get(&key) else {
            continue;
        };
        let (subject, number) = (request.subject.clone(), request.number);
        let text = status_answer(builder, request.command.as_deref() == Some("explain"));
        for request in builder.state.requests.values_mut() {
            if is_question(request) && request.subject == subject && request.number < number {
                request.answer = Some(REPLACED.to_owned());
            }
        }
        if let Some(request) = builder.state.requests.get_mut(&key) {
            request.answer = Some(text);
        }
    }
}

/// Updates the comment of one subject; its requests, newest first.
fn update_subject(builder: &mut DecisionBuilder<'_>, requests: &[(u64, String)]) {
    let Some((_, newest)) = requests.first() else {
        return;
    };
    let Some(CommentText { body, stable }) = comment_text(builder, requests) else {
        return;
    };
    let now = builder.now();
    let digest = prompt::prompt_sha256(&body);
    let stable = Some(prompt::prompt_sha256(&stable));
    if let Some(settled_at) = settled_at(builder, requests).filter(|at| now < *at) {
        builder.wake_by(settled_at);
        return;
    }
    let Some(request) = builder.state.requests.get_mut(newest) else {
        return;
    };
    let Some(thread) = request.thread else {
        return;
    };
    let age_of = |at: Timestamp| now.duration_since(at);
    let mut repeats = 0;
    match &request.status {
        Some(said) if said.digest == digest => {
            if said.notified || said.repeats >= STATUS_REPEATS {
                return;
            }
            if age_of(said.at) < STATUS_AGAIN {
                let again = time_after(said.at, STATUS_AGAIN);
                builder.wake_by(again);
                return;
            }
            repeats = said.repeats + 1;
        }
        // Reasons to wait change often; do not edit the comment for each.
        Some(said) if said.stable_digest == stable && age_of(said.at) < STATUS_INTERVAL => {
            let again = time_after(said.at, STATUS_INTERVAL);
            builder.wake_by(again);
            return;
        }
        _ => {}
    }
    request.status = Some(StatusState {
        digest: digest.clone(),
        stable_digest: stable,
        at: now,
        notified: false,
        repeats,
        extra: Extra::new(),
    });
    let comment_id = request.comment_id;
    builder.add_headline(format!("status on #{thread}"), None);
    builder.add_effect(Effect::WriteStatus {
        request: newest.clone(),
        thread,
        comment_id,
        marker: STATUS_MARKER.to_owned(),
        digest,
        body,
        not_after: time_after(now, INTENT_VALID),
    });
}

/// Until when an unconfirmed first comment must be waited for; `None`: a comment is known, or none was begun.
fn settled_at(builder: &DecisionBuilder<'_>, requests: &[(u64, String)]) -> Option<Timestamp> {
    let all = requests
        .iter()
        .filter_map(|(_, key)| builder.state.requests.get(key));
    if all.clone().any(|request| request.comment_id.is_some()) {
        return None;
    }
    let begun = all.filter_map(|request| request.status.as_ref());
    let last = begun.map(|said| said.at).max()?;
    Some(time_after(last, STATUS_SETTLES))
}

/// Records that a status comment was written.
pub(crate) fn record_written(
    builder: &mut DecisionBuilder<'_>,
    request: &str,
    digest: &str,
    comment_id: u64,
) {
    if let Some(request) = builder.state.requests.get_mut(request) {
        request.comment_id = Some(comment_id);
        if let Some(status) = &mut request.status {
            status.notified |= status.digest == digest;
        }
    }
}
