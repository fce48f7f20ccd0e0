mod old;
mod whole;

use super::*;
use crate::model::{PersonaId, PullNumber, SessionId, TrackName};
use crate::state::TrackState;
use crate::state::fixtures::{CORRUPT, REAL, V1, V2, V3, V4, V4_AS_V5, sound_state};

fn default_track(state: &State) -> &TrackState {
    &state.tracks[&TrackName::from("default")]
}

fn refused(text: &str) -> Vec<String> {
    let wrong = load(text).expect_err(text);
    assert!(wrong.iter().all(Diagnostic::is_error));
    wrong.iter().map(ToString::to_string).collect()
}

#[test]
fn real_files_of_every_version_load() {
    for (text, version, entries, without_pull, newest, session, index) in [
        (V1, 1, 49, 22, "sentinel", "13608499210957801289", Some(4)),
        (V2, 2, 55, 28, "palette", "12574552918092040838", None),
        (V3, 3, 86, 59, "shepherd", "16703756850166122037", None),
        (V4, 4, 87, 60, "typeguard", "14992656780795801002", None),
    ] {
        let loaded = load(text).unwrap();
        let state = loaded.state;
        assert_eq!(loaded.version, version);
        assert_eq!(loaded.warnings, []);
        assert_eq!(state.history.len(), entries);
        let open = state.history.values().filter(|e| e.pr_number.is_none());
        assert_eq!(open.count(), without_pull);
        let oldest = &state.history[&0];
        assert_eq!(oldest.persona_id, PersonaId::from("visionary"));
        assert_eq!(oldest.session_id, Some("461807007656795018".into()));
        assert_eq!(oldest.pr_number, Some(PullNumber(2326)));
        let times: Vec<_> = state.history.values().map(|e| e.created_at).collect();
        assert!(times.is_sorted() && !times.contains(&None));
        let track = default_track(&state);
        assert_eq!(track.persona_id, Some(newest.into()));
        assert_eq!(track.session_id, Some(session.into()));
        assert_eq!(track.index, index);
        assert_eq!(track.seq, entries as u64);
        assert_eq!(state.tracks.len(), 1);
        assert_eq!(state.next_history_key(), entries as u64);
        assert_eq!(state.extra.len(), 0);
        let (key, entry) = state.history.last_key_value().unwrap();
        assert_eq!(*key, entries as u64 - 1);
        assert_eq!(entry.persona_id, PersonaId::from(newest));
    }
}

#[test]
fn versions_are_prefixes_of_each_other() {
    let all = load(V4).unwrap().state;
    for text in REAL {
        for (key, entry) in load(text).unwrap().state.history {
            assert_eq!(entry, all.history[&key], "entry {key}");
        }
    }
}

#[test]
fn real_files_come_back_unchanged_as_version_5() {
    for text in REAL {
        let before = load(text).unwrap().state;
        let after = load(&save(&before)).unwrap();
        assert_eq!(after.version, 5);
        assert_eq!(after.state, before);
        assert_eq!(save(&after.state), save(&before));
    }
    assert_eq!(load(V4).unwrap().state.history.len(), 87);
}

#[test]
fn the_golden_file_is_what_is_written() {
    assert_eq!(save(&load(V4).unwrap().state), V4_AS_V5);
    assert_eq!(load(V4_AS_V5).unwrap().version, 5);
}

#[test]
fn times_keep_their_bytes_in_every_version() {
    for text in REAL {
        let written = save(&load(text).unwrap().state);
        let before = text.matches("_at\": \"").count();
        let kept = text
            .split("_at\": \"")
            .skip(1)
            .filter(|after| {
                let time = after.split('"').next().unwrap();
                written.contains(&format!("_at\": \"{time}\""))
            })
            .count();
        assert!(before >= 49, "{before}");
        assert_eq!(kept, before);
    }
}

/// What another program or a person wrote is written again as it was found, as long as it says the same.
#[test]
fn values_keep_their_bytes_until_they_change() {
    let entry = r#"{"persona_id": "a", "session_id": 12345, "pr_number": 7, "created_at": "2026-01-10T02:00:00.5+01:00", "track": "", "outcome": "pr_open", "finished_at": "2026-01-10 01:00:00+00:00"}"#;
    let track = r#"{"persona_id": "", "session_id": "", "updated_at": "2026-01-10T01:00:00+00:00", "paused": "rest"}"#;
    let text = format!(
        r#"{{"version": 5, "history": {{"0": {entry}}}, "tracks": {{"default": {track}}}, "paused": true, "budget": {{"paused_until": "2026-01-10T01:00:00+00:00"}}}}"#
    );
    let mut state = load(&text).unwrap().state;
    let values = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let (before, after) = (values(&text), values(&save(&state)));
    for path in ["/history/0", "/tracks/default", "/budget"] {
        let (before, after) = (before.pointer(path), after.pointer(path));
        for (key, value) in before.unwrap().as_object().unwrap() {
            assert_eq!(&after.unwrap()[key], value, "{path}/{key}");
        }
    }
    assert_eq!(after["paused"], true);
    assert_eq!(load(&save(&state)).unwrap().state, state);

    // What is new is written as phileas writes it, and what is gone does not come back.
    let at = "2026-02-01T00:00:00Z".parse().ok();
    let one = state.history.get_mut(&0).unwrap();
    one.finished_at = at;
    let track = state.tracks.get_mut(&TrackName::from("default")).unwrap();
    (track.updated_at, track.session_id, track.paused) = (at, Some("9".into()), None);
    (state.paused, state.budget.paused_until) = (None, None);
    let after = values(&save(&state));
    assert_eq!(after["history"]["0"]["finished_at"], "2026-02-01T00:00:00Z");
    assert_eq!(
        after["history"]["0"]["created_at"],
        "2026-01-10T02:00:00.5+01:00"
    );
    let track = &after["tracks"]["default"];
    assert_eq!(
        (&track["updated_at"], &track["session_id"]),
        (&"2026-02-01T00:00:00Z".into(), &"9".into())
    );
    assert_eq!(track.get("paused"), None);
    assert!(after["paused"].is_null() && after["budget"]["paused_until"].is_null());
}

#[test]
fn an_empty_commit_in_a_list_or_a_table_stays() {
    let pull = r#"{"session_id": "1", "notified_heads": ["", "c0ffee"], "conflict_heads": [""]}"#;
    let text = format!(
        r#"{{"version": 5, "history": {{}}, "tracks": {{"default": {{"base_shas": {{"a": ""}}}}}}, "pulls": {{"7": {pull}}}}}"#
    );
    let state = load(&text).unwrap().state;
    let saved: serde_json::Value = serde_json::from_str(&save(&state)).unwrap();
    let heads = |key: &str| saved["pulls"]["7"][key].clone();
    assert_eq!(heads("notified_heads"), serde_json::json!(["", "c0ffee"]));
    assert_eq!(heads("conflict_heads"), serde_json::json!([""]));
    assert_eq!(saved["tracks"]["default"]["base_shas"]["a"], "");
}

#[test]
fn the_keys_that_other_programs_read_are_always_there() {
    let state = load(r#"{"history": [{"persona_id": "a"}], "tracks": {"x": {}}}"#)
        .unwrap()
        .state;
    let text = save(&state);
    assert!(text.contains(concat!(
        "    \"0\": {\n      \"persona_id\": \"a\",\n      \"session_id\": null,\n      \"pr_number\": null,\n",
        "      \"created_at\": null,\n      \"track\": null\n    }\n"
    )));
    assert!(text.contains(concat!(
        "    \"x\": {\n      \"persona_id\": null,\n      \"session_id\": null,\n      \"pr_number\": null,\n",
        "      \"updated_at\": null,\n      \"seq\": 0,\n      \"passes\": 0,\n      \"turns\": {}\n    }\n"
    )));
}

/// Most of them are nothing most of the time, and the file is read by people and written at every turn.
#[test]
fn what_never_happened_is_not_counted_in_the_file() {
    let at = "2026-01-05T01:00:00Z";
    let head = "0123456789abcdef0123456789abcdef01234567";
    let told = format!("{{\"head\": \"{head}\", \"at\": \"{at}\"}}");
    let request = format!(
        "{{\"kind\": \"label\", \"status\": {{\"digest\": \"d\", \"at\": \"{at}\"}}, \"merge\": {{\"head\": \"{head}\"}}}}"
    );
    let pull = format!(
        "{{\"session_id\": \"1\", \"checks\": {told}, \"reviews\": {told}, \"conflicts\": {told}, \"next_check\": {{\"head\": \"{head}\", \
         \"not_before\": \"{at}\"}}, \"retargeted\": {told}, \"draft_ready\": {told}, \"reminded\": {told}}}"
    );
    let part = |key: &str, text: &str| {
        let text = format!("{{\"version\": 5, \"history\": {{}}, \"{key}\": {text}}}");
        let bare: serde_json::Value = serde_json::from_str(&text).unwrap();
        let saved: serde_json::Value =
            serde_json::from_str(&save(&load(&text).unwrap().state)).unwrap();
        assert_eq!(saved[key], bare[key]);
    };
    part("requests", &format!("{{\"a\": {request}}}"));
    part("pulls", &format!("{{\"5\": {pull}}}"));
    part("publishing", &format!("{{\"a\": {{\"at\": \"{at}\"}}}}"));
    part("dashboard", "{}");
    // Others read a turn and a budget, whose other keys are always there.
    let text = save(&sound_state());
    for key in [
        "repeats",
        "ambiguous",
        "late_finds",
        "failures",
        "refusals",
        "refusal",
        "refused",
        "quota_failures",
    ] {
        assert!(!text.contains(&format!("\"{key}\"")), "{key}: {text}");
    }
}

#[test]
fn keys_are_written_in_the_order_of_numbers() {
    let entries: Vec<String> = (0..12)
        .rev()
        .map(|key| format!("\"{key}\": {{\"persona_id\": \"a\"}}"))
        .collect();
    let text = format!("{{\"history\": {{{}}}}}", entries.join(","));
    let saved = save(&load(&text).unwrap().state);
    let places: Vec<_> = (0..12)
        .map(|key| saved.find(&format!("\"{key}\": {{")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(saved.ends_with("}\n"));
}

#[test]
fn a_bare_list_is_version_2() {
    let text = r#"[{"persona_id": "b", "session_id": "2"}, {"persona_id": "a", "session_id": "1", "track": "x"}]"#;
    let loaded = load(text).unwrap();
    assert_eq!(loaded.version, 2);
    assert_eq!(loaded.state.history[&0].persona_id, "a".into());
    assert_eq!(loaded.state.history[&1].persona_id, "b".into());
    assert_eq!(loaded.state.tracks.len(), 2);
    assert_eq!(default_track(&loaded.state).persona_id, Some("b".into()));
    assert_eq!(default_track(&loaded.state).seq, 1);
}

#[test]
fn version_1_without_history_keeps_its_position() {
    let text = r#"{"last_persona_id": "visionary", "last_persona_index": 2, "last_session_id": "461807007656795018",
        "last_pr_number": 2326, "updated_at": "2026-01-10T00:42:19Z", "history": [], "mood": "good"}"#;
    let loaded = load(text).unwrap();
    assert_eq!(loaded.version, 1);
    let track = default_track(&loaded.state);
    assert_eq!(track.persona_id, Some("visionary".into()));
    assert_eq!(track.session_id, Some("461807007656795018".into()));
    assert_eq!(track.pr_number, Some(PullNumber(2326)));
    assert_eq!(track.index, Some(2));
    assert_eq!(
        track.updated_at,
        Some("2026-01-10T00:42:19Z".parse().unwrap())
    );
    assert_eq!(loaded.state.extra.keys().collect::<Vec<_>>(), ["mood"]);
}

#[test]
fn last_is_taken_off_known_track_keys_only() {
    let text = r#"{"history": [], "tracks": {"last_x": {"last_persona_id": "a", "last_seen": 3, "the_last_one": 4}}}"#;
    let state = load(text).unwrap().state;
    let track = &state.tracks[&TrackName::from("last_x")];
    assert_eq!(track.persona_id, Some("a".into()));
    assert_eq!(
        track.extra.keys().collect::<Vec<_>>(),
        ["last_seen", "the_last_one"]
    );
    let both = r#"{"history": {}, "tracks": {"x": {"persona_id": "a", "last_persona_id": "b"}}}"#;
    let state = load(both).unwrap().state;
    assert_eq!(
        state.tracks[&TrackName::from("x")].persona_id,
        Some("a".into())
    );
    assert_eq!(load(&save(&state)).unwrap().state, state);
}

#[test]
fn a_missing_or_null_track_reads_as_default() {
    let text =
        r#"{"history": {"0": {"persona_id": "a", "track": null}, "1": {"persona_id": "b"}}}"#;
    let state = load(text).unwrap().state;
    assert_eq!(default_track(&state).seq, 2);
    assert!(
        state
            .history
            .values()
            .all(|e| e.track_name() == "default".into())
    );
}

#[test]
fn a_newer_version_is_refused_by_name() {
    assert_eq!(
        refused("{\n  \"version\": 6,\n  \"history\": 3\n}"),
        [
            ".jules/cycle_state.json:2:14: error: the file has version 6; this program reads versions up to 5 \
            (at version); use a newer phileas; the file is left as it is"
        ]
    );
    for version in ["0", "-1", "5.0", "\"5\"", "1e1", "[]"] {
        assert_eq!(
            refused(&format!("{{\"version\": {version}, \"history\": {{}}}}")).len(),
            1,
            "{version}"
        );
    }
}

#[test]
fn conflict_markers_are_named_with_their_lines() {
    let said = refused(CORRUPT);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with(".jules/cycle_state.json:4:1: error: merge-conflict markers stand in the lines 4, 68, 69, 70,"),
        "{}",
        said[0]
    );
    assert!(said[0].contains(" 615; `phileas state repair`"));
    let said = refused("{\n<<<<<<< HEAD\n}\n");
    assert!(
        said[0].contains(": a merge-conflict marker stands in line 2; "),
        "{said:?}"
    );
}

#[test]
fn text_that_is_no_json_is_reported_precisely() {
    for (text, says) in [
        ("", ":1:1: error: the file is empty"),
        (" \n\t", ":1:1: error: the file is empty"),
        ("\u{feff}", ":1:1: error: the file is empty"),
        ("\n<!DOCTYPE html><html>", ":2:1: error: this is a web page"),
        ("\n\n  <html>", ":3:3: error: this is a web page"),
        (
            "{\n  \"history\": {\n    \"0\": {\"persona_id\": \"a\"",
            ":3:28: error: the file is cut off: the object that begins in line 3",
        ),
        (
            "{\"history\": [",
            ":1:14: error: the file is cut off: the list that begins in line 1",
        ),
        (
            "{\"history\": {\"0\": {\"persona_id\": \"cu",
            ":1:37: error: the file is cut off",
        ),
        ("{\"history\": {}}}", ":1:16: error: something follows"),
        (
            "{\"history\": {},}",
            ":1:15: error: a comma follows the last item",
        ),
        (
            "{\"history\": nil}",
            ":1:13: error: a JSON value should stand here, not `nil}`",
        ),
        (
            "{history: 1}",
            ":1:2: error: a key in double quotes should stand here",
        ),
        ("{\"history\" 1}", ":1:12: error: `:` should follow the key"),
        (
            "{\"history\": [1 2]}",
            ":1:16: error: `,` or `]` should stand here",
        ),
        (
            "{\"history\": 01}",
            ":1:13: error: `01` is not a JSON number",
        ),
        (
            "{\"a\": \"x\ny\"}",
            ":1:7: error: the text that begins here is not closed in its line",
        ),
        ("{\"a\": \"\u{1}\"}", ":1:8: error: a control character"),
        (
            "{\"a\": \"\\ud800\"}",
            ":1:7: error: the text that begins here holds an impossible escape",
        ),
        (
            "3",
            ":1:1: error: an object should stand here, not a number",
        ),
        (
            "{}",
            ":1:1: error: the key `history` is missing; this is not a state file",
        ),
        (
            "\n {\"tracks\": {}}",
            ":2:2: error: the key `history` is missing; this is not a state file",
        ),
        (
            "{\"version\": 5}",
            ":1:1: error: the key `history` is missing",
        ),
        (
            "{\"history\": null, \"tracks\": {}}",
            ":1:1: error: the key `history` is missing",
        ),
        (
            "{\"version\": 5, \"history\": []}",
            ":1:27: error: an object should stand here, not a list",
        ),
        (
            "{\"history\": 7}",
            ":1:13: error: an object should stand here, not a number",
        ),
    ] {
        let said = refused(text);
        assert!(said[0].contains(says), "{text:?} said {}", said[0]);
    }
    let deep = format!(
        "{{\"history\": {{}}, \"x\": {}1{}}}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(refused(&deep)[0].contains("64 deep"));
}

#[test]
fn a_byte_order_mark_is_only_a_warning() {
    let loaded = load(&format!("\u{feff}{V4}")).unwrap();
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!(loaded.state, load(V4).unwrap().state);
}

#[test]
fn keys_that_stand_twice_are_errors_at_every_level() {
    let text = "{\"history\": {\n\"0\": {\"persona_id\": \"a\",\n\"persona_id\": \"b\"},\n\"0\": {\"persona_id\": \"c\"}}, \"x\": [{\"y\": 1, \"\\u0079\": 2}]}";
    let said = refused(text);
    assert_eq!(said.len(), 3);
    assert!(said[0].contains(":3:1: error: the key `persona_id` stands here a second time (first in line 2) (at history.0.persona_id)"), "{}", said[0]);
    assert!(
        said[1].contains(":4:1: ") && said[1].contains("(at history.0)"),
        "{}",
        said[1]
    );
    assert!(said[2].contains("(at x[0].y)"), "{}", said[2]);
    let many: Vec<String> = (0..40)
        .chain([20])
        .map(|n| format!("\"{n}\": {{\"persona_id\": \"a\"}}"))
        .collect();
    assert_eq!(
        refused(&format!("{{\"history\": {{{}}}}}", many.join(","))).len(),
        1
    );
}

#[test]
fn values_of_the_wrong_kind_are_named_with_their_path() {
    for (json, says) in [
        (
            r#""history": {"0": 3}"#,
            "an object should stand here, not a number (at history.0)",
        ),
        (
            r#""history": {"0": {}}"#,
            "the key `persona_id` is missing (at history.0)",
        ),
        (
            r#""history": {"0": {"persona_id": null}}"#,
            "the key `persona_id` is missing (at history.0)",
        ),
        (
            r#""history": {"0": {"persona_id": ""}}"#,
            "the text is empty (at history.0.persona_id)",
        ),
        (
            r#""history": {"0": {"persona_id": 3}}"#,
            "a text should stand here, not a number (at history.0.persona_id)",
        ),
        (
            r#""history": {"x": {"persona_id": "a"}}"#,
            "`x` cannot be a key here (at history.x)",
        ),
        (
            r#""history": {"01": {"persona_id": "a"}}"#,
            "`01` cannot be a key here (at history.01)",
        ),
        (
            r#""history": {"+1": {"persona_id": "a"}}"#,
            "`+1` cannot be a key here (at history[\"+1\"])",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "pr_number": "2401"}}"#,
            "a whole number should stand here, not a text (at history.0.pr_number)",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "pr_number": 1.5}}"#,
            "`1.5` is not a whole number",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "pr_number": -1}}"#,
            "`-1` is not a whole number",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "created_at": "2026-01-10"}}"#,
            "`2026-01-10` is not a time (at history.0.created_at)",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "created_at": "2026-01-10T00:00:00"}}"#,
            "is not a time",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "created_at": 1}}"#,
            "a time should stand here, not a number",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "turn": "xyz"}}"#,
            "this is not a turn id",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "attempt": 4294967296}}"#,
            "`4294967296` is too large",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "duplicates": [true]}}"#,
            "(at history.0.duplicates[0])",
        ),
        (
            r#""history": {"0": {"persona_id": "a", "duplicates": {}}}"#,
            "a list should stand here, not an object",
        ),
        (
            r#""history": {}, "tracks": []"#,
            "an object should stand here, not a list (at tracks)",
        ),
        (
            r#""history": {}, "tracks": {"a.b": 1}"#,
            "(at tracks[\"a.b\"])",
        ),
        (
            r#""history": {}, "tracks": {"x": {"turns": {"": {}}}}"#,
            "the key `turn` is missing (at tracks.x.turns[\"\"])",
        ),
        (
            r#""history": {}, "tracks": {"x": {"turns": {"": {"cancel": 1}}}}"#,
            "a truth value should stand here, not a number",
        ),
        (
            r#""history": {}, "genesis": {"nonce": "x"}"#,
            "the key `repository_id` is missing (at genesis)",
        ),
        (
            r#""history": {}, "published": {"x": "42"}"#,
            "a whole number should stand here, not a text (at published.x)",
        ),
        (
            r#""history": {}, "budget": {"created": ["yesterday"]}"#,
            "(at budget.created[0])",
        ),
        (
            r#""history": {}, "requests": {"LE_1": {}}"#,
            "the key `kind` is missing (at requests.LE_1)",
        ),
        (
            r#""history": {}, "paused": 1"#,
            "an object should stand here, not a number (at paused)",
        ),
    ] {
        for text in [format!("{{{json}}}"), format!("{{\"version\": 5, {json}}}")] {
            let said = refused(&text).join("\n");
            assert!(said.contains(says), "{text} said {said}");
        }
    }
    assert!(refused(r#"{"history": [{"persona_id": "a"}, 3]}"#)[0].contains("(at history[1])"));
}

#[test]
fn a_file_full_of_mistakes_is_reported_briefly() {
    let text = format!("{{\"history\": [{}1]}}", "1,".repeat(5000));
    assert_eq!(refused(&text).len(), 100);
}

#[test]
fn session_ids_that_are_numbers_must_be_exact() {
    let text =
        |id: &str| format!("{{\"history\": [{{\"persona_id\": \"a\", \"session_id\": {id}}}]}}");
    let small = load(&text("9007199254740991")).unwrap().state;
    assert_eq!(
        small.history[&0].session_id,
        Some(SessionId::from("9007199254740991"))
    );
    for id in [
        "9007199254740992",
        "15481661885092594092",
        "1.5",
        "1e3",
        "-1",
        "1e400",
    ] {
        assert!(
            refused(&text(id))[0].contains("may have lost digits"),
            "{id}"
        );
    }
    let empty = load(&text("\"\"")).unwrap();
    assert_eq!(empty.state.history[&0].session_id, None);
    assert_eq!(empty.warnings.len(), 1);
}

#[test]
fn unknown_keys_survive_at_every_level() {
    let mut state = sound_state();
    state.paused = Some(Default::default());
    let mut value: serde_json::Value = serde_json::from_str(&save(&state)).unwrap();
    for at in [
        "",
        "/genesis",
        "/history/0",
        "/tracks/default",
        "/tracks/default/turns/",
        "/tracks/default/turns//intent",
        "/budget",
        "/cursors",
        "/paused",
    ] {
        let object = value.pointer_mut(at).unwrap().as_object_mut().unwrap();
        object.insert(
            "zz".to_owned(),
            serde_json::json!({"a": [1, 1.5, null, "ü", u64::MAX, i64::MIN, true]}),
        );
    }
    for at in ["amendments", "schedules", "requests", "personas"] {
        value[at] = serde_json::json!({});
    }
    value["schedules"]["a"] = serde_json::json!({"last_fired": null, "zz": 1});
    value["requests"]["a"] = serde_json::json!({"kind": "label", "zz": 1});
    value["personas"]["a"] =
        serde_json::json!({"no_output_streak": 0, "rests_until_pass": null, "zz": 1});
    value.as_object_mut().unwrap().shift_remove("amendments");
    let loaded = load(&value.to_string()).unwrap().state;
    let again: serde_json::Value = serde_json::from_str(&save(&loaded)).unwrap();
    assert_eq!(again, value);
    assert_eq!(load(&save(&loaded)).unwrap().state, loaded);
}

#[test]
fn numbers_that_cannot_be_kept_are_refused() {
    let said = refused(r#"{"history": {"0": {"persona_id": "a", "cost": [1e999]}}}"#);
    assert!(
        said[0].contains("the number `1e999` cannot be kept exactly (at history.0.cost)"),
        "{}",
        said[0]
    );
}

#[test]
fn broken_invariants_are_refused_where_they_stand() {
    let text = "{\"history\": {\n\"0\": {\"persona_id\": \"a\"},\n\"2\": {\"persona_id\": \"a\"}}}";
    let said = refused(text);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains(":3:6: error: history goes from 0 to 2"),
        "{}",
        said[0]
    );
}

#[test]
fn doubles_of_old_programs_are_only_warned_of() {
    let text = r#"{"history": [{"persona_id": "a", "session_id": "1"}, {"persona_id": "b", "session_id": "1"}]}"#;
    let loaded = load(text).unwrap();
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!(load(&save(&loaded.state)).unwrap().state, loaded.state);
}

#[test]
fn people_may_write_a_pause_briefly() {
    let load = |paused: &str| {
        load(&format!(
            "{{\"version\": 5, \"history\": {{}}, \"paused\": {paused}}}"
        ))
        .unwrap()
        .state
    };
    assert_eq!(load("false").paused, None);
    assert_eq!(load("true").paused, Some(Default::default()));
    assert_eq!(
        load("\"holidays\"").paused.unwrap().reason.as_deref(),
        Some("holidays")
    );
}

#[test]
fn lookups_find_the_newest() {
    let state = sound_state();
    assert_eq!(state.entry_of_session(&"1002".into()).unwrap().0, 1);
    assert!(state.entry_of_session(&"9".into()).is_none());
}
