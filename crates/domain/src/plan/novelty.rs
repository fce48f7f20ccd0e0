//! `[novelty]`: what keeps sessions from repeating work.

use std::ops::RangeInclusive;

use super::policy::{Novelty, NoveltyMode};
use super::section::{Entry, Reader, Section};

/// Seconds that a refusal is remembered, and that merged work counts: at most ten years. `"0"`: not at all.
pub const REMEMBER_SECS: RangeInclusive<u64> = 0..=315_360_000;

pub(super) const KEYS: [&str; 7] = [
    "mode",
    "plan",
    "avoid_overlap",
    "count_merged",
    "remember_refusals",
    "quote_reviews",
    "refusals_for",
];

/// What counts where a value cannot be read.
const DEFAULTS: [(&str, &str); 7] = [
    ("mode", "prompt"),
    ("plan", "false"),
    ("avoid_overlap", "false"),
    ("count_merged", "0"),
    ("remember_refusals", "180d"),
    ("quote_reviews", "false"),
    ("refusals_for", "persona"),
];

/// Reads the table. A broken value keeps its default.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    homes: &[(&str, &[&str])],
) -> Novelty {
    let mut novelty = Novelty::default();
    let mut counted = None;
    for entry in section.entries(reader) {
        let before = reader.count();
        match entry.key {
            "mode" => novelty.mode = entry.read_keyword(reader).unwrap_or_default(),
            "plan" => novelty.plan = entry.flag(reader).unwrap_or_default(),
            "avoid_overlap" => novelty.avoid_overlap = entry.flag(reader).unwrap_or_default(),
            "count_merged" => {
                if let Some(seconds) = span_or_zero(reader, &entry, "count no merged work") {
                    novelty.count_merged_secs = seconds;
                    counted = Some((entry.value_at(), entry.path.clone()));
                }
            }
            "remember_refusals" => {
                if let Some(seconds) = span_or_zero(reader, &entry, "remember no refusal") {
                    novelty.remember_refusals_secs = seconds;
                }
            }
            "quote_reviews" => novelty.quote_reviews = entry.flag(reader).unwrap_or_default(),
            "refusals_for" => novelty.refusals_for = entry.read_keyword(reader).unwrap_or_default(),
            _ => reader.unknown(&entry, &KEYS, homes),
        }
        if let Some((_, default)) = DEFAULTS.iter().find(|(key, _)| *key == entry.key) {
            reader.add_fallback(before, default);
        }
    }
    if let Some((at, path)) = counted
        && let Some((message, help)) = without_effect(&novelty)
    {
        reader.warning(at, &path, message, help);
    }
    novelty
}

/// Why `count_merged` does less than it says, and how to change that.
fn without_effect(novelty: &Novelty) -> Option<(&'static str, &'static str)> {
    if novelty.count_merged_secs == 0 {
        None
    } else if novelty.mode == NoveltyMode::Off {
        Some((
            "merged work counts nowhere, because `mode` is \"off\"",
            "write another `mode`, or take this key out",
        ))
    } else if novelty.mode < NoveltyMode::Label && !novelty.plan {
        Some((
            "merged work counts nowhere",
            "write `plan = true`, or `mode = \"label\"`",
        ))
    } else if novelty.count_merged_secs > novelty.remember_refusals_secs {
        Some((
            "merged work counts only as long as it is remembered",
            "write a `remember_refusals` that is as long",
        ))
    } else {
        None
    }
}

/// A span of time, or `"0"` without a unit.
fn span_or_zero(reader: &mut Reader<'_>, entry: &Entry<'_>, off: &str) -> Option<u64> {
    match (entry.as_text(), entry.as_integer()) {
        (Some("0"), _) => Some(0),
        (None, Some(0)) => {
            reader.error(
                entry.value_at(),
                &entry.path,
                "expected a span of time, found a whole number",
                format!("write `\"0\"` to {off}"),
            );
            None
        }
        _ => entry.seconds(reader, REMEMBER_SECS),
    }
}
