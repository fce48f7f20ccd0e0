//! `[budget]`: how many sessions and requests are allowed.

use std::ops::RangeInclusive;

use super::Budget;
use super::section::{Reader, Section};

/// Sessions at once, of a repository or a key. To start nothing at all, pause instead of writing 0.
pub const ACTIVE: RangeInclusive<u32> = 1..=1_000;
/// Sessions in a rolling day, of a repository or a key.
pub const DAILY: RangeInclusive<u32> = 1..=10_000;
/// Unreviewed pull requests.
pub const OPEN_PULLS: RangeInclusive<u32> = 1..=1_000;
/// Requests of one person in an hour; 0 refuses them all.
pub const REQUESTS: RangeInclusive<u32> = 0..=1_000;
/// Sessions of the key's day that are reserved for requests.
pub const RESERVE: RangeInclusive<u32> = 0..=10_000;

pub(super) const KEYS: [&str; 9] = [
    "max_active",
    "daily_sessions",
    "track_share",
    "max_open_pulls",
    "requests_per_actor_hour",
    "tier",
    "key_daily",
    "key_active",
    "reserve_for_people",
];

/// Reads the table. A broken value keeps its default.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    homes: &[(&str, &[&str])],
) -> Budget {
    let mut budget = Budget::default();
    let mut reserve_at = None;
    for entry in section.entries(reader) {
        let mut set = |figure: &mut u32, limits| {
            if let Some(value) = entry.small(reader, limits) {
                *figure = value;
            }
        };
        match entry.key {
            "max_active" => set(&mut budget.max_active, ACTIVE),
            "daily_sessions" => set(&mut budget.daily_sessions, DAILY),
            "max_open_pulls" => set(&mut budget.max_open_pulls, OPEN_PULLS),
            "requests_per_actor_hour" => set(&mut budget.requests_per_actor_hour, REQUESTS),
            "reserve_for_people" => {
                set(&mut budget.reserve_for_people, RESERVE);
                reserve_at = Some((entry.at, entry.path.clone()));
            }
            "track_share" => {
                if let Some(share) = entry.share(reader) {
                    budget.track_share = share;
                }
            }
            "tier" => budget.tier = entry.read_keyword(reader).unwrap_or_default(),
            "key_daily" => budget.key_daily = entry.small(reader, DAILY),
            "key_active" => budget.key_active = entry.small(reader, ACTIVE),
            _ => reader.unknown(&entry, &KEYS, homes),
        }
    }
    let daily = budget.key_limits().daily;
    if budget.reserve_for_people >= daily
        && let Some((at, path)) = reserve_at
    {
        reader.warning(
            at,
            &path,
            format!("all of the key's {daily} daily sessions are reserved for requests, so nothing starts on a schedule"),
            format!("write less than {daily}"),
        );
    }
    budget
}
