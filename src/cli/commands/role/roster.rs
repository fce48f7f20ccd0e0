//! Edits of the rosters in `.jlo/config.toml`. Everything that people have written there stays as it is.

use phileas_domain::plan::{CONFIG_PATH, Member};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::cli::exit::Stopped;

/// The file, to be edited.
pub(super) struct Config(DocumentMut);

impl Config {
    pub(super) fn read(text: &str) -> Result<Self, Stopped> {
        let document = text.parse::<DocumentMut>();
        let wrong = |error: toml_edit::TomlError| {
            Stopped::usage(format!(
                "{CONFIG_PATH} cannot be read: {error}; phileas validate tells more"
            ))
        };
        document.map(Self).map_err(wrong)
    }

    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// Puts a role on the list, or turns it on where it stands there. `usual`: who works where the file names nobody.
    pub(super) fn put(
        &mut self,
        layer: &str,
        member: &Member,
        usual: &[Member],
    ) -> Result<(), Stopped> {
        let list = self.list(layer, usual)?;
        let known = |value: &Value| name_of(value) == Some(member.role.as_str());
        let index = list.iter().position(known);
        match index {
            Some(index) => {
                let Some(there) = list.get_mut(index) else {
                    return Ok(());
                };
                match there {
                    Value::InlineTable(table) => {
                        set(table, "enabled", member.enabled, true);
                        set(table, "sensitive", member.sensitive, false);
                    }
                    _ if member.sensitive || !member.enabled => {
                        let decor = there.decor().clone();
                        *there = entry(member);
                        *there.decor_mut() = decor;
                    }
                    _ => {}
                }
            }
            None => push(list, entry(member)),
        }
        Ok(())
    }

    /// Takes a role off the list, however often it stands there; says whether it did.
    pub(super) fn take(
        &mut self,
        layer: &str,
        role: &str,
        usual: &[Member],
    ) -> Result<bool, Stopped> {
        let list = self.list(layer, usual)?;
        let before = list.len();
        // From the end, so that the places of the others stay.
        for index in (0..before).rev() {
            if list.get(index).and_then(name_of) == Some(role) {
                remove(list, index);
            }
        }
        Ok(list.len() < before)
    }

    fn list(&mut self, layer: &str, usual: &[Member]) -> Result<&mut Array, Stopped> {
        let wrong = |what: &str| {
            Stopped::usage(format!(
                "{CONFIG_PATH}: {what}; phileas validate tells where"
            ))
        };
        let table = self.0.entry(layer).or_insert(Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else {
            return Err(wrong(&format!("`{layer}` is no table")));
        };
        let roles = table.entry("roles").or_insert_with(|| {
            let mut list = Array::new();
            for member in usual {
                push(&mut list, entry(member));
            }
            Item::Value(list.into())
        });
        roles
            .as_array_mut()
            .ok_or_else(|| wrong(&format!("`{layer}.roles` is no list")))
    }
}

/// Sets a flag, and leaves what says the same already, or says it by not being there.
fn set(table: &mut InlineTable, key: &str, flag: bool, usual: bool) {
    match table.get_mut(key) {
        // What people allowed once is not taken back by putting a role on the list again.
        Some(_) if key == "sensitive" && !flag => {}
        Some(value) => {
            let decor = value.decor().clone();
            *value = flag.into();
            *value.decor_mut() = decor;
        }
        None if flag == usual => {}
        None => {
            table.insert(key, flag.into());
        }
    }
}

fn name_of(value: &Value) -> Option<&str> {
    match value {
        Value::InlineTable(table) => table.get("name").and_then(Value::as_str),
        other => other.as_str(),
    }
}

fn entry(member: &Member) -> Value {
    let mut table = InlineTable::new();
    table.insert("name", member.role.as_str().into());
    table.insert("enabled", member.enabled.into());
    if member.sensitive {
        table.insert("sensitive", true.into());
    }
    table.into()
}

/// Adds an element on a line of its own. What stands behind the last one, such as a comment, stays behind it.
fn push(list: &mut Array, mut value: Value) {
    let trailing = list
        .trailing()
        .as_str()
        .unwrap_or_default()
        .trim_end()
        .to_owned();
    value.decor_mut().set_prefix(format!("{trailing}\n  "));
    value.decor_mut().set_suffix("");
    list.push_formatted(value);
    list.set_trailing("\n");
    list.set_trailing_comma(true);
}

/// Removes an element with the comment behind it on its line.
fn remove(list: &mut Array, index: usize) {
    let prefix_of = |value: &Value| {
        let prefix = value.decor().prefix().and_then(|raw| raw.as_str());
        prefix.unwrap_or_default().to_owned()
    };
    let own = list.get(index).map(prefix_of).unwrap_or_default();
    list.remove(index);
    let behind = match list.get(index) {
        Some(next) => prefix_of(next),
        None => list.trailing().as_str().unwrap_or_default().to_owned(),
    };
    // Of its own, what belongs to the one before; of what follows, all but the rest of its line.
    let before = own.split('\n').next().unwrap_or_default();
    let joined = match behind.split_once('\n') {
        Some((_, rest)) => format!("{before}\n{rest}"),
        None if own.contains('\n') => own,
        None => behind,
    };
    match list.get_mut(index) {
        Some(next) => next.decor_mut().set_prefix(joined),
        None => list.set_trailing(joined),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# mine
[observers]
# who
roles = [
  { name = \"errors\", enabled = true }, # one
  # two comes next
  { name = \"tests\",  enabled = false }, # two
  \"docs\", # three
]

[innovators] # later
roles = []
";

    fn edited(edit: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::read(FILE).unwrap();
        edit(&mut config);
        config.text()
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        assert_eq!(edited(|_| {}), FILE);
        let add = |role: &str| Member::enabled(role);
        let text = edited(|config| config.put("observers", &add("taxonomy"), &[]).unwrap());
        let line = "  \"docs\", # three\n";
        assert_eq!(
            text,
            FILE.replace(
                line,
                &format!("{line}  {{ name = \"taxonomy\", enabled = true }},\n")
            )
        );
        let text = edited(|config| config.put("observers", &add("tests"), &[]).unwrap());
        assert_eq!(text, FILE.replace("enabled = false", "enabled = true"));
        assert_eq!(
            edited(|config| config.put("observers", &add("docs"), &[]).unwrap()),
            FILE
        );
        let text = edited(|config| {
            assert!(config.take("observers", "tests", &[]).unwrap());
            assert!(!config.take("observers", "nobody", &[]).unwrap());
        });
        assert_eq!(
            text,
            FILE.replace("  { name = \"tests\",  enabled = false }, # two\n", "")
                .replace("  # two comes next\n", "")
        );
        let text = edited(|config| assert!(config.take("observers", "docs", &[]).unwrap()));
        assert_eq!(text, FILE.replace("  \"docs\", # three\n", ""));
        let text = edited(|config| config.put("innovators", &add("leverage"), &[]).unwrap());
        assert!(
            text.ends_with("roles = [\n  { name = \"leverage\", enabled = true },\n]\n"),
            "{text}"
        );
    }

    #[test]
    fn a_role_that_stands_there_twice_is_taken_off_whole() {
        let text = "[observers]\nroles = [\n  \"docs\",\n  \"tests\",\n  { name = \"docs\", enabled = false },\n]\n";
        let mut config = Config::read(text).unwrap();
        assert!(config.take("observers", "docs", &[]).unwrap());
        assert_eq!(config.text(), "[observers]\nroles = [\n  \"tests\",\n]\n");
        assert!(!config.take("observers", "docs", &[]).unwrap());
    }

    #[test]
    fn a_list_that_is_not_there_begins_with_the_usual_roles() {
        let mut config = Config::read("").unwrap();
        let usual = [Member::enabled("docs"), Member::enabled("tests")];
        assert!(config.take("observers", "docs", &usual).unwrap());
        assert_eq!(
            config.text(),
            "[observers]\nroles = [\n  { name = \"tests\", enabled = true },\n]\n"
        );
        assert!(Config::read("[x").is_err());
        let mut odd = Config::read("observers = 1\n").unwrap();
        assert!(odd.take("observers", "docs", &[]).is_err());
    }
}
