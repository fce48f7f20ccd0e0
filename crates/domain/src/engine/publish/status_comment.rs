//! Keeps one status comment on each issue or pull request with a request, and edits it as things change.
//!
//! Its text is computed from the state each time, so a process that dies loses nothing. The ledger gets the digest of a
//! text before it is written: of several processes, the one whose commit wins writes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::account::{pause_lines, since_text, started_at, status_answer};
use crate::engine::input::commands::{COMMANDS, UNKNOWN};
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::request_origin::newest_request;
use crate::engine::lookup::{pending_reviews, plan_approval, pull_owner, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    DAY, GRACE, INTENT_VALID, NUMBERS_NAMED, PLANS_SHOWN, STATUS_AGAIN, STATUS_INTERVAL,
    STATUS_REPEATS, STATUS_REQUESTS, STATUS_SETTLES, STATUS_WORK,
};
use crate::engine::output::reason_text::reason_text;
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markdown::{quote_as_code, sanitize_word, session_link};
use crate::engine::text::markers::STATUS_MARKER;
use crate::engine::text::time::{format_utc, time_after};
use crate::model::{PullNumber, TrackName};
use crate::prompt;
use crate::state::{Extra, HistoryEntry, Outcome, RequestOutcome, RequestState, StatusState, Turn};

/// Replaces an older answer in the ledger.
const REPLACED: &str = "a newer answer stands in its place";

/// Updates every status comment.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    answer_questions(builder);
    let now = builder.now();
    // A request that ended a day ago and was reported does not change, so its turn is not searched again.
    let is_over = |request: &RequestState| {
        request
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

/// Whether a request is an authorized `status` or `explain`.
fn is_question(request: &RequestState) -> bool {
    request.has_outcome(&RequestOutcome::Done)
        && matches!(request.command.as_deref(), Some("status" | "explain"))
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

/// The text of a comment.
pub(crate) struct CommentText {
    body: String,
    /// The text without the reasons to wait.
    stable: String,
}

/// The status of one request.
pub(crate) struct RequestStatus {
    pub(crate) text: String,
    /// The text without reasons that change often.
    stable: String,
    /// The plan that waits for approval, as text for people.
    plan: Option<String>,
}

impl RequestStatus {
    /// A status that does not change with reasons to wait.
    fn settled(text: String) -> Self {
        let stable = text.clone();
        Self {
            text,
            stable,
            plan: None,
        }
    }

    fn waiting(reason: Option<Reason>, since: Option<Timestamp>) -> Self {
        let since = since.map(since_text).unwrap_or_default();
        let text = match reason {
            Some(reason) => format!("waits{since} (`{reason}`): {}.", reason_text(reason)),
            None => format!("waits{since} for its turn."),
        };
        Self {
            text,
            stable: "waits".to_owned(),
            plan: None,
        }
    }
}

/// The parts of a comment.
#[derive(Default)]
struct Parts {
    work: Vec<String>,
    /// Plans that wait for approval.
    plans: Vec<String>,
    answer: Option<String>,
    past: Vec<String>,
    /// Whether to list the commands.
    lists_commands: bool,
    /// Whether to show pauses.
    tells_pauses: bool,
}

/// The text of a comment: current work, pauses, the newest answer, finished requests. `None` while a session is being
/// created whose result comes soon. Nothing else may hold it back, because one unknown request would silence all others
/// of its subject.
pub(crate) fn comment_text(
    builder: &DecisionBuilder<'_>,
    requests: &[(u64, String)],
) -> Option<CommentText> {
    let mut stable = String::new();
    let mut parts = Parts::default();
    work_of_thread(builder, requests, (&mut stable, &mut parts));
    for (number, key) in requests {
        let Some(request) = builder.state.requests.get(key) else {
            continue;
        };
        if is_question(request) {
            if parts.answer.is_none() {
                stable.push_str(&format!("{number}: answered\n"));
                parts.answer = Some(answer_text(request));
            }
            continue;
        }
        let is_current = is_current(builder, *number, request);
        if !is_current && parts.past.len() >= STATUS_REQUESTS {
            continue;
        }
        let state = request_status(builder, *number, request)?;
        stable.push_str(&format!("{number}: {}\n", state.stable));
        let line = format!("- {}: {}", request_text(request), state.text);
        let command = request.command.as_deref();
        parts.tells_pauses |= matches!(command, Some("pause" | "stop"));
        parts.lists_commands |= matches!(command, Some("help" | UNKNOWN));
        parts.plans.extend(state.plan);
        if is_current {
            parts.work.push(line);
        } else {
            parts.past.push(line);
        }
    }
    let body = parts.render_body(builder);
    Some(CommentText { body, stable })
}

impl Parts {
    fn render_body(mut self, builder: &DecisionBuilder<'_>) -> String {
        let tells_pauses = self.tells_pauses || self.answer.is_some() || !self.work.is_empty();
        let more = self.work.len().saturating_sub(STATUS_WORK);
        self.work.truncate(STATUS_WORK);
        if more > 0 {
            self.work.push(format!("- and {more} more"));
        }
        self.plans.truncate(PLANS_SHOWN);
        let mut parts = vec!["**phileas**".to_owned()];
        if !self.work.is_empty() {
            parts.push(self.work.join("\n"));
        } else if tells_pauses || self.past.is_empty() {
            parts.push("Nothing of phileas is at work or waits here.".to_owned());
        }
        parts.extend(self.plans);
        if tells_pauses {
            let pauses = pause_lines(builder);
            let pauses: Vec<String> = pauses.iter().map(|text| format!("- {text}")).collect();
            parts.extend((!pauses.is_empty()).then(|| pauses.join("\n")));
        }
        parts.extend(self.answer);
        if !self.past.is_empty() {
            let past = self.past.join("\n");
            let stands_alone = parts.len() == 1;
            parts.push(match stands_alone {
                true => past,
                false => format!("Before:\n\n{past}"),
            });
        }
        parts.extend(self.lists_commands.then(command_list));
        parts.push("phileas edits this comment as things change.".to_owned());
        format!("{}\n\n{STATUS_MARKER}\n", parts.join("\n\n"))
    }
}

/// Whether a request is pending, is at work, or has an open pull request.
fn is_current(builder: &DecisionBuilder<'_>, number: u64, request: &RequestState) -> bool {
    let track = builder.state.tracks.get(&TrackName::of_request(number));
    track.is_some_and(|track| !track.turns.is_empty())
        || request.is_pending()
        || request.has_outcome(&RequestOutcome::Turn(Outcome::PrOpen))
}

/// What is requested, and by which account.
fn request_text(request: &RequestState) -> String {
    let what = match (&request.persona, request.command.as_deref()) {
        (Some(persona), _) => format!("`{}`", sanitize_word(persona.as_str())),
        (None, None | Some(UNKNOWN)) => "a request".to_owned(),
        (None, Some(command)) => format!("the command `{}`", sanitize_word(command)),
    };
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(", requested by `{}`", sanitize_word(login)));
    what + &who.unwrap_or_default()
}

/// The answer to `status` or `explain`, as of its time.
fn answer_text(request: &RequestState) -> String {
    let command = sanitize_word(request.command.as_deref().unwrap_or_default());
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(" to `{}`", sanitize_word(login)));
    let at = request
        .finished_at
        .map(|at| format!(", {}", format_utc(at)));
    format!(
        "The answer to `/phileas {command}`{}{}:\n\n{}",
        who.unwrap_or_default(),
        at.unwrap_or_default(),
        request.answer.as_deref().unwrap_or_default()
    )
}

fn command_list() -> String {
    let commands = COMMANDS.iter();
    let lines: Vec<String> = commands
        .map(|(words, what)| format!("- `/phileas {words}`: {what}"))
        .collect();
    format!("The commands:\n\n{}", lines.join("\n"))
}

/// Adds work on the thread without a request on it: the turn or session of the pull request, and the turn of the
/// notice.
fn work_of_thread(
    builder: &DecisionBuilder<'_>,
    requests: &[(u64, String)],
    (stable, parts): (&mut String, &mut Parts),
) {
    let newest = requests.first();
    let newest = newest.and_then(|(_, key)| builder.state.requests.get(key));
    let Some(thread) = newest.and_then(|request| request.thread) else {
        return;
    };
    let is_own = |track: &TrackName| {
        let number = track.request_number();
        number.is_some_and(|number| requests.iter().any(|(known, _)| *known == number))
    };
    let notices = &builder.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == thread);
    let noticed = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    for (name, track) in builder
        .state
        .tracks
        .iter()
        .filter(|(name, _)| !is_own(name))
    {
        for turn in track.turns.values() {
            let is_here =
                turn.pr_number == Some(PullNumber(thread)) || noticed == Some(turn.turn.as_str());
            if let Some(state) = is_here.then(|| turn_status(builder, name, turn)).flatten() {
                stable.push_str(&format!("{}: {}\n", turn.turn, state.stable));
                parts
                    .work
                    .push(work_line(turn.persona_id.as_str(), name, &state.text));
                parts.plans.extend(state.plan);
            }
        }
    }
    let owners = pull_owner::pull_owners(&builder.state);
    let owner = owners.get(&PullNumber(thread));
    if let Some(entry) = owner.filter(|entry| parts.work.is_empty() && !is_own(&entry.track_name()))
    {
        let text = open_pull_text(PullNumber(thread), entry);
        stable.push_str(&format!("{text}\n"));
        parts.work.push(work_line(
            entry.persona_id.as_str(),
            &entry.track_name(),
            &text,
        ));
    }
}

fn work_line(persona: &str, track: &TrackName, text: &str) -> String {
    format!(
        "- `{}` of track `{}`: {text}",
        sanitize_word(persona),
        sanitize_word(track.as_str())
    )
}

/// The status of one request; `None` while its session is being created.
pub(crate) fn request_status(
    builder: &DecisionBuilder<'_>,
    number: u64,
    request: &RequestState,
) -> Option<RequestStatus> {
    let track = TrackName::of_request(number);
    if request.is_pending() {
        let sent_at = request.merge.as_ref().and_then(|merge| merge.sent_at);
        if sent_at.is_some_and(|at| builder.now().duration_since(at) < INTENT_VALID) {
            return None;
        }
        if pending_reviews::is_being_sent(builder, request) {
            return None;
        }
        let line = builder.lines_of_track(&track).find(|line| {
            matches!(
                line.verdict,
                Verdict::Waiting | Verdict::Paused | Verdict::Held
            )
        });
        let reason = line.map(|line| line.reason);
        let since = request.requested_at.or(request.created_at);
        let mut standing = RequestStatus::waiting(reason, since);
        // A session counts against the limit until its plan is approved.
        if reason == Some(Reason::BudgetActive)
            && let Some(places) =
                plan_approval::list_places(&plan_approval::approval_places(builder, |track, _| {
                    let mut lines = builder.lines_of_track(track);
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
    let turns = builder.state.tracks.get(&track).map(|track| &track.turns);
    if let Some(turn) = turns.and_then(|turns| turns.values().next()) {
        return turn_status(builder, &track, turn);
    }
    Some(RequestStatus::settled(finished_text(builder, request)))
}

/// The result of a finished request.
fn finished_text(builder: &DecisionBuilder<'_>, request: &RequestState) -> String {
    let Some(outcome) = request.parsed_outcome() else {
        return "was accepted.".to_owned();
    };
    if outcome == RequestOutcome::Refused {
        return refused_text(builder, request);
    }
    let Some(turn) = &request.turn else {
        return command_result_text(request, &outcome);
    };
    // The entry is missing where the turn never had a session, or where it is archived.
    let Some((_, entry)) = builder.state.entry_named(turn.as_str()) else {
        return match (request.reason.as_deref(), outcome) {
            (Some(code), _) => format!("not started: {} (`{code}`).", refusal_text(code)),
            (None, RequestOutcome::Turn(Outcome::Cancelled)) => {
                "cancelled before it had a session.".to_owned()
            }
            (None, other) => format!("over: {}.", sanitize_word(other.as_str())),
        };
    };
    ended_turn_text(builder, request, entry)
}

/// Why a request was refused.
fn refused_text(builder: &DecisionBuilder<'_>, request: &RequestState) -> String {
    let code = request.reason.as_deref().unwrap_or("refused");
    if let (Some(_), Some(answer)) = (&request.merge, &request.answer) {
        return format!("not merged: {answer} (`{code}`).");
    }
    if let (Some(_), Some(answer)) = (&request.reviews_of, &request.answer) {
        return format!("its session got no message: {answer} (`{code}`).");
    }
    if request.command.as_deref() == Some("merge") {
        return format!("not merged: {} (`{code}`).", refusal_text(code));
    }
    if let (Some(_), Some(answer)) = (&request.command, &request.answer) {
        return format!("not done: {answer} (`{code}`).");
    }
    let known = persona_names(builder, code);
    format!("not started: {}{known} (`{code}`).", refusal_text(code))
}

/// The result of a request that started no turn.
fn command_result_text(request: &RequestState, outcome: &RequestOutcome) -> String {
    match outcome {
        RequestOutcome::Turn(Outcome::Cancelled) => "withdrawn before it was started.".to_owned(),
        RequestOutcome::Done => match &request.answer {
            Some(answer) => format!("{}.", answer.trim_end_matches('.')),
            None => "done.".to_owned(),
        },
        other => format!("over: {}.", sanitize_word(other.as_str())),
    }
}

/// The result of a request whose turn has ended.
fn ended_turn_text(
    builder: &DecisionBuilder<'_>,
    request: &RequestState,
    entry: &HistoryEntry,
) -> String {
    let session = entry
        .session_id
        .as_ref()
        .map(|id| format!("; {}", session_link(id.as_str())))
        .unwrap_or_default();
    let note = entry
        .note
        .as_deref()
        .map(|note| format!("; {}", quote_as_code(note)))
        .unwrap_or_default();
    let pull = entry.pr_number.map(|pull| format!("pull request #{pull}"));
    match (&entry.outcome, pull) {
        (Some(Outcome::PrOpen), Some(_)) => match entry.pr_number {
            Some(number) => open_pull_text(number, entry),
            None => format!("its pull request is open{session}."),
        },
        (Some(Outcome::Merged), Some(pull)) => format!("{pull} was merged{session}."),
        (Some(Outcome::Rejected), Some(pull)) => format!("{pull} was closed unmerged{session}."),
        (Some(outcome), pull) => {
            let pull = pull.map(|pull| format!(", {pull}")).unwrap_or_default();
            let came_to_nothing = matches!(
                outcome,
                Outcome::Stuck | Outcome::Failed | Outcome::NoOutput
            );
            let way_out = match came_to_nothing && can_be_retried(builder, request) {
                true => "; say `/phileas retry` here to start it again",
                false => "",
            };
            format!("ended as `{outcome}`{pull}{note}{session}{way_out}.")
        }
        (None, _) => format!("over; its outcome was not recorded{session}."),
    }
}

/// Says that the pull request of an ended turn is open.
fn open_pull_text(number: PullNumber, entry: &HistoryEntry) -> String {
    let session = entry.session_id.as_ref();
    let session = session.map(|id| format!("; {}", session_link(id.as_str())));
    let since = entry.finished_at.map(since_text);
    format!(
        "pull request #{number} is open{}{}.",
        since.unwrap_or_default(),
        session.unwrap_or_default()
    )
}

/// Whether `/phileas retry` would repeat this request, as far as is known now.
fn can_be_retried(builder: &DecisionBuilder<'_>, request: &RequestState) -> bool {
    let (Some(subject), Some(persona), Some(thread)) =
        (&request.subject, &request.persona, request.thread)
    else {
        return false;
    };
    let is_newest =
        newest_request(builder, subject).is_some_and(|newest| newest.number == request.number);
    let plan = &builder.snapshot.plan;
    let is_there =
        plan.personas.contains_key(persona) || work_items::implementer_role(persona).is_some();
    // On phileas' own pull request, retry sends reviews instead.
    let is_own_pull = pull_owner::is_own_pull(builder, PullNumber(thread));
    is_newest && is_there && !is_own_pull && plan.budget.requests_per_actor_hour > 0
}

fn turn_status(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    turn: &Turn,
) -> Option<RequestStatus> {
    let mut lines = builder.lines_of_track(track).rev();
    let line = lines.find(|line| line.turn.as_ref() == Some(&turn.turn));
    let reason = line.map(|line| line.reason);
    let Some(session) = &turn.session_id else {
        let young = |at: Timestamp| builder.now().duration_since(at) < GRACE;
        return match &turn.intent {
            Some(intent) if young(intent.created_at) => None,
            Some(intent) => Some(RequestStatus::settled(format!(
                "whether its session was started is not known yet; requested from Jules at {}.",
                format_utc(intent.created_at)
            ))),
            None => {
                let reason = builder.lines_of_track(track).last().map(|line| line.reason);
                Some(RequestStatus::waiting(reason, None))
            }
        };
    };
    let link = session_link(session.as_str());
    if let Some(pull) = turn.pr_number {
        let known = builder.snapshot.pulls.get(&pull);
        let since = known.map(|pull| since_text(pull.created_at));
        return Some(RequestStatus {
            text: format!(
                "pull request #{pull} is open{}; {link}.",
                since.unwrap_or_default()
            ),
            stable: format!("pull request #{pull} is open"),
            plan: None,
        });
    }
    let stands = reason.filter(|reason| *reason != Reason::SessionRunning);
    let stands = stands.map(|reason| format!(" (`{reason}`): {}", reason_text(reason)));
    let stands = stands.unwrap_or_default();
    let Some(warned_at) = turn.warned_at else {
        let since = started_at(builder, turn)
            .map(since_text)
            .unwrap_or_default();
        return Some(RequestStatus {
            text: format!("at work{since}{stands}; {link}."),
            stable: "at work".to_owned(),
            plan: None,
        });
    };
    let since = since_text(warned_at);
    let asks_for_plan = reason == Some(Reason::PlanApproval);
    let text = if asks_for_plan {
        format!(
            "its plan waits{since} for a person with write access to say `/phileas approve` here, or to put on the label \
             `phileas:approve-plan` (`{}`); {link}.",
            Reason::PlanApproval
        )
    } else {
        format!("waits{since} for a person{stands}; {link}.")
    };
    Some(RequestStatus {
        text,
        stable: format!("waits for a person{since}"),
        plan: plan_approval::plan_text(builder, track, turn).filter(|_| asks_for_plan),
    })
}

/// The known personas, for a request for an unknown one.
fn persona_names(builder: &DecisionBuilder<'_>, code: &str) -> String {
    if code != Reason::Unknown.code() {
        return String::new();
    }
    let personas = &builder.snapshot.plan.personas;
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

/// Why a request was refused, and what to do about it.
pub(crate) fn refusal_text(code: &str) -> &'static str {
    match Reason::from_code(code) {
        Some(Reason::ActorPermission) => {
            "only people with write access to this repository may request it"
        }
        Some(Reason::ActorUnknown) => {
            "GitHub does not show who added the label; remove it and add it again, or use a comment"
        }
        Some(Reason::ActorBot) => "bots may not request it, unless `gate.allow_bots` names them",
        Some(Reason::ActorSelf) => {
            "the account is phileas itself or Jules, which may make no requests"
        }
        Some(Reason::ActorBudget) => {
            "the plan allows no requests for sessions by labels and comments"
        }
        Some(Reason::ContentChanged) => {
            "the text, the title or the commits were changed after the request; read it again and repeat the request"
        }
        Some(Reason::Fork) => "the pull request comes from a fork, and forks start nothing",
        Some(Reason::SubjectClosed) => "it was closed before it could start",
        Some(Reason::RequestOld) => "it was requested more than seven days ago; request it again",
        Some(Reason::Unknown) => "the name is not known here",
        Some(Reason::PlanForbids) => "the plan leaves it to people, in Jules itself",
        Some(Reason::NotOurs) => "it is no pull request of a session that phileas started",
        Some(Reason::MergeOff) => "the plan does not say `merge = \"green\"` for it",
        Some(Reason::NothingToDo) => "nothing here matches the command",
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
