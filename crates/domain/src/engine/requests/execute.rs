//! A wish that was let through is carried out: a session is asked for, or what is under way is steered.

use jiff::Timestamp;

use super::record::{ask_for, record, refuse};
use super::request::{What, Wish, unknown_text};
use super::{dashboard, merge, reviews};
use crate::engine::input::request_kind::{DONE, PENDING};
use crate::engine::input::session::{Activity, ActivityKind, Listing};
use crate::engine::lookup::request_origin::{self, newest_of};
use crate::engine::lookup::waiting_turns::{is_at_plan, waits_for_a_person};
use crate::engine::lookup::{plan_approval, pull_owner, work_items};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::request;
use crate::engine::record::steer::go_on;
use crate::model::{PullNumber, Slot, TrackName, TurnId};
use crate::plan::PlanApproval;
use crate::state::{Pause, RequestState, Turn};

/// A refusal, with its reason and a sentence for the report.
type Refusal = (Reason, String);

/// Carries out a wish of somebody who may ask. `false`: it cannot be told yet what is to be done, and nothing was.
pub(crate) fn carry_out(draft: &mut Draft<'_>, wish: &Wish<'_>) -> bool {
    let answer = match &wish.what {
        What::Run(persona) if work_items::is_about(draft, wish.subject, persona) => {
            match work_items::asked_for(draft, wish.subject) {
                Some(slot) => ask_for(draft, wish, &slot),
                None => {
                    let text = "the issue does not show the work item as it was put there";
                    refuse(draft, wish, Reason::ContentChanged, text);
                }
            }
            return true;
        }
        What::Run(persona) => {
            ask_for(draft, wish, persona);
            return true;
        }
        What::Retry => match retry(draft, wish) {
            None => return false,
            Some(Ok(Some(answer))) => Ok(answer),
            Some(Ok(None)) => return true,
            Some(Err(refusal)) => Err(refusal),
        },
        What::ApprovePlan => match approve(draft, wish) {
            Some(answer) => answer,
            None => return false,
        },
        What::GoOn(turn) => let_go_on(draft, turn),
        What::Dashboard => Ok(dashboard::open(draft)),
        What::Cancel => cancel(draft, wish),
        What::Pause => Ok(pause(draft, wish)),
        What::Resume => resume(draft, wish),
        What::Stop => Ok(stop(draft, wish)),
        // What there is to say is known only when everything has been decided.
        What::Status | What::Explain => Ok(String::new()),
        What::Merge => match merge::take_up(draft, wish) {
            Ok(()) => return true,
            Err(refusal) => Err(refusal),
        },
        What::Help => Ok("the commands are listed below".to_owned()),
        What::Unknown(word) => Err((Reason::Unknown, unknown_text(draft, wish, word))),
    };
    match answer {
        Ok(answer) => {
            let track = record(draft, wish, |request, now| {
                request.outcome = Some(DONE.to_owned());
                request.answer = Some(answer).filter(|answer| !answer.is_empty());
                request.finished_at = Some(now);
            });
            let word = wish.what.word();
            draft.headline(format!("{word} {track}"), None);
            let text = format!("`{word}` on #{}", wish.subject.number);
            draft.say(Line::track(&track, Verdict::Settled, Reason::Obeyed, text));
        }
        Err((reason, text)) => refuse(draft, wish, reason, &text),
    }
    true
}

/// The live turns that an issue or pull request is about: those that were asked for on it, the one whose pull request it
/// is, and the one that called a person by it; requests in the order of their numbers.
fn turns_of(draft: &Draft<'_>, wish: &Wish<'_>) -> Vec<(TrackName, Slot)> {
    let number = wish.subject.number;
    let notices = &draft.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == number);
    let called = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    let asked: Vec<_> = draft
        .state
        .requests
        .values()
        .filter(|request| request.subject.as_deref() == Some(wish.subject.id.as_str()))
        .filter_map(|request| request.turn.clone())
        .collect();
    let is_pull = wish.subject.pull.is_some();
    let mut found = Vec::new();
    for (name, track) in &draft.state.tracks {
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

/// What waits goes on; the session of an open pull request is told what its reviewers want changed; what is over is asked
/// for again, which has no answer of its own. `None`: Jules was not asked yet what it waits for.
fn retry(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Option<Result<Option<String>, Refusal>> {
    let live = turns_of(draft, wish);
    for (track, slot) in &live {
        let turn = draft.turn(track, slot);
        let Some(turn) = turn.filter(|turn| waits_for_a_person(turn)) else {
            continue;
        };
        if let Some(id) = &turn.session_id {
            match &draft.snapshot.sessions {
                Listing::NotTaken => return None,
                // No word but the one that approves it lets it go on.
                Listing::Taken(listing) if is_at_plan(listing, id) => {
                    let text = plan_approval::unapproved(draft, track, turn, id);
                    return Some(Err((Reason::NothingToDo, text)));
                }
                Listing::Taken(_) | Listing::Failed(_) => {}
            }
        }
        if let Some(turn) = draft.turn_mut(track, slot) {
            go_on(turn);
        }
        return Some(Ok(Some("what waited goes on".to_owned())));
    }
    Some(again(draft, wish, !live.is_empty()).map(|()| None))
}

/// Asks once more for what is over. `is_live`: a session is at work there.
fn again(draft: &mut Draft<'_>, wish: &Wish<'_>, is_live: bool) -> Result<(), Refusal> {
    let nothing = |text: &str| Err((Reason::NothingToDo, text.to_owned()));
    let subject = wish.subject;
    // What a session has made and is still open is not made once more: its session is told what is wrong with it.
    if let Some(ends) = &subject.pull
        && subject.open
        && pull_owner::is_ours(draft, PullNumber(subject.number))
    {
        reviews::take_up(draft, wish, ends);
        return Ok(());
    }
    if is_live {
        return nothing("it is at work");
    }
    let newest = newest_of(draft, &subject.id);
    if newest.is_some_and(|request| request.outcome.as_deref() == Some(PENDING)) {
        return nothing("it waits for its turn");
    }
    let of_pull = || {
        let number = Some(PullNumber(subject.number)).filter(|_| subject.pull.is_some())?;
        let mut newest_first = draft.state.history.values().rev();
        let entry = newest_first.find(|entry| entry.pr_number == Some(number))?;
        Some(entry.persona_id.clone())
    };
    let persona = newest
        .and_then(|request| request.persona.clone())
        .or_else(of_pull);
    let Some(persona) = persona else {
        return nothing("nobody was asked for here before");
    };
    if work_items::seat_of(&persona).is_some() {
        let Some(slot) = work_items::asked_for(draft, subject) else {
            let text = "the issue does not show the work item as it was put there";
            return Err((Reason::ContentChanged, text.to_owned()));
        };
        ask_for(draft, wish, &slot);
        return Ok(());
    }
    if !draft.snapshot.plan.personas.contains_key(&persona) {
        return Err((Reason::Unknown, format!("there is no persona `{persona}`")));
    }
    ask_for(draft, wish, &persona);
    Ok(())
}

/// The very turn goes on, if it still waits for a person.
fn let_go_on(draft: &mut Draft<'_>, id: &TurnId) -> Result<String, Refusal> {
    let tracks = draft.state.tracks.values_mut();
    let mut turns = tracks.flat_map(|track| track.turns.values_mut());
    match turns.find(|turn| turn.turn == *id && waits_for_a_person(turn)) {
        Some(turn) => {
            go_on(turn);
            Ok("what waited goes on".to_owned())
        }
        None => Err((Reason::NothingToDo, "it waits for nobody".to_owned())),
    }
}

/// Why the newest plan is not the one that an approval of this time means: what people could not have read they did not
/// approve.
fn unseen(activities: &[Activity], turn: Option<&Turn>, at: Timestamp) -> Option<&'static str> {
    let is_plan = |one: &&Activity| matches!(one.kind, ActivityKind::PlanGenerated(_));
    let mut plans = activities.iter().filter(is_plan);
    if plans.clone().any(|one| one.at > at) {
        return Some("the plan was made after this was said; read it, and say it again");
    }
    let newest = plans.next_back()?;
    let shown = turn?.plan_shown.as_ref()?;
    (*shown != newest.id).then_some(
        "Jules has made another plan since the one that is shown; read it, and say it again",
    )
}

/// The plan that waits is approved by the decision that follows. `None`: Jules was not asked yet whether one waits.
fn approve(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Option<Result<String, Refusal>> {
    let nothing = |text: &str| Some(Err((Reason::NothingToDo, text.to_owned())));
    // Who says it in the wrong place is told the right one.
    let elsewhere = |draft: &Draft<'_>, text: &str| {
        let places = match &draft.snapshot.sessions {
            Listing::NotTaken if plan_approval::may_wait(draft) => return None,
            Listing::NotTaken | Listing::Failed(_) => Vec::new(),
            Listing::Taken(listing) => {
                plan_approval::places(draft, |_, id| is_at_plan(listing, id))
            }
        };
        let text = match plan_approval::in_words(&places) {
            Some(places) => format!("{text}; one waits at {places}"),
            None => text.to_owned(),
        };
        nothing(&text)
    };
    let live = turns_of(draft, wish);
    let started = live.iter().filter_map(|(track, slot)| {
        let turn = draft.turn(track, slot)?;
        Some((
            track,
            slot,
            turn.persona_id.clone(),
            turn.session_id.clone()?,
        ))
    });
    let started: Vec<_> = started.collect();
    if started.is_empty() {
        return match live.len() {
            0 => elsewhere(draft, "no session of phileas is at work here"),
            _ => nothing("its session has not started yet"),
        };
    }
    let Listing::Taken(listing) = &draft.snapshot.sessions else {
        return None;
    };
    let mut waiting = started.iter().filter(|(.., id)| is_at_plan(listing, id));
    let Some(&(track, slot, ref persona, ref id)) = waiting.next() else {
        return elsewhere(draft, "no plan waits here for approval");
    };
    let Some(activities) = draft.snapshot.activities.get(id) else {
        draft.needs.activities.insert(id.clone());
        return None;
    };
    let turn = draft.turn(track, slot);
    if let Some(text) = unseen(activities, turn, wish.at) {
        return nothing(text);
    }
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = request_origin::policy_of(draft, track, index, persona);
    if policy.plan_approval == PlanApproval::Never {
        let text = "`plan_approval` is \"never\"; approve it in Jules".to_owned();
        return Some(Err((Reason::PlanForbids, text)));
    }
    let by = wish.actor.map(|actor| actor.login.to_string());
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.approved_by = by;
        turn.approved_at = Some(wish.at);
    }
    Some(Ok("the plan is approved".to_owned()))
}

/// What is at work is told to stop; what waits is taken back. What was asked for afterwards is left alone.
fn cancel(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Result<String, Refusal> {
    let now = draft.now();
    let is_newer = |request: &RequestState| {
        let at = request.asked_at.or(request.created_at);
        at.is_some_and(|at| at > wish.at)
    };
    let requests = draft.state.requests.values();
    let newer: Vec<_> = requests
        .filter(|request| is_newer(request))
        .filter_map(|request| request.turn.clone())
        .collect();
    let mut live = turns_of(draft, wish);
    live.retain(|(track, slot)| {
        let turn = draft.turn(track, slot);
        turn.is_some_and(|turn| !newer.contains(&turn.turn))
    });
    for (track, slot) in &live {
        if let Some(turn) = draft.turn_mut(track, slot) {
            turn.cancel = true;
        }
    }
    let requests = draft.state.requests.values();
    let pending: Vec<u64> = requests
        .filter(|request| request.subject.as_deref() == Some(wish.subject.id.as_str()))
        .filter(|request| request.outcome.as_deref() == Some(PENDING) && !is_newer(request))
        .filter_map(|request| request.number)
        .collect();
    for number in &pending {
        request::withdraw(&mut draft.state, *number, now);
    }
    match live.len() + pending.len() {
        0 => {
            let text = "nothing of phileas is at work or waits here".to_owned();
            Err((Reason::NothingToDo, text))
        }
        count => Ok(format!("cancelled: {count}")),
    }
}

fn pause(draft: &mut Draft<'_>, wish: &Wish<'_>) -> String {
    let known = draft.state.paused.as_ref();
    // The newest one speaks: only what is said after it takes it back.
    if known.is_none_or(|known| known.at.is_some_and(|at| at < wish.at)) {
        draft.state.paused = Some(Pause {
            at: Some(wish.at),
            by: wish.actor.map(|actor| actor.login.to_string()),
            reason: Some(format!("asked for on #{}", wish.subject.number)),
            ..Pause::default()
        });
    }
    "paused: nothing starts until a person with write access says `/phileas resume`".to_owned()
}

/// Takes back a pause of the state that is not newer than the wish. Others have switches of their own.
fn resume(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Result<String, Refusal> {
    let nothing = |text: &str| Err((Reason::NothingToDo, text.to_owned()));
    match &draft.state.paused {
        None => nothing("no command has paused it"),
        Some(pause) if pause.at.is_some_and(|at| at > wish.at) => {
            nothing("it was paused after this was said")
        }
        Some(_) => {
            draft.state.paused = None;
            Ok("goes on".to_owned())
        }
    }
}

/// Everything is paused, and every session told to stop.
fn stop(draft: &mut Draft<'_>, wish: &Wish<'_>) -> String {
    pause(draft, wish);
    let mut count = 0;
    for track in draft.state.tracks.values_mut() {
        for turn in track.turns.values_mut() {
            turn.cancel = true;
            count += 1;
        }
    }
    format!(
        "paused, and cancelled: {count}. Nothing starts until a person with write access says `/phileas resume`"
    )
}
