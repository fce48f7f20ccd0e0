//! Announces a turn: its intent goes into the state, its session becomes an effect.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Cause};
use super::persona_prompt::build_persona_prompt;
use super::session_text::SessionText;
use super::{eligibility, layer_prompt, request_gate, sprint};
use crate::engine::input::subject::Subject;
use crate::engine::lookup::slot::SlotRole;
use crate::engine::lookup::{policy, twins, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::{CreateSession, Effect, MakeBranch};
use crate::engine::output::limits::{BUDGET_DAY, INTENT_VALID};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers::START_BRANCHES;
use crate::model::{BranchName, Marker, PromptLine, TrackName, TurnId};
use crate::plan::{Branch, Plan, PlanApproval};
use crate::prompt;
use crate::state::{Extra, Genesis, Intent, RequestOutcome, TrackState, Turn};

/// Announces a candidate's turn.
///
/// # Errors
///
/// Why its slot cannot start after all; nothing was announced.
pub(crate) fn announce_session(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Result<(), (Reason, String)> {
    let snapshot = builder.snapshot;
    let sprint = sprint::sprint_of(builder, candidate);
    let (words, subject) = match session_text(builder, candidate, sprint) {
        // An observing tick sends no prompt, so it reads no files for one.
        Err((Reason::PromptUnread, _)) if policy::only_observes(snapshot).is_some() => {
            (SessionText::default(), None)
        }
        other => other?,
    };
    let turn = begin_turn(builder, candidate);
    sprint::record_sprint(builder, sprint);
    let marker = Marker {
        turn: turn.turn.clone(),
        attempt: turn.attempt,
    };
    let seq = builder.newest_seq(&candidate.track);
    let line = PromptLine {
        marker: marker.clone(),
        repository: snapshot.repository.id,
        track: candidate.track.clone(),
        seq,
        slot: candidate.work.slot.clone(),
        persona: candidate.work.persona.clone(),
    };
    let text = prompt::with_marker(&words.prompt, &line);
    let (branch, make_branch) = start_branch(builder, candidate, subject, seq, turn.attempt);
    let intent = Intent {
        created_at: builder.now(),
        not_after: builder.now_plus(INTENT_VALID),
        holder: snapshot.holder.clone(),
        prompt_sha256: prompt::prompt_sha256(&text),
        extra: Extra::new(),
    };
    let not_after = intent.not_after;
    record_intent(builder, candidate, intent, &branch, words.item_digests);
    builder.add_effect(Effect::CreateSession(Box::new(CreateSession {
        track: candidate.track.clone(),
        slot: candidate.work.slot.clone(),
        title: prompt::title_with_marker(&words.title, &marker),
        marker,
        persona: candidate.work.persona.clone(),
        prompt: text,
        source: snapshot.repository.name.clone(),
        branch,
        make_branch,
        open_pull: words.open_pull,
        environment_variables: candidate.policy.environment_variables,
        require_plan_approval: requires_approval(&snapshot.plan, candidate, turn.attempt),
        not_after,
    })));
    builder.write_files(words.seeds);
    report_start(builder, candidate, &turn, seq);
    Ok(())
}

/// Records that a session of a turn may exist from now on.
fn record_intent(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
    intent: Intent,
    branch: &BranchName,
    item_digests: BTreeMap<String, String>,
) {
    let now = builder.now();
    let base = builder.snapshot.repository.default_head.clone();
    if let Some(turn) = builder.find_turn_mut(&candidate.track, &candidate.work.slot) {
        turn.intent = Some(intent);
        turn.not_before = None;
        turn.warned_at = None;
        turn.base_sha = base;
        turn.branch = Some(branch.clone());
        turn.inputs = item_digests;
    }
    builder
        .state
        .budget
        .created
        .retain(|at| now.duration_since(*at) < BUDGET_DAY);
}

/// Whether an attempt's session waits for the approval of its plan.
fn requires_approval(plan: &Plan, candidate: &Candidate, attempt: u32) -> bool {
    candidate.policy.plan_approval != PlanApproval::Auto
        || twins::judges_plan(
            plan,
            &candidate.policy,
            (&candidate.track, &candidate.work.slot),
            attempt,
        )
}

fn report_start(builder: &mut DecisionBuilder<'_>, candidate: &Candidate, turn: &Turn, seq: u64) {
    let persona = &candidate.work.persona;
    builder.add_headline(
        format!("intent {}#{seq} {persona}", candidate.track),
        Some(&turn.turn),
    );
    let line = Line::about_turn(
        &candidate.track,
        seq,
        &candidate.work.slot,
        turn,
        Verdict::Dispatched,
        dispatch_reason(&candidate.cause),
        format!("starts a session of `{persona}`"),
    );
    builder.report_line(line);
}

/// The session's text, and the issue or pull request of its request.
pub(crate) fn session_text<'s>(
    builder: &mut DecisionBuilder<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(SessionText, Option<&'s Subject>), (Reason, String)> {
    let Some(slot_role) = SlotRole::from_slot(&candidate.work.slot) else {
        return build_persona_prompt(builder, candidate, sprint);
    };
    let subject = request_gate::bound_subject(builder, &candidate.track)?;
    work_items::check_is_current(builder, &slot_role, subject, &candidate.track)?;
    Ok((
        layer_prompt::build_layer_prompt(builder, candidate, &slot_role)?,
        None,
    ))
}

fn dispatch_reason(cause: &Cause) -> Reason {
    match cause {
        Cause::Track { .. } | Cause::Slot => Reason::DueTrack,
        Cause::Schedule { .. } => Reason::DueSchedule,
        Cause::Request { .. } => Reason::DueRequest,
        Cause::Retry => Reason::DueRetry,
    }
}

/// Moves the track to its new turn, or finds the live turn whose next attempt this is.
fn begin_turn(builder: &mut DecisionBuilder<'_>, candidate: &Candidate) -> Turn {
    if let Some(turn) = builder.find_turn(&candidate.track, &candidate.work.slot) {
        return turn.clone();
    }
    let nonce = ensure_genesis(builder).nonce;
    let repository = builder.snapshot.repository.id;
    let known = builder.state.tracks.get(&candidate.track);
    let ran_before = match known.map_or(0, |track| track.seq) {
        0 => count_earlier_turns(builder, &candidate.track),
        _ => 0,
    };
    let persona = candidate.work.persona.clone();
    // A work item that a request took in this decision stays with the request; two turns with one item would wait for
    // each other forever.
    let siblings: Vec<_> = candidate
        .siblings
        .iter()
        .filter(|work| !eligibility::is_held_elsewhere(builder, &candidate.track, &work.slot))
        .collect();
    let state = builder.track_mut(&candidate.track);
    if state.seq == 0 {
        // Count the turns of a program without sequence numbers.
        state.seq = ran_before;
    }
    state.seq += 1;
    state.persona_id = Some(persona.clone());
    state.session_id = None;
    state.pr_number = None;
    move_pointer(state, &candidate.cause);
    for work in siblings {
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
    record_cause(builder, candidate, id);
    turn
}

/// Moves a track's pointer to the step that begins.
fn move_pointer(state: &mut TrackState, cause: &Cause) {
    match cause {
        Cause::Track {
            index,
            passes,
            started,
        } => {
            // An edited plan may move the index back. That begins a pass, so that (passes, index) only increases.
            let back = *passes == state.passes && state.index > Some(*index);
            state.index = Some(*index);
            state.passes = passes + u64::from(back);
            // A manual start after a clock went back must not repeat an answered start time.
            state.last_started = state.last_started.max(*started);
            state.pass_stalled = false;
            let last = state.last_started;
            state.timing.missed.retain(|slot| last < Some(*slot));
        }
        Cause::Schedule { .. } | Cause::Request { .. } | Cause::Retry | Cause::Slot => {
            state.index = Some(0);
        }
    }
}

/// Records that a schedule's time or a request has its turn.
fn record_cause(builder: &mut DecisionBuilder<'_>, candidate: &Candidate, turn: TurnId) {
    match &candidate.cause {
        Cause::Schedule { slot } => {
            let schedules = &mut builder.state.schedules;
            let known = schedules
                .entry(candidate.work.persona.as_str().to_owned())
                .or_default();
            known.last_fired = Some(*slot);
            known.timing.missed.retain(|missed| missed > slot);
        }
        Cause::Request { key } => {
            if let Some(request) = builder.state.requests.get_mut(key) {
                request.set_outcome(&RequestOutcome::Dispatched);
                request.turn = Some(turn);
            }
        }
        Cause::Track { .. } | Cause::Retry | Cause::Slot => {}
    }
}

/// How many turns of a track the history has.
fn count_earlier_turns(builder: &DecisionBuilder<'_>, track: &TrackName) -> u64 {
    builder
        .state
        .history
        .values()
        .filter(|entry| entry.is_of_track(track))
        .count() as u64
}

/// The ledger's identity, created now if it has none.
fn ensure_genesis(builder: &mut DecisionBuilder<'_>) -> Genesis {
    let snapshot = builder.snapshot;
    let genesis = builder.state.genesis.get_or_insert_with(|| Genesis {
        repository_id: snapshot.repository.id,
        born_at: snapshot.now,
        nonce: data_encoding::HEXLOWER.encode(&snapshot.entropy[..6]),
        extra: Extra::new(),
    });
    genesis.clone()
}

/// The branch that the session starts from. Each attempt has a branch of its own, because an existing one stays where
/// the earlier attempt began.
fn start_branch(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
    subject: Option<&Subject>,
    seq: u64,
    attempt: u32,
) -> (BranchName, Option<MakeBranch>) {
    let repository = &builder.snapshot.repository;
    let ends = subject.and_then(|subject| subject.pull.as_ref());
    match (&candidate.policy.branch, &repository.default_head) {
        // Work on a pull request continues on its branch.
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
