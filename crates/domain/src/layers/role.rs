//! Reads the roles of a layer: the built-in ones, and a repository's own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::spelling::{layer_spellings, role_folders};
use super::texts::ROLES;
use crate::Diagnostic;
use crate::exchange::limits::NAME_LIMIT_BYTES;
use crate::model::{TEXT_LIMIT_BYTES, Tree};
use crate::plan::ROLE_LAYERS;
use crate::yaml::{self, Node, Value};

/// The pattern of a role's name; [`NAME_LIMIT_BYTES`] limits its length.
pub const ROLE_NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]*$";

/// The required keys of a role's profile.
const PROFILE: [&str; 2] = ["focus", "analysis_points"];
/// The additional ones of an innovator's.
const PROFILE_OF_INNOVATORS: [&str; 5] = [
    "first_principles",
    "guiding_questions",
    "anti_patterns",
    "evidence_expectations",
    "proposal_quality_bar",
];

/// A role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// Its layer.
    pub layer: &'static str,
    /// Its name.
    pub name: String,
    /// Its description; empty if its file has none.
    pub description: String,
    /// Whether its findings should not be public.
    pub sensitive: bool,
    /// Whether its file is valid and has no unfilled blanks; otherwise the role does not run.
    pub sound: bool,
    /// Its source.
    pub source: Source,
}

/// The source of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Built in.
    BuiltIn,
    /// A file of the default branch that replaces a built-in role.
    Overridden(String),
    /// A file of the default branch; no built-in role has this name.
    Own(String),
}

impl Source {
    /// The file of the default branch, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::BuiltIn => None,
            Self::Overridden(path) | Self::Own(path) => Some(path),
        }
    }
}

/// Whether a text is a valid role name.
#[must_use]
pub fn is_role_name(text: &str) -> bool {
    text.len() <= NAME_LIMIT_BYTES
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The names of all roles of a layer: the built-in ones, and those with a file on the default branch.
#[must_use]
pub fn role_names(tree: &Tree, layer: &str) -> BTreeSet<String> {
    let own = own_roles(tree, layer).into_keys();
    let built_in = ROLES.iter().filter(|(one, _, _)| *one == layer);
    own.chain(built_in.map(|(_, role, _)| (*role).to_owned()))
        .collect()
}

/// The text of a built-in role.
pub(super) fn built_in(layer: &str, role: &str) -> Option<&'static str> {
    let found = ROLES
        .iter()
        .find(|(one, name, _)| *one == layer && *name == role);
    found.map(|(_, _, text)| *text)
}

/// The files of a repository's own roles, by name.
pub(super) fn own_roles(tree: &Tree, layer: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in role_folders(layer) {
        for (path, _) in tree.below(&folder) {
            let rest = path.strip_prefix(&format!("{folder}/"));
            let mut parts = rest.unwrap_or_default().split('/');
            // A folder in the place of the file counts, because it is a mistake.
            if let (Some(name), Some("role.yml")) = (parts.next(), parts.next())
                && is_role_name(name)
            {
                found
                    .entry(name.to_owned())
                    .or_insert_with(|| format!("{folder}/{name}/role.yml"));
            }
        }
    }
    found
}

/// The built-in roles, for repositories without their own. They have no mistakes.
static CATALOGUE: LazyLock<Vec<Role>> = LazyLock::new(|| {
    let roles = ROLES.iter().map(|(layer, name, text)| Role {
        layer,
        name: (*name).to_owned(),
        source: Source::BuiltIn,
        ..parse_role(yaml::parse(text).0.as_ref(), false)
    });
    roles.collect()
});

/// The roles of both layers, by layer and name, and the mistakes in the repository's own files.
pub(super) fn read_roles(tree: &Tree) -> (Vec<Role>, Vec<Diagnostic>) {
    let (mut roles, mut found) = (Vec::new(), Vec::new());
    for layer in ROLE_LAYERS {
        let own = own_roles(tree, layer);
        for name in role_names(tree, layer) {
            let built_in = CATALOGUE
                .iter()
                .find(|role| role.layer == layer && role.name == name);
            let Some(path) = own.get(&name) else {
                roles.extend(built_in.cloned());
                continue;
            };
            let before = found.len();
            let root = read_role(tree, path, &mut found);
            found.extend(
                root.iter()
                    .flat_map(|root| check_role(path, layer, &name, root)),
            );
            let source = match built_in {
                Some(_) => Source::Overridden(path.clone()),
                None => Source::Own(path.clone()),
            };
            let usual = built_in.is_some_and(|role| role.sensitive);
            roles.push(Role {
                layer,
                sound: !found[before..].iter().any(Diagnostic::is_error),
                source,
                name,
                ..parse_role(root.as_ref(), usual)
            });
        }
    }
    (roles, found)
}

/// The content of a role's file. `None`: it has a mistake, which is among `found`.
fn read_role(tree: &Tree, path: &str, found: &mut Vec<Diagnostic>) -> Option<Node> {
    let text = match tree.read_text(path, "it", TEXT_LIMIT_BYTES) {
        Ok(text) => text?,
        Err(wrong) => {
            found.push(*wrong);
            return None;
        }
    };
    let (root, mistakes) = yaml::parse(text);
    if root.is_none() && mistakes.is_empty() {
        found.push(without_content(Diagnostic::error(path, "it has no keys")));
    }
    found.extend(mistakes.into_iter().map(|one| one.diagnostic(path)));
    root
}

/// Adds how to fix a file that describes no role.
fn without_content(wrong: Diagnostic) -> Diagnostic {
    wrong.help("write at least `profile` with `focus` and `analysis_points`, as `phileas role create` does; the role does not work until then")
}

/// Whether a role's file has any content beside what names and describes the role: a session gets the file's text, and a
/// text without this gives it nothing to look for.
fn has_content(entries: &[(Node, Node)]) -> bool {
    let mut entries = entries.iter().filter(|(key, _)| {
        let key = key.text().unwrap_or_default();
        !["role", "layer", "description", "sensitive"].contains(&key)
    });
    entries.any(|(_, node)| match &node.value {
        Value::Null => false,
        Value::Text(text) => !text.trim().is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !entries.is_empty(),
        _ => true,
    })
}

/// A role from its file. `sensitive`: the default if the file does not say.
fn parse_role(root: Option<&Node>, sensitive: bool) -> Role {
    let description = root.and_then(|root| root.get("description")?.text());
    let flag = root.and_then(|root| root.get("sensitive"));
    Role {
        layer: "",
        name: String::new(),
        description: description.unwrap_or_default().to_owned(),
        sensitive: flag.map_or(sensitive, |flag| flag.value != Value::Flag(false)),
        sound: true,
        source: Source::BuiltIn,
    }
}

/// The mistakes in a role's file. An unfilled blank stops the role, and so does a file without content; a missing key does
/// not.
fn check_role(file: &str, layer: &str, role: &str, root: &Node) -> Vec<Diagnostic> {
    let wrong = |message: &str| {
        let wrong = Diagnostic::error(file, message).at(root.line, root.column);
        vec![without_content(wrong)]
    };
    match &root.value {
        Value::Map(entries) if has_content(entries) => check_keys(file, layer, role, root),
        Value::Map(_) => wrong("nothing says what the role looks for"),
        _ => wrong("it has no keys such as `role` and `profile`"),
    }
}

fn check_keys(file: &str, layer: &str, role: &str, root: &Node) -> Vec<Diagnostic> {
    let mut found = blanks(file, root);
    let mut warn = |node: &Node, key: &str, message: String, help: String| {
        let one = Diagnostic::warning(file, message).at(node.line, node.column);
        found.push(one.key(key).help(help));
    };
    // The roles of seed 000 have all keys at the top level, without a profile, and the layer is their folder's.
    let is_older = root.get("profile").is_none() && root.get("focus").is_some();
    for (key, wanted) in [("role", role), ("layer", layer)] {
        let Some(node) = root.get(key) else {
            if is_older && key == "layer" {
                continue;
            }
            let message = format!("`{key}` is missing");
            warn(root, key, message, format!("write `{key}: {wanted}`"));
            continue;
        };
        let said = node.text().unwrap_or_default();
        let other_spelling =
            key == "layer" && layer_spellings(layer).iter().any(|name| name == said);
        if said != wanted && !other_spelling {
            let said = said.escape_debug();
            let message = format!("`{key}` is `{said}`, and the file lies with `{wanted}`");
            warn(
                node,
                key,
                message,
                format!("write `{wanted}`, or move the file"),
            );
        }
    }
    let profile = match is_older {
        true => Some(root),
        false => root.get("profile"),
    };
    let says = |key: &str| {
        let value = profile.and_then(|profile| profile.get(key));
        let text = |node: &Node| node.text().is_some_and(|text| !text.trim().is_empty());
        value.is_some_and(|node| !node.items().is_empty() || text(node))
    };
    let more: &[&str] = if layer == "innovators" {
        &PROFILE_OF_INNOVATORS
    } else {
        &[]
    };
    for key in PROFILE.iter().chain(more).filter(|key| !says(key)) {
        let path = format!("profile.{key}");
        let message = format!("`{path}` is missing or empty");
        let help = "write it; `phileas role create` shows what belongs in it".to_owned();
        warn(profile.unwrap_or(root), &path, message, help);
    }
    found
}

/// The blanks of [`blank_role`] that are not filled in.
fn blanks(file: &str, root: &Node) -> Vec<Diagnostic> {
    let texts = collect_texts(root, "").into_iter();
    let blanks = texts.filter(|(_, node)| node.text().is_some_and(is_blank_to_fill));
    let blanks = blanks.map(|(path, node)| {
        let one = Diagnostic::error(file, "a blank is not filled in");
        let one = one.at(node.line, node.column).key(path);
        one.help("write what belongs there; the role does not work until then")
    });
    blanks.collect()
}

/// Whether a text is a blank of [`blank_role`].
fn is_blank_to_fill(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('<') && text.ends_with('>')
}

/// The texts of a role's file with their key paths.
fn collect_texts<'n>(node: &'n Node, path: &str) -> Vec<(String, &'n Node)> {
    match &node.value {
        Value::Text(_) => vec![(path.to_owned(), node)],
        Value::List(items) => {
            let items = items.iter().enumerate();
            items
                .flat_map(|(index, item)| collect_texts(item, &format!("{path}[{index}]")))
                .collect()
        }
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .filter_map(|(key, value)| Some((key.text()?, value)));
            let join = |key: &str| {
                if path.is_empty() {
                    key.to_owned()
                } else {
                    format!("{path}.{key}")
                }
            };
            entries
                .flat_map(|(key, value)| collect_texts(value, &join(key)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A template for a repository's own role.
#[must_use]
pub fn blank_role(layer: &str, role: &str) -> String {
    let mut text = format!(
        "# A role of the layer `{layer}`. Fill in what stands between angle brackets, and take the brackets out.\n\
         role: {role}\n\
         layer: {layer}\n\
         description: <what it looks at, in a few words>\n\
         # Whether it writes down what the public should not know: then it does not work in a public repository by itself.\n\
         sensitive: false\n\
         profile:\n  \
           focus: <which question it asks, and why the answer matters, and to which users>\n"
    );
    let lists = [
        (
            "analysis_points",
            "<a kind of thing to look for, concrete enough to search for it>",
        ),
        (
            "first_principles",
            "<what it goes by when two opinions are possible>",
        ),
        ("guiding_questions", "<a question that leads to findings>"),
        (
            "anti_patterns",
            "<a finding that looks like one and is none>",
        ),
        (
            "evidence_expectations",
            "<what proves a finding, such as a command and its output, a count or the lines>",
        ),
    ];
    let bar = ("proposal_quality_bar", "<what a proposal must stand up to>");
    let bar = (layer == "innovators").then_some(bar);
    for (key, blank) in lists.into_iter().chain(bar) {
        text.push_str(&format!("  {key}:\n    - {blank}\n"));
    }
    text
}
