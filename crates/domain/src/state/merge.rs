//! Merges two versions of the state: the union of their histories, the newer of their tracks, and otherwise the safer
//! value. Only the repair uses it; the ledger itself is not merged.

use std::collections::BTreeMap;

use super::{Amendment, HistoryEntry, PullAction, State, Timing, TrackState, TrackedPull};
use crate::model::{Oid, TrackName};

/// Adds to `base` what only `other` has. Returns remarks on contradictions.
pub(super) fn merge_states(base: &mut State, other: &State) -> Vec<String> {
    let mut remarks = merge_history(base, other);
    merge_tracks(base, other, true);
    match (&base.genesis, &other.genesis) {
        (None, Some(_)) => base.genesis.clone_from(&other.genesis),
        (Some(ours), Some(theirs)) if ours != theirs => remarks.push(format!(
            "the two sides were born differently (nonces {} and {}); the first is kept",
            ours.nonce, theirs.nonce
        )),
        _ => {}
    }
    let first = base.history.first_key_value().map_or(0, |(key, _)| *key);
    for (key, news) in other.amendments.range(..first) {
        if let Err(detail) = join_amendment(base.amendments.entry(*key).or_default(), news) {
            remarks.push(format!("amendment {key}: {detail}"));
        }
    }
    for (name, theirs) in &other.schedules {
        let ours = base.schedules.entry(name.clone()).or_default();
        ours.last_fired = ours.last_fired.max(theirs.last_fired);
        if ours.timing == Timing::default() {
            ours.timing.clone_from(&theirs.timing);
        }
    }
    for (id, theirs) in &other.requests {
        let ours = base
            .requests
            .entry(id.clone())
            .or_insert_with(|| theirs.clone());
        if ours.finished_at.is_none() && theirs.finished_at.is_some() {
            ours.clone_from(theirs);
        }
    }
    for (number, theirs) in &other.pulls {
        let ours = base.pulls.entry(*number).or_insert_with(|| theirs.clone());
        join_tracked_pull(ours, theirs);
    }
    // A pull request that is recorded twice has one record.
    base.work.open.extend(&other.work.open);
    base.work.forgotten.extend(&other.work.forgotten);
    add_missing(&mut base.work.refused, &other.work.refused);
    base.work.reverts.extend(&other.work.reverts);
    add_missing(&mut base.work.marks, &other.work.marks);
    add_missing(&mut base.work.facts, &other.work.facts);
    base.work.remembered = base.work.remembered.max(other.work.remembered);
    add_missing(&mut base.personas, &other.personas);
    add_missing(&mut base.published, &other.published);
    add_missing(&mut base.publishing, &other.publishing);
    add_missing(&mut base.refused_effects, &other.refused_effects);
    merge_budget(base, other);
    // Reading comments twice does no harm, but skipping them would.
    let since = |state: &State| state.cursors.comments_since;
    base.cursors.comments_since = [since(base), since(other)].into_iter().flatten().min();
    // The newer of two commits is unknown here, and summarizing one twice does no harm.
    if base.cursors.summarized_commit != other.cursors.summarized_commit {
        base.cursors.summarized_commit = None;
    }
    base.dashboard_issue = base.dashboard_issue.or(other.dashboard_issue);
    // The issue's text is compared with it. If the text differs, phileas rewrites the issue and executes no checkbox.
    if base.dashboard.is_none() {
        base.dashboard.clone_from(&other.dashboard);
    }
    base.sprint = base.sprint.max(other.sprint);
    if base.paused.is_none() {
        base.paused.clone_from(&other.paused);
    }
    for (key, value) in &other.extra {
        if !base.extra.contains_key(key) {
            base.extra.insert(key.clone(), value.clone());
        }
    }
    remarks
}

/// Adds the entries and missing tracks of an earlier version. Everything else stays.
pub(super) fn merge_earlier(base: &mut State, earlier: &State) -> Vec<String> {
    let remarks = merge_history(base, earlier);
    merge_tracks(base, earlier, false);
    remarks
}

/// The union by session, in time order; keys stay where nothing comes before them. Entries below the first key are
/// archived already.
fn merge_history(base: &mut State, other: &State) -> Vec<String> {
    let mut remarks = Vec::new();
    let first = match base.history.first_key_value() {
        Some((key, _)) => *key,
        None => other.history.first_key_value().map_or(0, |(key, _)| *key),
    };
    let mut entries: Vec<(Option<u64>, HistoryEntry)> = std::mem::take(&mut base.history)
        .into_iter()
        .map(|(key, entry)| (Some(key), entry))
        .collect();
    for (key, theirs) in other.history.range(first..) {
        if let Some((_, ours)) = entries
            .iter_mut()
            .find(|(_, ours)| is_same_session(ours, theirs))
        {
            if let Err(detail) = join_entry(ours, theirs) {
                remarks.push(format!("entry {key}: {detail}; the first side is kept"));
            }
            continue;
        }
        let at = match theirs.created_at {
            Some(at) => entries
                .iter()
                .rposition(|(_, ours)| ours.created_at.is_some_and(|ours| ours <= at))
                .map_or(0, |before| before + 1),
            None => entries.len(),
        };
        entries.insert(at, (None, theirs.clone()));
    }
    let mut moved = BTreeMap::new();
    for (key, (old, entry)) in (first..).zip(entries) {
        if let Some(old) = old {
            moved.insert(old, key);
        }
        base.history.insert(key, entry);
    }
    for turn in base
        .tracks
        .values_mut()
        .flat_map(|track| track.turns.values_mut())
    {
        turn.history_key = turn.history_key.map(|key| *moved.get(&key).unwrap_or(&key));
    }
    remarks
}

/// Whether two entries are about the same session, or, without one, about the same turn or time.
pub(super) fn is_same_session(one: &HistoryEntry, other: &HistoryEntry) -> bool {
    match (&one.session_id, &other.session_id) {
        (Some(one), Some(other)) => one == other,
        _ if one.turn.is_some() => one.turn == other.turn && one.attempt == other.attempt,
        _ => {
            other.turn.is_none()
                && one.persona_id == other.persona_id
                && one.created_at == other.created_at
        }
    }
}

/// Completes an entry with the values of its other version.
fn join_entry(ours: &mut HistoryEntry, theirs: &HistoryEntry) -> Result<(), String> {
    if ours.persona_id != theirs.persona_id {
        return Err(format!(
            "the sides name the personas {} and {}",
            ours.persona_id, theirs.persona_id
        ));
    }
    fill_missing(&mut ours.session_id, &theirs.session_id);
    fill_missing(&mut ours.created_at, &theirs.created_at);
    fill_missing(&mut ours.track, &theirs.track);
    fill_missing(&mut ours.turn, &theirs.turn);
    fill_missing(&mut ours.seq, &theirs.seq);
    fill_missing(&mut ours.slot, &theirs.slot);
    fill_missing(&mut ours.attempt, &theirs.attempt);
    fill_missing(&mut ours.base_sha, &theirs.base_sha);
    fill_missing(&mut ours.note, &theirs.note);
    for session in &theirs.duplicates {
        if !ours.duplicates.contains(session) {
            ours.duplicates.push(session.clone());
        }
    }
    for (key, value) in &theirs.extra {
        if !ours.extra.contains_key(key) {
            ours.extra.insert(key.clone(), value.clone());
        }
    }
    let outcome = (&ours.outcome, &theirs.outcome);
    // The older side does not change the outcome.
    if matches!(outcome, (Some(ours), Some(theirs)) if theirs.may_become(ours)) {
        fill_missing(&mut ours.pr_number, &theirs.pr_number);
        return Ok(());
    }
    let news = Amendment {
        outcome: theirs.outcome.clone(),
        pr_number: theirs.pr_number,
        finished_at: theirs.finished_at,
        ..Amendment::default()
    };
    news.apply(
        &mut ours.outcome,
        &mut ours.pr_number,
        &mut ours.finished_at,
    )
}

fn join_amendment(ours: &mut Amendment, theirs: &Amendment) -> Result<(), String> {
    if matches!((&ours.outcome, &theirs.outcome), (Some(ours), Some(theirs)) if theirs.may_become(ours))
    {
        fill_missing(&mut ours.pr_number, &theirs.pr_number);
        return Ok(());
    }
    theirs.apply(
        &mut ours.outcome,
        &mut ours.pr_number,
        &mut ours.finished_at,
    )
}

/// An action of either side counts as taken, and counters take the higher value.
fn join_tracked_pull(ours: &mut TrackedPull, theirs: &TrackedPull) {
    join_pull_action(&mut ours.checks, &theirs.checks);
    ours.fix_rounds = ours.fix_rounds.max(theirs.fix_rounds);
    join_pull_action(&mut ours.reviews, &theirs.reviews);
    ours.review_rounds = ours.review_rounds.max(theirs.review_rounds);
    join_pull_action(&mut ours.conflicts, &theirs.conflicts);
    ours.conflict_rounds = ours.conflict_rounds.max(theirs.conflict_rounds);
    join_pull_action(&mut ours.retargeted, &theirs.retargeted);
    join_pull_action(&mut ours.draft_ready, &theirs.draft_ready);
    join_pull_action(&mut ours.reminded, &theirs.reminded);
    ours.closed_at = ours.closed_at.max(theirs.closed_at);
    ours.archive_at = ours.archive_at.max(theirs.archive_at);
    ours.archive_tries = ours.archive_tries.max(theirs.archive_tries);
    join_heads(&mut ours.notified_heads, &theirs.notified_heads);
    join_heads(&mut ours.conflict_heads, &theirs.conflict_heads);
    if ours.next_check.as_ref().map(|look| look.not_before)
        < theirs.next_check.as_ref().map(|look| look.not_before)
    {
        ours.next_check.clone_from(&theirs.next_check);
    }
    ours.notice_opened_at = ours.notice_opened_at.max(theirs.notice_opened_at);
    ours.notices_opened = ours.notices_opened.max(theirs.notices_opened);
}

fn join_heads(ours: &mut Vec<Oid>, theirs: &[Oid]) {
    for head in theirs {
        if !ours.contains(head) {
            ours.push(head.clone());
        }
    }
}

/// The newer action wins.
fn join_pull_action(ours: &mut Option<PullAction>, theirs: &Option<PullAction>) {
    let newer = match (&*ours, theirs) {
        (Some(ours), Some(theirs)) if ours.head == theirs.head => {
            (theirs.notified, theirs.at) > (ours.notified, ours.at)
        }
        (Some(ours), Some(theirs)) => theirs.at > ours.at,
        (ours, _) => ours.is_none(),
    };
    if newer {
        ours.clone_from(theirs);
    }
}

fn fill_missing<T: Clone>(ours: &mut Option<T>, theirs: &Option<T>) {
    if ours.is_none() {
        ours.clone_from(theirs);
    }
}

fn merge_tracks(base: &mut State, other: &State, newer_wins: bool) {
    for (name, theirs) in &other.tracks {
        let newer = base
            .tracks
            .get(name)
            .is_none_or(|ours| newer_wins && theirs.updated_at > ours.updated_at);
        if newer {
            let mut taken = theirs.clone();
            for turn in taken.turns.values_mut() {
                // The merge of the histories may have moved their keys.
                if let Some(session) = &turn.session_id {
                    turn.history_key = base.entry_of_session(session).map(|(key, _)| key);
                }
            }
            let ours = base.tracks.insert(name.clone(), taken);
            if let (Some(ours), Some(track)) = (ours, base.tracks.get_mut(name)) {
                keep_counting(track, &ours);
            }
        } else if let Some(track) = base.tracks.get_mut(name) {
            keep_counting(track, theirs);
        }
    }
    if base.genesis.is_none() {
        super::legacy::count_turns(base);
    }
}

/// No sequence number is used twice. A live turn's number is part of its id, so a track with one keeps it.
fn keep_counting(track: &mut TrackState, other: &TrackState) {
    if track.turns.is_empty() {
        track.seq = track.seq.max(other.seq);
    }
}

fn merge_budget(base: &mut State, other: &State) {
    base.budget.created.extend(&other.budget.created);
    base.budget.created.sort_unstable();
    base.budget.created.dedup();
    if other.budget.paused_until > base.budget.paused_until {
        base.budget.paused_until = other.budget.paused_until;
        base.budget.reason.clone_from(&other.budget.reason);
    }
    base.budget.quota_failures = base.budget.quota_failures.max(other.budget.quota_failures);
}

fn add_missing<K: Ord + Clone, V: Clone>(ours: &mut BTreeMap<K, V>, theirs: &BTreeMap<K, V>) {
    for (key, value) in theirs {
        ours.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

/// The names of the tracks whose newest session differs.
pub(super) fn moved_tracks<'s>(
    one: &'s State,
    other: &'s State,
) -> impl Iterator<Item = (&'s TrackName, Option<&'s TrackState>, &'s TrackState)> {
    other.tracks.iter().filter_map(|(name, track)| {
        let before = one.tracks.get(name);
        let place = |track: &TrackState| (track.persona_id.clone(), track.session_id.clone());
        (before.map(place) != Some(place(track))).then_some((name, before, track))
    })
}

#[cfg(test)]
mod tests;
