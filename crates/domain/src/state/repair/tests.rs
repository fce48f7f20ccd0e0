mod proposal_text;

use super::*;
use crate::model::{PersonaId, TrackName};
use crate::state::codec;
use crate::state::fixtures::{CORRUPT, V1, V2, V3, V4, sound_state};
use crate::state::{Outcome, State};

fn version(oid: &str, at: &str, text: &str) -> EarlierVersion {
    EarlierVersion {
        oid: oid.into(),
        committed_at: at.parse().unwrap(),
        text: text.to_owned(),
    }
}

fn state_of(text: &str) -> State {
    load(text).unwrap().state
}

fn proposal_lines(proposal: &Proposal) -> Vec<String> {
    proposal.lines.iter().map(ToString::to_string).collect()
}

fn count(proposal: &Proposal, sign: &str) -> usize {
    proposal_lines(proposal)
        .iter()
        .filter(|line| line.starts_with(sign))
        .count()
}

#[test]
fn the_real_corrupt_file_is_salvaged_whole() {
    let proposal = propose_repair(CORRUPT, &[]);
    let state = proposal.state.clone().unwrap();
    // Its sides hold 83 and 77 entries; together they are what the next clean version has.
    let v3 = state_of(V3);
    assert_eq!(state.history.len(), 86);
    assert_eq!(state.history, v3.history);
    assert_eq!(state.tracks, v3.tracks);
    let v4 = state_of(V4);
    assert!(
        state
            .history
            .iter()
            .all(|(key, entry)| v4.history[key] == *entry)
    );
    assert_eq!(
        proposal.origin,
        Origin::Sides(vec![
            "ours/ours/ours/ours/ours".into(),
            "theirs/ours/ours/ours/ours".into()
        ])
    );
    assert_eq!(count(&proposal, "+"), 86);
    assert_eq!(count(&proposal, "-"), 0);
    assert_eq!(proposal.diagnostics.len(), 1);
}

#[test]
fn entries_gained_over_the_last_good_version_are_listed() {
    let earlier = [
        version("c1", "2026-01-12T14:55:00Z", V1),
        version("c3", "2026-01-13T12:00:00Z", "{"),
        version("c2", "2026-01-13T04:00:00Z", V2),
    ];
    let proposal = propose_repair(CORRUPT, &earlier);
    assert_eq!(proposal.state.as_ref().unwrap().history.len(), 86);
    assert_eq!(count(&proposal, "+"), 31);
    assert_eq!(count(&proposal, "-"), 0);
    let said = proposal_lines(&proposal);
    assert_eq!(
        said[0],
        "+ entry 55: curator session 10897012749068262322 created 2026-01-13T11:05:00.278017Z"
    );
    assert!(said.contains(
        &"~ track default: palette (session 12574552918092040838) -> shepherd (session 16703756850166122037)".to_owned()
    ));
    assert!(
        said.contains(
            &"! the version of 2026-01-13T12:00:00Z (c3) cannot be read either".to_owned()
        )
    );
}

#[test]
fn no_entry_of_an_earlier_version_is_dropped() {
    // The earlier version is ahead of both sides by one entry.
    let proposal = propose_repair(CORRUPT, &[version("c4", "2026-01-14T20:09:00Z", V4)]);
    let state = proposal.state.as_ref().unwrap();
    assert_eq!(state.history, state_of(V4).history);
    assert_eq!(count(&proposal, "+"), 0);
    assert!(
        proposal_lines(&proposal)
            .iter()
            .any(|line| line
                .starts_with("! 1 entries come from the version of 2026-01-14T20:09:00Z"))
    );
}

#[test]
fn without_markers_the_newest_earlier_version_counts() {
    let cut = &V4[..V4.len() - 700];
    let earlier = [
        version("c2", "2026-01-13T04:00:00Z", V2),
        version("c3", "2026-01-14T01:00:00Z", V3),
        version("c5", "2026-01-14T21:00:00Z", ""),
    ];
    let proposal = propose_repair(cut, &earlier);
    assert_eq!(
        proposal.origin,
        Origin::Earlier {
            oid: "c3".into(),
            committed_at: "2026-01-14T01:00:00Z".parse().unwrap()
        }
    );
    assert_eq!(proposal.state.as_ref().unwrap(), &state_of(V3));
    let lost: Vec<_> = proposal_lines(&proposal)
        .into_iter()
        .filter(|line| line.starts_with('-'))
        .collect();
    assert_eq!(lost, Vec::<String>::new());
    // Of the 87 sessions, the shorter version lacks 32.
    let proposal = propose_repair(&format!("{V4}}}"), &earlier[..1]);
    assert_eq!(proposal.state.as_ref().unwrap().history.len(), 55);
    assert_eq!(count(&proposal, "-"), 32);
    assert!(
        proposal_lines(&proposal)
            .contains(&"- session 14992656780795801002, which the broken file mentions".to_owned())
    );
}

#[test]
fn a_wiped_version_does_not_win_over_what_was_before_it() {
    let wiped = r#"{"history": {"0": {"persona_id": "curator", "session_id": "5", "created_at": "2026-01-14T22:51:00Z"}}}"#;
    let earlier = [
        version("c4", "2026-01-14T20:09:00Z", V4),
        version("c5", "2026-01-14T22:51:00Z", wiped),
    ];
    let proposal = propose_repair("<html>", &earlier);
    let state = proposal.state.as_ref().unwrap();
    assert_eq!(state.history.len(), 88);
    assert_eq!(state.history[&87].persona_id, PersonaId::from("curator"));
    assert_eq!(state.history[&86], state_of(V4).history[&86]);
    assert_eq!(state.tracks[&TrackName::from("default")].seq, 88);
    assert_eq!(count(&proposal, "+"), 87);
}

#[test]
fn nothing_comes_of_nothing() {
    let proposal = propose_repair("", &[version("c1", "2026-01-14T20:09:00Z", "[")]);
    assert_eq!((proposal.state, proposal.origin), (None, Origin::Nothing));
    assert_eq!(proposal.lines.len(), 1);
}

#[test]
fn an_intact_file_stays() {
    let proposal = propose_repair(V4, &[version("c2", "2026-01-13T04:00:00Z", V2)]);
    assert_eq!(proposal.origin, Origin::Intact);
    assert_eq!(proposal.state, Some(state_of(V4)));
}

/// A file in which two versions stand between markers as a whole.
fn conflict_of(ours: &State, theirs: &State) -> String {
    format!(
        "<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n",
        codec::save(ours),
        codec::save(theirs)
    )
}

#[test]
fn two_live_ledgers_merge_by_meaning() {
    let ours = {
        let mut state = sound_state();
        state.history.get_mut(&1).unwrap().outcome = Some(Outcome::Merged);
        state.budget.created.truncate(1);
        state.published.insert("proposal:a".to_owned(), 3);
        state
    };
    let theirs = {
        // Another writer inserted a session before our newest one.
        let mut state = sound_state();
        let mut other = state.history[&1].clone();
        other.turn = Some(crate::model::TurnId::parse("0123456789ab").unwrap());
        other.session_id = Some("1777".into());
        other.created_at = Some("2026-01-05T02:30:00Z".parse().unwrap());
        other.track = Some("schedule:b".into());
        let newest = state.history[&2].clone();
        state.history.insert(2, other);
        state.history.insert(3, newest);
        let track = state.tracks.get_mut("default").unwrap();
        track.turns.get_mut("").unwrap().history_key = Some(3);
        track.updated_at = Some("2026-01-05T03:00:01Z".parse().unwrap());
        track.session_id = Some("1003".into());
        state
            .schedules
            .entry("b".to_owned())
            .or_default()
            .last_fired = track.updated_at;
        state.paused = Some(crate::state::Pause::default());
        state
    };
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &ours)] {
        let proposal = propose_repair(&conflict_of(ours, theirs), &[]);
        let state = proposal
            .state
            .clone()
            .unwrap_or_else(|| panic!("{:?}", proposal_lines(&proposal)));
        let sessions: Vec<_> = state
            .history
            .values()
            .map(|e| e.session_id.clone().unwrap().to_string())
            .collect();
        assert_eq!(sessions, ["1001", "1002", "1777", "1003"]);
        assert_eq!(state.history[&1].outcome, Some(Outcome::Merged));
        let track = &state.tracks[&TrackName::from("default")];
        assert_eq!(
            track.updated_at,
            theirs.tracks[&TrackName::from("default")]
                .updated_at
                .max(ours.tracks[&TrackName::from("default")].updated_at)
        );
        assert_eq!(track.turns.values().next().unwrap().history_key, Some(3));
        assert_eq!(state.budget.created.len(), 2);
        assert!(state.paused.is_some());
        assert_eq!(state.published.len(), 1);
        assert_eq!(state.schedules.len(), 1);
    }
}

#[test]
fn contradicting_sides_are_reported() {
    let mut theirs = sound_state();
    theirs.history.get_mut(&0).unwrap().outcome = Some(Outcome::Failed);
    theirs.history.get_mut(&1).unwrap().persona_id = "b".into();
    let proposal = propose_repair(&conflict_of(&sound_state(), &theirs), &[]);
    assert_eq!(proposal.state, Some(sound_state()));
    let said = proposal_lines(&proposal);
    assert!(
        said.contains(
            &"! entry 0: the outcome `merged` cannot become `failed`; the first side is kept"
                .to_owned()
        ),
        "{said:?}"
    );
    assert!(said.contains(
        &"! entry 1: the sides name the personas a and b; the first side is kept".to_owned()
    ));
}

#[test]
fn a_side_that_was_rotated_keeps_its_archive() {
    let mut rotated = sound_state();
    rotated.history = rotated.history.split_off(&1);
    for (ours, theirs) in [(&rotated, &sound_state()), (&sound_state(), &rotated)] {
        let proposal = propose_repair(&conflict_of(ours, theirs), &[]);
        assert_eq!(proposal.state.as_ref(), Some(&rotated));
        assert_eq!(count(&proposal, "+"), 2);
    }
}

const NEWER: &str = "{\"version\": 6, \"history\": {}}";
const MONDAY: &str = "2026-01-05T00:00:00Z";
const TUESDAY: &str = "2026-01-06T00:00:00Z";

#[test]
fn what_a_newer_program_wrote_is_not_gone_back_from() {
    let whole = codec::save(&sound_state());
    let refused = |text: &str, earlier: &[EarlierVersion]| {
        let proposal = propose_repair(text, earlier);
        assert_eq!((proposal.state, proposal.origin), (None, Origin::Newer));
    };
    refused(NEWER, &[version("a", MONDAY, &whole)]);
    let conflict = format!("<<<<<<< ours\n{whole}=======\n{NEWER}\n>>>>>>> theirs\n");
    refused(&conflict, &[]);
    let broken = "{ broken";
    refused(
        broken,
        &[version("a", MONDAY, &whole), version("b", TUESDAY, NEWER)],
    );
    // An older format was restored on purpose since.
    let back = propose_repair(
        broken,
        &[version("a", MONDAY, NEWER), version("b", TUESDAY, &whole)],
    );
    assert_eq!(back.state, Some(sound_state()));
}
