//! `[schedules] persona = "…"` and `[schedules.persona]`.

use std::collections::BTreeMap;

use super::constants::OTHER_HOMES;
use super::known::Known;
use super::overrides::{KEYS, Overrides};
use super::persona::is_id;
use super::section::{Entry, Reader, Section};
use super::tracks::read_cron;
use super::{Persona, Policy, RESERVED_IDS, Schedule};
use crate::model::PersonaId;

/// The most schedules of one plan.
pub const MAX_SCHEDULES: usize = 500;
/// The word for a persona that runs only when asked for.
pub(super) const MANUAL: &str = "manual";
/// The key of the cron expression.
pub(super) const WHEN: &str = "cron";
const MEANWHILE: &str = "the schedule does not run until then";

/// Reads the schedules. A schedule with a broken time is left out. One with an unreadable persona stays, so that the
/// report tells why it does not run.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    known: &Known<'_>,
    defaults: &Policy,
) -> BTreeMap<PersonaId, Schedule> {
    let mut found = BTreeMap::new();
    for (count, entry) in section.entries(reader).iter().enumerate() {
        if count >= MAX_SCHEDULES {
            let message =
                format!("there are more than {MAX_SCHEDULES} schedules; the rest is left out");
            reader.error(
                entry.at,
                &entry.path,
                message,
                "remove some, or put personas into a track",
            );
            break;
        }
        known.remark(entry.key, reader, entry.at, &entry.path);
        // A line of it that could not be read may have been its time zone, or its mode.
        let whole = !reader.document.is_broken(&entry.path);
        let legal = is_id(entry.key) && !RESERVED_IDS.contains(&entry.key);
        if let Some(schedule) = read_schedule(reader, entry, known, defaults)
            && whole
            && legal
        {
            found.insert(schedule.persona.clone(), schedule);
        }
    }
    found
}

fn read_schedule(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    known: &Known<'_>,
    defaults: &Policy,
) -> Option<Schedule> {
    let below = known
        .get(entry.key)
        .map(Persona::overrides)
        .unwrap_or_default();
    let below = below.over(defaults);
    let persona = PersonaId::new(entry.key);
    if !entry.is_table() {
        let shape = "a cron expression such as \"30 4 * * 1\", or \"manual\"";
        let text = entry.or_wrong_type(entry.as_text(), reader, "a cron expression", shape)?;
        let cron = match text {
            MANUAL => None,
            _ => Some(read_cron(reader, entry, &below.timezone, MEANWHILE)?),
        };
        let policy = below;
        return Some(Schedule {
            persona,
            cron,
            policy,
        });
    }
    let section = entry.table(reader, "a table with `cron = \"...\"`")?;
    let mut own = Overrides::default();
    let mut cron_entry = None;
    for inner in section.entries(reader) {
        match inner.key {
            WHEN => cron_entry = Some(inner),
            key if KEYS.contains(&key) => own.read(reader, &inner),
            "schedule" => reader.error(
                inner.at,
                &inner.path,
                "unknown key `schedule`",
                "call it `cron`",
            ),
            _ => {
                let mut names = vec![WHEN];
                names.extend(KEYS);
                reader.unknown(&inner, &names, &OTHER_HOMES);
            }
        }
    }
    let policy = own.over(&below);
    let Some(cron_entry) = cron_entry else {
        if !reader.document.is_broken(&entry.path) {
            let help = "write `cron = \"30 4 * * 1\"`, or `cron = \"manual\"`";
            reader.error(entry.at, &entry.path, "the schedule has no time", help);
        }
        return None;
    };
    let cron = match cron_entry.as_text() {
        Some(MANUAL) => None,
        _ => Some(read_cron(reader, &cron_entry, &policy.timezone, MEANWHILE)?),
    };
    // In another zone than the one that was meant it would run at the wrong hour.
    (cron.is_none() || !own.timezone_is_broken).then_some(Schedule {
        persona,
        cron,
        policy,
    })
}
