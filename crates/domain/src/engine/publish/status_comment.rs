//! The status comment: one on each issue or pull request that somebody has asked something on, edited as things go on.
//!
//! What it should say is worked out anew from the state each time, so nothing is lost when whoever should have written
//! it dies. The digest of what it was last made to say goes into the ledger before it is written: of several processes
//! the one whose commit wins writes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::account::{account, pauses, since, since_text};
use crate::engine::input::request_kind::{COMMANDS, DONE, PENDING, REFUSED, UNKNOWN};
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::request_origin::newest_of;
use crate::engine::lookup::{pending_reviews, plan_approval, pull_owner, work_items};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    DAY, GRACE, INTENT_VALID, NUMBERS_NAMED, PLANS_SHOWN, STATUS_AGAIN, STATUS_CALM,
    STATUS_REPEATS, STATUS_REQUESTS, STATUS_SETTLES, STATUS_WORK,
};
use crate::engine::output::reason_text::reason_text;
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markdown::{neutral, plain, session_link};
use crate::engine::text::markers::STATUS_MARKER;
use crate::engine::text::time::{later, utc};
use crate::model::{PullNumber, TrackName};
use crate::prompt;
use crate::state::{Extra, HistoryEntry, Outcome, RequestState, StatusState, Turn};

/// What the ledger keeps of an answer in whose place a newer one stands.
const REPLACED: &str = "a newer answer stands in its place";

/// Brings every status comment up to date.
pub(crate) fn run(draft: &mut Draft<'_>) {
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
    let pulls = pulls_at_work(draft);
    for (key, request) in &draft.state.requests {
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
        subject(draft, &requests);
    }
}

/// The pull requests of sessions that are open, or were when this decision began: what becomes of one is told, too.
fn pulls_at_work(draft: &Draft<'_>) -> BTreeSet<PullNumber> {
    let before = match &draft.snapshot.ledger {
        Ledger::Present { state, .. } => Some(&**state),
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
    };
    let states = before.into_iter().chain([&draft.state]);
    states
        .flat_map(|state| pull_owner::owners(state).into_keys())
        .collect()
}

/// Whether a request asks how things stand, and was let through.
fn is_question(request: &RequestState) -> bool {
    request.outcome.as_deref() == Some(DONE)
        && matches!(request.command.as_deref(), Some("status" | "explain"))
}

/// Answers those who want to know how things stand. It is written down, so that it is told once and stays, until the
/// next answer takes its place.
fn answer(draft: &mut Draft<'_>) {
    let waits = |request: &RequestState| is_question(request) && request.answer.is_none();
    let keys: Vec<String> = draft
        .state
        .requests
        .iter()
        .filter(|(_, request)| waits(request))
        .map(|(key, _)| key.clone())
        .collect();
    for key in keys {
        let Some(request) = draft.state.requests.get(&key) else {
            continue;
        };
        let (subject, number) = (request.subject.clone(), request.number);
        let text = account(draft, request.command.as_deref() == Some("explain"));
        for request in draft.state.requests.values_mut() {
            if is_question(request) && request.subject == subject && request.number < number {
                request.answer = Some(REPLACED.to_owned());
            }
        }
        if let Some(request) = draft.state.requests.get_mut(&key) {
            request.answer = Some(text);
        }
    }
}

/// The requests of one subject, newest first.
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

/// Notes that a status comment stands as it should.
pub(crate) fn told(draft: &mut Draft<'_>, request: &str, digest: &str, comment_id: u64) {
    if let Some(request) = draft.state.requests.get_mut(request) {
        request.comment_id = Some(comment_id);
        if let Some(status) = &mut request.status {
            status.told |= status.digest == digest;
        }
    }
}

/// What the comment should say.
pub(crate) struct Text {
    body: String,
    /// The same without the reasons to wait.
    calm: String,
}

/// Where one request stands.
pub(crate) struct Standing {
    pub(crate) text: String,
    /// The same without what may be another reason in a minute.
    calm: String,
    /// The plan that waits for approval, as people are shown it.
    plan: Option<String>,
}

impl Standing {
    /// It stands as it is said.
    fn firm(text: String) -> Self {
        let calm = text.clone();
        Self {
            text,
            calm,
            plan: None,
        }
    }

    fn waits(reason: Option<Reason>, since: Option<Timestamp>) -> Self {
        let since = since.map(since_text).unwrap_or_default();
        let text = match reason {
            Some(reason) => format!("waits{since} (`{reason}`): {}.", reason_text(reason)),
            None => format!("waits{since} for its turn."),
        };
        Self {
            text,
            calm: "waits".to_owned(),
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
    /// Whether a request asks which commands there are.
    lists_commands: bool,
    /// Whether a pause matters to its readers.
    tells_pauses: bool,
}

/// What the comment should say: the current work first, then who paused the repository, the newest answer, and what is
/// over. `None` while something is being started that the next moment tells of. Nothing else may hold it back: one
/// request that nothing is known of would silence all others of its subject.
pub(crate) fn text(draft: &Draft<'_>, requests: &[(u64, String)]) -> Option<Text> {
    let mut calm = String::new();
    let mut parts = Parts::default();
    work_of_thread(draft, requests, (&mut calm, &mut parts));
    for (number, key) in requests {
        let Some(request) = draft.state.requests.get(key) else {
            continue;
        };
        if is_question(request) {
            if parts.answer.is_none() {
                calm.push_str(&format!("{number}: answered\n"));
                parts.answer = Some(answer_text(request));
            }
            continue;
        }
        let is_current = is_current(draft, *number, request);
        if !is_current && parts.past.len() >= STATUS_REQUESTS {
            continue;
        }
        let state = standing(draft, *number, request)?;
        calm.push_str(&format!("{number}: {}\n", state.calm));
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
    let body = parts.body(draft);
    Some(Text { body, calm })
}

impl Parts {
    fn body(mut self, draft: &Draft<'_>) -> String {
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
            let pauses = pauses(draft);
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

/// Whether a request waits, is at work, or has a pull request that is open.
fn is_current(draft: &Draft<'_>, number: u64, request: &RequestState) -> bool {
    let track = draft.state.tracks.get(&TrackName::of_request(number));
    let outcome = request.outcome.as_deref();
    track.is_some_and(|track| !track.turns.is_empty())
        || outcome == Some(PENDING)
        || outcome == Some(Outcome::PrOpen.as_str())
}

/// What is requested, and by which account.
fn request_text(request: &RequestState) -> String {
    let what = match (&request.persona, request.command.as_deref()) {
        (Some(persona), _) => format!("`{}`", plain(persona.as_str())),
        (None, None | Some(UNKNOWN)) => "a request".to_owned(),
        (None, Some(command)) => format!("the command `{}`", plain(command)),
    };
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(", asked for by `{}`", plain(login)));
    what + &who.unwrap_or_default()
}

/// The answer to `status` or `explain`, as of the time when it was given.
fn answer_text(request: &RequestState) -> String {
    let command = plain(request.command.as_deref().unwrap_or_default());
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(" to `{}`", plain(login)));
    let at = request.finished_at.map(|at| format!(", {}", utc(at)));
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

/// What is at work on the thread without a request on it: the turn or the session whose pull request it is, and the turn
/// that its notice is about.
fn work_of_thread(
    draft: &Draft<'_>,
    requests: &[(u64, String)],
    (calm, parts): (&mut String, &mut Parts),
) {
    let newest = requests.first();
    let newest = newest.and_then(|(_, key)| draft.state.requests.get(key));
    let Some(thread) = newest.and_then(|request| request.thread) else {
        return;
    };
    let is_own = |track: &TrackName| {
        let number = track.request_number();
        number.is_some_and(|number| requests.iter().any(|(known, _)| *known == number))
    };
    let notices = &draft.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == thread);
    let noticed = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    for (name, track) in draft.state.tracks.iter().filter(|(name, _)| !is_own(name)) {
        for turn in track.turns.values() {
            let is_here =
                turn.pr_number == Some(PullNumber(thread)) || noticed == Some(turn.turn.as_str());
            if let Some(state) = is_here.then(|| live(draft, name, turn)).flatten() {
                calm.push_str(&format!("{}: {}\n", turn.turn, state.calm));
                parts
                    .work
                    .push(work_line(turn.persona_id.as_str(), name, &state.text));
                parts.plans.extend(state.plan);
            }
        }
    }
    let owners = pull_owner::owners(&draft.state);
    let owner = owners.get(&PullNumber(thread));
    if let Some(entry) = owner.filter(|entry| parts.work.is_empty() && !is_own(&entry.track_name()))
    {
        let text = open_pull(PullNumber(thread), entry);
        calm.push_str(&format!("{text}\n"));
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
        plain(persona),
        plain(track.as_str())
    )
}

/// Where one request stands; `None` while it is being started.
pub(crate) fn standing(draft: &Draft<'_>, number: u64, request: &RequestState) -> Option<Standing> {
    let track = TrackName::of_request(number);
    if request.outcome.as_deref() == Some(PENDING) {
        let sent_at = request.merge.as_ref().and_then(|merge| merge.sent_at);
        if sent_at.is_some_and(|at| draft.now().duration_since(at) < INTENT_VALID) {
            return None;
        }
        if pending_reviews::is_being_told(draft, request) {
            return None;
        }
        let line = draft.lines_of(&track).find(|line| {
            matches!(
                line.verdict,
                Verdict::Waiting | Verdict::Paused | Verdict::Held
            )
        });
        let reason = line.map(|line| line.reason);
        let since = request.asked_at.or(request.created_at);
        let mut standing = Standing::waits(reason, since);
        // Until a person has read that plan, its session keeps its place.
        if reason == Some(Reason::BudgetActive)
            && let Some(places) =
                plan_approval::in_words(&plan_approval::places(draft, |track, _| {
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
    Some(Standing::firm(over(draft, request)))
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
        (Some(Outcome::PrOpen), Some(_)) => match entry.pr_number {
            Some(number) => open_pull(number, entry),
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
            let way_out = match came_to_nothing && can_be_retried(draft, request) {
                true => "; say `/phileas retry` here to have it started again",
                false => "",
            };
            format!("ended as `{outcome}`{pull}{note}{session}{way_out}.")
        }
        (None, _) => format!("over, and its end was not written down{session}."),
    }
}

/// That the pull request of an ended turn is open, and since when that is known.
fn open_pull(number: PullNumber, entry: &HistoryEntry) -> String {
    let session = entry.session_id.as_ref();
    let session = session.map(|id| format!("; {}", session_link(id.as_str())));
    let since = entry.finished_at.map(since_text);
    format!(
        "pull request #{number} is open{}{}.",
        since.unwrap_or_default(),
        session.unwrap_or_default()
    )
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
    let is_there = plan.personas.contains_key(persona) || work_items::seat_of(persona).is_some();
    // There it means that the session is told what reviewers want.
    let is_own_pull = pull_owner::is_ours(draft, PullNumber(thread));
    is_newest && is_there && !is_own_pull && plan.budget.requests_per_actor_hour > 0
}

fn live(draft: &Draft<'_>, track: &TrackName, turn: &Turn) -> Option<Standing> {
    let mut lines = draft.lines_of(track).rev();
    let line = lines.find(|line| line.turn.as_ref() == Some(&turn.turn));
    let reason = line.map(|line| line.reason);
    let Some(session) = &turn.session_id else {
        let young = |at: Timestamp| draft.now().duration_since(at) < GRACE;
        return match &turn.intent {
            Some(intent) if young(intent.created_at) => None,
            Some(intent) => Some(Standing::firm(format!(
                "whether its session was started is not known yet; requested from Jules at {}.",
                utc(intent.created_at)
            ))),
            None => {
                let reason = draft.lines_of(track).last().map(|line| line.reason);
                Some(Standing::waits(reason, None))
            }
        };
    };
    let link = session_link(session.as_str());
    if let Some(pull) = turn.pr_number {
        let known = draft.snapshot.pulls.get(&pull);
        let since = known.map(|pull| since_text(pull.created_at));
        return Some(Standing {
            text: format!(
                "pull request #{pull} is open{}; {link}.",
                since.unwrap_or_default()
            ),
            calm: format!("pull request #{pull} is open"),
            plan: None,
        });
    }
    let stands = reason.filter(|reason| *reason != Reason::SessionRunning);
    let stands = stands.map(|reason| format!(" (`{reason}`): {}", reason_text(reason)));
    let stands = stands.unwrap_or_default();
    let Some(warned_at) = turn.warned_at else {
        let since = since(draft, turn).map(since_text).unwrap_or_default();
        return Some(Standing {
            text: format!("at work{since}{stands}; {link}."),
            calm: "at work".to_owned(),
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
    Some(Standing {
        text,
        calm: format!("waits for a person{since}"),
        plan: plan_approval::shown(draft, track, turn).filter(|_| asks_for_plan),
    })
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
pub(crate) fn refusal(code: &str) -> &'static str {
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
