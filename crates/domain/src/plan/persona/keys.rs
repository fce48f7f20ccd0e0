//! A persona's frontmatter.

use serde_json::{Map, Value};

use super::definition::Persona;
use crate::Diagnostic;
use crate::conflict;
use crate::model::PersonaId;
use crate::plan::branch;
use crate::plan::frontmatter::{Frontmatter, Missing, NEVER_CLOSED};
use crate::plan::gate::MAX_GATE_ENTRIES;
use crate::plan::keywords::Keyword;
use crate::plan::path_pattern;
use crate::plan::policy::{Automation, PlanApproval};
use crate::plan::suggest::{closest, did_you_mean};

/// Reads one prompt. `None`: it has an error.
pub(super) fn read(id: &str, path: &str, text: &str) -> (Option<Persona>, Vec<Diagnostic>) {
    if let Some(line) = conflict::marker_line(text) {
        let wrong = Diagnostic::error(path, conflict::MESSAGE).at(line, 1);
        return (None, vec![wrong.help(conflict::HELP)]);
    }
    let head = match Frontmatter::split(text) {
        Ok(head) => head,
        Err(missing) => return (None, vec![without_head(id, path, &missing)]),
    };
    let keys = match head.keys() {
        Ok(keys) => keys,
        Err(mistake) => {
            let help = match mistake.message.as_str() {
                NEVER_CLOSED => {
                    "close a list with `]`, a map with `}` and a text with its quotation mark, and separate items with commas"
                }
                _ => {
                    "write one `key: value` a line; put texts with `:`, `#` or quotes in them between double quotes"
                }
            };
            let diagnostic = Diagnostic::error(path, mistake.message)
                .at(mistake.line, mistake.column)
                .help(help);
            return (None, vec![diagnostic]);
        }
    };
    let mut reader = Reader {
        path,
        head: &head,
        keys: &keys,
        diagnostics: Vec::new(),
    };
    let persona = reader.persona(id);
    let broken = reader.diagnostics.iter().any(Diagnostic::is_error);
    let found = reader.diagnostics;
    (Some(persona).filter(|_| !broken), found)
}

fn without_head(id: &str, path: &str, missing: &Missing) -> Diagnostic {
    let message = match missing {
        Missing::Start => "the prompt does not begin with frontmatter",
        Missing::End => "the frontmatter has no end: a second line `---` is missing",
    };
    Diagnostic::error(path, message)
        .at(1, 1)
        .help(format!("let the file begin with the lines `---`, `id: {id}`, `emoji: \"🔧\"`, `description: what it is for`, `---`"))
}

/// What is read of it. Any other key is the prompt's own, for its template.
const KNOWN: [&str; 14] = [
    "id",
    "emoji",
    "description",
    "title",
    "enabled",
    "scheduled",
    "sensitive",
    "plan_approval",
    "require_plan_approval",
    "automation",
    "automation_mode",
    "branch",
    "priority",
    "paths",
];

struct Reader<'a> {
    path: &'a str,
    head: &'a Frontmatter<'a>,
    keys: &'a Map<String, Value>,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn persona(&mut self, folder: &str) -> Persona {
        self.check_id(folder);
        self.check_typos();
        let enabled = self.flag("enabled").unwrap_or(true);
        let scheduled = self.flag("scheduled").unwrap_or(true);
        if self.keys.contains_key("schedule") {
            let help = format!(
                "write `{folder} = \"...\"` below `[schedules]` in `.jules/schedules.toml`"
            );
            self.note(
                Diagnostic::warning(self.path, "`schedule` is not read here").help(help),
                "schedule",
            );
        }
        Persona {
            id: PersonaId::new(folder),
            emoji: self.shown("emoji"),
            description: self.shown("description"),
            path: self.path.to_owned(),
            body: self.head.body.to_owned(),
            body_line: self.head.body_line,
            scheduled: enabled && scheduled,
            title: self.text("title"),
            plan_approval: self.plan_approval(),
            automation: self.automation(),
            branch: self.branch(),
            priority: self.read_keyword("priority"),
            sensitive: self.flag("sensitive"),
            paths: self.paths(),
            frontmatter: self.keys.clone(),
        }
    }

    fn check_id(&mut self, folder: &str) {
        if !self.keys.contains_key("id") {
            let near: Vec<&str> = self.keys.keys().map(String::as_str).collect();
            let typo =
                closest("id", near.iter().copied()).filter(|key| key.eq_ignore_ascii_case("id"));
            let help = match typo {
                Some(key) => format!("write `id` instead of `{key}`"),
                None => format!("add the line `id: {folder}`"),
            };
            self.note(
                Diagnostic::error(self.path, "the frontmatter has no `id`").help(help),
                "id",
            );
            return;
        }
        if let Some(id) = self.text("id")
            && id != folder
        {
            let message = format!("the id `{id}` is not the name of its folder, `{folder}`");
            let help = format!("write `id: {folder}`, or rename the folder");
            self.note(Diagnostic::error(self.path, message).help(help), "id");
        }
    }

    /// A persona whose misspelled `sensitive` is not read may run where it must not.
    fn check_typos(&mut self) {
        let keys = self.keys;
        let missing = || KNOWN.iter().filter(|key| !keys.contains_key(**key));
        // `schedule` is reported already.
        let others = keys.keys().map(String::as_str);
        for key in others.filter(|key| !KNOWN.contains(key) && *key != "schedule") {
            // Short names resemble everything, and a missing `id` is reported already.
            let long = missing().copied().filter(|known| known.len() > 3);
            if let Some(meant) = closest(key, long) {
                let message = format!("unknown key `{key}`");
                let help = format!(
                    "did you mean `{meant}`? a key of your own, for the template, needs a name that differs more"
                );
                self.note(Diagnostic::warning(self.path, message).help(help), key);
            }
        }
    }

    fn plan_approval(&mut self) -> Option<PlanApproval> {
        let older = self.flag("require_plan_approval").map(|required| {
            if required {
                PlanApproval::Writers
            } else {
                PlanApproval::Auto
            }
        });
        self.of_two("plan_approval", "require_plan_approval", older)
    }

    fn automation(&mut self) -> Option<Automation> {
        const OLDER: [&str; 3] = ["AUTO_CREATE_PR", "MANUAL", "NONE"];
        let older = match self.text("automation_mode").as_deref() {
            None => None,
            Some("AUTO_CREATE_PR") => Some(Automation::PullRequest),
            Some("MANUAL" | "NONE") => Some(Automation::None),
            Some(other) => {
                let message = format!("unknown value `{other}`");
                let help = did_you_mean(other, &OLDER);
                self.note(
                    Diagnostic::error(self.path, message).help(help),
                    "automation_mode",
                );
                None
            }
        };
        self.of_two("automation", "automation_mode", older)
    }

    fn branch(&mut self) -> Option<crate::plan::Branch> {
        match branch::parse(&self.text("branch")?) {
            Ok(branch) => Some(branch),
            Err((message, help)) => {
                self.note(Diagnostic::error(self.path, message).help(help), "branch");
                None
            }
        }
    }

    /// A key that once had another name.
    fn of_two<W: Keyword + PartialEq>(
        &mut self,
        key: &str,
        older_key: &str,
        older: Option<W>,
    ) -> Option<W> {
        let newer = self.read_keyword::<W>(key);
        if let (Some(newer), Some(older)) = (newer, older)
            && newer != older
        {
            let message = format!("`{key}` contradicts `{older_key}` and wins");
            self.note(
                Diagnostic::warning(self.path, message).help(format!("remove `{older_key}`")),
                older_key,
            );
        }
        newer.or(older)
    }

    fn read_keyword<W: Keyword>(&mut self, key: &str) -> Option<W> {
        let text = self.text(key)?;
        let value = W::of(&text);
        if value.is_none() {
            let help = word_help(&text, &W::all());
            self.note(
                Diagnostic::error(self.path, format!("unknown value `{text}`")).help(help),
                key,
            );
        }
        value
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.keys.get(key)? {
            Value::String(text) => Some(text.clone()),
            // `key:` with nothing behind it.
            Value::Null if key != "id" => None,
            other => {
                let kind = kind_of(other);
                let message = format!("`{key}` is {kind}");
                let help = "write a text, between double quotes if need be";
                self.note(Diagnostic::error(self.path, message).help(help), key);
                None
            }
        }
    }

    /// A text for titles and tables. Control characters are left out; line breaks are left to the renderer.
    fn shown(&mut self, key: &str) -> String {
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        let text = self.text(key).unwrap_or_default();
        if let Some(c) = text.chars().find(|c| steers(*c)) {
            let message = format!(
                "`{key}` holds the control character U+{:04X}, which is left out",
                u32::from(c)
            );
            self.note(
                Diagnostic::warning(self.path, message).help("take it out"),
                key,
            );
        }
        text.replace(steers, "")
    }

    fn paths(&mut self) -> Vec<String> {
        const LIST: &str = "write a list of path patterns, such as `paths: [\"docs/**\"]`";
        let keys = self.keys;
        let items = match keys.get("paths") {
            // `paths:` with nothing behind it.
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(other) => {
                let message = format!("`paths` is {}", kind_of(other));
                self.note(Diagnostic::error(self.path, message).help(LIST), "paths");
                return Vec::new();
            }
        };
        if items.len() > MAX_GATE_ENTRIES {
            let message = format!("`paths` has more than {MAX_GATE_ENTRIES} patterns");
            let wrong = Diagnostic::error(self.path, message);
            self.note(wrong.help("write fewer, wider patterns"), "paths");
        }
        let mut patterns = Vec::new();
        for item in items {
            let (wrong, help) = match item {
                Value::String(text) => match path_pattern::mistake_in(text) {
                    None => {
                        patterns.push(text.clone());
                        continue;
                    }
                    Some(wrong) => (wrong, path_pattern::HELP),
                },
                other => (format!("a pattern of `paths` is {}", kind_of(other)), LIST),
            };
            self.note(Diagnostic::error(self.path, wrong).help(help), "paths");
        }
        patterns
    }

    fn flag(&mut self, key: &str) -> Option<bool> {
        match self.keys.get(key)? {
            Value::Bool(flag) => Some(*flag),
            other => {
                let message = format!("`{key}` is {}", kind_of(other));
                self.note(
                    Diagnostic::error(self.path, message).help("write `true` or `false`"),
                    key,
                );
                None
            }
        }
    }

    fn note(&mut self, diagnostic: Diagnostic, key: &str) {
        let (line, column) = self.head.place(key);
        self.diagnostics.push(diagnostic.at(line, column).key(key));
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text `{}`", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}

/// How to fix a word that is not in `known`.
fn word_help(word: &str, known: &[&str]) -> String {
    let all = crate::plan::suggest::either_of(known.iter().copied());
    match closest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? it is one of {all}"),
        None => format!("write {all}"),
    }
}
