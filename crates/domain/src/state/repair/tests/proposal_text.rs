//! What a proposal says of itself, line by line.

use super::*;
use crate::model::TurnId;
use crate::state::fixtures::turn_id;

const BROKEN: &str = "{ broken";

/// [`sound`], cut after its first entries, as it was when the track had not gone further.
fn sound_until(entries: u64) -> State {
    let mut state = sound_state();
    let _ = state.history.split_off(&entries);
    let track = state.tracks.get_mut("default").unwrap();
    track.turns.clear();
    track.seq = entries;
    track.session_id = Some(format!("100{entries}").into());
    state
}

#[test]
fn a_version_that_was_completed_names_what_came_from_where() {
    let mut newest = sound_until(2);
    // A person wiped the second entry, and wrote another one.
    let wiped = newest.history.get_mut(&1).unwrap();
    wiped.session_id = Some("1777".into());
    wiped.turn = Some(TurnId::parse("0123456789ab").unwrap());
    wiped.created_at = Some("2026-01-05T05:00:00Z".parse().unwrap());
    let earlier = [
        version("a", MONDAY, &codec::save(&sound_until(1))),
        version("b", "2026-01-05T12:00:00Z", &codec::save(&sound_until(2))),
        version("c", TUESDAY, &codec::save(&newest)),
    ];
    let mentions = "{\"session_id\": \"1002\", \"session_id\" : \"1888\", \"session_id\": \"\", \"session_id\": null, \"session_id\": \"1888\", \"session_id\":\"1666\n";
    let proposal = propose_repair(mentions, &earlier);
    assert_eq!(
        proposal_lines(&proposal),
        [
            "+ entry 1: a session 1002 created 2026-01-05T02:00:00Z",
            "- session 1666, which the broken file mentions",
            "- session 1888, which the broken file mentions",
            "! 1 entries come from the version of 2026-01-05T12:00:00Z (b), because history never shrinks",
        ]
    );
    let state = proposal.state.unwrap();
    assert_eq!(state.history.len(), 3);
    assert_eq!(state.history[&2], newest.history[&1]);
    assert_eq!(
        proposal.origin,
        Origin::Earlier {
            oid: "c".into(),
            committed_at: TUESDAY.parse().unwrap()
        }
    );
}

#[test]
fn only_sides_that_add_something_are_named_and_only_what_moved() {
    let mut bare = sound_until(1);
    let first = bare.history.get_mut(&0).unwrap();
    (first.session_id, first.created_at, first.turn) = (None, None, None);
    let track = bare.tracks.get_mut("default").unwrap();
    (track.persona_id, track.session_id) = (None, None);
    bare.genesis = sound_state().genesis;
    let earlier = [version("a", MONDAY, &codec::save(&bare))];

    let proposal = propose_repair(&conflict_of(&bare, &bare), &earlier);
    assert_eq!(proposal.origin, Origin::Sides(vec!["ours".into()]));
    assert_eq!(proposal_lines(&proposal), Vec::<String>::new());
    assert_eq!(proposal.state, Some(bare.clone()));

    let proposal = propose_repair(&conflict_of(&bare, &bare), &[]);
    assert_eq!(
        proposal_lines(&proposal),
        [
            "+ entry 0: a session none created unknown",
            "~ track default: nowhere -> no persona (session none)"
        ]
    );
    let mut paused = bare.clone();
    paused.sprint = Some(3);
    let proposal = propose_repair(&conflict_of(&bare, &paused), &earlier);
    assert_eq!(
        proposal.origin,
        Origin::Sides(vec!["ours".into(), "theirs".into()])
    );
    assert_eq!(proposal.state, Some(paused));
}

#[test]
fn a_rotated_side_lacks_nothing_that_lies_in_the_archive() {
    let mut rotated = sound_state();
    rotated.history = rotated.history.split_off(&1);
    // The earlier version stands beside the sides only for comparison.
    let earlier = [version("a", MONDAY, &codec::save(&sound_state()))];
    let proposal = propose_repair(&conflict_of(&rotated, &rotated), &earlier);
    assert_eq!(proposal_lines(&proposal), Vec::<String>::new());
    assert_eq!(proposal.state, Some(rotated));
}

/// Two sound states that no one state can hold: a session is one's own, and the other's duplicate.
fn irreconcilable() -> (State, State) {
    let one = sound_until(1);
    let mut other = sound_until(1);
    let entry = other.history.get_mut(&0).unwrap();
    entry.session_id = Some("1888".into());
    entry.turn = Some(turn_id(2));
    entry.duplicates = vec!["1001".into()];
    (one, other)
}

#[test]
fn what_would_break_a_rule_is_not_proposed() {
    let (one, other) = irreconcilable();
    assert_eq!(invariant::check_state(&one), []);
    assert_eq!(invariant::check_state(&other), []);
    let remark = |what: &str| {
        format!(
            "! {what} cannot be used: session 1001 belongs to the entries 0 and 1 (session_unique)"
        )
    };
    // The newest version is left as it was instead of being completed.
    let earlier = [
        version("a", MONDAY, &codec::save(&other)),
        version("b", TUESDAY, &codec::save(&one)),
    ];
    let proposal = propose_repair(BROKEN, &earlier);
    assert_eq!(proposal_lines(&proposal), [remark("the completed version")]);
    assert_eq!(proposal.state.as_ref(), Some(&one));
    // The sides of a conflict are left for the newest version.
    let proposal = propose_repair(&conflict_of(&one, &other), &earlier[1..]);
    assert_eq!(
        proposal_lines(&proposal),
        [
            "- session 1888, which the broken file mentions".to_owned(),
            remark("the merged sides"),
        ]
    );
    assert_eq!(proposal.state, Some(one));
    assert!(matches!(proposal.origin, Origin::Earlier { .. }));
}

#[test]
fn only_the_newest_hundred_versions_are_looked_at() {
    let whole = codec::save(&sound_state());
    let at = |minute: usize| format!("2026-01-05T{:02}:{:02}:00Z", minute / 60, minute % 60);
    let with = |broken: usize| {
        let mut earlier: Vec<_> = (1..=broken)
            .map(|minute| version("x", &at(minute), BROKEN))
            .collect();
        earlier.push(version("a", &at(0), &whole));
        propose_repair(BROKEN, &earlier)
    };
    let found = with(MAX_EARLIER - 1);
    assert_eq!(found.state, Some(sound_state()));
    assert_eq!(count(&found, "! the version of"), MAX_EARLIER - 1);
    let lost = with(MAX_EARLIER);
    assert_eq!((lost.state, lost.origin), (None, Origin::Nothing));
}

#[test]
fn what_an_intact_file_warns_of_is_handed_on() {
    let marked = format!("\u{feff}{V4}");
    let proposal = propose_repair(&marked, &[]);
    assert_eq!(proposal.diagnostics, load(&marked).unwrap().warnings);
    assert_eq!(proposal.diagnostics.len(), 1);
    assert_eq!(proposal.lines, []);
    let broken = propose_repair(BROKEN, &[version("a", MONDAY, V4)]);
    assert_eq!(broken.diagnostics, load(BROKEN).unwrap_err());
}
