//! Which value each variable has, and in which file it stands.

use std::collections::BTreeMap;

use super::settings::{Setting, Settings};
use super::{Catalogue, Class, Component, Variable};
use crate::Diagnostic;

/// What people have written so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) plain: Settings,
    pub(super) secret: Settings,
    /// An `env.toml` beside them, from before there were two files. It stays as it is.
    pub(super) older: Settings,
}

impl Written {
    fn of(&self, class: Class) -> &Settings {
        match class {
            Class::Plain => &self.plain,
            Class::Secret => &self.secret,
        }
    }
}

/// A variable with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Valued {
    pub(super) variable: Variable,
    pub(super) value: String,
    /// The comment of a person, if it is not the variable's description.
    pub(super) note: String,
    /// Whether a chosen tool declares it.
    pub(super) declared: bool,
}

/// All variables by name, and what is worth saying.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) variables: BTreeMap<String, Valued>,
    pub(super) said: Vec<Diagnostic>,
}

/// The variables of the chosen tools. Of two tools that declare one, the first counts; it is secret when any says so.
pub(super) fn declared_variables(
    order: &[&Component],
) -> (BTreeMap<String, Variable>, Vec<(String, String)>) {
    let mut all: BTreeMap<String, Variable> = BTreeMap::new();
    let mut raised = Vec::new();
    for component in order {
        for variable in &component.variables {
            let Some(known) = all.get_mut(&variable.name) else {
                all.insert(variable.name.clone(), variable.clone());
                continue;
            };
            if known.class != variable.class {
                known.class = Class::Secret;
                known.default.clear();
                raised.push((variable.name.clone(), component.name.clone()));
            }
        }
    }
    (all, raised)
}

/// Gives each variable its value: the written one from any file, or else its default.
pub(super) fn merge_values(
    declared: BTreeMap<String, Variable>,
    written: &Written,
    catalogue: &Catalogue,
    published: &[String],
) -> Merged {
    let mut merged = Merged::default();
    for (name, variable) in declared {
        let valued = merged.value_of(variable, written, published.contains(&name));
        merged.variables.insert(name, valued);
    }
    for class in [Class::Secret, Class::Plain] {
        merged.keep_undeclared(written.of(class), class, catalogue);
    }
    // An undeclared variable of the older file may be secret, so its value is not shown.
    merged.keep_undeclared(&written.older, Class::Secret, catalogue);
    merged
}

impl Merged {
    fn value_of(&mut self, variable: Variable, written: &Written, published: bool) -> Valued {
        let name = &variable.name;
        let other = match variable.class {
            Class::Plain => Class::Secret,
            Class::Secret => Class::Plain,
        };
        let (own, other) = (written.of(variable.class), written.of(other));
        let places: Vec<(&Settings, &Setting)> = [own, other, &written.older]
            .into_iter()
            .filter_map(|settings| Some((settings, settings.values.get(name)?)))
            .collect();
        let filled = places
            .iter()
            .copied()
            .find(|(_, setting)| !setting.value.is_empty());
        let taken = filled.or_else(|| places.first().copied());
        if let (Some(mine), Some(theirs)) = (own.values.get(name), other.values.get(name))
            && !mine.value.is_empty()
            && !theirs.value.is_empty()
            && mine.value != theirs.value
        {
            self.said.push(at_setting(
                Diagnostic::error(
                    &other.file,
                    format!("`{name}` has another value in `{}`", own.file),
                )
                .help("remove the wrong one; it belongs in the other file"),
                theirs,
                name,
            ));
        }
        if let Some((from, setting)) = filled.filter(|(from, _)| from.file == other.file) {
            self.report_move(from, setting, own, &variable, published);
        }
        let older = filled.filter(|(from, _)| from.file == written.older.file);
        if let Some((from, setting)) = older
            && variable.class == Class::Plain
            && !own.file.is_empty()
            && setting.value != variable.default
        {
            let message = format!(
                "`{name}` is not a secret: its value goes to `{}`, which is committed",
                own.file
            );
            let help = "make sure that it is not a secret before you commit";
            self.said.push(at_setting(
                Diagnostic::warning(&from.file, message).help(help),
                setting,
                name,
            ));
        }
        let note = taken
            .map(|(_, setting)| setting.note.clone())
            .unwrap_or_default();
        Valued {
            value: taken.map_or_else(
                || variable.default.clone(),
                |(_, setting)| setting.value.clone(),
            ),
            note: if note == variable.description {
                String::new()
            } else {
                note
            },
            variable,
            declared: true,
        }
    }

    fn report_move(
        &mut self,
        from: &Settings,
        setting: &Setting,
        to: &Settings,
        variable: &Variable,
        published: bool,
    ) {
        let name = &variable.name;
        if variable.class == Class::Plain && !published {
            let message = format!(
                "`{name}` is not a secret any more: its value would go to `{}`, which is committed",
                to.file
            );
            let help =
                format!("say `--publish {name}` where anybody may know it, or empty it here");
            let wrong = Diagnostic::error(&from.file, message).help(help);
            return self.said.push(at_setting(wrong, setting, name));
        }
        let (message, help) = match variable.class {
            Class::Plain => (
                format!(
                    "`{name}` is not a secret any more: its value goes to `{}`, which is committed",
                    to.file
                ),
                "make sure that it is not a secret before you commit",
            ),
            Class::Secret => (
                format!("`{name}` is a secret: its value goes to `{}`", to.file),
                "the history of git still shows it where it was committed: make a new one",
            ),
        };
        self.said.push(at_setting(
            Diagnostic::warning(&from.file, message).help(help),
            setting,
            name,
        ));
    }

    fn keep_undeclared(&mut self, settings: &Settings, class: Class, catalogue: &Catalogue) {
        for (name, setting) in &settings.values {
            if self.variables.contains_key(name) {
                continue;
            }
            let known = catalogue
                .components()
                .flat_map(|component| &component.variables)
                .find(|variable| variable.name == *name);
            let usual = known.is_some_and(|variable| variable.default == setting.value);
            if setting.value.is_empty() || usual {
                continue;
            }
            let message = format!("no chosen tool reads `{name}`; its value is kept");
            let help = "remove it by hand if it is not needed";
            self.said.push(at_setting(
                Diagnostic::warning(&settings.file, message).help(help),
                setting,
                name,
            ));
            let variable = Variable {
                name: name.clone(),
                class,
                description: String::new(),
                default: String::new(),
            };
            let valued = Valued {
                variable,
                value: setting.value.clone(),
                note: setting.note.clone(),
                declared: false,
            };
            self.variables.insert(name.clone(), valued);
        }
    }
}

fn at_setting(said: Diagnostic, setting: &Setting, name: &str) -> Diagnostic {
    said.at(setting.at.0, setting.at.1).key(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::settings;

    fn variable(name: &str, class: Class, default: &str) -> Variable {
        Variable {
            name: name.to_owned(),
            class,
            description: format!("about {name}"),
            default: default.to_owned(),
        }
    }

    fn written(plain: &str, secret: &str, older: &str) -> Written {
        let [plain, secret, older] = [("vars", plain), ("secrets", secret), ("env", older)]
            .map(|(file, text)| settings::read_settings(file, text).0);
        Written {
            plain,
            secret,
            older,
        }
    }

    /// `name=value` of the plain and of the secret ones, and what was said.
    fn merged(variables: &[Variable], written: &Written) -> (String, String, Vec<String>) {
        merged_with(variables, written, &[])
    }

    fn merged_with(
        variables: &[Variable],
        written: &Written,
        published: &[String],
    ) -> (String, String, Vec<String>) {
        let declared = variables
            .iter()
            .map(|one| (one.name.clone(), one.clone()))
            .collect();
        let merged = merge_values(declared, written, &Catalogue::built_in(), published);
        let list = |class| {
            let all = merged
                .variables
                .values()
                .filter(|one| one.variable.class == class);
            let texts: Vec<String> = all
                .map(|one| format!("{}={}{}", one.variable.name, one.value, one.note))
                .collect();
            texts.join(" ")
        };
        let said = merged.said.iter().map(ToString::to_string).collect();
        (list(Class::Plain), list(Class::Secret), said)
    }

    #[test]
    fn a_new_variable_has_its_default_and_an_old_one_its_value() {
        let all = [
            variable("A", Class::Plain, "1"),
            variable("S", Class::Secret, ""),
        ];
        let (plain, secret, said) = merged(&all, &Written::default());
        assert_eq!(
            (plain.as_str(), secret.as_str(), said.len()),
            ("A=1", "S=", 0)
        );
        let kept = written(
            "[A]\nvalue = \"2\"\nnote = \" mine\"",
            "[S]\nvalue = \"x\"\nnote = \"about S\"",
            "",
        );
        let (plain, secret, said) = merged(&all, &kept);
        assert_eq!(
            (plain.as_str(), secret.as_str(), said.len()),
            ("A=2 mine", "S=x", 0)
        );
        let emptied = written("[A]\nvalue = \"\"", "", "");
        assert_eq!(merged(&all, &emptied).0, "A=");
    }

    #[test]
    fn a_change_of_kind_moves_the_value_and_is_told() {
        let secret = [variable("X", Class::Secret, "")];
        let (plain, hidden, said) = merged(
            &secret,
            &written("[X]\nvalue = \"v\"\nnote = \"+n\"", "", ""),
        );
        assert_eq!((plain.as_str(), hidden.as_str()), ("", "X=v+n"));
        assert!(
            said[0].starts_with("vars:1:2: warning: `X` is a secret")
                && said[0].contains("history of git"),
            "{said:?}"
        );
        let open = [variable("X", Class::Plain, "d")];
        let was_secret = written("", "[X]\nvalue = \"v\"", "");
        let (_, _, said) = merged(&open, &was_secret);
        assert!(
            said[0].starts_with("secrets:1:2: error: `X` is not a secret any more")
                && said[0].contains("`--publish X`"),
            "{said:?}"
        );
        assert!(merged_with(&open, &was_secret, &["Y".to_owned()]).2[0].contains("error"));
        let (plain, hidden, said) = merged_with(&open, &was_secret, &["X".to_owned()]);
        assert_eq!((plain.as_str(), hidden.as_str()), ("X=v", ""));
        assert!(
            said[0].starts_with("secrets:1:2: warning: `X` is not a secret any more"),
            "{said:?}"
        );
        // Moving an empty value needs no message.
        assert!(
            merged(&open, &written("", "[X]\nvalue = \"\"", ""))
                .2
                .is_empty()
        );
    }

    #[test]
    fn a_value_in_the_wrong_file_counts_and_two_values_are_a_mistake() {
        let secret = [variable("X", Class::Secret, "")];
        let (_, hidden, _) = merged(
            &secret,
            &written("[X]\nvalue = \"v\"", "[X]\nvalue = \"\"", ""),
        );
        assert_eq!(hidden, "X=v");
        let (_, _, said) = merged(
            &secret,
            &written("[X]\nvalue = \"v\"", "[X]\nvalue = \"w\"", ""),
        );
        assert!(
            said[0].starts_with("vars:1:2: error: `X` has another value in `secrets`"),
            "{said:?}"
        );
        let (_, _, said) = merged(
            &secret,
            &written("[X]\nvalue = \"v\"", "[X]\nvalue = \"v\"", ""),
        );
        assert!(said.is_empty(), "{said:?}");
    }

    #[test]
    fn the_older_file_is_taken_over_and_unknown_variables_are_hidden() {
        let all = [
            variable("A", Class::Plain, "1"),
            variable("S", Class::Secret, ""),
        ];
        let older = "[A]\nvalue = \"2\"\n[S]\nvalue = \"x\"\n[Z]\nvalue = \"z\"";
        let (plain, secret, said) = merged(&all, &written("", "", older));
        assert_eq!((plain.as_str(), secret.as_str()), ("A=2", "S=x Z=z"));
        assert!(
            said[0].starts_with("env:1:2: warning: `A` is not a secret: its value goes to `vars`"),
            "{said:?}"
        );
        assert_eq!(said.len(), 2, "{said:?}");
        // The catalogue already shows it.
        let usual = older.replace('2', "1");
        assert_eq!(merged(&all, &written("", "", &usual)).2.len(), 1);
        let (plain, _, _) = merged(&all, &written("[A]\nvalue = \"3\"", "", older));
        assert_eq!(plain, "A=3");
    }

    #[test]
    fn what_no_tool_reads_stays_while_a_person_wrote_it() {
        let (plain, secret, said) = merged(
            &[],
            &written(
                "[MINE]\nvalue = \"1\"\n[GH_VERSION]\nvalue = \"\"",
                "[GH_TOKEN]\nvalue = \"t\"",
                "",
            ),
        );
        assert_eq!((plain.as_str(), secret.as_str()), ("MINE=1", "GH_TOKEN=t"));
        assert!(said.iter().any(|one| one.starts_with("secrets:1:2: warning: no chosen tool reads `GH_TOKEN`")), "{said:?}");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn of_two_tools_the_first_counts_and_the_secret_one_wins() {
        let tool = |name: &str, variables: Vec<Variable>| Component {
            name: name.to_owned(),
            summary: String::new(),
            dependencies: Vec::new(),
            paths: Vec::new(),
            variables,
            fragment: String::new(),
            origin: super::super::Origin::Repository,
        };
        let one = tool(
            "one",
            vec![
                variable("A", Class::Plain, "1"),
                variable("B", Class::Plain, "1"),
            ],
        );
        let two = tool(
            "two",
            vec![
                variable("A", Class::Plain, "2"),
                variable("B", Class::Secret, ""),
            ],
        );
        let (all, raised) = declared_variables(&[&one, &two]);
        assert_eq!(all["A"].default, "1");
        assert_eq!(
            (all["B"].class, all["B"].default.as_str()),
            (Class::Secret, "")
        );
        assert_eq!(raised, [("B".to_owned(), "two".to_owned())]);
    }
}
