//! The history is added to and completed; nothing that stands in it is rewritten.

use serde_json::Value;

/// How many commits lie between two states that are compared.
pub(super) const EVERY: usize = 8;
/// What an entry keeps once it is known.
const KEPT: [&str; 7] = [
    "turn",
    "session_id",
    "pr_number",
    "persona_id",
    "track",
    "seq",
    "slot",
];

/// What a later state has lost or changed of an earlier one. `archived`: whether an archive of the later commit holds the
/// entry with a number.
pub(super) fn rewritten(
    before: &Value,
    after: &Value,
    archived: impl Fn(u64) -> bool,
) -> Vec<String> {
    let mut found = Vec::new();
    // It is born with its first turn; what was noted before has no birth.
    let birth = &before["genesis"];
    if !birth.is_null() && *birth != after["genesis"] {
        found.push("the ledger has another birth".to_owned());
    }
    let history = before["history"].as_object().into_iter().flatten();
    for (key, was) in history {
        let is = &after["history"][key];
        if is.is_null() {
            if !key.parse().is_ok_and(&archived) {
                found.push(format!("entry {key} of the history is gone"));
            }
            continue;
        }
        for field in KEPT {
            if !was[field].is_null() && was[field] != is[field] {
                let (was, is) = (&was[field], &is[field]);
                found.push(format!("{field} of entry {key} was {was} and is {is}"));
            }
        }
        if !may_become(was["outcome"].as_str(), is["outcome"].as_str()) {
            let (was, is) = (&was["outcome"], &is["outcome"]);
            found.push(format!("the outcome of entry {key} was {was} and is {is}"));
        }
    }
    found
}

/// What is open may become anything, what waits for a pull request is settled by it, a closed one is told apart and can
/// be reopened and merged, and a merged one can be reverted. Between two states that lie some commits apart, several steps may have been taken.
fn may_become(was: Option<&str>, is: Option<&str>) -> bool {
    was.is_none()
        || was == is
        || match (was, is) {
            (Some("pr_open"), Some(is)) => ["merged", "reverted"].contains(&is) || is_closed(is),
            (Some("rejected"), Some(is)) if is_closed(is) => true,
            (Some(was), Some("merged" | "reverted")) => is_closed(was) || was == "merged",
            _ => false,
        }
}

/// Whether an outcome says that a pull request was closed without a merge.
fn is_closed(outcome: &str) -> bool {
    ["rejected", "repeated", "no_op", "superseded"].contains(&outcome)
}

/// Whether a file of the archive, by its path, holds the entry with a number: `.jules/history/0-499.json`.
pub(super) fn holds(path: &str, key: u64) -> bool {
    let name = path.strip_prefix(".jules/history/");
    let range = name.and_then(|name| name.strip_suffix(".json")?.split_once('-'));
    let bounds = range.and_then(|(first, last)| Some(first.parse().ok()?..=last.parse().ok()?));
    bounds.is_some_and(|bounds: std::ops::RangeInclusive<u64>| bounds.contains(&key))
}

#[test]
fn only_what_was_open_becomes_something_else() {
    use serde_json::json;
    let state = |outcome: Value, session: &str| {
        let entry =
            json!({"turn": "a", "session_id": session, "pr_number": null, "outcome": outcome});
        json!({"genesis": {"nonce": "n"}, "history": {"7": entry}})
    };
    let found = |before: &Value, after: &Value| rewritten(before, after, |_| false).len();
    let open = state(json!("pr_open"), "1");
    assert_eq!(found(&state(Value::Null, "1"), &open), 0);
    assert_eq!(found(&open, &state(json!("rejected"), "1")), 0);
    assert_eq!(
        found(&state(json!("rejected"), "1"), &state(json!("merged"), "1")),
        0
    );
    let becomes = |was: &str, is: &str| found(&state(json!(was), "1"), &state(json!(is), "1"));
    assert_eq!(becomes("rejected", "no_op"), 0);
    assert_eq!(becomes("no_op", "merged"), 0);
    assert_eq!(becomes("merged", "reverted"), 0);
    assert_eq!(becomes("no_op", "rejected"), 1);
    assert_eq!(becomes("reverted", "merged"), 1);
    assert_eq!(found(&state(json!("merged"), "1"), &open), 1);
    assert_eq!(found(&open, &state(Value::Null, "1")), 1);
    assert_eq!(found(&open, &state(json!("pr_open"), "2")), 1);
    let empty = json!({"genesis": {"nonce": "n"}, "history": {}});
    assert_eq!(found(&open, &empty), 1);
    let archive = |key| holds(".jules/history/0-9.json", key);
    assert_eq!(rewritten(&open, &empty, archive), [""; 0]);
    assert!(!holds(".jules/history/0-6.json", 7) && !holds(".jules/notes/0-9.json", 7));
    let reborn = json!({"genesis": {"nonce": "m"}, "history": open["history"]});
    assert_eq!(found(&open, &reborn), 1);
    let unborn = json!({"genesis": null, "history": {}});
    assert_eq!(found(&unborn, &open), 0);
    assert_eq!(found(&empty, &unborn), 1);
}
