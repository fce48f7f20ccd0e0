//! `cycle = […]`, `[tracks] name = […]` and `[tracks.name]`.

use std::collections::BTreeMap;

use super::constants::OTHER_HOMES;
use super::cron::Cron;
use super::known::Known;
use super::overrides::{KEYS, Overrides};
use super::policy::Policy;
use super::section::{Entry, Reader, Section};
use super::steps;
use super::types::{Step, Track};
use crate::model::TrackName;

/// The most tracks of one plan.
pub const MAX_TRACKS: usize = 200;
/// The longest name of a track in bytes.
pub const MAX_TRACK_NAME_BYTES: usize = 64;
/// The keys of a track beside the knobs.
pub(super) const TRACK_KEYS: [&str; 2] = ["steps", "start"];
/// The track that `cycle = […]` makes.
pub const DEFAULT_TRACK: &str = "default";

/// The tracks that can run. A track with a mistake in its settings, its start or its list of steps does not run.
pub(super) struct Tracks<'k> {
    pub(super) known: &'k Known<'k>,
    pub(super) defaults: &'k Policy,
    pub(super) tracks: BTreeMap<TrackName, Track>,
    /// The settings of those that cannot.
    pub(super) stopped: BTreeMap<TrackName, Policy>,
}

impl Tracks<'_> {
    /// Reads `cycle = […]`.
    pub(super) fn read_cycle(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>) {
        let nothing = Overrides::default();
        if let Some(steps) = steps::read(reader, entry, self.known, self.defaults, &nothing) {
            self.add(DEFAULT_TRACK, steps, None, nothing);
        }
    }

    /// Reads `[tracks]`. `cycle`: whether there is a `cycle = […]` too.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, section: &Section<'_>, cycle: bool) {
        for (count, entry) in section.entries(reader).iter().enumerate() {
            if count >= MAX_TRACKS {
                let message =
                    format!("there are more than {MAX_TRACKS} tracks; the rest is left out");
                reader.error(
                    entry.at,
                    &entry.path,
                    message,
                    "put personas that belong together into one track",
                );
                break;
            }
            if let Some((message, help)) = wrong_name(entry.key) {
                reader.error(entry.at, &entry.path, message, help);
            } else if cycle && entry.key == DEFAULT_TRACK {
                reader.error(
                    entry.at,
                    &entry.path,
                    "`cycle` is the track `default` already; this one is left out",
                    "keep one of the two",
                );
            } else {
                self.read_track(reader, entry);
            }
        }
    }

    fn read_track(&mut self, reader: &mut Reader<'_>, entry: &Entry<'_>) {
        if reader.document.is_broken(&entry.path) {
            // The error is reported already, and without the broken line the track would be another one.
            self.stop(entry.key, &Overrides::default());
            return;
        }
        if entry.is_array() {
            let nothing = Overrides::default();
            if let Some(steps) = steps::read(reader, entry, self.known, self.defaults, &nothing) {
                self.add(entry.key, steps, None, nothing);
            }
            return;
        }
        let Some(section) =
            entry.table(reader, "an array of steps, or a table with `steps = [...]`")
        else {
            return;
        };
        let before = reader.errors();
        let mut own = Overrides::default();
        let (mut step_entry, mut start_entry) = (None, None);
        for inner in section.entries(reader) {
            match inner.key {
                "steps" => step_entry = Some(inner),
                "start" => start_entry = Some(inner),
                "personas" => {
                    reader.error(
                        inner.at,
                        &inner.path,
                        "unknown key `personas`",
                        "call the list `steps`",
                    );
                }
                key if KEYS.contains(&key) => own.read(reader, &inner),
                _ => {
                    let mut names = TRACK_KEYS.to_vec();
                    names.extend(KEYS);
                    reader.unknown(&inner, &names, &OTHER_HOMES);
                }
            }
        }
        // With a setting that cannot be read it would be another track.
        let is_sound = reader.errors() == before;
        let policy = own.over(self.defaults);
        let meanwhile = "the track does not run until then";
        let start = start_entry.map(|start| read_cron(reader, &start, &policy.timezone, meanwhile));
        let steps = match step_entry {
            Some(steps) => steps::read(reader, &steps, self.known, self.defaults, &own),
            None => {
                reader.error(
                    entry.at,
                    &entry.path,
                    "the track has no steps",
                    "write `steps = [\"...\"]`",
                );
                None
            }
        };
        // Without its broken start the track would run all day.
        match (steps, start) {
            (Some(steps), None) if is_sound => self.add(entry.key, steps, None, own),
            (Some(steps), Some(Some(start))) if is_sound => {
                self.add(entry.key, steps, Some(start), own);
            }
            _ => self.stop(entry.key, &own),
        }
    }

    fn stop(&mut self, name: &str, own: &Overrides) {
        let policy = own.over(self.defaults).stopped();
        self.stopped.insert(TrackName::from(name), policy);
    }

    fn add(&mut self, name: &str, steps: Vec<Step>, start: Option<Cron>, own: Overrides) {
        let name = TrackName::from(name);
        let track = Track {
            name: name.clone(),
            steps,
            start,
            policy: own.over(self.defaults),
        };
        self.tracks.insert(name, track);
    }
}

/// Reads a cron expression, or notes what is wrong with it.
pub(super) fn read_cron(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    timezone: &str,
    meanwhile: &str,
) -> Option<Cron> {
    let text = entry.text(reader)?;
    match Cron::parse(text, timezone) {
        Ok(cron) => {
            if let Some((days, [by_day, by_weekday])) = cron.union_days() {
                let message = format!(
                    "`{}` starts on {days}: a day of the month and a weekday in one expression are a union",
                    cron.expression()
                );
                let help = format!(
                    "for only one of the two write `{by_day}` or `{by_weekday}`; cron cannot express both at once"
                );
                reader.warning(entry.value_at(), &entry.path, message, help);
            }
            Some(cron)
        }
        Err(error) => {
            let help = format!("{}; {meanwhile}", error.help());
            reader.error(entry.value_at(), &entry.path, error.to_string(), help);
            None
        }
    }
}

/// What is wrong with a track's name, which is used in branch names, session titles and prompts.
fn wrong_name(name: &str) -> Option<(String, String)> {
    let help = "use letters, digits, `_`, `-` and `.`, and begin with a letter or digit".to_owned();
    for kind in ["schedule", "request"] {
        if name
            .strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with(':'))
        {
            let message = format!("`{name}` is the name of a {kind}'s own track");
            return Some((message, format!("leave `{kind}:` out")));
        }
    }
    if name.is_empty() {
        return Some(("the track has no name".to_owned(), help));
    }
    if name.len() > MAX_TRACK_NAME_BYTES {
        let message = format!("the track's name is longer than {MAX_TRACK_NAME_BYTES} bytes");
        return Some((message, "write a shorter one".to_owned()));
    }
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let as_ref = name.starts_with(char::is_alphanumeric)
        && name.chars().all(legal)
        && !name.contains("..")
        && !name.ends_with('.')
        && !name.to_ascii_lowercase().ends_with(".lock");
    (!as_ref).then(|| {
        (
            format!(
                "`{name}` cannot be the name of a track, because branch names and titles contain it"
            ),
            help,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_stand_in_branches_and_titles() {
        for name in ["default", "quality", "a-b_c.1", "documentação", "2nd"] {
            assert_eq!(wrong_name(name), None, "{name}");
        }
        for name in [
            "",
            "schedule:a",
            "request:1",
            "schedule:",
            "a b",
            "a/b",
            "a:b",
            "-a",
            ".a",
            "a..b",
            "a.",
            "a.lock",
            "a~b",
            "a]",
            "a\n",
            "🎭",
            &"x".repeat(65),
        ] {
            assert!(wrong_name(name).is_some(), "{name}");
        }
    }
}
