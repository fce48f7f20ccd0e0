//! What is due is started, as far as gates and budgets allow.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::{REFUSAL_KEPT, REQUEST_KEPT};
use super::step::{self, Work};
use super::{
    Ask, Line, Reason, Verdict, allowance, asked, binding, budget, dispatch, ending, gate, layers,
    schedule, track,
};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Mode, Policy, Priority};
use crate::state::{RequestState, Turn};

/// Something that could start now.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) track: TrackName,
    pub(super) work: Work,
    /// The other slots of its step, which are announced with it.
    pub(super) beside: Vec<Work>,
    pub(super) policy: Policy,
    pub(super) due_since: Timestamp,
    pub(super) cause: Cause,
}

/// Why something could start now.
#[derive(Debug, Clone)]
pub(super) enum Cause {
    /// The next step of a track.
    Track {
        index: u64,
        passes: u64,
        started: Option<Timestamp>,
    },
    /// A slot of a schedule.
    Schedule { slot: Timestamp },
    /// A person's wish, by its key in the state.
    Request { key: String },
    /// The next attempt at a live turn.
    Retry,
    /// The first attempt at a live turn: a slot that was announced beside others.
    Slot,
}

impl Candidate {
    pub(super) fn is_request(&self) -> bool {
        matches!(self.cause, Cause::Request { .. }) || self.track.as_str().starts_with("request:")
    }

    fn order(
        &self,
    ) -> (
        bool,
        bool,
        std::cmp::Reverse<Priority>,
        Option<u64>,
        Timestamp,
        TrackName,
    ) {
        let first = !matches!(self.cause, Cause::Retry | Cause::Slot);
        (
            first,
            !self.is_request(),
            std::cmp::Reverse(self.policy.priority),
            // The ledger numbers requests as they come. Their times may differ by less than clocks do.
            self.track.request_number(),
            self.due_since,
            self.track.clone(),
        )
    }
}

pub(super) fn due(draft: &mut Draft<'_>, mut started: usize) {
    let mut candidates = retries(draft);
    match draft.snapshot.ask.clone() {
        Ask::Due => {
            candidates.extend(asked::candidates(draft));
            candidates.extend(track::candidates(draft, None));
            candidates.extend(schedule::candidates(draft));
        }
        Ask::Track(name) => candidates.extend(track::candidates(draft, Some(&name))),
        Ask::Enter(entry) => candidates.extend(track::entering(draft, entry)),
        Ask::Persona(_) | Ask::All => candidates.extend(asked::candidates(draft)),
    }
    let tracks_work = budget::tracks_work(draft, &candidates);
    candidates.sort_by_key(Candidate::order);
    for candidate in candidates {
        let mut next = Some(candidate);
        // Who is left out once is not found again, so this ends with the steps of the track.
        while let Some(candidate) = next.take() {
            // Only what one commit can announce is rendered.
            let begun = started + draft.needs.prompts.len();
            if let Some(line) = obstacle(draft, &candidate, begun, tracks_work) {
                draft.say(line);
                continue;
            }
            match dispatch::start(draft, &candidate) {
                Ok(()) => started += 1,
                Err((reason @ Reason::PromptUnread, text)) => {
                    let until = draft.after(super::limits::POLL);
                    draft.say(wait(&candidate, reason, text).until(until));
                }
                Err(why) => next = leave_out(draft, &candidate, why),
            }
        }
    }
}

/// Leaves out a persona that cannot run after all: its track goes on to the next step, which is the answer; a turn of it
/// that has no session is given up, a request refused.
fn leave_out(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    (reason, text): (Reason, String),
) -> Option<Candidate> {
    let (track, persona) = (&candidate.track, &candidate.work.persona);
    if let Cause::Request { key } = &candidate.cause {
        asked::refuse(draft, key, track, persona, reason, text);
        return None;
    }
    if let Some(turn) = draft.turn(track, &candidate.work.slot).cloned() {
        let what = format!("given up before it had a session: {text}");
        ending::drop_unstarted(draft, track, &candidate.work.slot, &turn, &what);
        binding::note_refusal(draft, track, reason);
    }
    draft.say(Line::track(track, Verdict::Skipped, reason, text.clone()).persona(persona));
    let place = (track.clone(), candidate.work.slot.clone(), persona.clone());
    draft.unable.insert(place, (reason, text));
    track::instead(draft, track)
}

/// What stands in the way of a candidate, cheapest question first: Jules is asked only when nothing else does.
fn obstacle(
    draft: &mut Draft<'_>,
    candidate: &Candidate,
    started: usize,
    tracks_work: bool,
) -> Option<Line> {
    if candidate.policy.mode == Mode::Observe {
        let text = "`mode` is \"observe\" here; it is decided and reported, not started";
        return Some(wait(candidate, Reason::ObserveMode, text));
    }
    binding::on_hold(draft, candidate)
        .or_else(|| allowance::spent(draft, candidate))
        .or_else(|| busy_elsewhere(draft, candidate))
        .or_else(|| budget::red(draft, candidate))
        .or_else(|| budget::of_repository(draft, candidate))
        .or_else(|| budget::of_schedules(draft, candidate, tracks_work))
        .or_else(|| budget::of_key(draft, candidate))
        .or_else(|| {
            (started >= super::limits::INTENTS_PER_COMMIT).then(|| {
                let now = draft.now();
                wait(
                    candidate,
                    Reason::NextCommit,
                    "one commit starts three sessions; the next one goes on",
                )
                .until(now)
            })
        })
        .or_else(|| unread_layers(draft, candidate))
        .or_else(|| binding::unread(draft, candidate))
        .or_else(|| binding::still_on_hold(draft, candidate))
}

/// Whether what a layer's prompt is made of is still to be read.
fn unread_layers(draft: &mut Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let seat = layers::Seat::of(&candidate.work.slot)?;
    layers::unread_for(draft, &seat).then(|| {
        let text = "what its prompt is made of is being read";
        wait(candidate, Reason::ExchangeUnread, text).until(draft.after(super::limits::POLL))
    })
}

pub(super) fn wait(candidate: &Candidate, reason: Reason, text: impl Into<String>) -> Line {
    let verdict = if matches!(reason, Reason::JulesCredential | Reason::SubjectHeld) {
        Verdict::Paused
    } else {
        Verdict::Waiting
    };
    let mut line = Line::track(&candidate.track, verdict, reason, text);
    line.slot = Some(candidate.work.slot.clone());
    line.persona(&candidate.work.persona)
}

/// Whether the work item of a slot is in the hands of another track.
pub(super) fn is_held_elsewhere(draft: &Draft<'_>, track: &TrackName, slot: &Slot) -> bool {
    let names_item = layers::Seat::of(slot).is_some_and(|seat| seat.item().is_some());
    let mut others = draft.state.tracks.iter();
    names_item && others.any(|(name, other)| name != track && other.turns.contains_key(slot))
}

fn busy_elsewhere(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let persona = &candidate.work.persona;
    // Implementers and planners are many: what must not be doubled there is the work item.
    let item = layers::Seat::of(&candidate.work.slot).is_some_and(|seat| seat.item().is_some());
    let (busy, _) = draft.state.tracks.iter().find(|(name, track)| {
        let mut turns = track.turns.iter();
        // Most tracks have no turns, and names take longer to compare.
        turns.any(|(slot, turn)| match item {
            true => *slot == candidate.work.slot,
            false => turn.persona_id == *persona,
        }) && **name != candidate.track
    })?;
    let text = format!("`{persona}` is at work in track `{busy}`");
    Some(wait(candidate, Reason::PersonaBusy, text).until(draft.after(super::limits::POLL)))
}

/// Whether a turn's next attempt is still to be started.
fn is_between(turn: &Turn) -> bool {
    turn.session_id.is_none() && turn.intent.is_none() && !turn.cancel
}

/// Whether no attempt at a turn was begun yet.
fn is_first(turn: &Turn) -> bool {
    turn.attempt == 1 && turn.not_before.is_none()
}

/// Live turns whose next attempt is due.
fn retries(draft: &mut Draft<'_>) -> Vec<Candidate> {
    let now = draft.now();
    let mut candidates = Vec::new();
    let mut lines = Vec::new();
    let wanted = |name: &TrackName| match &draft.snapshot.ask {
        Ask::Track(only) => name == only,
        Ask::Enter(entry) => {
            let named = draft.snapshot.plan.entry(*entry);
            named.is_some_and(|(track, _)| track.name == *name)
        }
        Ask::Due | Ask::Persona(_) | Ask::All => true,
    };
    for (name, track) in draft.state.tracks.iter().filter(|(name, _)| wanted(name)) {
        for (slot, turn) in &track.turns {
            if !is_between(turn) || step::is_of_newer_version(slot) {
                continue;
            }
            if let Some(pause) = &track.paused {
                let text = gate::paused_by("track", name, pause);
                lines.push(Line::turn(
                    name,
                    track.seq,
                    slot,
                    turn,
                    Verdict::Paused,
                    Reason::PausedTrack,
                    text,
                ));
                continue;
            }
            let due_since = turn.not_before.unwrap_or(now);
            if due_since > now {
                let text = "the next attempt waits for its time";
                let line = Line::turn(
                    name,
                    track.seq,
                    slot,
                    turn,
                    Verdict::Waiting,
                    Reason::RetryPause,
                    text,
                );
                lines.push(line.until(due_since));
                continue;
            }
            candidates.push(Candidate {
                track: name.clone(),
                work: Work {
                    slot: slot.clone(),
                    persona: turn.persona_id.clone(),
                },
                beside: Vec::new(),
                policy: binding::policy_of(draft, name, track.index, &turn.persona_id),
                due_since,
                cause: if is_first(turn) && layers::Seat::of(slot).is_some() {
                    Cause::Slot
                } else {
                    Cause::Retry
                },
            });
        }
    }
    for line in lines {
        draft.say(line);
    }
    candidates
}

/// The work of a persona that is asked for or scheduled, or why it has none.
pub(super) fn work_of(
    draft: &Draft<'_>,
    persona: &PersonaId,
    policy: &Policy,
    asked: bool,
) -> Result<Work, (Reason, String)> {
    step::work_of(draft.snapshot, persona, policy, asked)
}

/// While everything is paused, each track and schedule still has its line, so have turns between two attempts, and so has
/// what a person asked for.
pub(super) fn say_paused(draft: &mut Draft<'_>, reason: Reason) {
    let text = "nothing starts while the repository is paused";
    let plan = &draft.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let names: Vec<_> = plan.tracks.keys().cloned().chain(schedules).collect();
    for name in names {
        let track = draft.state.tracks.get(&name);
        if track.is_none_or(|track| track.turns.is_empty()) {
            draft.say(Line::track(&name, Verdict::Paused, reason, text));
        }
    }
    let mut lines = Vec::new();
    for (name, track) in &draft.state.tracks {
        for (slot, turn) in track
            .turns
            .iter()
            .filter(|(slot, turn)| is_between(turn) && !step::is_of_newer_version(slot))
        {
            let (verdict, seq) = (Verdict::Paused, track.seq);
            lines.push(Line::turn(name, seq, slot, turn, verdict, reason, text));
        }
    }
    for asked in asked::pending(draft) {
        let line = Line::track(&asked.track, Verdict::Paused, reason, text);
        lines.push(line.persona(&asked.persona));
    }
    for line in lines {
        draft.say(line);
    }
    let line = match &draft.snapshot.ask {
        Ask::Due | Ask::Track(_) | Ask::Enter(_) => return,
        Ask::Persona(id) => Line::repository(Verdict::Refused, reason, text).persona(id),
        Ask::All => Line::repository(Verdict::Refused, reason, text),
    };
    draft.say(line.requested());
}

/// Drops what is older than its time: spent budget, finished requests and their tracks.
pub(super) fn forget_old(draft: &mut Draft<'_>) {
    let now = draft.now();
    let old = |at: &Timestamp| now.duration_since(*at) >= REQUEST_KEPT;
    // The newest number stays, so that it is not given twice: with it its turns' names would come back.
    for track in draft.state.tracks.values_mut() {
        track
            .refused
            .retain(|_, refusal| now.duration_since(refusal.until) < REFUSAL_KEPT);
    }
    let newest = draft
        .state
        .requests
        .values()
        .filter_map(|request| request.number)
        .max();
    let is_over = |request: &RequestState| {
        request.finished_at.as_ref().is_some_and(old)
            && (request.number.is_none() || request.number != newest)
    };
    let finished: BTreeSet<TrackName> = draft
        .state
        .requests
        .values()
        .filter(|request| is_over(request))
        .filter_map(|request| request.number.map(TrackName::of_request))
        .collect();
    draft.state.requests.retain(|_, request| !is_over(request));
    draft
        .state
        .tracks
        .retain(|name, track| !(finished.contains(name) && track.turns.is_empty()));
}
