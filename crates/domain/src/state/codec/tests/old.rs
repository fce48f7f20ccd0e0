//! What files of older programs become.

use super::*;
use crate::state::HistoryEntry;

#[test]
fn the_version_of_an_old_file_follows_from_its_shape() {
    for (text, version) in [
        (r#"{"last_persona_id": "a"}"#, 1),
        (r#"{"last_persona_id": "a", "history": []}"#, 1),
        (r#"{"last_session_id": "1", "history": []}"#, 1),
        (r#"{"history": []}"#, 2),
        ("[]", 2),
        (r#"{"history": [], "tracks": {}}"#, 3),
        (r#"{"history": {}}"#, 4),
        (r#"{"last_persona_id": "a", "history": {}}"#, 4),
        // What such a file says of itself is no help: older programs wrote none.
        (r#"{"version": 2, "history": {}}"#, 4),
        (r#"{"version": 4, "history": []}"#, 2),
        (r#"{"version": 5, "history": {}}"#, 5),
    ] {
        assert_eq!(load(text).unwrap().version, version, "{text}");
    }
}

fn entry(persona: &str, session: &str, pull: u64, hour: u8, track: Option<&str>) -> String {
    let track = track.map_or("null".to_owned(), |track| format!("\"{track}\""));
    format!(
        r#"{{"persona_id": "{persona}", "session_id": "{session}", "pr_number": {pull}, "created_at": "2026-01-10T{hour:02}:00:00Z", "track": {track}}}"#
    )
}

/// The position that a track takes from its newest entry.
fn position(entry: &HistoryEntry, seq: u64) -> TrackState {
    TrackState {
        persona_id: Some(entry.persona_id.clone()),
        session_id: entry.session_id.clone(),
        pr_number: entry.pr_number,
        updated_at: entry.created_at,
        seq,
        ..TrackState::default()
    }
}

#[test]
fn a_file_without_tracks_takes_them_from_its_newest_entries() {
    let a = entry("a", "1", 11, 1, None);
    let b = entry("b", "2", 12, 2, Some("quality"));
    let c = entry("c", "3", 13, 3, Some("default"));
    for text in [
        format!("[{c}, {b}, {a}]"),
        format!("{{\"history\": [{c}, {b}, {a}]}}"),
        format!("{{\"history\": {{\"0\": {a}, \"1\": {b}, \"2\": {c}}}}}"),
    ] {
        let state = load(&text).unwrap().state;
        let expected = [
            ("default".into(), position(&state.history[&2], 2)),
            ("quality".into(), position(&state.history[&1], 1)),
        ];
        assert_eq!(state.tracks, expected.into());
        let sessions: Vec<_> = state
            .history
            .values()
            .map(|e| e.session_id.clone())
            .collect();
        assert_eq!(sessions, ["1", "2", "3"].map(|id| Some(id.into())));
    }
    // A file of our own says where its tracks stand.
    let ours = format!("{{\"version\": 5, \"history\": {{\"0\": {a}}}}}");
    assert_eq!(load(&ours).unwrap().state.tracks, [].into());
}

#[test]
fn old_tracks_count_at_least_the_turns_that_their_history_shows() {
    let a = entry("a", "1", 11, 1, None);
    let b = entry("b", "2", 12, 2, None);
    let seq = |version: &str, seq: u64| {
        let text = format!(
            "{{{version}\"history\": {{\"0\": {a}, \"1\": {b}}}, \"tracks\": {{\"default\": {{\"seq\": {seq}}}, \"idle\": {{}}}}}}"
        );
        let state = load(&text).unwrap().state;
        assert_eq!(state.tracks["idle"].seq, 0);
        default_track(&state).seq
    };
    assert_eq!((seq("", 0), seq("", 2), seq("", 9)), (2, 2, 9));
    assert_eq!(seq("\"version\": 5, ", 1), 1, "ours counts by itself");
}

#[test]
fn flat_keys_are_read_without_a_track_of_the_same_name() {
    let with = |tracks: &str| {
        let text = format!(
            "{{\"last_persona_id\": \"flat\", \"last_persona_index\": 3, \"history\": [], \"tracks\": {tracks}}}"
        );
        load(&text).unwrap().state
    };
    let flat = with("{\"other\": {\"last_pr_number\": 4}}");
    assert_eq!(default_track(&flat).persona_id, Some("flat".into()));
    assert_eq!(default_track(&flat).index, Some(3));
    assert_eq!(flat.tracks["other"].pr_number, Some(PullNumber(4)));
    assert_eq!(flat.extra.len(), 0);
    let written = with("{\"default\": {\"last_persona_id\": \"own\"}}");
    assert_eq!(default_track(&written).persona_id, Some("own".into()));
    // Nothing that was not understood is lost.
    assert_eq!(written.extra["last_persona_id"], "flat");
}

#[test]
fn keys_of_old_tracks_are_strange_in_a_file_of_ours() {
    let tracks = r#""tracks": {"x": {"last_persona_id": "a", "last_session_id": "1", "last_pr_number": 2, "last_updated_at": "2026-01-10T00:00:00Z"}}"#;
    let read = |version: &str| {
        let text = format!("{{{version}\"history\": {{}}, {tracks}}}");
        load(&text).unwrap().state.tracks["x"].clone()
    };
    assert_eq!(
        read(""),
        TrackState {
            persona_id: Some("a".into()),
            session_id: Some("1".into()),
            pr_number: Some(PullNumber(2)),
            updated_at: Some("2026-01-10T00:00:00Z".parse().unwrap()),
            ..TrackState::default()
        }
    );
    let ours = read("\"version\": 5, ");
    assert_eq!((ours.persona_id, ours.extra.len()), (None, 4));
}

#[test]
fn each_double_of_an_old_history_is_named_with_both_its_numbers() {
    let one = entry("a", "1", 11, 1, None);
    let other = entry("b", "2", 12, 2, None);
    let none = "{\"persona_id\": \"c\"}";
    let text = format!("{{\"history\":\n [{one}, {none}, {other}, {one}, {none}, {one}]}}");
    let loaded = load(&text).unwrap();
    let said: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let warned = |first: u64, second: u64| {
        format!(
            ".jules/cycle_state.json:2:2: warning: session 1 stands in the history as {first} and as {second} (at history)"
        )
    };
    assert_eq!(said, [warned(0, 2), warned(2, 5)]);
}

#[test]
fn a_violation_in_an_old_file_has_its_location() {
    let text = "{\"history\": [], \"tracks\": {},\n \"budget\": {\"created\": [\"2026-01-02T00:00:00Z\", \"2026-01-01T00:00:00Z\"]}}";
    assert_eq!(
        refused(text),
        [
            ".jules/cycle_state.json:2:24: error: the times at which sessions were started are not in order (budget_sorted) \
             (at budget.created); `phileas state repair` proposes a whole file"
        ]
    );
}
