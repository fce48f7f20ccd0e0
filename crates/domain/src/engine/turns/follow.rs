//! Live turns are followed to their outcome.

use jiff::Timestamp;

use super::act::carry_on;
use super::progress::{Live, Progress};
use super::{adopt, assess, assess_layer, import};
use crate::engine::input::pull::Pull;
use crate::engine::input::session::{Listing, ListingNeed, Session, SessionState};
use crate::engine::lookup::sessions::{self, created_at};
use crate::engine::lookup::slot::{self, Seat};
use crate::engine::lookup::{pull_owner, request_origin};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{DAY, GIVEN_UP_LOOKED, GIVEN_UP_SEEN, GRACE, POLL, PULL_POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::turn::drop_unstarted;
use crate::engine::record::{outage, pull};
use crate::model::{SessionId, Slot, TrackName};
use crate::plan::Branch;
use crate::state::{Outcome, Turn};

pub(crate) fn turns(draft: &mut Draft<'_>) {
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
            outage::unavailable(draft);
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
        // They are asked for, and hold nothing back: the turns themselves say what they wait for.
        let _asked = sessions::unread(draft, day, None);
    }
    adopt::duplicates(draft);
    for (track, slot) in live {
        let Some(turn) = draft.turn(&track, &slot).cloned() else {
            continue;
        };
        if turn.session_id.is_some() {
            session(draft, &track, &slot, &turn);
            let over = draft.turn(&track, &slot).cloned();
            // A ledger that was put back may have forgotten the attempt that came next; it is not to be started again.
            if let Some(turn) = over.filter(|turn| turn.session_id.is_none() && !turn.cancel) {
                adopt::late(draft, &track, &slot, &turn);
            }
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

/// Whether a turn is one that only a newer version follows; says so. A person may cancel it all the same.
fn leave_to_newer(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot) -> bool {
    let Some(state) = draft.state.tracks.get(track) else {
        return false;
    };
    if !slot::is_of_newer_version(slot) {
        return false;
    }
    let Some(turn) = state.turns.get(slot).filter(|turn| !turn.cancel) else {
        return false;
    };
    let text = format!("a newer version started this turn of `{slot}` and will follow it");
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
        draft.need_listing(ListingNeed::Since(sessions::horizon(oldest)));
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
                ListingNeed::Since(sessions::horizon(created_at(draft, turn)).min(day))
            }
            (Some(_), _) => ListingNeed::Since(sessions::horizon(created_at(draft, turn))),
            (None, Some(intent)) if draft.now().duration_since(intent.created_at) >= GRACE => {
                ListingNeed::CompleteSince(sessions::horizon(intent.created_at))
            }
            (None, Some(intent)) => ListingNeed::Since(sessions::horizon(intent.created_at)),
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
        .and_then(|session| pull_owner::of_session(snapshot, session))
        .or_else(|| snapshot.pulls.get(&turn.pr_number?));
    if let Some(pull) = pull {
        know_pull(draft, track, slot, turn, pull);
    }
    // An approval is for the plan that waited when it was given, not for one that is made later.
    let at_plan = |session: &Session| session.state == SessionState::AwaitingPlanApproval;
    if turn.approved_by.is_some()
        && listed.is_some_and(|session| !at_plan(session))
        && let Some(turn) = draft.turn_mut(track, slot)
    {
        turn.approved_by = None;
        turn.approved_at = None;
    }
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = request_origin::policy_of(draft, track, index, &turn.persona_id);
    // One that nobody can see may be at work, unless Jules says that there is none.
    let at_work = listed.map_or(!snapshot.missing_sessions.contains(id), |session| {
        session.state.is_live()
    });
    let seat = Seat::of(slot);
    let imports = seat.as_ref().is_some_and(|seat| !seat.opens_pull());
    // What is imported is there when the session ends, whatever becomes of a pull request that nobody asked for.
    let by_pull = pull
        .filter(|_| !imports)
        .and_then(|pull| assess::pull_outcome(pull, &policy, at_work, draft.now()));
    let progress = match (by_pull, listed) {
        // Nobody could be told to stop while Jules does not answer.
        _ if turn.cancel && snapshot.listing().is_none() => unlisted(draft, turn, id),
        _ if turn.cancel => Progress::End {
            outcome: Outcome::Cancelled,
            note: None,
            archive: true,
        },
        (Some(progress), _) => progress,
        (None, Some(session)) => {
            let live = Live {
                snapshot,
                turn,
                policy: &policy,
                session,
                activities: snapshot.activities.get(id).map(Vec::as_slice),
                pull,
            };
            match &seat {
                Some(seat) => assess_layer::outcome(&live, seat),
                None => assess::session_outcome(&live),
            }
        }
        (None, None) => unlisted(draft, turn, id),
    };
    if let (Progress::BringIn, Some(seat), Some(session)) = (&progress, &seat, listed) {
        return import::bring_in(draft, track, slot, turn, seat, (session, pull));
    }
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
        draft.need_listing(ListingNeed::CompleteSince(sessions::horizon(created_at)));
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

/// Writes down a pull request that was found, and points it at the default branch when its session started from a
/// branch of ours.
fn know_pull(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn, pull: &Pull) {
    let default = draft.snapshot.repository.default_branch.clone();
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = request_origin::policy_of(draft, track, index, &turn.persona_id);
    if policy.branch == Branch::Persona
        && turn.branch.as_ref() == Some(&pull.base)
        && pull.base != default
        && let Some(session) = &turn.session_id
    {
        pull::retarget(draft, pull, session);
    }
    if turn.pr_number == Some(pull.number) {
        return;
    }
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.pr_number = Some(pull.number);
    }
    // The entry gets it when the turn ends: a session may open a second one, and what is written there stays.
    draft.track_mut(track).pr_number = Some(pull.number);
    let seq = draft.seq(track);
    draft.headline(
        format!("pull request #{} of {track}#{seq}", pull.number),
        Some(&turn.turn),
    );
}
