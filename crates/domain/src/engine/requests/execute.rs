//! Executes the command of an authorized request: changes live turns, or returns the request to record.

use jiff::Timestamp;

use super::request::{Command, Request, unknown_text};
use super::{dashboard, merge};
use crate::engine::input::session::{Activity, ActivityKind, Listing};
use crate::engine::lookup::request_origin::{self, newest_request};
use crate::engine::lookup::waiting_turns::{waits_for_person, waits_for_plan_approval};
use crate::engine::lookup::{plan_approval, pull_owner, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::record::request;
use crate::engine::record::steer::resume_turn;
use crate::model::{Oid, PersonaId, PullNumber, SessionId, Slot, TrackName, TurnId};
use crate::plan::PlanApproval;
use crate::state::{Pause, RequestState, Turn};

/// A refusal: its reason, and a sentence for the report.
type Refusal = (Reason, String);

/// The result of a command.
pub(crate) enum CommandResult {
    /// It was executed; the answer may be empty.
    Executed(String),
    /// A session of this persona, or of the work item of this slot, is requested.
    StartSession(PersonaId),
    /// The merge of this commit is requested.
    Merge(Oid),
    /// The reviews of this commit are to be sent to its session.
    SendReviews(Oid),
    /// It is refused.
    Refused(Reason, String),
    /// More must be read first, and nothing was done.
    NeedsRead,
}

impl From<Result<String, Refusal>> for CommandResult {
    fn from(result: Result<String, Refusal>) -> Self {
        match result {
            Ok(answer) => Self::Executed(answer),
            Err((reason, text)) => Self::Refused(reason, text),
        }
    }
}

/// Executes the command of an authorized request, as far as it needs no pending request.
pub(crate) fn execute_command(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> CommandResult {
    match &request.command {
        Command::Run(persona) => request_session(builder, request, persona),
        Command::Retry => retry_turns(builder, request),
        Command::ApprovePlan => approve_plan(builder, request),
        Command::ResumeTurn(turn) => resume_waiting_turn(builder, turn).into(),
        Command::Dashboard => CommandResult::Executed(dashboard::open_dashboard(builder)),
        Command::Cancel => cancel_turns(builder, request).into(),
        Command::Pause => CommandResult::Executed(pause_repository(builder, request)),
        Command::Resume => resume_repository(builder, request).into(),
        Command::Stop => CommandResult::Executed(stop_repository(builder, request)),
        // The answer is written when everything is decided.
        Command::Status | Command::Explain => CommandResult::Executed(String::new()),
        Command::Merge => match merge::check_merge(builder, request) {
            Ok(head) => CommandResult::Merge(head),
            Err((reason, text)) => CommandResult::Refused(reason, text),
        },
        Command::Help => CommandResult::Executed("the commands are listed below".to_owned()),
        Command::Unknown(word) => {
            CommandResult::Refused(Reason::Unknown, unknown_text(builder, request, word))
        }
    }
}

/// Requests a session of a persona, or of the work item that the issue shows.
fn request_session(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
    persona: &PersonaId,
) -> CommandResult {
    if work_items::names_work_item(builder, request.subject, persona) {
        request_work_item(builder, request)
    } else {
        CommandResult::StartSession(persona.clone())
    }
}

/// Requests a session for the work item that the issue shows.
fn request_work_item(builder: &DecisionBuilder<'_>, request: &Request<'_>) -> CommandResult {
    match work_items::requested_slot(builder, request.subject) {
        Some(slot) => CommandResult::StartSession(slot),
        None => {
            let text = "the issue does not show the work item as it was put there".to_owned();
            CommandResult::Refused(Reason::ContentChanged, text)
        }
    }
}

fn refuse_nothing_to_do(text: &str) -> CommandResult {
    CommandResult::Refused(Reason::NothingToDo, text.to_owned())
}

/// Returns the live turns of an issue or pull request: requested on it, with it as their pull request, or with it as
/// their notice; requests in the order of their numbers.
fn live_turns(builder: &DecisionBuilder<'_>, request: &Request<'_>) -> Vec<(TrackName, Slot)> {
    let number = request.subject.number;
    let notices = &builder.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == number);
    let called = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    let asked: Vec<_> = builder
        .state
        .requests
        .values()
        .filter(|known| known.subject.as_deref() == Some(request.subject.id.as_str()))
        .filter_map(|known| known.turn.clone())
        .collect();
    let is_pull = request.subject.pull.is_some();
    let mut found = Vec::new();
    for (name, track) in &builder.state.tracks {
        for (slot, turn) in &track.turns {
            if asked.contains(&turn.turn)
                || called == Some(turn.turn.as_str())
                || (is_pull && turn.pr_number == Some(PullNumber(number)))
            {
                found.push((name.clone(), slot.clone()));
            }
        }
    }
    found.sort_by_key(|(name, _)| name.request_number());
    found
}

/// Resumes a turn that waits for a person, sends reviews to the session of an open pull request, or requests finished
/// work again.
fn retry_turns(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> CommandResult {
    let live = live_turns(builder, request);
    for (track, slot) in &live {
        let turn = builder.find_turn(track, slot);
        let Some(turn) = turn.filter(|turn| waits_for_person(turn)) else {
            continue;
        };
        if let Some(id) = &turn.session_id {
            match &builder.snapshot.sessions {
                Listing::NotTaken => return CommandResult::NeedsRead,
                // Only an approval lets a session continue that waits with a plan.
                Listing::Taken(listing) if waits_for_plan_approval(listing, id) => {
                    let text = plan_approval::unapproved_text(builder, track, turn, id);
                    return CommandResult::Refused(Reason::NothingToDo, text);
                }
                Listing::Taken(_) | Listing::Failed(_) => {}
            }
        }
        if let Some(turn) = builder.find_turn_mut(track, slot) {
            resume_turn(turn);
        }
        return CommandResult::Executed("what waited goes on".to_owned());
    }
    request_again(builder, request, !live.is_empty())
}

/// Requests finished work again. `is_live`: a session is at work here.
fn request_again(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
    is_live: bool,
) -> CommandResult {
    let subject = request.subject;
    // An open pull request is not made again: its session gets the reviews.
    if let Some(ends) = &subject.pull
        && subject.open
        && pull_owner::is_own_pull(builder, PullNumber(subject.number))
    {
        return CommandResult::SendReviews(ends.head_oid.clone());
    }
    if is_live {
        return refuse_nothing_to_do("it is at work");
    }
    let newest = newest_request(builder, &subject.id);
    if newest.is_some_and(|request| request.is_pending()) {
        return refuse_nothing_to_do("it waits for its turn");
    }
    let of_pull = || {
        let number = Some(PullNumber(subject.number)).filter(|_| subject.pull.is_some())?;
        let mut newest_first = builder.state.history.values().rev();
        let entry = newest_first.find(|entry| entry.pr_number == Some(number))?;
        Some(entry.persona_id.clone())
    };
    let persona = newest
        .and_then(|request| request.persona.clone())
        .or_else(of_pull);
    let Some(persona) = persona else {
        return refuse_nothing_to_do("no session was requested here before");
    };
    if work_items::implementer_role(&persona).is_some() {
        return request_work_item(builder, request);
    }
    if !builder.snapshot.plan.personas.contains_key(&persona) {
        let text = format!("there is no persona `{persona}`");
        return CommandResult::Refused(Reason::Unknown, text);
    }
    CommandResult::StartSession(persona)
}

/// Resumes one turn, if it still waits for a person.
fn resume_waiting_turn(builder: &mut DecisionBuilder<'_>, id: &TurnId) -> Result<String, Refusal> {
    let tracks = builder.state.tracks.values_mut();
    let mut turns = tracks.flat_map(|track| track.turns.values_mut());
    match turns.find(|turn| turn.turn == *id && waits_for_person(turn)) {
        Some(turn) => {
            resume_turn(turn);
            Ok("what waited goes on".to_owned())
        }
        None => Err((
            Reason::NothingToDo,
            "it does not wait for a person".to_owned(),
        )),
    }
}

/// Why an approval of this time does not mean the newest plan. People approve only the plan that they could read.
fn outdated_approval(
    activities: &[Activity],
    turn: Option<&Turn>,
    at: Timestamp,
) -> Option<&'static str> {
    let is_plan = |one: &&Activity| matches!(one.kind, ActivityKind::PlanGenerated(_));
    let mut plans = activities.iter().filter(is_plan);
    if plans.clone().any(|one| one.at > at) {
        return Some("the plan was made after this approval; read it and approve again");
    }
    let newest = plans.next_back()?;
    let shown = turn?.plan_shown.as_ref()?;
    (*shown != newest.id).then_some(
        "Jules has made another plan since the one that is shown; read it and approve again",
    )
}

/// A live turn with a session.
struct StartedTurn {
    track: TrackName,
    slot: Slot,
    persona: PersonaId,
    session: SessionId,
}

fn started_turns(builder: &DecisionBuilder<'_>, live: &[(TrackName, Slot)]) -> Vec<StartedTurn> {
    let started = live.iter().filter_map(|(track, slot)| {
        let turn = builder.find_turn(track, slot)?;
        Some(StartedTurn {
            track: track.clone(),
            slot: slot.clone(),
            persona: turn.persona_id.clone(),
            session: turn.session_id.clone()?,
        })
    });
    started.collect()
}

/// Approves the plan of a live turn; the turns stage then sends the approval.
fn approve_plan(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> CommandResult {
    let live = live_turns(builder, request);
    let started = started_turns(builder, &live);
    if started.is_empty() {
        return match live.len() {
            0 => misplaced_approval(builder, "no session of phileas is at work here"),
            _ => refuse_nothing_to_do("its session has not started yet"),
        };
    }
    let Listing::Taken(listing) = &builder.snapshot.sessions else {
        return CommandResult::NeedsRead;
    };
    let waits = |one: &&StartedTurn| waits_for_plan_approval(listing, &one.session);
    let Some(waiting) = started.iter().find(waits) else {
        return misplaced_approval(builder, "no plan waits here for approval");
    };
    let (track, slot) = (&waiting.track, &waiting.slot);
    let Some(activities) = builder.snapshot.activities.get(&waiting.session) else {
        builder.reads.activities.insert(waiting.session.clone());
        return CommandResult::NeedsRead;
    };
    let turn = builder.find_turn(track, slot);
    if let Some(text) = outdated_approval(activities, turn, request.at) {
        return refuse_nothing_to_do(text);
    }
    let index = builder
        .state
        .tracks
        .get(track)
        .and_then(|state| state.index);
    let policy = request_origin::turn_policy(builder, track, index, &waiting.persona);
    if policy.plan_approval == PlanApproval::Never {
        let text = "`plan_approval` is \"never\"; approve it in Jules".to_owned();
        return CommandResult::Refused(Reason::PlanForbids, text);
    }
    let by = request.actor.map(|actor| actor.login.to_string());
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.approved_by = by;
        turn.approved_at = Some(request.at);
    }
    CommandResult::Executed("the plan is approved".to_owned())
}

/// Refuses an approval where no plan waits, and names the places where one does.
fn misplaced_approval(builder: &DecisionBuilder<'_>, text: &str) -> CommandResult {
    let places = match &builder.snapshot.sessions {
        Listing::NotTaken if plan_approval::has_session(builder) => {
            return CommandResult::NeedsRead;
        }
        Listing::NotTaken | Listing::Failed(_) => Vec::new(),
        Listing::Taken(listing) => {
            plan_approval::approval_places(builder, |_, id| waits_for_plan_approval(listing, id))
        }
    };
    match plan_approval::list_places(&places) {
        Some(places) => refuse_nothing_to_do(&format!("{text}; one waits at {places}")),
        None => refuse_nothing_to_do(text),
    }
}

/// Cancels live turns and withdraws pending requests. Later requests stay.
fn cancel_turns(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
    let now = builder.now();
    let is_newer = |known: &RequestState| {
        let at = known.asked_at.or(known.created_at);
        at.is_some_and(|at| at > request.at)
    };
    let requests = builder.state.requests.values();
    let newer: Vec<_> = requests
        .filter(|known| is_newer(known))
        .filter_map(|known| known.turn.clone())
        .collect();
    let mut live = live_turns(builder, request);
    live.retain(|(track, slot)| {
        let turn = builder.find_turn(track, slot);
        turn.is_some_and(|turn| !newer.contains(&turn.turn))
    });
    for (track, slot) in &live {
        if let Some(turn) = builder.find_turn_mut(track, slot) {
            turn.cancel = true;
        }
    }
    let requests = builder.state.requests.values();
    let pending: Vec<u64> = requests
        .filter(|known| known.subject.as_deref() == Some(request.subject.id.as_str()))
        .filter(|known| known.is_pending() && !is_newer(known))
        .filter_map(|known| known.number)
        .collect();
    for number in &pending {
        request::withdraw_request(&mut builder.state, *number, now);
    }
    match live.len() + pending.len() {
        0 => {
            let text = "nothing of phileas is at work or waits here".to_owned();
            Err((Reason::NothingToDo, text))
        }
        count => Ok(format!("cancelled: {count}")),
    }
}

fn pause_repository(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> String {
    let known = builder.state.paused.as_ref();
    // The newest pause counts: only a later command ends it.
    if known.is_none_or(|known| known.at.is_some_and(|at| at < request.at)) {
        builder.state.paused = Some(Pause {
            at: Some(request.at),
            by: request.actor.map(|actor| actor.login.to_string()),
            reason: Some(format!("requested on #{}", request.subject.number)),
            ..Pause::default()
        });
    }
    "paused: nothing starts until a person with write access says `/phileas resume`".to_owned()
}

/// Ends a pause by command that is not newer than the request. Other pauses have switches of their own.
fn resume_repository(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
    let nothing = |text: &str| Err((Reason::NothingToDo, text.to_owned()));
    match &builder.state.paused {
        None => nothing("no command has paused it"),
        Some(pause) if pause.at.is_some_and(|at| at > request.at) => {
            nothing("it was paused after this command")
        }
        Some(_) => {
            builder.state.paused = None;
            Ok("goes on".to_owned())
        }
    }
}

/// Pauses the repository and cancels every live turn.
fn stop_repository(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> String {
    pause_repository(builder, request);
    let mut count = 0;
    for track in builder.state.tracks.values_mut() {
        for turn in track.turns.values_mut() {
            turn.cancel = true;
            count += 1;
        }
    }
    format!(
        "paused, and cancelled: {count}. Nothing starts until a person with write access says `/phileas resume`"
    )
}
