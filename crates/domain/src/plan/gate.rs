//! `[gate]`: which pull requests, drivers and bots are allowed.

use super::path_pattern;
use super::section::{Entry, Reader, Section};
use super::{AllowedBot, Gate};

/// How many path patterns or bots one list may hold.
pub const MAX_GATE_ENTRIES: usize = 200;

pub(super) const KEYS: [&str; 4] = ["main_red", "protected_paths", "driver", "allow_bots"];
pub(super) const BOT_KEYS: [&str; 2] = ["login", "id"];
const BOT_SHAPE: &str = "`{ login = \"name[bot]\", id = 123 }`";

/// Reads the table. A broken value keeps its default.
pub(super) fn read(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    homes: &[(&str, &[&str])],
) -> Gate {
    let mut gate = Gate::default();
    for entry in section.entries(reader) {
        match entry.key {
            "main_red" => gate.main_red = entry.read_keyword(reader).unwrap_or_default(),
            "driver" => gate.driver = entry.read_keyword(reader).unwrap_or_default(),
            "protected_paths" => {
                let items = list(
                    reader,
                    &entry,
                    "an array of path patterns such as `[\"docs/**\"]`",
                );
                gate.protected_paths = items
                    .iter()
                    .filter_map(|item| pattern(reader, item))
                    .collect();
            }
            "allow_bots" => {
                let items = list(reader, &entry, &format!("an array of {BOT_SHAPE}"));
                gate.allow_bots = items.iter().filter_map(|item| bot(reader, item)).collect();
            }
            _ => reader.unknown(&entry, &KEYS, homes),
        }
    }
    gate
}

fn list<'t>(reader: &mut Reader<'_>, entry: &Entry<'t>, shape: &str) -> Vec<Entry<'t>> {
    let mut items = entry.items(reader, shape).unwrap_or_default();
    if items.len() > MAX_GATE_ENTRIES {
        let message = format!(
            "there are {} entries; the ones after {MAX_GATE_ENTRIES} are left out",
            items.len()
        );
        reader.error(
            entry.at,
            &entry.path,
            message,
            "write fewer, wider patterns",
        );
        items.truncate(MAX_GATE_ENTRIES);
    }
    items
}

fn pattern(reader: &mut Reader<'_>, item: &Entry<'_>) -> Option<String> {
    let text = item.text(reader)?;
    let wrong = path_pattern::mistake_in(text);
    match wrong {
        None => Some(text.to_owned()),
        Some(wrong) => {
            reader.error(item.value_at(), &item.path, wrong, path_pattern::HELP);
            None
        }
    }
}

fn bot(reader: &mut Reader<'_>, item: &Entry<'_>) -> Option<AllowedBot> {
    let section = item.table(reader, BOT_SHAPE)?;
    let (mut login, mut id) = (None, None);
    let mut missing: Vec<&str> = BOT_KEYS.to_vec();
    for entry in section.entries(reader) {
        missing.retain(|key| *key != entry.key);
        match entry.key {
            "login" => {
                login = entry.text(reader).filter(|login| {
                    let legal = login
                        .strip_suffix("[bot]")
                        .is_some_and(|name| !name.is_empty());
                    if !legal {
                        let message = format!("`{login}` is not the login of a bot");
                        reader.error(entry.value_at(), &entry.path, message, "it ends in `[bot]`");
                    }
                    legal
                });
            }
            "id" => id = entry.number(reader, 1..=i64::MAX as u64),
            _ => reader.unknown(&entry, &BOT_KEYS, &[]),
        }
    }
    if !missing.is_empty() {
        let message = format!(
            "the bot has no {}",
            super::suggest::either_of(missing).replace(" or ", " and no ")
        );
        reader.error(item.at, &item.path, message, format!("write {BOT_SHAPE}"));
    }
    Some(AllowedBot {
        login: login?.to_owned(),
        id: id?,
    })
}
