//! The JSON Schema of `schedules.toml`, for editors and checkers.
//!
//! It is made of what the reader itself reads by: its lists of keys, its words, its limits and its defaults. A schema
//! cannot know a repository's personas, whether a zone exists, or what a cron expression means; there it takes more than
//! the reader does, and never less.

mod fragments;
mod knobs;

use serde_json::{Map, Value, json};

use super::constants::{LAYERS, PLAN_VERSION, RESERVED_IDS};
use super::path_pattern::MAX_PATTERN_BYTES;
use super::persona::MAX_ID_BYTES;
use super::policy::{Budget, Driver, MainRed, Novelty, NoveltyMode, RefusalsFor, Tier};
use super::read::ROOT_KEYS;
use super::steps::MAX_STEPS;
use super::tracks::DEFAULT_TRACK;
use super::{budget, duration, gate, novelty, overrides, schedules, sprints, tracks};

use fragments::{SPAN, figure, keyword_schema, limits, table, unknown};
use knobs::knobs;

/// What a schema says at most of a thing: editors of TOML know this draft.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The JSON Schema (draft 7) of `.jules/schedules.toml`.
#[must_use]
pub fn schema() -> Value {
    let mut properties = Map::new();
    for key in ROOT_KEYS {
        properties.insert(key.to_owned(), root(key));
    }
    json!({
        "$schema": DRAFT,
        "title": "phileas: schedules.toml",
        "description": "Who works and when. phileas reads it at .jules/schedules.toml of the default branch.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "definitions": {
            "steps": {
                "type": "array",
                "items": { "$ref": "#/definitions/step" },
                "minItems": 1,
                "maxItems": MAX_STEPS,
            },
            "step": { "anyOf": [
                { "type": "string", "description": "A persona's id, the path of its prompt, or `layer:<name>`." },
                step(),
            ]},
            "cron": {
                "type": "string",
                "description": "Five fields: minute, hour, day of the month, month, day of the week (0 is Sunday). At most every five minutes.",
                "examples": ["30 4 * * 1", "0 9 * * 1-5"],
                "pattern": r"^\s*\S+(\s+\S+){4}\s*$",
            },
        },
    })
}

fn root(key: &str) -> Value {
    match key {
        "version" => json!({
            "description": "The version of the format.",
            "const": PLAN_VERSION,
            "default": PLAN_VERSION,
        }),
        "cycle" => json!({
            "description": format!("The steps of the track `{DEFAULT_TRACK}`: personas, one after another."),
            "$ref": "#/definitions/steps",
        }),
        "defaults" => table(
            "What applies where a persona, a track, a step or a schedule says nothing else.",
            knobs(&overrides::KEYS, true),
        ),
        "budget" => table(
            "How much may be spent.",
            budget::KEYS
                .into_iter()
                .map(|key| (key.to_owned(), of_budget(key))),
        ),
        "gate" => table(
            "Who and what is let through.",
            gate::KEYS
                .into_iter()
                .map(|key| (key.to_owned(), of_gate(key))),
        ),
        "novelty" => table(
            "What keeps sessions from repeating work.",
            novelty::KEYS
                .into_iter()
                .map(|key| (key.to_owned(), of_novelty(key))),
        ),
        "tracks" => json!({
            "description": "Further tracks, side by side, each with a pointer of its own.",
            "type": "object",
            "maxProperties": tracks::MAX_TRACKS,
            "propertyNames": { "minLength": 1, "maxLength": tracks::MAX_TRACK_NAME_BYTES },
            "additionalProperties": { "anyOf": [ { "$ref": "#/definitions/steps" }, track() ] },
        }),
        "schedules" => json!({
            "description": "Personas on a schedule, beside the tracks.",
            "type": "object",
            "maxProperties": schedules::MAX_SCHEDULES,
            "propertyNames": id(),
            "additionalProperties": { "anyOf": [ when(), schedule() ] },
        }),
        "sprints" => table(
            "Sprints: each pass of one track is one. Without this table there are none.",
            sprints::KEYS
                .into_iter()
                .map(|key| (key.to_owned(), of_sprints(key))),
        ),
        _ => unknown(),
    }
}

fn of_sprints(key: &str) -> Value {
    match key {
        "track" => json!({
            "description": "The track whose passes are sprints.",
            "type": "string",
            "minLength": 1,
            "maxLength": tracks::MAX_TRACK_NAME_BYTES,
            "default": DEFAULT_TRACK,
        }),
        _ => unknown(),
    }
}

fn track() -> Value {
    let own = tracks::TRACK_KEYS.into_iter().map(|key| {
        let value = match key {
            "steps" => json!({
                "description": "The steps of the track, one after another: personas, or tables with `persona` or `layer` and keys of their own.",
                "$ref": "#/definitions/steps",
            }),
            "start" => json!({
                "description": "When a pass begins; without it passes follow each other.",
                "allOf": [{ "$ref": "#/definitions/cron" }],
            }),
            _ => unknown(),
        };
        (key.to_owned(), value)
    });
    let mut track = table(
        "A track with keys of its own.",
        own.chain(knobs(&overrides::KEYS, false)),
    );
    track["required"] = json!(["steps"]);
    track
}

fn schedule() -> Value {
    let mut when = when();
    when["description"] = format!(
        "When the persona starts: a cron expression, or `{}`.",
        schedules::MANUAL
    )
    .into();
    let own = [(schedules::WHEN.to_owned(), when)];
    let mut schedule = table(
        "A persona on a schedule, with keys of its own.",
        own.into_iter().chain(knobs(&overrides::KEYS, false)),
    );
    schedule["required"] = json!([schedules::WHEN]);
    schedule
}

fn when() -> Value {
    json!({ "anyOf": [
        { "const": schedules::MANUAL, "description": "Only when asked for." },
        { "$ref": "#/definitions/cron" },
    ]})
}

fn step() -> Value {
    let own = super::steps::KINDS.into_iter().map(|key| {
        let value = match key {
            "persona" => json!({
                "description": "The persona's id, or the path of its prompt.",
                "type": "string",
            }),
            "layer" => {
                json!({ "description": "A layer of the hand-over pipeline.", "enum": LAYERS })
            }
            _ => unknown(),
        };
        (key.to_owned(), value)
    });
    let mut step = table(
        "A step with keys of its own.",
        own.chain(knobs(&overrides::STEP_KEYS, false)),
    );
    step["oneOf"] = super::steps::KINDS
        .map(|key| json!({ "required": [key] }))
        .to_vec()
        .into();
    step
}

/// What a persona can be called.
fn id() -> Value {
    json!({
        "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$",
        "maxLength": MAX_ID_BYTES,
        "not": { "enum": RESERVED_IDS },
    })
}

fn of_budget(key: &str) -> Value {
    let usual = Budget::default();
    match key {
        "max_active" => figure(
            "Live sessions of the repository.",
            budget::ACTIVE,
            usual.max_active,
        ),
        "daily_sessions" => figure(
            "Its sessions in a rolling day. People may ask for `reserve_for_people` more.",
            budget::DAILY,
            usual.daily_sessions,
        ),
        "track_share" => json!({
            "description": "The part of `daily_sessions` that schedules leave to tracks while a track has work.",
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": usual.track_share.number(),
        }),
        "max_open_pulls" => figure(
            "With so many open pull requests of its own without a review, nothing new starts.",
            budget::OPEN_PULLS,
            usual.max_open_pulls,
        ),
        "requests_per_actor_hour" => figure(
            "What one person may ask for by labels and comments within an hour.",
            budget::REQUESTS,
            usual.requests_per_actor_hour,
        ),
        "tier" => keyword_schema::<Tier>(
            "The Jules plan, which sets the key's limits: `free` (15 a day, 3 at once), `pro` (100, 15), `ultra` (300, 60).",
        ),
        "key_daily" => limits(
            "The key's sessions in a day, where they are not the tier's; without it the tier's.",
            budget::DAILY,
        ),
        "key_active" => limits(
            "The key's sessions at once, where they are not the tier's; without it the tier's.",
            budget::ACTIVE,
        ),
        "reserve_for_people" => figure(
            "Sessions that the clock leaves to people: of the key's day, and beyond `daily_sessions`.",
            budget::RESERVE,
            usual.reserve_for_people,
        ),
        _ => unknown(),
    }
}

fn of_gate(key: &str) -> Value {
    match key {
        "main_red" => keyword_schema::<MainRed>(
            "`critical_only`: while checks of the default branch are red, only critical work starts.",
        ),
        "protected_paths" => json!({
            "description": "Path patterns that no pull request may touch to be merged by phileas; added to the built-in ones.",
            "type": "array",
            "items": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_PATTERN_BYTES,
                "pattern": r"^[^/\\][^\\]*$",
            },
            "maxItems": gate::MAX_GATE_ENTRIES,
            "default": [],
        }),
        "driver" => keyword_schema::<Driver>("Who acts; the others only observe."),
        "allow_bots" => json!({
            "description": "Bots whose labels and comments count.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": gate::BOT_KEYS.into_iter().map(|key| (key.to_owned(), of_bot(key))).collect::<Map<_, _>>(),
                "required": gate::BOT_KEYS,
                "additionalProperties": false,
            },
            "maxItems": gate::MAX_GATE_ENTRIES,
            "default": [],
        }),
        _ => unknown(),
    }
}

fn of_novelty(key: &str) -> Value {
    let usual = Novelty::default();
    match key {
        "mode" => keyword_schema::<NoveltyMode>(
            "How far phileas goes, each including the ones before: `off`; `prompt` names in prompts what is open, refused and merged; `label` labels pull requests that repeat others or change nothing; `close` closes them a day later.",
        ),
        "plan" => json!({
            "description": "Whether plans are judged: sessions start with plan approval, and phileas turns down a plan that does what a pull request does that is open, was refused, or was merged and counts.",
            "type": "boolean",
            "default": usual.plan,
        }),
        "avoid_overlap" => json!({
            "description": "Whether a turn waits while an open pull request of Jules changes a file that its persona or request names.",
            "type": "boolean",
            "default": usual.avoid_overlap,
        }),
        "count_merged" => span_or_zero(
            "How long merged work counts like open work, so that the same work is a repeat",
            usual.count_merged_secs,
            "30d",
        ),
        "remember_refusals" => span_or_zero(
            "How long a refusal is remembered",
            usual.remember_refusals_secs,
            "0",
        ),
        "quote_reviews" => json!({
            "description": "Whether prompts quote reviews of refused pull requests, too: those of people with write access that request changes.",
            "type": "boolean",
            "default": usual.quote_reviews,
        }),
        "refusals_for" => keyword_schema::<RefusalsFor>(
            "Whose prompts name a refusal: those of the refused `persona`, or of `all`.",
        ),
        _ => unknown(),
    }
}

/// A span of time that `"0"` switches off.
fn span_or_zero(meaning: &str, usual: u64, example: &str) -> Value {
    let longest = duration::show(*novelty::REMEMBER_SECS.end());
    let usual = match usual {
        0 => "0".to_owned(),
        seconds => duration::show(seconds),
    };
    json!({
        "description": format!("{meaning}, at most {longest}; `0`: not at all."),
        "type": "string",
        "pattern": format!("^0$|{SPAN}"),
        "minLength": 1,
        "default": usual,
        "examples": [example],
    })
}

fn of_bot(key: &str) -> Value {
    match key {
        "login" => json!({ "type": "string", "pattern": r"^.+\[bot\]$" }),
        "id" => {
            json!({ "description": "GitHub's number of its account.", "type": "integer", "minimum": 1 })
        }
        _ => unknown(),
    }
}

#[cfg(test)]
mod tests;
