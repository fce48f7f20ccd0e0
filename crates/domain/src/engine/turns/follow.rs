//! Follows live turns to their outcome.

use jiff::Timestamp;

use super::act::{FollowedTurn, apply_progress};
use super::progress::{LiveTurn, Progress};
use super::{adopt, assess, assess_layer, import, judge_plan};
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::session::{Listing, ListingNeed, Session, SessionState};
use crate::engine::lookup::sessions::{self, session_created_at};
use crate::engine::lookup::slot::{self, SlotRole};
use crate::engine::lookup::{pull_owner, request_origin};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{DAY, GIVEN_UP_ENTRIES, GIVEN_UP_SPAN, GRACE, POLL, PULL_POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::turn::drop_unstarted;
use crate::engine::record::{outage, pull};
use crate::model::{SessionId, Slot, TrackName};
use crate::plan::Branch;
use crate::state::{Outcome, Turn};

pub(crate) fn follow_turns(builder: &mut DecisionBuilder<'_>) {
    let mut live: Vec<(TrackName, Slot)> = builder
        .state
        .tracks
        .iter()
        .flat_map(|(name, track)| track.turns.keys().map(|slot| (name.clone(), slot.clone())))
        .collect();
    live.retain(|(track, slot)| !leave_to_newer_version(builder, track, slot));
    recheck_given_up(builder);
    if !live.is_empty() {
        request_listing(builder, &live);
        if matches!(builder.snapshot.sessions, Listing::Failed(_)) {
            outage::report_outage(builder);
        }
    }
    // A turn whose session was ambiguous once may have one that appears only now.
    let day = builder.now().checked_sub(DAY).unwrap_or(Timestamp::MIN);
    let in_the_dark = |turn: &Turn| turn.ambiguous > 0;
    if builder
        .state
        .tracks
        .values()
        .flat_map(|track| track.turns.values())
        .any(in_the_dark)
    {
        // Request them without holding anything back: the turns themselves say what they wait for.
        let _asked = sessions::request_unidentified(builder, day, None);
    }
    adopt::archive_duplicates(builder);
    for (track, slot) in live {
        let Some(turn) = builder.find_turn(&track, &slot).cloned() else {
            continue;
        };
        if turn.session_id.is_some() {
            follow_session(builder, &track, &slot, &turn);
            let over = builder.find_turn(&track, &slot).cloned();
            // A rolled-back ledger may have forgotten the next attempt; it must not start again.
            if let Some(turn) = over.filter(|turn| turn.session_id.is_none() && !turn.cancel) {
                adopt::adopt_late_session(builder, &track, &slot, &turn);
            }
        } else if turn.intent.is_some() {
            adopt::find_session(builder, &track, &slot, &turn);
        } else if turn.cancel {
            let text = "cancelled before it had a session";
            drop_unstarted(builder, &track, &slot, &turn, text);
        } else {
            adopt::adopt_late_session(builder, &track, &slot, &turn);
        }
    }
}

/// Whether only a newer version can follow a turn; reports it. A person may cancel the turn all the same.
fn leave_to_newer_version(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
) -> bool {
    let Some(state) = builder.state.tracks.get(track) else {
        return false;
    };
    if !slot::is_of_newer_version(slot) {
        return false;
    }
    let Some(turn) = state.turns.get(slot).filter(|turn| !turn.cancel) else {
        return false;
    };
    let text = format!("a newer version started this turn of `{slot}` and will follow it");
    let line = Line::about_turn(
        track,
        state.seq,
        slot,
        turn,
        Verdict::Waiting,
        Reason::LayerUnavailable,
        text,
    );
    builder.report_line(line.with_until(builder.now_plus(PULL_POLL)));
    true
}

/// Checks recently given-up sessions again, in case the process died before archiving them.
fn recheck_given_up(builder: &mut DecisionBuilder<'_>) {
    let now = builder.now();
    let lately = |at: &Timestamp| now.duration_since(*at) < GIVEN_UP_SPAN;
    let oldest = builder
        .state
        .history
        .values()
        .rev()
        .take(GIVEN_UP_ENTRIES)
        .filter(|entry| entry.is_given_up())
        .filter(|entry| entry.finished_at.as_ref().is_some_and(lately))
        .filter_map(|entry| entry.created_at)
        .min();
    if let Some(oldest) = oldest {
        builder.request_listing(ListingNeed::Since(sessions::listing_start(oldest)));
    }
}

/// Requests one listing that reaches back to the oldest live turn.
fn request_listing(builder: &mut DecisionBuilder<'_>, live: &[(TrackName, Slot)]) {
    for (track, slot) in live {
        let Some(turn) = builder.find_turn(track, slot) else {
            continue;
        };
        let need = match (&turn.session_id, &turn.intent) {
            (Some(_), _) if turn.ambiguous > 0 => {
                // The session of an abandoned attempt may still appear, and must be seen then.
                let day = builder.now().checked_sub(DAY).unwrap_or(Timestamp::MIN);
                ListingNeed::Since(
                    sessions::listing_start(session_created_at(builder, turn)).min(day),
                )
            }
            (Some(_), _) => {
                ListingNeed::Since(sessions::listing_start(session_created_at(builder, turn)))
            }
            (None, Some(intent)) if builder.now().duration_since(intent.created_at) >= GRACE => {
                ListingNeed::CompleteSince(sessions::listing_start(intent.created_at))
            }
            (None, Some(intent)) => ListingNeed::Since(sessions::listing_start(intent.created_at)),
            (None, None) => match turn.listed_empty_at {
                // Between two attempts, and while a person decides, the missing session may appear.
                Some(at) if turn.ambiguous > 0 => {
                    ListingNeed::Since(at.checked_sub(DAY).unwrap_or(Timestamp::MIN))
                }
                _ => continue,
            },
        };
        builder.request_listing(need);
    }
}

/// Follows a turn with a session: a person's command counts first, then the pull request, then Jules.
fn follow_session(builder: &mut DecisionBuilder<'_>, track: &TrackName, slot: &Slot, turn: &Turn) {
    let snapshot = builder.snapshot;
    let Some(id) = &turn.session_id else {
        return;
    };
    let listed = snapshot.listing().and_then(|listing| listing.get(id));
    let pull = find_pull(builder, turn, listed);
    if let Some(pull) = pull {
        record_pull(builder, track, slot, turn, pull);
    }
    if let Some(session) = listed {
        forget_old_approval(builder, track, slot, session);
    }
    let policy = request_origin::turn_policy(builder, track, &turn.persona_id);
    // A session that is not listed may be at work, unless Jules says that it does not exist.
    let at_work = listed.map_or(!snapshot.missing_sessions.contains(id), |session| {
        session.state.is_live()
    });
    let slot_role = SlotRole::from_slot(slot);
    let imports = slot_role
        .as_ref()
        .is_some_and(|slot_role| !slot_role.opens_pull());
    // Output to import is complete when the session ends, whatever happens to an unrequested pull request.
    let by_pull = pull
        .filter(|_| !imports)
        .and_then(|pull| assess::pull_outcome(pull, &policy, at_work, builder.now()));
    let progress = match (by_pull, listed) {
        // A session cannot be stopped while Jules does not answer.
        _ if turn.cancel && snapshot.listing().is_none() => assess_unlisted(builder, turn, id),
        _ if turn.cancel => Progress::End {
            // A pull request outlives its session; its end is followed elsewhere.
            outcome: match pull.filter(|_| !imports).map(|pull| pull.state) {
                None => Outcome::Cancelled,
                Some(PullState::Open) => Outcome::PrOpen,
                Some(PullState::Merged) => Outcome::Merged,
                Some(PullState::Closed) => Outcome::Rejected,
            },
            note: None,
            archive: true,
        },
        (Some(progress), _) => progress,
        (None, Some(session)) => {
            let live = LiveTurn {
                snapshot,
                turn,
                policy: &policy,
                session,
                activities: snapshot.activities.get(id).map(Vec::as_slice),
                pull,
            };
            assess_listed(builder, &live, slot_role.as_ref(), (track, slot))
        }
        (None, None) => assess_unlisted(builder, turn, id),
    };
    if let (Progress::Import, Some(slot_role), Some(session)) = (&progress, &slot_role, listed) {
        return import::import_output(builder, track, slot, turn, slot_role, (session, pull));
    }
    let followed = FollowedTurn {
        track,
        slot,
        turn,
        session: id,
        max_nudges: policy.max_nudges,
    };
    apply_progress(builder, &followed, progress);
}

/// The pull request of a turn's session. Requests a read of those that were not read.
fn find_pull<'s>(
    builder: &mut DecisionBuilder<'s>,
    turn: &Turn,
    listed: Option<&Session>,
) -> Option<&'s Pull> {
    let snapshot = builder.snapshot;
    let named = listed.map_or(&[][..], |session| &session.pulls).iter();
    let unread = named
        .chain(&turn.pr_number)
        .filter(|number| !snapshot.pulls.contains_key(number))
        .copied();
    builder.reads.pulls.extend(unread);
    listed
        .and_then(|session| pull_owner::of_session(snapshot, session))
        .or_else(|| snapshot.pulls.get(&turn.pr_number?))
}

/// An approval is for the plan that waited when it was given, not for a later one.
fn forget_old_approval(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    session: &Session,
) {
    if session.state != SessionState::AwaitingPlanApproval
        && let Some(turn) = builder.find_turn_mut(track, slot)
        && turn.approved_by.is_some()
    {
        turn.approved_by = None;
        turn.approved_at = None;
    }
}

/// Assesses a session that the listing shows.
fn assess_listed(
    builder: &mut DecisionBuilder<'_>,
    live: &LiveTurn<'_>,
    slot_role: Option<&SlotRole>,
    (track, slot): (&TrackName, &Slot),
) -> Progress {
    match slot_role {
        Some(slot_role) => assess_layer::layer_outcome(live, slot_role),
        None => {
            let progress = assess::session_outcome(live);
            judge_plan::judge_plan(builder, live, (track, slot), progress)
        }
    }
}

/// Assesses a session that no listing shows. Only Jules' answer for this session proves that it is gone, because a
/// listing may omit one.
fn assess_unlisted(builder: &mut DecisionBuilder<'_>, turn: &Turn, id: &SessionId) -> Progress {
    let snapshot = builder.snapshot;
    let created_at = session_created_at(builder, turn);
    let soon = builder.now_plus(POLL);
    let wait = |reason, detail: &str| Progress::Wait {
        reason,
        detail: detail.to_owned(),
        until: soon,
    };
    let listing = match &snapshot.sessions {
        Listing::NotTaken => {
            let text = "the session was not read this time";
            return wait(Reason::SessionRunning, text);
        }
        Listing::Failed(_) => {
            let text = "the session was not read this time";
            return wait(Reason::JulesUnavailable, text);
        }
        Listing::Taken(listing) => listing,
    };
    // The listing's time counts, not this process': it may have been suspended since.
    if listing.taken_at.duration_since(created_at) < GRACE {
        let text = "the session is not in Jules' listing yet";
        return wait(Reason::SessionRunning, text);
    }
    if !listing.covers(created_at) {
        builder.request_listing(ListingNeed::CompleteSince(sessions::listing_start(
            created_at,
        )));
        let text = "the session is not in Jules' short listing; archived sessions are read next";
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
        builder.reads.sessions.insert(id.clone());
        let text = "the session is in no listing; it is read by its id next";
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

/// Records a pull request, and retargets it to the default branch when its session started from a branch of phileas.
fn record_pull(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    pull: &Pull,
) {
    let default = builder.snapshot.repository.default_branch.clone();
    let policy = request_origin::turn_policy(builder, track, &turn.persona_id);
    if policy.branch == Branch::Persona
        && turn.branch.as_ref() == Some(&pull.base)
        && pull.base != default
        && let Some(session) = &turn.session_id
    {
        pull::retarget_pull(builder, pull, session);
    }
    if turn.pr_number == Some(pull.number) {
        return;
    }
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.pr_number = Some(pull.number);
    }
    // The history entry gets it when the turn ends, because a session may open a second one.
    builder.track_mut(track).pr_number = Some(pull.number);
    let seq = builder.newest_seq(track);
    builder.add_headline(
        format!("pull request #{} of {track}#{seq}", pull.number),
        Some(&turn.turn),
    );
}
