//! A turn is announced: its intent goes into the state, its session becomes an effect.

use super::candidate::{Candidate, Cause};
use super::persona_prompt::of_persona;
use super::session_text::Words;
use super::{eligibility, layer_prompt, request_gate, sprint};
use crate::engine::input::subject::Subject;
use crate::engine::lookup::slot::Seat;
use crate::engine::lookup::{policy, work_items};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::{CreateSession, Effect, MakeBranch};
use crate::engine::output::limits::{BUDGET_DAY, INTENT_VALID};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers::START_BRANCHES;
use crate::model::{BranchName, Marker, PromptLine, TrackName, TurnId};
use crate::plan::{Branch, PlanApproval};
use crate::prompt;
use crate::state::{Extra, Genesis, Intent, Turn};

/// Announces a candidate's turn.
///
/// # Errors
///
/// Why its persona cannot run after all; nothing was announced.
pub(crate) fn start(draft: &mut Draft<'_>, candidate: &Candidate) -> Result<(), (Reason, String)> {
    let snapshot = draft.snapshot;
    let sprint = sprint::of(draft, candidate);
    let (words, subject) = match words(draft, candidate, sprint) {
        // No session gets the prompt, so that the files it is made of are not read for it.
        Err((Reason::PromptUnread, _)) if policy::only_observes(snapshot).is_some() => {
            (Words::default(), None)
        }
        other => other?,
    };
    let persona = &candidate.work.persona;
    let turn = announce(draft, candidate);
    sprint::go_on(draft, sprint);
    let marker = Marker {
        turn: turn.turn.clone(),
        attempt: turn.attempt,
    };
    let seq = draft.seq(&candidate.track);
    let line = PromptLine {
        marker: marker.clone(),
        repository: snapshot.repository.id,
        track: candidate.track.clone(),
        seq,
        slot: candidate.work.slot.clone(),
        persona: persona.clone(),
    };
    let text = prompt::with_marker(&words.prompt, &line);
    let not_after = draft.after(INTENT_VALID);
    let (branch, make_branch) = branch(draft, candidate, subject, seq, turn.attempt);
    let (now, holder, base) = (
        draft.now(),
        snapshot.holder.clone(),
        snapshot.repository.default_head.clone(),
    );
    let prompt_sha256 = prompt::sha256(&text);
    if let Some(turn) = draft.turn_mut(&candidate.track, &candidate.work.slot) {
        turn.intent = Some(Intent {
            created_at: now,
            not_after,
            holder,
            prompt_sha256,
            extra: Extra::new(),
        });
        turn.not_before = None;
        turn.warned_at = None;
        turn.base_sha = base;
        turn.branch = Some(branch.clone());
        turn.given = words.given;
    }
    draft
        .state
        .budget
        .created
        .retain(|at| now.duration_since(*at) < BUDGET_DAY);
    draft.effect(Effect::CreateSession(Box::new(CreateSession {
        track: candidate.track.clone(),
        slot: candidate.work.slot.clone(),
        title: prompt::title_with_marker(&words.title, &marker),
        marker,
        persona: persona.clone(),
        prompt: text,
        source: snapshot.repository.name.clone(),
        branch,
        make_branch,
        open_pull: words.open_pull,
        environment_variables: candidate.policy.environment_variables,
        require_plan_approval: candidate.policy.plan_approval != PlanApproval::Auto,
        not_after,
    })));
    draft.write(words.seeds);
    draft.headline(
        format!("intent {}#{seq} {persona}", candidate.track),
        Some(&turn.turn),
    );
    let line = Line::turn(
        &candidate.track,
        seq,
        &candidate.work.slot,
        &turn,
        Verdict::Dispatched,
        reason(&candidate.cause),
        format!("starts a session of `{persona}`"),
    );
    draft.say(line);
    Ok(())
}

/// What the session is told, and what a person asked for it on.
pub(crate) fn words<'s>(
    draft: &mut Draft<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(Words, Option<&'s Subject>), (Reason, String)> {
    let Some(seat) = Seat::of(&candidate.work.slot) else {
        return of_persona(draft, candidate, sprint);
    };
    let subject = request_gate::content(draft, &candidate.track)?;
    work_items::stands(draft, &seat, subject, &candidate.track)?;
    Ok((layer_prompt::speak(draft, candidate, &seat)?, None))
}

fn reason(cause: &Cause) -> Reason {
    match cause {
        Cause::Track { .. } | Cause::Slot => Reason::DueTrack,
        Cause::Schedule { .. } => Reason::DueSchedule,
        Cause::Request { .. } => Reason::DueRequest,
        Cause::Retry => Reason::DueRetry,
    }
}

/// Moves the track to its new turn, or finds the live one whose next attempt this is.
fn announce(draft: &mut Draft<'_>, candidate: &Candidate) -> Turn {
    if let Some(turn) = draft.turn(&candidate.track, &candidate.work.slot) {
        return turn.clone();
    }
    let nonce = genesis(draft).nonce;
    let repository = draft.snapshot.repository.id;
    let known = draft.state.tracks.get(&candidate.track);
    let ran_before = match known.map_or(0, |track| track.seq) {
        0 => ran_before(draft, &candidate.track),
        _ => 0,
    };
    let persona = candidate.work.persona.clone();
    // What a request took in this very decision stays its own; two that hold one item would wait for each other for ever.
    let beside: Vec<_> = candidate
        .beside
        .iter()
        .filter(|work| !eligibility::is_held_elsewhere(draft, &candidate.track, &work.slot))
        .collect();
    let state = draft.track_mut(&candidate.track);
    if state.seq == 0 {
        // A program without sequence numbers had turns, too.
        state.seq = ran_before;
    }
    state.seq += 1;
    state.persona_id = Some(persona.clone());
    state.session_id = None;
    state.pr_number = None;
    match &candidate.cause {
        Cause::Track {
            index,
            passes,
            started,
        } => {
            // A plan that was edited may lead back; that begins a pass, so that (passes, index) only ever rises.
            let back = *passes == state.passes && state.index > Some(*index);
            state.index = Some(*index);
            state.passes = passes + u64::from(back);
            // A start by hand on a clock that was put back must not bring an answered start time back.
            state.last_started = state.last_started.max(*started);
            state.pass_stalled = false;
            let last = state.last_started;
            state.timing.missed.retain(|slot| last < Some(*slot));
        }
        Cause::Schedule { .. } | Cause::Request { .. } | Cause::Retry | Cause::Slot => {
            state.index = Some(0);
        }
    }
    for work in beside {
        let id = TurnId::derive(&nonce, repository, &candidate.track, state.seq, &work.slot);
        let turn = Turn::new(id, work.persona.clone());
        state.turns.insert(work.slot.clone(), turn);
    }
    let id = TurnId::derive(
        &nonce,
        repository,
        &candidate.track,
        state.seq,
        &candidate.work.slot,
    );
    let turn = Turn::new(id.clone(), persona.clone());
    state
        .turns
        .insert(candidate.work.slot.clone(), turn.clone());
    match &candidate.cause {
        Cause::Schedule { slot } => {
            let schedules = &mut draft.state.schedules;
            let known = schedules.entry(persona.as_str().to_owned()).or_default();
            known.last_fired = Some(*slot);
            known.timing.missed.retain(|missed| missed > slot);
        }
        Cause::Request { key } => {
            if let Some(request) = draft.state.requests.get_mut(key) {
                request.outcome = Some("dispatched".to_owned());
                request.turn = Some(id);
            }
        }
        Cause::Track { .. } | Cause::Retry | Cause::Slot => {}
    }
    turn
}

/// How many turns the history knows of a track.
fn ran_before(draft: &Draft<'_>, track: &TrackName) -> u64 {
    draft
        .state
        .history
        .values()
        .filter(|entry| entry.is_of_track(track))
        .count() as u64
}

/// The ledger's birth, now if it has none.
fn genesis(draft: &mut Draft<'_>) -> Genesis {
    let snapshot = draft.snapshot;
    let genesis = draft.state.genesis.get_or_insert_with(|| Genesis {
        repository_id: snapshot.repository.id,
        born_at: snapshot.now,
        nonce: data_encoding::HEXLOWER.encode(&snapshot.entropy[..6]),
        extra: Extra::new(),
    });
    genesis.clone()
}

/// Where the session starts. Each attempt has a branch of its own: what is there stays where the one before began.
fn branch(
    draft: &Draft<'_>,
    candidate: &Candidate,
    subject: Option<&Subject>,
    seq: u64,
    attempt: u32,
) -> (BranchName, Option<MakeBranch>) {
    let repository = &draft.snapshot.repository;
    let ends = subject.and_then(|subject| subject.pull.as_ref());
    match (&candidate.policy.branch, &repository.default_head) {
        // Work on a pull request goes on where it stands.
        (Branch::Default, _) if let Some(ends) = ends => (ends.head.clone(), None),
        (Branch::Named(name), _) => (BranchName::from(name.as_str()), None),
        (Branch::Persona, Some(head)) => {
            let track = candidate.track.as_str().replace(':', "-");
            let again = match attempt {
                1 => String::new(),
                _ => format!(".{attempt}"),
            };
            let name = BranchName::new(format!(
                "{START_BRANCHES}{track}/{}-{seq}{again}",
                candidate.work.persona
            ));
            (
                name.clone(),
                Some(MakeBranch {
                    name,
                    at: head.clone(),
                }),
            )
        }
        (Branch::Default, _) | (Branch::Persona, None) => (repository.default_branch.clone(), None),
    }
}
