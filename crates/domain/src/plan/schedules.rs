//! `[schedules] persona = "…"` and `[schedules.persona]`.

use std::collections::BTreeMap;

use super::constants::OTHER_HOMES;
use super::cron::Cron;
use super::known::Known;
use super::overrides::{KEYS, Overrides};
use super::persona::is_id;
use super::section::{Entry, Reader, Section};
use super::tracks::read_cron;
use super::{Persona, Policy, RESERVED_IDS, Schedule};
use crate::model::{PersonaId, TrackName};

/// The most schedules of one plan.
pub const MAX_SCHEDULES: usize = 500;
/// The word for a persona that runs only when asked for.
pub(super) const MANUAL: &str = "manual";
/// The key of the cron expression.
pub(super) const WHEN: &str = "cron";
const MEANWHILE: &str = "the schedule does not run until then";

/// What the table says.
#[derive(Default)]
pub(super) struct Schedules {
    /// The schedules that can run.
    pub(super) sound: BTreeMap<PersonaId, Schedule>,
    /// The settings of those that cannot.
    pub(super) stopped: BTreeMap<TrackName, Policy>,
}

/// Reads the schedules. A schedule with a mistake does not run. One with an unreadable persona stays, so that the report
/// tells why it does not run.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    known: &Known<'_>,
    defaults: &Policy,
    homes: &[(&str, &[&str])],
) -> Schedules {
    let mut found = Schedules::default();
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
        let is_misplaced = homes.iter().any(|(_, keys)| keys.contains(&entry.key));
        if is_misplaced && known.get(entry.key).is_none() {
            // A line below the wrong heading.
            reader.unknown(entry, &[], homes);
            continue;
        }
        known.remark(entry.key, reader, entry.at, &entry.path);
        // A line of it that could not be read may have been its time zone, or its mode.
        let whole = !reader.document.is_broken(&entry.path);
        let legal = is_id(entry.key) && !RESERVED_IDS.contains(&entry.key);
        let before = reader.errors();
        let (cron, policy) = read_schedule(reader, entry, known, defaults);
        let persona = PersonaId::new(entry.key);
        match cron {
            Some(cron) if whole && legal && reader.errors() == before => {
                let schedule = Schedule {
                    persona: persona.clone(),
                    cron,
                    policy,
                };
                found.sound.insert(persona, schedule);
            }
            _ => {
                let track = TrackName::of_schedule(&persona);
                found.stopped.insert(track, policy.stopped());
            }
        }
    }
    found
}

/// The time, and the settings. `None`: it has no time that can be read.
fn read_schedule(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    known: &Known<'_>,
    defaults: &Policy,
) -> (Option<Option<Cron>>, Policy) {
    let below = known
        .get(entry.key)
        .map(Persona::overrides)
        .unwrap_or_default();
    let below = below.over(defaults);
    if !entry.is_table() {
        let shape = "a cron expression such as \"30 4 * * 1\", or \"manual\"";
        let text = entry.or_wrong_type(entry.as_text(), reader, "a cron expression", shape);
        let cron = text.and_then(|_| read_when(reader, entry, &below.timezone));
        return (cron, below);
    }
    let Some(section) = entry.table(reader, "a table with `cron = \"...\"`") else {
        return (None, below);
    };
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
        return (None, policy);
    };
    let cron = read_when(reader, &cron_entry, &policy.timezone);
    (cron, policy)
}

/// `Some(None)`: only on request.
fn read_when(reader: &mut Reader<'_>, entry: &Entry<'_>, timezone: &str) -> Option<Option<Cron>> {
    match entry.as_text() {
        Some(MANUAL) => Some(None),
        _ => read_cron(reader, entry, timezone, MEANWHILE).map(Some),
    }
}
