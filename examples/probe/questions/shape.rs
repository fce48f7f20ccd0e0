//! What the shape of answers tells: pure, so that each verdict can be tried on made-up answers.

use jiff::Timestamp;
use phileas_domain::model::Marker;
use serde_json::Value;

/// Fewer sessions than this tell nothing about an order.
const FEWEST_FOR_ORDER: usize = 3;

/// The order of a listing, by the name of its knob's value.
pub(super) fn listing_order(sessions: &[Value]) -> Option<&'static str> {
    if sessions.len() < FEWEST_FOR_ORDER {
        return None;
    }
    let falls = |key: &str| {
        let at: Vec<Timestamp> = sessions
            .iter()
            .filter_map(|session| session[key].as_str()?.parse().ok())
            .collect();
        at.len() == sessions.len() && at.windows(2).all(|two| two[0] >= two[1])
    };
    Some(if falls("createTime") {
        "newest-first"
    } else if falls("updateTime") {
        "recently-updated"
    } else {
        "unordered"
    })
}

/// What became of a title that was given, by the name of its knob's value.
pub(super) fn title_form(given: &str, shown: Option<&str>) -> &'static str {
    match shown {
        None | Some("") => "dropped",
        Some(shown) if shown == given => "verbatim",
        Some(shown) => {
            let start = shown.trim_end_matches(['…', '.', ' ']);
            if !start.is_empty() && given.starts_with(start) {
                "truncated"
            } else {
                "rewritten"
            }
        }
    }
}

/// What became of our titles, as far as sessions still show the marker in their prompts: a title that was kept ends in
/// the same marker.
pub(super) fn own_titles(sessions: &[Value]) -> Option<(usize, usize)> {
    let mut kept = 0;
    let mut ours = 0;
    for session in sessions {
        let Some(line) = session["prompt"].as_str().and_then(Marker::from_prompt) else {
            continue;
        };
        ours += 1;
        let shown = session["title"].as_str().and_then(Marker::from_title);
        kept += usize::from(shown == Some(line.marker));
    }
    (ours > 0).then_some((kept, ours))
}

/// What a custom verb answered with, by the name of its knob's value.
pub(super) fn verb_reply(bytes: usize, json: Option<&Value>) -> &'static str {
    match json {
        None if bytes == 0 => "empty-body",
        Some(Value::Object(object)) if object.contains_key("name") || object.contains_key("id") => {
            "session"
        }
        _ => "empty-object",
    }
}

/// How a stale head is refused: the knob's value of the text, and whether the type says it.
pub(super) fn stale_head_form(errors: &Value) -> Option<(&'static str, bool)> {
    let error = errors.get(0)?;
    let message = error["message"].as_str().unwrap_or_default();
    let text = if message.contains("but expected") {
        "is-at-but-expected"
    } else {
        "expected-branch"
    };
    Some((text, error["type"] == "STALE_DATA"))
}

/// The form of a branch that Jules made for a session, by the name of its knob's value.
pub(super) fn branch_form(branches: &[String], ids: &[String]) -> Option<&'static str> {
    let (mut slug, mut hex) = (false, false);
    for branch in branches {
        for id in ids {
            hex |= branch.starts_with(&format!("jules-{id}-"));
            slug |= branch.ends_with(&format!("-{id}"));
        }
    }
    match (slug, hex) {
        (true, true) => Some("mixed"),
        (true, false) => Some("slug"),
        (false, true) => Some("jules-hex"),
        (false, false) => None,
    }
}

/// The share of activities, from 0 to 1 with two digits, for which something holds.
pub(super) fn activity_share(activities: &[&Value], holds: impl Fn(&Value) -> bool) -> Option<f64> {
    if activities.is_empty() {
        return None;
    }
    let count = activities.iter().filter(|activity| holds(activity)).count();
    let percent = count * 100 / activities.len();
    u32::try_from(percent)
        .ok()
        .map(|percent| f64::from(percent) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sample_session(created: u32, updated: u32) -> Value {
        json!({
            "createTime": format!("2026-01-05T{created:02}:00:00Z"),
            "updateTime": format!("2026-01-05T{updated:02}:00:00Z"),
        })
    }

    #[test]
    fn orders_are_distinguished() {
        let of = |pairs: &[(u32, u32)]| {
            let sessions: Vec<Value> = pairs.iter().map(|(a, b)| sample_session(*a, *b)).collect();
            listing_order(&sessions)
        };
        assert_eq!(of(&[(3, 3), (2, 9), (1, 1)]), Some("newest-first"));
        assert_eq!(of(&[(2, 9), (3, 3), (1, 1)]), Some("recently-updated"));
        assert_eq!(of(&[(1, 1), (3, 3), (2, 9)]), Some("unordered"));
        assert_eq!(of(&[(3, 3), (2, 2)]), None);
    }

    #[test]
    fn titles_are_kept_cut_rewritten_or_dropped() {
        let given = "phileas probe [phileas:0123456789ab.1]";
        for (shown, verdict) in [
            (Some(given), "verbatim"),
            (Some("phileas probe…"), "truncated"),
            (Some("Answer a question"), "rewritten"),
            (Some(""), "dropped"),
            (None, "dropped"),
        ] {
            assert_eq!(title_form(given, shown), verdict);
        }
        let line = "phileas-turn: 0123456789ab.1 repository=7 track=default seq=1 slot= persona=a";
        let ours = json!({ "prompt": format!("Do.\n\n{line}"), "title": "a: default [phileas:0123456789ab.1]" });
        let renamed = json!({ "prompt": format!("Do.\n\n{line}"), "title": "Doing" });
        let others = json!({ "prompt": "Do.", "title": "Doing" });
        assert_eq!(own_titles(&[ours, renamed, others.clone()]), Some((1, 2)));
        assert_eq!(own_titles(&[others]), None);
    }

    #[test]
    fn replies_refusals_and_branches_are_read() {
        assert_eq!(verb_reply(0, None), "empty-body");
        assert_eq!(verb_reply(2, Some(&json!({}))), "empty-object");
        assert_eq!(
            verb_reply(9, Some(&json!({"name": "sessions/1"}))),
            "session"
        );
        let error = json!([{ "type": "STALE_DATA", "message": "jules is at 1 but expected 2" }]);
        assert_eq!(stale_head_form(&error), Some(("is-at-but-expected", true)));
        assert_eq!(stale_head_form(&json!([])), None);
        let ids = ["77".to_owned()];
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            branch_form(&names, &ids)
        };
        assert_eq!(of(&["fix/it-77"]), Some("slug"));
        assert_eq!(of(&["jules-77-0a1b2c3d", "fix/it-77"]), Some("mixed"));
        assert_eq!(of(&["main"]), None);
        let (empty, full) = (json!({}), json!({ "originator": "agent" }));
        assert_eq!(
            activity_share(&[&empty, &full, &full, &full], |one| one["originator"]
                .is_null()),
            Some(0.25)
        );
    }
}
