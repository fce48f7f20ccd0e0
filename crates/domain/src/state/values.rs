//! Single values that a text or a number stands for.

use jiff::Timestamp;

use super::issues::{Issues, KeyPath};
use crate::json::{Node, Value};
use crate::model::SessionId;

/// The largest whole number that every JSON program keeps exactly (2^53 - 1).
const MAX_SAFE_NUMBER: u64 = (1 << 53) - 1;

/// A history key: a whole number as it is counted, without leading zeros.
pub(super) fn parse_history_key(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|key: &u64| key.to_string() == text)
}

/// A time with its offset from UTC, as RFC 3339 writes it.
pub(super) fn read_time(
    node: &Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<Timestamp> {
    let Value::Text(text) = &node.value else {
        issues.report_wrong_kind(node, path, "a time");
        return None;
    };
    let time = text.parse().ok();
    if time.is_none() {
        let help = "write it like `2026-01-14T10:00:00Z`";
        issues.error(node.at, path, format!("`{text}` is not a time"), help);
    }
    time
}

/// A session id: text, or a number so small that no program on the way can have rounded it.
pub(super) fn read_session(
    node: &Node<'_>,
    path: &KeyPath<'_>,
    issues: &Issues<'_>,
) -> Option<SessionId> {
    match &node.value {
        Value::Text(text) if text.is_empty() => {
            issues.warning(
                node.at,
                path,
                "the session id is empty and reads as null",
                "",
            );
            None
        }
        Value::Text(text) => Some(SessionId::new(text.clone())),
        Value::Number(digits) => {
            let exact = digits.parse().is_ok_and(|n: u64| n <= MAX_SAFE_NUMBER);
            if !exact {
                let message = format!(
                    "the session id {digits} stands here as a number, and one of this size may have lost digits"
                );
                let help = "look it up in Jules and write it as a text, in double quotes";
                issues.error(node.at, path, message, help);
            }
            exact.then(|| SessionId::new(*digits))
        }
        _ => {
            issues.report_wrong_kind(node, path, "a session id (a text)");
            None
        }
    }
}
