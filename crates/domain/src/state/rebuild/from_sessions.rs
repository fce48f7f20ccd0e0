//! Rebuilds a state from the sessions of a repository alone.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use super::facts::{PullOutcome, RebuildProposal, SessionFact, SessionResult};
use crate::model::{Marker, PersonaId, RepositoryId, SessionId, Slot, TrackName, TurnId};
use crate::state::{Extra, HistoryEntry, Intent, Outcome, State, TrackState, Turn};

/// Sessions started within this time count towards the budget.
const BUDGET_WINDOW: SignedDuration = SignedDuration::from_hours(24);

/// The holder of rebuilt intents.
const HOLDER: &str = "rebuild";

/// A session of phileas, with what its marker contains.
struct IdentifiedSession<'f> {
    fact: &'f SessionFact,
    marker: Marker,
    track: TrackName,
    persona: PersonaId,
    seq: Option<u64>,
    slot: Option<Slot>,
}

/// Proposes a state from the sessions of one repository. `nonce` is a new random one.
#[must_use]
pub fn rebuild(
    repository_id: RepositoryId,
    now: Timestamp,
    nonce: String,
    facts: &[SessionFact],
) -> RebuildProposal {
    let mut rebuilt = rebuild_from_sessions(repository_id, now, nonce, facts);
    restart_comment_cursor(&mut rebuilt, now);
    // The records of work may have survived in their own files.
    rebuilt.state.work.remembered = 1;
    rebuilt
}

/// Moves the comment cursor to now, because a command that was already executed would be executed twice.
pub(super) fn restart_comment_cursor(rebuilt: &mut RebuildProposal, now: Timestamp) {
    rebuilt.state.cursors.comments_since = Some(now);
    let now = now.strftime("%Y-%m-%d %H:%M:%S UTC");
    rebuilt.notes.push(format!(
        "commands in comments before {now} are not executed, because the ledger of executed commands is lost; repeat a \
         command that got no answer"
    ));
}

pub(super) fn rebuild_from_sessions(
    repository_id: RepositoryId,
    now: Timestamp,
    nonce: String,
    facts: &[SessionFact],
) -> RebuildProposal {
    let mut notes = Vec::new();
    let mut in_order: Vec<&SessionFact> = facts.iter().collect();
    in_order.sort_by(|a, b| (a.created_at, &a.session_id).cmp(&(b.created_at, &b.session_id)));
    in_order.dedup_by(|a, b| a.session_id == b.session_id);
    let mut found = Vec::new();
    for fact in in_order {
        match identify_session(fact, repository_id) {
            Ok(session) => found.push(session),
            Err(why) => notes.push(format!("session {} is left out: {why}", fact.session_id)),
        }
    }
    for session in found.iter().filter(|session| session.seq.is_none()) {
        notes.push(format!(
            "session {} is known by its title only; its number in the track `{}` is unknown",
            session.fact.session_id, session.track
        ));
    }
    let groups = group_attempts(found, &mut notes);
    let mut state = State::new_ledger(repository_id, now, nonce);
    for (key, (session, duplicates)) in (0..).zip(&groups) {
        state
            .history
            .insert(key, history_entry(session, duplicates));
    }
    for (key, (session, _)) in (0..).zip(&groups) {
        move_track_on(&mut state, key, session);
    }
    for (key, (session, _)) in (0..).zip(&groups) {
        restore_live_turn(&mut state, key, session);
    }
    close_unfollowed(&mut state, &mut notes);
    let recent = facts.iter().map(|fact| fact.created_at);
    state.budget.created = recent.filter(|at| *at > now - BUDGET_WINDOW).collect();
    state.budget.created.sort_unstable();
    for (name, track) in &state.tracks {
        let counted = match track.seq {
            1 => "one turn was counted".to_owned(),
            turns => format!("{turns} turns were counted"),
        };
        notes.push(format!(
            "track `{name}`: {counted}; which step comes next follows from the persona that ran last"
        ));
    }
    RebuildProposal { state, notes }
}

/// Identifies the turn of a session.
fn identify_session(
    fact: &SessionFact,
    repository_id: RepositoryId,
) -> Result<IdentifiedSession<'_>, String> {
    if let Some(line) = fact.prompt.as_deref().and_then(Marker::from_prompt) {
        if line.repository != repository_id {
            return Err(format!("it works for the repository {}", line.repository));
        }
        return Ok(IdentifiedSession {
            fact,
            marker: line.marker,
            track: line.track,
            persona: line.persona,
            seq: Some(line.seq),
            slot: Some(line.slot),
        });
    }
    let marker = Marker::from_title(&fact.title).ok_or("it carries no marker of ours")?;
    // `<emoji> <persona>: <track> [phileas:...]`
    let named = fact
        .title
        .trim_end()
        .strip_suffix(marker.title_suffix().as_str());
    let (persona, track) = named
        .and_then(|title| title.rsplit_once(": "))
        .and_then(|(head, track)| Some((head.split(' ').next_back()?, track)))
        .filter(|(persona, track)| !persona.is_empty() && !track.is_empty())
        .ok_or_else(|| format!("its title `{}` names neither persona nor track", fact.title))?;
    Ok(IdentifiedSession {
        fact,
        marker,
        track: track.trim().into(),
        persona: persona.into(),
        seq: None,
        slot: None,
    })
}

/// One session for each attempt, in time order, with its duplicates.
fn group_attempts<'f>(
    found: Vec<IdentifiedSession<'f>>,
    notes: &mut Vec<String>,
) -> Vec<(IdentifiedSession<'f>, Vec<SessionId>)> {
    let mut groups: Vec<(IdentifiedSession<'f>, Vec<SessionId>)> = Vec::new();
    let mut places: BTreeMap<Marker, usize> = BTreeMap::new();
    for session in found {
        let Some(place) = places.get(&session.marker) else {
            places.insert(session.marker.clone(), groups.len());
            groups.push((session, Vec::new()));
            continue;
        };
        let (kept, duplicates) = &mut groups[*place];
        // Prefer the session with a pull request.
        let other = if kept.fact.pull.is_none() && session.fact.pull.is_some() {
            std::mem::replace(kept, session)
        } else {
            session
        };
        notes.push(format!(
            "turn {}: session {} is a duplicate of {}",
            kept.marker, other.fact.session_id, kept.fact.session_id
        ));
        duplicates.push(other.fact.session_id.clone());
    }
    groups.sort_by_key(|(session, _)| session.fact.created_at);
    groups
}

fn history_entry(session: &IdentifiedSession<'_>, duplicates: &[SessionId]) -> HistoryEntry {
    let fact = session.fact;
    let outcome = session_outcome(fact);
    HistoryEntry {
        persona_id: session.persona.clone(),
        session_id: Some(fact.session_id.clone()),
        pr_number: fact.pull.map(|(number, _)| number),
        created_at: Some(fact.created_at),
        track: Some(session.track.clone()),
        turn: Some(session.marker.turn.clone()),
        seq: session.seq,
        slot: session.slot.clone(),
        attempt: Some(session.marker.attempt),
        base_sha: None,
        finished_at: fact.ended.filter(|_| outcome.is_some()).map(|end| end.at),
        outcome,
        duplicates: duplicates.to_vec(),
        zero_touch: None,
        review_secs: None,
        refused: None,
        prompt: None,
        note: Some("rebuilt from Jules' listing".to_owned()),
        extra: Extra::new(),
    }
}

/// The outcome of a session. `None` while it is running.
pub(super) fn session_outcome(fact: &SessionFact) -> Option<Outcome> {
    match (fact.pull, fact.ended) {
        (Some((_, PullOutcome::Merged)), _) => Some(Outcome::Merged),
        (Some((_, PullOutcome::Closed)), _) => Some(Outcome::Rejected),
        (Some((_, PullOutcome::Open)), _) => Some(Outcome::PrOpen),
        (None, Some(end)) => Some(match end.result {
            SessionResult::Changes => Outcome::Completed,
            SessionResult::Nothing => Outcome::NoOutput,
            SessionResult::Failed => Outcome::Failed,
        }),
        (None, None) => None,
    }
}

/// Moves the track's pointer to this session. Sessions come in time order.
fn move_track_on(state: &mut State, key: u64, session: &IdentifiedSession<'_>) {
    let turns_so_far: std::collections::BTreeSet<&TurnId> = state
        .history
        .range(..=key)
        .filter(|(_, entry)| entry.is_of_track(&session.track))
        .filter_map(|(_, entry)| entry.turn.as_ref())
        .collect();
    let counted = turns_so_far.len() as u64;
    let track = state.tracks.entry(session.track.clone()).or_default();
    *track = TrackState {
        persona_id: Some(session.persona.clone()),
        session_id: Some(session.fact.session_id.clone()),
        pr_number: session.fact.pull.map(|(number, _)| number),
        updated_at: Some(session.fact.created_at),
        seq: track.seq.max(counted).max(session.seq.unwrap_or_default()),
        ..TrackState::default()
    };
    if let Some(persona) = session.track.schedule_persona() {
        let schedule = state.schedules.entry(persona.to_string()).or_default();
        schedule.last_fired = schedule.last_fired.max(Some(session.fact.created_at));
    }
}

/// Restores the live turn of a running session that belongs to the newest turn of its track, so that phileas follows it.
fn restore_live_turn(state: &mut State, key: u64, session: &IdentifiedSession<'_>) {
    let fact = session.fact;
    let (None, None, Some(slot)) = (fact.ended, fact.pull, &session.slot) else {
        return;
    };
    let Some(genesis) = &state.genesis else {
        return;
    };
    let Some(track) = state.tracks.get_mut(&session.track) else {
        return;
    };
    if session.seq != Some(track.seq) {
        return;
    }
    let newer = track
        .turns
        .get(slot)
        .is_some_and(|turn| turn.attempt > session.marker.attempt);
    if newer {
        return;
    }
    let id = TurnId::derive(
        &genesis.nonce,
        genesis.repository_id,
        &session.track,
        track.seq,
        slot,
    );
    let prompt = fact.prompt.as_deref().unwrap_or_default();
    let turn = Turn {
        attempt: session.marker.attempt,
        history_key: Some(key),
        intent: Some(Intent {
            created_at: fact.created_at,
            not_after: fact.created_at,
            holder: HOLDER.into(),
            prompt_sha256: data_encoding::HEXLOWER.encode(&Sha256::digest(prompt)),
            extra: Extra::new(),
        }),
        session_id: Some(fact.session_id.clone()),
        ..Turn::new(id, session.persona.clone())
    };
    track.turns.insert(slot.clone(), turn);
}

/// Closes open entries without a live turn.
///
/// No turn would complete them, and an open entry keeps all later entries out of the archive. Their sessions may still
/// run, so the entries get no end time, and the sessions are not archived.
pub(super) fn close_unfollowed(state: &mut State, notes: &mut Vec<String>) {
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    let followed: Vec<u64> = turns.filter_map(|turn| turn.history_key).collect();
    let keys: Vec<u64> = state.history.keys().copied().collect();
    for key in keys.into_iter().filter(|key| !followed.contains(key)) {
        let Some(entry) = state.history.get_mut(&key) else {
            continue;
        };
        if entry.outcome.is_some() || entry.turn.is_none() {
            continue;
        }
        entry.outcome = Some(Outcome::Cancelled);
        entry.note =
            Some("not ended when the ledger was rebuilt, and no turn follows it".to_owned());
        if let Some(session) = &entry.session_id {
            notes.push(format!(
                "session {session} had not ended, and no turn follows it: its entry is closed as cancelled"
            ));
        }
    }
}
