//! `[sprints]`: whether there are sprints, and which track's passes they are.

use std::collections::BTreeMap;

use super::constants::{INNOVATION_TRACK, PASS_TRACK};
use super::section::{Entry, Reader};
use super::suggest::did_you_mean;
use super::tracks::DEFAULT_TRACK;
use super::types::{Sprints, Track};
use crate::model::TrackName;

/// The keys of the table.
pub(super) const KEYS: [&str; 1] = ["track"];

/// Reads the table. One that names no track of the plan turns sprints off.
pub(super) fn read(
    reader: &mut Reader<'_>,
    table: &Entry<'_>,
    tracks: &BTreeMap<TrackName, Track>,
    homes: &[(&str, &[&str])],
) -> Option<Sprints> {
    let section = table.table(reader, "a table `[sprints]`")?;
    let mut track = DEFAULT_TRACK;
    let mut at = None;
    for entry in section.entries(reader) {
        match entry.key {
            "track" => {
                track = entry.text(reader)?;
                at = Some(entry);
            }
            _ => {
                reader.unknown(&entry, &KEYS, homes);
                return None;
            }
        }
    }
    // The layers' tracks stand in a file of their own.
    let elsewhere = [PASS_TRACK, INNOVATION_TRACK].contains(&track);
    // A track with a syntax error exists, too, and the error is reported already.
    let broken = reader.document.is_broken(&format!("tracks.{track}"))
        || (track == DEFAULT_TRACK && reader.document.is_broken("cycle"));
    if elsewhere || broken || tracks.contains_key(track) {
        let track = TrackName::from(track);
        return Some(Sprints { track });
    }
    if let Some(entry) = at {
        let known: Vec<&str> = tracks.keys().map(TrackName::as_str).collect();
        let message = format!("there is no track `{track}`, so there are no sprints");
        reader.error(
            entry.value_at(),
            &entry.path,
            message,
            did_you_mean(track, &known),
        );
        return None;
    }
    // A plan without a cycle has tracks of other names, so it must name one.
    let known: Vec<&str> = tracks.keys().map(TrackName::as_str).collect();
    let message = format!("there is no track `{DEFAULT_TRACK}`, so there are no sprints");
    let help = match known.first() {
        Some(first) => format!("name the track whose passes are sprints: `track = \"{first}\"`"),
        None => "write a `cycle = […]`: its passes are the sprints".to_owned(),
    };
    reader.error(table.at, &table.path, message, help);
    None
}
