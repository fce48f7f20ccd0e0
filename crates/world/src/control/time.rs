//! Reads and advances the clock of a served world.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::ControlError;
use crate::world::World;

/// The most days that one request may advance the world.
pub const MAX_ADVANCE_DAYS: i64 = 3_660;

/// How far to advance; exactly one field is given.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Advance {
    /// A span: `10m`, `1h 30m`, `2d`, or in the form of ISO 8601.
    by: Option<String>,
    /// An instant.
    to: Option<Timestamp>,
}

pub(super) fn now_json(world: &World) -> Value {
    json!({"now": world.now(), "next_due": world.next_due()})
}

pub(super) fn advance_world(world: &mut World, advance: Advance) -> Result<Value, ControlError> {
    let present = world.now();
    let target = match (advance.by, advance.to) {
        (Some(by), None) => {
            let span = parse_span(&by)?;
            present
                .checked_add(span)
                .map_err(|error| ControlError::malformed(format!("by: {by:?}: {error}")))?
        }
        (None, Some(to)) => to,
        _ => {
            return Err(ControlError::malformed(
                "give either \"by\", a span such as \"10m\", or \"to\", an instant such as \"2026-01-05T09:00:00Z\"",
            ));
        }
    };
    if target < present {
        return Err(ControlError::impossible(format!(
            "{target} is past: the world stands at {present}, and its time never goes back"
        )));
    }
    if target.duration_since(present) > SignedDuration::from_hours(24 * MAX_ADVANCE_DAYS) {
        return Err(ControlError::malformed(format!(
            "{target} is more than {MAX_ADVANCE_DAYS} days ahead of {present}; advance in smaller steps"
        )));
    }
    world.advance_to(target);
    Ok(now_json(world))
}

fn parse_span(text: &str) -> Result<SignedDuration, ControlError> {
    text.parse::<Span>()
        .and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()))
        .map_err(|error| {
            ControlError::malformed(format!(
                "by: {text:?} is not a span such as \"10m\", \"1h 30m\" or \"2d\": {error}"
            ))
        })
}
