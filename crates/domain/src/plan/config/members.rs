//! The tables of layers with roles: `[observers]` and `[innovators]`.

use std::collections::BTreeSet;

use super::keys::{MAX_ROLES, MEMBER_KEYS, unknown};
use crate::layers;
use crate::model::Tree;
use crate::plan::roster::{Member, ROLE_LAYERS, Roster};
use crate::plan::section::{Entry, Reader};
use crate::plan::suggest::closest;

/// A layer's table.
pub(super) struct Table<'t> {
    pub(super) cron: Option<Entry<'t>>,
    /// Where its roles stand.
    roles_at: usize,
}

/// Reads the table of a layer with roles.
pub(super) fn read<'t>(
    reader: &mut Reader<'_>,
    entry: &Entry<'t>,
    keys: &[&str],
    members: &mut Vec<Member>,
    tree: &Tree,
) -> Option<Table<'t>> {
    let Some(section) = entry.table(reader, &format!("a table `[{}]`", entry.key)) else {
        members.clear();
        return None;
    };
    let mut table = Table {
        cron: None,
        roles_at: entry.at,
    };
    let mut is_sound = true;
    for inner in section.entries(reader) {
        match inner.key {
            "roles" => {
                table.roles_at = inner.at;
                *members = read_members(reader, &inner, entry.key, tree);
            }
            "cron" if keys.contains(&"cron") => table.cron = Some(inner),
            _ => is_sound &= unknown(reader, &inner, keys),
        }
    }
    // It may be the list of roles.
    if !is_sound {
        members.clear();
    }
    Some(table)
}

/// Removes innovators that are observers, too, because a role's memory lies in a folder named for the role alone.
pub(super) fn part(reader: &mut Reader<'_>, innovators: &Table<'_>, roster: &mut Roster) {
    let observers: BTreeSet<String> = roster
        .observers
        .iter()
        .map(|member| member.role.clone())
        .collect();
    roster.innovators.retain(|member| {
        let both = observers.contains(&member.role);
        if both {
            let message = format!(
                "`{}` is an observer already, and both would have one memory",
                member.role
            );
            let help = "give one of the two another name";
            let path = format!("{}.roles", ROLE_LAYERS[1]);
            reader.error(innovators.roles_at, &path, message, help);
        }
        !both
    });
}

fn read_members(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    layer: &str,
    tree: &Tree,
) -> Vec<Member> {
    const SHAPE: &str =
        "an array of roles such as `[\"docs\", { name = \"tests\", enabled = false }]`";
    let Some(items) = entry.items(reader, SHAPE) else {
        return Vec::new();
    };
    if items.len() > MAX_ROLES {
        let message = format!(
            "the layer has {} roles; at most {MAX_ROLES} can be",
            items.len()
        );
        reader.error(entry.at, &entry.path, message, "take some off");
        return Vec::new();
    }
    let known = layers::role_names(tree, layer);
    let mut seen = BTreeSet::new();
    let mut members = Vec::new();
    for item in &items {
        let Some((at, path, member)) = read_member(reader, item) else {
            continue;
        };
        let name = member.role.as_str();
        if !layers::is_role_name(name) {
            let message = format!("`{name}` cannot be a role");
            reader.error(
                at,
                &path,
                message,
                "a role has letters, digits, `-` and `_`",
            );
        } else if !seen.insert(name.to_owned()) {
            reader.error(
                at,
                &path,
                format!("`{name}` is there twice"),
                "name each role once",
            );
        } else {
            if !known.contains(name) {
                let help = match closest(name, known.iter().map(String::as_str)) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!(
                        "write `.jlo/roles/{layer}/{name}/role.yml` (`phileas role create {layer} {name}`)"
                    ),
                };
                reader.error(
                    at,
                    &path,
                    format!("the layer `{layer}` has no role `{name}`"),
                    help,
                );
            }
            members.push(member);
        }
    }
    members
}

/// A role on the list, with the place and the key path of its name.
fn read_member(reader: &mut Reader<'_>, item: &Entry<'_>) -> Option<(usize, String, Member)> {
    if let Some(name) = item.as_text() {
        return Some((item.value_at(), item.path.clone(), Member::enabled(name)));
    }
    let section = item.table(
        reader,
        "a role's name, or a table such as `{ name = \"docs\", enabled = true }`",
    )?;
    let mut member = Member::enabled("");
    let mut named = None;
    let mut is_sound = true;
    for entry in section.entries(reader) {
        match entry.key {
            "name" => {
                let name = entry.text(reader)?;
                member.role = name.to_owned();
                named = Some((entry.value_at(), entry.path.clone()));
            }
            // With an unreadable `enabled` the role stays off.
            "enabled" => member.enabled = entry.flag(reader).unwrap_or(false),
            "sensitive" => member.sensitive = entry.flag(reader).unwrap_or(false),
            _ => is_sound &= unknown(reader, &entry, &MEMBER_KEYS),
        }
    }
    // It may be the key that turns the role off.
    member.enabled &= is_sound;
    let Some((at, path)) = named else {
        reader.error(
            item.at,
            &item.path,
            "it names no role",
            "write `name = \"...\"`",
        );
        return None;
    };
    Some((at, path, member))
}
