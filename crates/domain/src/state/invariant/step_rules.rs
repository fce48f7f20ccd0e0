//! The rules of a step from one state to the next.

use super::violation::Violation;
use crate::model::TrackName;
use crate::state::{Amendment, Extra, HistoryEntry, Outcome, State, TrackState, Turn};

/// All rules that the step from `before` to `after` violates.
///
/// A rotation to an archive segment is a step, too: finished entries may leave at the front, with amendments of archived
/// entries. Whether they arrived in a segment is for the archive to say.
#[must_use]
pub fn check_step(before: &State, after: &State) -> Vec<Violation> {
    check_rules(before, after, None)
}

/// [`check_step`] for a step in which a person sets the pointer of one track. Its index and passes may decrease. Its
/// sequence number may not, because turn ids would repeat.
#[must_use]
pub fn check_track_set(before: &State, after: &State, track: &TrackName) -> Vec<Violation> {
    check_rules(before, after, Some(track))
}

fn check_rules(before: &State, after: &State, set: Option<&TrackName>) -> Vec<Violation> {
    let mut broken = Vec::new();
    if before.genesis.is_some() && before.genesis != after.genesis {
        let detail = "the ledger's birth never changes";
        broken.push(Violation::new("genesis_kept", ["genesis"], detail));
    }
    check_history(before, after, &mut broken);
    check_amendments(before, after, &mut broken);
    for (name, track) in &before.tracks {
        match after.tracks.get(name) {
            Some(next) => check_pointer(name, track, next, set == Some(name), &mut broken),
            // The track of a finished request is removed with it.
            None if name.as_str().starts_with("request:") && track.turns.is_empty() => {}
            None => {
                let detail = format!("the track `{name}` is gone");
                broken.push(Violation::new(
                    "track_kept",
                    ["tracks", name.as_str()],
                    detail,
                ));
            }
        }
    }
    broken
}

fn check_history(before: &State, after: &State, broken: &mut Vec<Violation>) {
    let first = after.history.first_key_value().map(|(key, _)| *key);
    for (key, entry) in &before.history {
        let mut say = |rule, detail: String| {
            broken.push(Violation::new(rule, ["history", &key.to_string()], detail));
        };
        match after.history.get(key) {
            Some(next) => {
                if let Some(detail) = rewritten_field(entry, next) {
                    say("history_written_once", format!("entry {key}: {detail}"));
                }
            }
            None if first.is_some_and(|first| *key < first) => {
                if !entry.is_finished() {
                    say(
                        "history_kept",
                        format!("entry {key} is archived before it is finished"),
                    );
                }
            }
            None => say("history_kept", format!("entry {key} is gone")),
        }
    }
    let began = before.history.first_key_value().map(|(key, _)| *key);
    if let (Some(began), Some(first)) = (began, first)
        && first < began
    {
        let detail =
            format!("entry {first} comes back from the archive, which ended before {began}");
        let path = ["history", &first.to_string()];
        broken.push(Violation::new("history_kept", path, detail));
    }
}

/// The change in an entry that may only be completed.
fn rewritten_field(entry: &HistoryEntry, next: &HistoryEntry) -> Option<String> {
    if let Some(detail) = outcome_violation(entry.outcome.as_ref(), next.outcome.as_ref()) {
        return Some(detail);
    }
    let changed = [
        ("persona_id", entry.persona_id != next.persona_id),
        (
            "session_id",
            is_replaced(&entry.session_id, &next.session_id),
        ),
        ("pr_number", is_replaced(&entry.pr_number, &next.pr_number)),
        (
            "created_at",
            is_replaced(&entry.created_at, &next.created_at),
        ),
        ("track", entry.track_name() != next.track_name()),
        ("turn", is_replaced(&entry.turn, &next.turn)),
        ("seq", is_replaced(&entry.seq, &next.seq)),
        ("slot", is_replaced(&entry.slot, &next.slot)),
        ("attempt", is_replaced(&entry.attempt, &next.attempt)),
        ("base_sha", is_replaced(&entry.base_sha, &next.base_sha)),
        (
            "duplicates",
            !entry
                .duplicates
                .iter()
                .all(|one| next.duplicates.contains(one)),
        ),
        ("finished_at", entry.finished_at > next.finished_at),
        ("extra", loses_keys(&entry.extra, &next.extra)),
    ];
    let (name, _) = changed.into_iter().find(|(_, changed)| *changed)?;
    Some(match name {
        "extra" => "a key of another program was changed".to_owned(),
        name => format!("`{name}` was changed; what is written is only completed"),
    })
}

/// Why one outcome may not become the other.
fn outcome_violation(outcome: Option<&Outcome>, next: Option<&Outcome>) -> Option<String> {
    match (outcome, next) {
        (Some(outcome), None) => Some(format!("the outcome `{outcome}` was taken back")),
        (Some(outcome), Some(next)) if !outcome.may_become(next) => {
            Some(format!("the outcome `{outcome}` cannot become `{next}`"))
        }
        _ => None,
    }
}

/// Whether a known value was changed or removed.
fn is_replaced<T: PartialEq>(value: &Option<T>, next: &Option<T>) -> bool {
    value.is_some() && value != next
}

/// Keys whose value may be completed. Until then the value of another program stays.
const COMPLETED: [&str; 5] = ["session_id", "track", "base_sha", "outcome", "finished_at"];

fn loses_keys(extra: &Extra, next: &Extra) -> bool {
    let mut kept = extra
        .iter()
        .filter(|(key, _)| !COMPLETED.contains(&key.as_str()));
    kept.any(|(key, value)| next.get(key) != Some(value))
}

fn check_amendments(before: &State, after: &State, broken: &mut Vec<Violation>) {
    let first = |state: &State| state.history.first_key_value().map_or(0, |(key, _)| *key);
    let rotated = first(after) > first(before);
    for (key, amendment) in &before.amendments {
        let detail = match after.amendments.get(key) {
            Some(next) => amendment_violation(amendment, next),
            None if rotated => None,
            None => Some("it is gone, and nothing was rotated".to_owned()),
        };
        if let Some(detail) = detail {
            let path = ["amendments", &key.to_string()];
            let detail = format!("amendment {key}: {detail}");
            broken.push(Violation::new("amendment_kept", path, detail));
        }
    }
}

fn amendment_violation(amendment: &Amendment, next: &Amendment) -> Option<String> {
    if let Some(detail) = outcome_violation(amendment.outcome.as_ref(), next.outcome.as_ref()) {
        return Some(detail);
    }
    (is_replaced(&amendment.pr_number, &next.pr_number)
        || amendment.finished_at > next.finished_at
        || loses_keys(&amendment.extra, &next.extra))
    .then(|| "what is written is only completed".to_owned())
}

fn check_pointer(
    name: &TrackName,
    track: &TrackState,
    next: &TrackState,
    set: bool,
    broken: &mut Vec<Violation>,
) {
    let mut say = |key, detail: String| {
        broken.push(Violation::new(
            "pointer_forward",
            ["tracks", name.as_str(), key],
            detail,
        ));
    };
    if next.seq < track.seq {
        let detail = format!(
            "the number of turns falls from {} to {}",
            track.seq, next.seq
        );
        say("seq", detail);
    }
    if !set && next.passes < track.passes {
        let detail = format!(
            "the number of passes falls from {} to {}",
            track.passes, next.passes
        );
        say("passes", detail);
    }
    // The index begins again with every pass.
    if !set && next.passes == track.passes && next.index < track.index {
        let index = |track: &TrackState| track.index.map_or("none".to_owned(), |i| i.to_string());
        let detail = format!(
            "the index falls from {} to {} within one pass",
            index(track),
            index(next)
        );
        say("index", detail);
    }
    for (slot, turn) in &track.turns {
        let Some(after) = next.turns.get(slot) else {
            continue;
        };
        if let Some((rule, detail)) = turn_broken(turn, after) {
            let path = ["tracks", name.as_str(), "turns", slot.as_str()];
            broken.push(Violation::new(rule, path, detail));
        }
    }
}

/// What is wrong with a turn's step.
fn turn_broken(turn: &Turn, next: &Turn) -> Option<(&'static str, String)> {
    let id = &turn.turn;
    if *id != next.turn {
        // A turn of the same number has the same id, so `turn_derived` and `pointer_forward` watch over this.
        return None;
    }
    if next.attempt < turn.attempt {
        let detail = format!(
            "turn {id}: attempt {} comes after attempt {}",
            next.attempt, turn.attempt
        );
        return Some(("attempt_forward", detail));
    }
    if next.attempt == turn.attempt && is_replaced(&turn.session_id, &next.session_id) {
        let detail = format!(
            "turn {id}: the session of attempt {} was changed",
            turn.attempt
        );
        return Some(("session_written_once", detail));
    }
    None
}
