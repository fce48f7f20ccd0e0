//! The status comment: one on each issue or pull request that somebody has asked something on, edited as things go on.
//!
//! What it should say is worked out anew from the state each time, so nothing is lost when whoever should have written
//! it dies. The digest of what it was last made to say goes into the ledger before it is written: of several processes
//! the one whose commit wins writes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::draft::Draft;
use super::limits::{
    DAY, GRACE, INTENT_VALID, NUMBERS_NAMED, STATUS_AGAIN, STATUS_CALM, STATUS_REPEATS,
    STATUS_REQUESTS, STATUS_SETTLES,
};
use super::neutral::neutral;
use super::obey::{account, newest_of};
use super::wish::{DONE, PENDING, REFUSED};
use super::{Effect, Reason, Verdict, layers, plans, reviews, watched};
use crate::model::{PullNumber, TrackName};
use crate::prompt;
use crate::state::{Extra, Outcome, RequestState, StatusState, Turn};

/// Ends every status comment, so that it is found again where the state does not know it.
pub const STATUS_MARKER: &str = "<!-- phileas:status -->";

/// Brings every status comment up to date.
pub(super) fn everybody(draft: &mut Draft<'_>) {
    answer(draft);
    let now = draft.now();
    // What ended a day ago and was told says nothing new; its turn need not be looked for in the whole history again.
    let is_over = |request: &RequestState| {
        request
            .finished_at
            .is_some_and(|at| now.duration_since(at) >= DAY)
            && request.status.as_ref().is_none_or(|status| status.told)
    };
    let mut subjects: BTreeMap<String, Vec<(u64, String)>> = BTreeMap::new();
    let mut open = BTreeSet::new();
    for (key, request) in &draft.state.requests {
        if let (Some(subject), Some(_), Some(number)) =
            (&request.subject, request.thread, request.number)
        {
            let of_it = subjects.entry(subject.clone()).or_default();
            of_it.push((number, key.clone()));
            if !is_over(request) {
                open.insert(subject.clone());
            }
        }
    }
    subjects.retain(|subject, _| open.contains(subject));
    for mut requests in subjects.into_values() {
        requests.sort_unstable();
        requests.reverse();
        requests.truncate(STATUS_REQUESTS);
        subject(draft, &requests);
    }
}

/// Answers those who want to know how things stand. It is written down, so that it is told once and stays.
fn answer(draft: &mut Draft<'_>) {
    let waits = |request: &RequestState| {
        request.outcome.as_deref() == Some(DONE)
            && request.answer.is_none()
            && matches!(request.command.as_deref(), Some("status" | "explain"))
    };
    let keys: Vec<String> = draft
        .state
        .requests
        .iter()
        .filter(|(_, request)| waits(request))
        .map(|(key, _)| key.clone())
        .collect();
    for key in keys {
        let command = draft
            .state
            .requests
            .get(&key)
            .map(|one| one.command.clone());
        let text = account(draft, command == Some(Some("explain".to_owned())));
        if let Some(request) = draft.state.requests.get_mut(&key) {
            request.answer = Some(text);
        }
    }
}

/// The newest requests of one subject, newest first.
fn subject(draft: &mut Draft<'_>, requests: &[(u64, String)]) {
    let Some((_, newest)) = requests.first() else {
        return;
    };
    let Some(Text { body, calm }) = text(draft, requests) else {
        return;
    };
    let now = draft.now();
    let digest = prompt::sha256(&body);
    let calm = Some(prompt::sha256(&calm));
    if let Some(settled_at) = settled_at(draft, requests).filter(|at| now < *at) {
        draft.wake(settled_at);
        return;
    }
    let Some(request) = draft.state.requests.get_mut(newest) else {
        return;
    };
    let Some(thread) = request.thread else {
        return;
    };
    let since = |at: Timestamp| now.duration_since(at);
    let mut repeats = 0;
    match &request.status {
        Some(said) if said.digest == digest => {
            if said.told || said.repeats >= STATUS_REPEATS {
                return;
            }
            if since(said.at) < STATUS_AGAIN {
                let again = later(said.at, STATUS_AGAIN);
                draft.wake(again);
                return;
            }
            repeats = said.repeats + 1;
        }
        // Reasons to wait come and go; nobody wants to read each of them.
        Some(said) if said.calm_digest == calm && since(said.at) < STATUS_CALM => {
            let again = later(said.at, STATUS_CALM);
            draft.wake(again);
            return;
        }
        _ => {}
    }
    request.status = Some(StatusState {
        digest: digest.clone(),
        calm_digest: calm,
        at: now,
        told: false,
        repeats,
        extra: Extra::new(),
    });
    let comment_id = request.comment_id;
    draft.headline(format!("status on #{thread}"), None);
    draft.effect(Effect::TellStatus {
        request: newest.clone(),
        thread,
        comment_id,
        marker: STATUS_MARKER.to_owned(),
        digest,
        body,
        not_after: later(now, INTENT_VALID),
    });
}

/// When it can be told whether there is a comment, after a first one was begun that is not confirmed; `None`: there is a
/// known one, or none was begun.
fn settled_at(draft: &Draft<'_>, requests: &[(u64, String)]) -> Option<Timestamp> {
    let all = requests
        .iter()
        .filter_map(|(_, key)| draft.state.requests.get(key));
    if all.clone().any(|request| request.comment_id.is_some()) {
        return None;
    }
    let begun = all.filter_map(|request| request.status.as_ref());
    let last = begun.map(|said| said.at).max()?;
    Some(later(last, STATUS_SETTLES))
}

pub(super) fn later(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

/// Notes that a status comment stands as it should.
pub(super) fn told(draft: &mut Draft<'_>, request: &str, digest: &str, comment_id: u64) {
    if let Some(request) = draft.state.requests.get_mut(request) {
        request.comment_id = Some(comment_id);
        if let Some(status) = &mut request.status {
            status.told |= status.digest == digest;
        }
    }
}

/// What the comment should say.
struct Text {
    body: String,
    /// The same without the reasons to wait.
    calm: String,
}

/// Where one request stands.
pub(super) struct Standing {
    pub(super) text: String,
    /// Whether it only waits, for a reason that may be another one in a minute.
    waits: bool,
}

impl Standing {
    fn waits(reason: Option<Reason>) -> Self {
        let text = match reason {
            Some(reason) => format!("waits (`{reason}`): {}.", waiting(reason)),
            None => "waits for its turn.".to_owned(),
        };
        Self { text, waits: true }
    }
}

/// What the comment should say; `None` while something is being started that the next moment tells of. Nothing else
/// may hold it back: one request that nothing is known of would silence all others of its subject.
fn text(draft: &Draft<'_>, requests: &[(u64, String)]) -> Option<Text> {
    let mut lines = Vec::new();
    let mut calm = String::new();
    for (number, key) in requests {
        let Some(request) = draft.state.requests.get(key) else {
            continue;
        };
        let what = match (&request.persona, &request.command) {
            (Some(persona), _) => format!("`{}`", plain(persona.as_str())),
            (None, Some(command)) => format!("the command `{}`", plain(command)),
            (None, None) => "a wish".to_owned(),
        };
        let who = request
            .actor
            .as_ref()
            .map(|login| format!(", asked for by `{}`", plain(login)))
            .unwrap_or_default();
        let state = standing(draft, *number, request)?;
        let told = if state.waits { "waits" } else { &state.text };
        calm.push_str(&format!("{number}: {told}\n"));
        lines.push(format!("- {what}{who}: {}", state.text));
    }
    let body = format!(
        "**phileas**\n\n{}\n\nThis comment is edited as things go on.\n\n{STATUS_MARKER}\n",
        lines.join("\n")
    );
    Some(Text { body, calm })
}

/// A word of a plan or an account inside backticks.
pub(super) fn plain(word: &str) -> String {
    prompt::clean_line(word).replace('`', "'")
}

/// Where one request stands; `None` while it is being started.
pub(super) fn standing(draft: &Draft<'_>, number: u64, request: &RequestState) -> Option<Standing> {
    let track = TrackName::of_request(number);
    if request.outcome.as_deref() == Some(PENDING) {
        let sent_at = request.merge.as_ref().and_then(|merge| merge.sent_at);
        if sent_at.is_some_and(|at| draft.now().duration_since(at) < INTENT_VALID) {
            return None;
        }
        if reviews::is_being_told(draft, request) {
            return None;
        }
        let line = draft.lines_of(&track).find(|line| {
            matches!(
                line.verdict,
                Verdict::Waiting | Verdict::Paused | Verdict::Held
            )
        });
        let reason = line.map(|line| line.reason);
        let mut standing = Standing::waits(reason);
        // Until a person has read that plan, its session keeps its place.
        if reason == Some(Reason::BudgetActive)
            && let Some(places) = plans::in_words(&plans::places(draft, |track, _| {
                let mut lines = draft.lines_of(track);
                lines.any(|line| line.reason == Reason::PlanApproval)
            }))
        {
            standing.text = format!(
                "{}; a plan waits for approval at {places}.",
                standing.text.trim_end_matches('.')
            );
        }
        return Some(standing);
    }
    let turns = draft.state.tracks.get(&track).map(|track| &track.turns);
    if let Some(turn) = turns.and_then(|turns| turns.values().next()) {
        return live(draft, &track, turn);
    }
    let text = over(draft, request);
    Some(Standing { text, waits: false })
}

/// What became of a request that neither waits nor is at work.
fn over(draft: &Draft<'_>, request: &RequestState) -> String {
    if request.outcome.as_deref() == Some(REFUSED) {
        let code = request.reason.as_deref().unwrap_or("refused");
        if let (Some(_), Some(answer)) = (&request.merge, &request.answer) {
            return format!("not merged: {answer} (`{code}`).");
        }
        if let (Some(_), Some(answer)) = (&request.reviews_of, &request.answer) {
            return format!("its session was not told: {answer} (`{code}`).");
        }
        if request.command.as_deref() == Some("merge") {
            return format!("not merged: {} (`{code}`).", refusal(code));
        }
        if let (Some(_), Some(answer)) = (&request.command, &request.answer) {
            return format!("not done: {answer} (`{code}`).");
        }
        let known = names(draft, code);
        return format!("not started: {}{known} (`{code}`).", refusal(code));
    }
    let Some(outcome) = request.outcome.as_deref() else {
        return "was taken up.".to_owned();
    };
    let Some(turn) = &request.turn else {
        return match outcome {
            "cancelled" => "taken back before it was started.".to_owned(),
            DONE => match &request.answer {
                Some(answer) => format!("{}.", answer.trim_end_matches('.')),
                None => "done.".to_owned(),
            },
            other => format!("over: {}.", plain(other)),
        };
    };
    // There is none where the turn never had a session, or where the entry is in the archive by now.
    let Some((_, entry)) = draft.state.entry_named(turn.as_str()) else {
        return match (request.reason.as_deref(), outcome) {
            (Some(code), _) => format!("not started: {} (`{code}`).", refusal(code)),
            (None, "cancelled") => "cancelled before it had a session.".to_owned(),
            (None, other) => format!("over: {}.", plain(other)),
        };
    };
    let session = entry
        .session_id
        .as_ref()
        .map(|id| format!("; {}", session_link(id.as_str())))
        .unwrap_or_default();
    let note = entry
        .note
        .as_deref()
        .map(|note| format!("; {}", neutral(note)))
        .unwrap_or_default();
    let pull = entry.pr_number.map(|pull| format!("pull request #{pull}"));
    match (&entry.outcome, pull) {
        (Some(Outcome::PrOpen), Some(pull)) => format!("{pull} is open{session}."),
        (Some(Outcome::Merged), Some(pull)) => format!("{pull} was merged{session}."),
        (Some(Outcome::Rejected), Some(pull)) => format!("{pull} was closed unmerged{session}."),
        (Some(outcome), pull) => {
            let pull = pull.map(|pull| format!(", {pull}")).unwrap_or_default();
            let came_to_nothing = matches!(
                outcome,
                Outcome::Stuck | Outcome::Failed | Outcome::NoOutput
            );
            let way_out = match came_to_nothing && can_be_retried(draft, request) {
                true => "; say `/phileas retry` here to have it started again",
                false => "",
            };
            format!("ended as `{outcome}`{pull}{note}{session}{way_out}.")
        }
        (None, _) => format!("over, and its end was not written down{session}."),
    }
}

/// Whether `/phileas retry` starts once more what was asked for by this request, as far as is known now.
fn can_be_retried(draft: &Draft<'_>, request: &RequestState) -> bool {
    let (Some(subject), Some(persona), Some(thread)) =
        (&request.subject, &request.persona, request.thread)
    else {
        return false;
    };
    let is_newest = newest_of(draft, subject).is_some_and(|newest| newest.number == request.number);
    let plan = &draft.snapshot.plan;
    let is_there = plan.personas.contains_key(persona) || layers::seat_of(persona).is_some();
    // There it means that the session is told what reviewers want.
    let is_own_pull = watched::is_ours(draft, PullNumber(thread));
    is_newest && is_there && !is_own_pull && plan.budget.requests_per_actor_hour > 0
}

fn live(draft: &Draft<'_>, track: &TrackName, turn: &Turn) -> Option<Standing> {
    let Some(session) = &turn.session_id else {
        let young = |at: Timestamp| draft.now().duration_since(at) < GRACE;
        return match &turn.intent {
            Some(intent) if young(intent.created_at) => None,
            Some(_) => Some(Standing {
                text: "nobody knows yet whether its session was started.".to_owned(),
                waits: false,
            }),
            None => {
                let reason = draft.lines_of(track).last().map(|line| line.reason);
                Some(Standing::waits(reason))
            }
        };
    };
    let link = session_link(session.as_str());
    let text = match (turn.pr_number, turn.warned_at) {
        (Some(pull), _) => format!("pull request #{pull} is open; {link}."),
        (None, Some(_)) => {
            let asks_for_plan = draft
                .lines_of(track)
                .any(|line| line.reason == Reason::PlanApproval);
            if asks_for_plan {
                format!(
                    "its plan waits for somebody with write access to say `/phileas approve` here, or to put on the \
                     label `phileas:approve-plan` (`{}`); {link}.",
                    Reason::PlanApproval
                )
            } else {
                format!("waits for a person; {link}.")
            }
        }
        (None, None) => format!("at work; {link}."),
    };
    Some(Standing { text, waits: false })
}

pub(super) fn session_link(id: &str) -> String {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("[session {id}](https://jules.google.com/session/{id})")
}

/// Why something waits, for people who do not know phileas.
pub(super) fn waiting(reason: Reason) -> &'static str {
    match reason {
        Reason::BudgetActive => "enough sessions are at work in this repository",
        Reason::BudgetDaily => {
            "enough sessions were started within a day in this repository (`daily_sessions` and `reserve_for_people` of \
             the plan's budget)"
        }
        Reason::ActorHour => "the same person has asked for enough within an hour",
        Reason::JulesQuota => "the Jules key has no room for it now",
        Reason::JulesUnavailable => "Jules does not answer",
        Reason::JulesCredential => "Jules refuses the key",
        Reason::ChecksRunning => "the checks of its newest commit are not over",
        Reason::MergeableUnknown => "GitHub does not know yet whether it can be merged",
        Reason::MergeSent => "GitHub was asked to merge it, and the answer was lost",
        Reason::ReviewsAsked => "its session cannot be told yet",
        Reason::ReviewsTold => "its session was told, and nobody knows yet whether that arrived",
        Reason::PersonaBusy => "the same persona is at work elsewhere",
        Reason::SubjectHeld => "the label `phileas:hold` keeps it from starting",
        Reason::PausedVariable
        | Reason::PausedLabel
        | Reason::PausedState
        | Reason::PausedTrack => "everything is paused",
        Reason::PlanInvalid => "a limit in the plan cannot be read",
        Reason::CreateRefused => "Jules refused the session; it is tried again",
        Reason::PersonaRefused => "Jules refused the persona's last session; it is tried again",
        Reason::RetryPause => "it is tried again in a while",
        _ => "it starts by itself as soon as it can",
    }
}

/// The personas, for somebody who asked for one that is not there.
fn names(draft: &Draft<'_>, code: &str) -> String {
    if code != Reason::Unknown.code() {
        return String::new();
    }
    let personas = &draft.snapshot.plan.personas;
    let mut named: Vec<String> = personas
        .keys()
        .take(NUMBERS_NAMED)
        .map(|id| format!("`{id}`"))
        .collect();
    if personas.len() > named.len() {
        named.push("…".to_owned());
    }
    if named.is_empty() {
        "; the plan has no persona".to_owned()
    } else {
        format!("; the personas are {}", named.join(", "))
    }
}

/// Why something was not done, and what to do about it.
fn refusal(code: &str) -> &'static str {
    let known = Reason::ALL.iter().find(|reason| reason.code() == code);
    match known {
        Some(Reason::ActorPermission) => {
            "only people with write access to this repository may ask for it"
        }
        Some(Reason::ActorUnknown) => {
            "GitHub does not tell who put the label on; take it off and put it on again, or say it in a comment"
        }
        Some(Reason::ActorBot) => "bots may not ask for it, unless `gate.allow_bots` names them",
        Some(Reason::ActorSelf) => {
            "who asked is the bot that phileas itself works as, and it does not listen to itself"
        }
        Some(Reason::ActorBudget) => "the plan lets nobody ask for sessions by labels and comments",
        Some(Reason::ContentChanged) => {
            "the text, the title or the commits were changed after it was asked for; read it again and ask again"
        }
        Some(Reason::Fork) => "the pull request comes from a fork, and forks start nothing",
        Some(Reason::SubjectClosed) => "it was closed before it could start",
        Some(Reason::RequestOld) => "it was asked for more than seven days ago; ask again",
        Some(Reason::Unknown) => "there is nothing by that name here",
        Some(Reason::PlanForbids) => "the plan leaves it to people, in Jules itself",
        Some(Reason::NotOurs) => "it is no pull request of a session that phileas started",
        Some(Reason::MergeOff) => "the plan does not say `merge = \"green\"` for it",
        Some(Reason::NothingToDo) => "there is nothing here that it could be done to",
        Some(Reason::PersonaSensitive) => {
            "the persona is sensitive, and the repository with its ledger is public"
        }
        Some(Reason::PersonaInvalid | Reason::PromptInvalid) => {
            "the persona cannot be read; `phileas validate` says why"
        }
        _ => "`phileas explain` says why",
    }
}

#[cfg(test)]
mod tests;
