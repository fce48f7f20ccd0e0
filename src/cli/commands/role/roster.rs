//! Edits the rosters in `.jlo/config.toml`. Everything else that people wrote there stays.

use phileas_domain::plan::{CONFIG_PATH, Member};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::cli::exit::CliError;

/// Whether a file turns all layers off.
pub(super) fn turns_layers_off(text: &str) -> bool {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let enabled = document
        .get("workflow")
        .and_then(|workflow| workflow.get("enabled"));
    enabled.and_then(Item::as_bool) == Some(false)
}

/// The file as an editable document.
pub(super) struct RosterConfig(DocumentMut);

impl RosterConfig {
    /// `None`: it is not TOML. The reader of the plan reports where.
    pub(super) fn parse_config(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    pub(super) fn config_text(&self) -> String {
        self.0.to_string()
    }

    /// Adds a role to the list, or enables it if it is there. `usual`: the roster of a file without a list.
    pub(super) fn put_member(
        &mut self,
        layer: &str,
        member: &Member,
        usual: &[Member],
    ) -> Result<(), CliError> {
        let list = self.layer_list(layer, usual)?;
        let known = |value: &Value| role_name(value) == Some(member.role.as_str());
        let index = list.iter().position(known);
        match index {
            Some(index) => {
                let Some(there) = list.get_mut(index) else {
                    return Ok(());
                };
                match there {
                    Value::InlineTable(table) => {
                        set_flag(table, "enabled", member.enabled, true);
                        set_flag(table, "sensitive", member.sensitive, false);
                    }
                    _ if member.sensitive || !member.enabled => {
                        let decor = there.decor().clone();
                        *there = member_value(member);
                        *there.decor_mut() = decor;
                    }
                    _ => {}
                }
            }
            None => push_element(list, member_value(member)),
        }
        Ok(())
    }

    /// Removes every occurrence of a role from the list. Returns whether there was one.
    pub(super) fn take_member(
        &mut self,
        layer: &str,
        role: &str,
        usual: &[Member],
    ) -> Result<bool, CliError> {
        let list = self.layer_list(layer, usual)?;
        let before = list.len();
        // From the end, so that the other indices stay valid.
        for index in (0..before).rev() {
            if list.get(index).and_then(role_name) == Some(role) {
                remove_element(list, index);
            }
        }
        Ok(list.len() < before)
    }

    fn layer_list(&mut self, layer: &str, usual: &[Member]) -> Result<&mut Array, CliError> {
        let wrong = |what: &str| {
            CliError::usage(format!(
                "{CONFIG_PATH}: {what}; phileas validate tells where"
            ))
        };
        let table = self.0.entry(layer).or_insert(Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else {
            return Err(wrong(&format!("`{layer}` is not a table")));
        };
        let roles = table.entry("roles").or_insert_with(|| {
            let mut list = Array::new();
            for member in usual {
                push_element(&mut list, member_value(member));
            }
            Item::Value(list.into())
        });
        roles
            .as_array_mut()
            .ok_or_else(|| wrong(&format!("`{layer}.roles` is not a list")))
    }
}

/// Sets a flag. A flag that has this value already, or by default, stays as it is.
fn set_flag(table: &mut InlineTable, key: &str, flag: bool, usual: bool) {
    match table.get_mut(key) {
        // Adding a role again does not revoke what people allowed it.
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

fn role_name(value: &Value) -> Option<&str> {
    match value {
        Value::InlineTable(table) => table.get("name").and_then(Value::as_str),
        other => other.as_str(),
    }
}

fn member_value(member: &Member) -> Value {
    let mut table = InlineTable::new();
    table.insert("name", member.role.as_str().into());
    table.insert("enabled", member.enabled.into());
    if member.sensitive {
        table.insert("sensitive", true.into());
    }
    table.into()
}

/// Appends an element on a line of its own. A comment after the last element stays after it.
fn push_element(list: &mut Array, mut value: Value) {
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

/// Removes an element with the comment after it on its line.
fn remove_element(list: &mut Array, index: usize) {
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
    // Of its own decoration keep what belongs to the element before; of the next one's, all but the rest of its line.
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

    fn edit_config(edit: impl FnOnce(&mut RosterConfig)) -> String {
        let mut config = RosterConfig::parse_config(FILE).unwrap();
        edit(&mut config);
        config.config_text()
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        assert_eq!(edit_config(|_| {}), FILE);
        let add = |role: &str| Member::enabled(role);
        let text = edit_config(|config| {
            config
                .put_member("observers", &add("taxonomy"), &[])
                .unwrap()
        });
        let line = "  \"docs\", # three\n";
        assert_eq!(
            text,
            FILE.replace(
                line,
                &format!("{line}  {{ name = \"taxonomy\", enabled = true }},\n")
            )
        );
        let text =
            edit_config(|config| config.put_member("observers", &add("tests"), &[]).unwrap());
        assert_eq!(text, FILE.replace("enabled = false", "enabled = true"));
        assert_eq!(
            edit_config(|config| config.put_member("observers", &add("docs"), &[]).unwrap()),
            FILE
        );
        let text = edit_config(|config| {
            assert!(config.take_member("observers", "tests", &[]).unwrap());
            assert!(!config.take_member("observers", "absent", &[]).unwrap());
        });
        assert_eq!(
            text,
            FILE.replace("  { name = \"tests\",  enabled = false }, # two\n", "")
                .replace("  # two comes next\n", "")
        );
        let text =
            edit_config(|config| assert!(config.take_member("observers", "docs", &[]).unwrap()));
        assert_eq!(text, FILE.replace("  \"docs\", # three\n", ""));
        let text = edit_config(|config| {
            config
                .put_member("innovators", &add("leverage"), &[])
                .unwrap()
        });
        assert!(
            text.ends_with("roles = [\n  { name = \"leverage\", enabled = true },\n]\n"),
            "{text}"
        );
    }

    #[test]
    fn a_role_that_stands_there_twice_is_taken_off_whole() {
        let text = "[observers]\nroles = [\n  \"docs\",\n  \"tests\",\n  { name = \"docs\", enabled = false },\n]\n";
        let mut config = RosterConfig::parse_config(text).unwrap();
        assert!(config.take_member("observers", "docs", &[]).unwrap());
        assert_eq!(
            config.config_text(),
            "[observers]\nroles = [\n  \"tests\",\n]\n"
        );
        assert!(!config.take_member("observers", "docs", &[]).unwrap());
    }

    #[test]
    fn a_list_that_is_not_there_begins_with_the_usual_roles() {
        let mut config = RosterConfig::parse_config("").unwrap();
        let usual = [Member::enabled("docs"), Member::enabled("tests")];
        assert!(config.take_member("observers", "docs", &usual).unwrap());
        assert_eq!(
            config.config_text(),
            "[observers]\nroles = [\n  { name = \"tests\", enabled = true },\n]\n"
        );
        assert!(RosterConfig::parse_config("[x").is_none());
        let mut odd = RosterConfig::parse_config("observers = 1\n").unwrap();
        assert!(odd.take_member("observers", "docs", &[]).is_err());
    }
}
