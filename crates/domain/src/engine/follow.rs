//! Live turns are followed to their outcome.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::{CALL_AGAIN, DAY, GIVEN_UP_LOOKED, GIVEN_UP_SEEN, GRACE, POLL, PULL_POLL};
use super::messages::{answer, message_marker, reminder};
use super::step::{self, Live, Progress};
use super::{
    Effect, Line, Listing, ListingNeed, NoticeKey, Reason, Verdict, adopt, gate, pulls, rest,
};
use crate::model::{SessionId, Slot, TrackName};
use crate::plan::Branch;
use crate::state::{Outcome, Turn};

pub(super) fn turns(draft: &mut Draft<'_>) {
    let mut live: Vec<(TrackName, Slot)> = draft
        .state
        .tracks
        .iter()
        .flat_map(|(name, track)| track.turns.keys().map(|slot| (name.clone(), slot.clone())))
        .collect();
    live.retain(|(track, slot)| !leave_to_newer(draft, track, slot));
    see_given_up(draft);
    if !live.is_empty() {
        ask_for_listing(draft, &live);
        if matches!(draft.snapshot.sessions, Listing::Failed(_)) {
            gate::unavailable(draft);
        }
    }
    // A turn that was in the dark once may have a session that shows up only now.
    let day = draft.now().checked_sub(DAY).unwrap_or(Timestamp::MIN);
    let in_the_dark = |turn: &Turn| turn.ambiguous > 0;
    if draft
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .any(in_the_dark)
    {
        adopt::unread(draft, day);
    }
    adopt::duplicates(draft);
    for (track, slot) in live {
        let Some(turn) = draft.turn(&track, &slot).cloned() else {
            continue;
        };
        if turn.session_id.is_some() {
            session(draft, &track, &slot, &turn);
        } else if turn.intent.is_some() {
            adopt::seek(draft, &track, &slot, &turn);
        } else if turn.cancel {
            let text = "cancelled before it had a session";
            drop_unstarted(draft, &track, &slot, &turn, text);
        } else {
            adopt::late(draft, &track, &slot, &turn);
        }
    }
}

/// Whether a turn is a layer's, which this version does not follow; says so. A person may cancel it all the same.
fn leave_to_newer(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot) -> bool {
    let Some(state) = draft.state.tracks.get(track) else {
        return false;
    };
    let Some(layer) = step::layer_of(&draft.snapshot.plan, track, state, slot) else {
        return false;
    };
    let Some(turn) = state.turns.get(slot).filter(|turn| !turn.cancel) else {
        return false;
    };
    let text = format!("a newer version started this turn of layer `{layer}` and will follow it");
    let line = Line::turn(
        track,
        state.seq,
        slot,
        turn,
        Verdict::Waiting,
        Reason::LayerUnavailable,
        text,
    );
    draft.say(line.until(draft.after(PULL_POLL)));
    true
}

/// Sessions that were given up lately are looked at once more, in case nobody came to archive them.
fn see_given_up(draft: &mut Draft<'_>) {
    let now = draft.now();
    let lately = |at: &Timestamp| now.duration_since(*at) < GIVEN_UP_SEEN;
    let oldest = draft
        .state
        .history
        .values()
        .rev()
        .take(GIVEN_UP_LOOKED)
        .filter(|entry| matches!(entry.outcome, Some(Outcome::Cancelled | Outcome::Stuck)))
        .filter(|entry| entry.finished_at.as_ref().is_some_and(lately))
        .filter_map(|entry| entry.created_at)
        .min();
    if let Some(oldest) = oldest {
        draft.need_listing(ListingNeed::Since(gate::horizon(oldest)));
    }
}

/// One listing that reaches back to the oldest live turn answers for all of them.
fn ask_for_listing(draft: &mut Draft<'_>, live: &[(TrackName, Slot)]) {
    for (track, slot) in live {
        let Some(turn) = draft.turn(track, slot) else {
            continue;
        };
        let need = match (&turn.session_id, &turn.intent) {
            (Some(_), _) if turn.ambiguous > 0 => {
                // The session of an attempt that was given up may still show up, and must be seen when it does.
                let day = draft.now().checked_sub(DAY).unwrap_or(Timestamp::MIN);
                ListingNeed::Since(gate::horizon(created_at(draft, turn)).min(day))
            }
            (Some(_), _) => ListingNeed::Since(gate::horizon(created_at(draft, turn))),
            (None, Some(intent)) if draft.now().duration_since(intent.created_at) >= GRACE => {
                ListingNeed::CompleteSince(gate::horizon(intent.created_at))
            }
            (None, Some(intent)) => ListingNeed::Since(gate::horizon(intent.created_at)),
            (None, None) => match turn.listed_empty_at {
                // Between two attempts, and while a person is waited for, the session that nobody saw may show up.
                Some(at) if turn.ambiguous > 0 => {
                    ListingNeed::Since(at.checked_sub(DAY).unwrap_or(Timestamp::MIN))
                }
                _ => continue,
            },
        };
        draft.need_listing(need);
    }
}

/// When the turn's session was created, as the history knows.
fn created_at(draft: &Draft<'_>, turn: &Turn) -> Timestamp {
    let entry = turn
        .history_key
        .and_then(|key| draft.state.history.get(&key));
    entry
        .and_then(|entry| entry.created_at)
        .unwrap_or_else(|| draft.now())
}

/// A turn that has a session: a person's word counts first, then the pull request, then Jules.
fn session(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn) {
    let snapshot = draft.snapshot;
    let Some(id) = &turn.session_id else {
        return;
    };
    let listed = snapshot.listing().and_then(|listing| listing.get(id));
    let named = listed.map_or(&[][..], |session| &session.pulls).iter();
    let unread = named
        .chain(&turn.pr_number)
        .filter(|number| !snapshot.pulls.contains_key(number))
        .copied();
    draft.needs.pulls.extend(unread);
    let pull = listed
        .and_then(|session| pulls::of_session(snapshot, session))
        .or_else(|| snapshot.pulls.get(&turn.pr_number?));
    if let Some(pull) = pull {
        know_pull(draft, track, slot, turn, pull);
    }
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = step::policy_of(&snapshot.plan, track, index, &turn.persona_id);
    // One that nobody can see may be at work, unless Jules says that there is none.
    let at_work = listed.map_or(!snapshot.missing_sessions.contains(id), |session| {
        session.state.is_live()
    });
    let by_pull = pull.and_then(|pull| step::by_pull(pull, &policy, at_work, draft.now()));
    let progress = match (by_pull, listed) {
        // Nobody could be told to stop while Jules does not answer.
        _ if turn.cancel && snapshot.listing().is_none() => unlisted(draft, turn, id),
        _ if turn.cancel => Progress::End {
            outcome: Outcome::Cancelled,
            note: None,
            archive: true,
        },
        (Some(progress), _) => progress,
        (None, Some(session)) => step::outcome(&Live {
            snapshot,
            turn,
            policy: &policy,
            session,
            activities: snapshot.activities.get(id).map(Vec::as_slice),
            pull,
        }),
        (None, None) => unlisted(draft, turn, id),
    };
    carry_on(draft, track, slot, turn, id, progress, policy.max_nudges);
}

/// A session that no listing shows. Only Jules' answer to the question for this very session says that it is gone: a
/// listing may leave one out.
fn unlisted(draft: &mut Draft<'_>, turn: &Turn, id: &SessionId) -> Progress {
    let snapshot = draft.snapshot;
    let created_at = created_at(draft, turn);
    let soon = draft.after(POLL);
    let wait = |reason, detail: &str| Progress::Wait {
        reason,
        detail: detail.to_owned(),
        until: soon,
    };
    let listing = match &snapshot.sessions {
        Listing::NotTaken => {
            let text = "the session was not looked at this time";
            return wait(Reason::SessionRunning, text);
        }
        Listing::Failed(_) => {
            let text = "the session was not looked at this time";
            return wait(Reason::JulesUnavailable, text);
        }
        Listing::Taken(listing) => listing,
    };
    // The listing's age counts, not ours: a process may have been stopped since it looked.
    if listing.taken_at.duration_since(created_at) < GRACE {
        let text = "the session is not in Jules' listing yet";
        return wait(Reason::SessionRunning, text);
    }
    if !listing.covers(created_at) {
        draft.need_listing(ListingNeed::CompleteSince(gate::horizon(created_at)));
        let text = "the session is not in Jules' short listing; archived ones are looked at";
        return wait(Reason::SessionRunning, text);
    }
    if let Some(outage) = snapshot.unread.get(id) {
        return Progress::Wait {
            reason: Reason::SessionUnread,
            detail: format!("the session cannot be read: {}", outage.detail),
            until: outage.retry_at.unwrap_or(soon),
        };
    }
    if !snapshot.missing_sessions.contains(id) {
        draft.needs.sessions.insert(id.clone());
        let text = "the session is in no listing; it is asked for by its id";
        return wait(Reason::SessionRunning, text);
    }
    match turn.pr_number {
        Some(number) if !snapshot.missing_pulls.contains(&number) => wait(
            Reason::PrOpen,
            &format!("the session is gone from Jules, and pull request #{number} was not read"),
        ),
        _ => Progress::End {
            outcome: Outcome::Cancelled,
            note: Some("the session is gone from Jules".to_owned()),
            archive: false,
        },
    }
}

fn seq(draft: &Draft<'_>, track: &TrackName) -> u64 {
    draft.state.tracks.get(track).map_or(0, |state| state.seq)
}

/// Writes down a pull request that was found, and points it at the default branch when its session started from a
/// branch of ours.
fn know_pull(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    pull: &super::Pull,
) {
    let default = draft.snapshot.repository.default_branch.clone();
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = step::policy_of(&draft.snapshot.plan, track, index, &turn.persona_id);
    if policy.branch == Branch::Persona
        && turn.branch.as_ref() == Some(&pull.base)
        && pull.base != default
    {
        draft.effect(Effect::RetargetPull {
            pull: pull.number,
            base: default,
        });
    }
    if turn.pr_number == Some(pull.number) {
        return;
    }
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.pr_number = Some(pull.number);
    }
    // The entry gets it when the turn ends: a session may open a second one, and what is written there stays.
    draft.track_mut(track).pr_number = Some(pull.number);
    let seq = seq(draft, track);
    draft.headline(
        format!("pull request #{} of {track}#{seq}", pull.number),
        Some(&turn.turn),
    );
}

fn carry_on(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    session: &SessionId,
    progress: Progress,
    max_nudges: u32,
) {
    let now = draft.now();
    let seq = seq(draft, track);
    let current = draft
        .turn(track, slot)
        .cloned()
        .unwrap_or_else(|| turn.clone());
    let line = |verdict, reason, detail: String| {
        Line::turn(track, seq, slot, &current, verdict, reason, detail)
    };
    let soon = draft.after(POLL);
    let still_calls = matches!(
        progress,
        Progress::CallPerson { .. } | Progress::ReadActivities
    );
    if turn.warned_at.is_some()
        && !still_calls
        && let Some(turn) = draft.turn_mut(track, slot)
    {
        turn.warned_at = None;
    }
    match progress {
        Progress::ReadActivities if draft.snapshot.unread.contains_key(session) => {
            let outage = &draft.snapshot.unread[session];
            let text = format!("its activities cannot be read: {}", outage.detail);
            let until = outage.retry_at.unwrap_or(soon);
            draft.say(line(Verdict::Waiting, Reason::SessionUnread, text).until(until));
        }
        Progress::ReadActivities => {
            draft.needs.activities.insert(session.clone());
            draft.say(
                line(
                    Verdict::Waiting,
                    Reason::SessionRunning,
                    "its activities are being read".to_owned(),
                )
                .until(soon),
            );
        }
        Progress::Wait {
            reason,
            detail,
            until,
        } => {
            draft.say(line(Verdict::Waiting, reason, detail).until(until));
        }
        Progress::Answer { number } => {
            let marker = message_marker(turn, &format!("q{number}"));
            if let Some(turn) = draft.turn_mut(track, slot) {
                let again = turn.nudges == number;
                turn.repeats = if again { turn.repeats + 1 } else { 0 };
                turn.nudges = number;
                turn.nudged_at = Some(now);
            }
            send(draft, track, slot, session, marker.clone(), answer(&marker));
            draft.headline(
                format!("answer {number} to {track}#{seq} {}", turn.persona_id),
                Some(&turn.turn),
            );
            let text =
                format!("it asked something and gets standard answer {number} of {max_nudges}");
            draft.say(line(Verdict::Waiting, Reason::SessionAsked, text).until(soon));
        }
        Progress::Remind => {
            let marker = message_marker(turn, "r1");
            if let Some(turn) = draft.turn_mut(track, slot) {
                let again = turn.reminded_at.is_some();
                turn.repeats = if again { turn.repeats + 1 } else { 0 };
                turn.reminded_at = Some(now);
            }
            send(
                draft,
                track,
                slot,
                session,
                marker.clone(),
                reminder(&marker),
            );
            draft.headline(
                format!("reminder to {track}#{seq} {}", turn.persona_id),
                Some(&turn.turn),
            );
            let text = "it ended without a result and is reminded of it, once".to_owned();
            draft.say(line(Verdict::Waiting, Reason::SessionReminded, text).until(soon));
        }
        Progress::Approve => {
            draft.effect(Effect::ApprovePlan {
                session: session.clone(),
            });
            draft.say(
                line(
                    Verdict::Waiting,
                    Reason::PlanApproval,
                    "its plan is being approved".to_owned(),
                )
                .until(soon),
            );
        }
        Progress::CallPerson { reason, detail } => {
            call_person(draft, track, slot, turn, &detail);
            draft.say(line(Verdict::Waiting, reason, detail).until(soon));
        }
        Progress::End {
            outcome,
            note,
            archive,
        } => {
            if archive {
                draft.effect(Effect::ArchiveSession {
                    session: session.clone(),
                });
            }
            end(draft, track, slot, outcome, note);
        }
        Progress::Retry { note } => retry(draft, track, slot, &note),
    }
}

fn send(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    session: &SessionId,
    marker: String,
    text: String,
) {
    let session = session.clone();
    draft.effect(Effect::SendMessage {
        track: track.clone(),
        slot: slot.clone(),
        session,
        marker,
        text,
    });
}

/// Calls a person by an issue, unless one is open. An issue that was decided on and is not there is opened again after
/// a while: its sender died, GitHub refused it, or somebody closed it and settled nothing.
pub(super) fn call_person(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    detail: &str,
) {
    let now = draft.now();
    let lately = |at: Timestamp| now.duration_since(at) < CALL_AGAIN;
    if turn.warned_at.is_some_and(lately)
        || (turn.warned_at.is_some() && draft.is_called(&NoticeKey::Turn(turn.turn.clone())))
    {
        return;
    }
    let seq = seq(draft, track);
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.warned_at = Some(now);
    }
    let persona = &turn.persona_id;
    let session = turn
        .session_id
        .as_ref()
        .map(|id| format!("\n\nThe session: https://jules.google.com/session/{id}"))
        .unwrap_or_default();
    draft.call(
        NoticeKey::Turn(turn.turn.clone()),
        format!("phileas: {persona} waits for a person"),
        format!(
            "Turn {seq} of track `{track}` ({persona}): {detail}.{session}\n\nThe track waits until this is settled; \
             the others go on. `phileas explain` shows where it stands, `phileas session cancel` ends the turn."
        ),
    );
    draft.headline(
        format!("called a person for {track}#{seq} {persona}"),
        Some(&turn.turn),
    );
}

/// The attempt failed, and the next one is to be started.
fn retry(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, note: &str) {
    let now = draft.now();
    let seq = seq(draft, track);
    let Some(turn) = draft.turn_mut(track, slot) else {
        return;
    };
    let key = turn.history_key.take();
    turn.attempt += 1;
    turn.failures += 1;
    turn.session_id = None;
    turn.intent = None;
    turn.pr_number = None;
    turn.nudges = 0;
    turn.nudged_at = None;
    turn.reminded_at = None;
    turn.repeats = 0;
    turn.not_before = Some(now);
    let turn = turn.clone();
    if let Some(entry) = key.and_then(|key| draft.state.history.get_mut(&key)) {
        entry.outcome = Some(Outcome::Failed);
        entry.finished_at = Some(now);
        entry.note = Some(note.to_owned());
    }
    draft.headline(
        format!(
            "attempt {} of {track}#{seq} {}",
            turn.attempt, turn.persona_id
        ),
        Some(&turn.turn),
    );
    let text = format!("the session failed ({note}); it is tried again");
    draft.say(
        Line::turn(
            track,
            seq,
            slot,
            &turn,
            Verdict::Waiting,
            Reason::RetryPause,
            text,
        )
        .until(now),
    );
}

/// The turn is over: its outcome is written down and its slot freed.
pub(super) fn end(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    outcome: Outcome,
    note: Option<String>,
) {
    let now = draft.now();
    let seq = seq(draft, track);
    let Some(turn) = draft.track_mut(track).turns.remove(slot) else {
        return;
    };
    let mut was = None;
    if let Some(entry) = turn
        .history_key
        .and_then(|key| draft.state.history.get_mut(&key))
    {
        was = entry.outcome.replace(outcome.clone());
        entry.finished_at = Some(now);
        entry.note.clone_from(&note);
        entry.pr_number = entry.pr_number.or(turn.pr_number);
    }
    rest::learn(draft, track, &turn.persona_id, was.as_ref(), &outcome);
    pulls::finish_request(draft, &Some(turn.turn.clone()), &outcome);
    draft.headline(
        format!("settled {track}#{seq} {} {outcome}", turn.persona_id),
        Some(&turn.turn),
    );
    let text = match note {
        Some(note) => format!("outcome {outcome}: {note}"),
        None => format!("outcome {outcome}"),
    };
    draft.say(Line::turn(
        track,
        seq,
        slot,
        &turn,
        Verdict::Advanced,
        Reason::Finished,
        text,
    ));
}

/// A turn that ends before it had a session leaves no history.
pub(super) fn drop_unstarted(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    text: &str,
) {
    let seq = seq(draft, track);
    draft.track_mut(track).turns.remove(slot);
    pulls::finish_request(draft, &Some(turn.turn.clone()), &Outcome::Cancelled);
    draft.headline(
        format!("cancelled {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    draft.say(Line::turn(
        track,
        seq,
        slot,
        turn,
        Verdict::Advanced,
        Reason::Finished,
        text,
    ));
}
