//! Properties of every state and of every text.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::arbitrary::{any_state, any_value};
use super::codec::{load, save};
use super::fixtures::{CORRUPT, REAL, V4_AS_V5, sound_state};
use super::invariant::{check_state, check_step};
use super::segment::{check_archive, load_segment, rotate};
use super::{HistoryEntry, Outcome, State, repair};

/// A text with a few bytes cut out, written over or doubled.
fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<String> = REAL
        .iter()
        .copied()
        .chain([CORRUPT, V4_AS_V5])
        .map(str::to_owned)
        .chain([save(&sound_state())])
        .collect();
    let bits = vec![
        "",
        "{",
        "}",
        "\"",
        ",",
        "null",
        "-1",
        "1e999",
        "\n<<<<<<< x\n",
        "\n=======\n",
        "\n>>>>>>> y\n",
        "\\",
        "é",
        "[[[",
    ];
    let edit = (
        any::<prop::sample::Index>(),
        0..40_usize,
        prop::sample::select(bits),
    );
    (prop::sample::select(texts), vec(edit, 1..5)).prop_map(|(mut text, edits)| {
        for (at, length, bit) in edits {
            let from = text.floor_char_boundary(at.index(text.len() + 1));
            let to = text.ceil_char_boundary((from + length).min(text.len()));
            text.replace_range(from..to, bit);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_saved_is_loaded(state in any_state()) {
        prop_assert_eq!(check_state(&state), []);
        let text = save(&state);
        let loaded = load(&text);
        prop_assert!(loaded.is_ok(), "{:?}\n{}", loaded, text);
        let loaded = loaded.unwrap();
        prop_assert_eq!(&loaded.state, &state);
        prop_assert_eq!(loaded.version, 5);
        prop_assert_eq!(save(&loaded.state), text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = load(&text);
        let _ = load(&format!("{{{text}"));
        let _ = load_segment(".jules/history/0-0.json", &text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = load(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_json_is_loaded_or_refused(value in any_value()) {
        let _ = load(&value.to_string());
        let _ = load(&serde_json::json!({"version": 5, "history": value, "tracks": {"x": value}}).to_string());
    }

    #[test]
    fn a_damaged_file_is_loaded_or_refused_with_a_place(text in mutated()) {
        match load(&text) {
            Ok(loaded) => prop_assert_eq!(load(&save(&loaded.state)).map(|again| again.state), Ok(loaded.state)),
            Err(wrong) => prop_assert!(!wrong.is_empty() && wrong.iter().all(|one| one.line.is_some())),
        }
        let proposal = repair::propose_repair(&text, &[]);
        if let Some(state) = proposal.state {
            prop_assert_eq!(check_state(&state), []);
        }
    }

    #[test]
    fn rotation_keeps_every_entry(before in any_state(), limit in 0..8_usize, kept in 0..4_usize) {
        let mut state = before.clone();
        // One commit settles and archives.
        let open: Vec<u64> = state.history.open_entries().map(|(key, _)| *key).collect();
        for key in open {
            state.history.get_mut(&key).unwrap().outcome = Some(Outcome::Merged);
        }
        let mut rotated = state.clone();
        let files = rotate(&mut rotated, Some(&before), limit, kept);
        prop_assert_eq!(check_step(&before, &rotated), []);
        prop_assert_eq!(check_state(&rotated), []);
        prop_assert_eq!(check_step(&state, &rotated), []);
        prop_assert_eq!(rotated.next_history_key(), state.next_history_key());
        let mut all = rotated.history.clone();
        for (path, text) in &files {
            let segment = load_segment(path, text).unwrap();
            prop_assert!(segment.entries.values().all(HistoryEntry::is_finished));
            for (key, entry) in segment.entries {
                all.insert(key, entry);
            }
        }
        prop_assert_eq!(&all, &state.history);
        if all.contains_key(&0) {
            prop_assert_eq!(check_archive(&State { amendments: BTreeMap::new(), ..rotated }, &files), []);
        }
    }
}
