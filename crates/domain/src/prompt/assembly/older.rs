//! Compiles the older form of a layer's prompt to a template: the text of `prompt.yml`, followed by the includes of
//! `prompt_assembly.yml`, one a line. Without that file, as in seed 000, the contracts that `prompt.yml` lists are
//! included.

use std::collections::BTreeMap;

use super::home::Home;
use crate::Diagnostic;
use crate::model::Tree;
use crate::prompt::limits::TEMPLATE_LIMIT_BYTES;
use crate::yaml::{self, Node, Value};

/// The only version of the format.
const VERSION: i64 = 1;
/// The largest number of files that one prompt may include.
const INCLUDES_LIMIT: usize = 100;

const SHAPE: &str = "write `includes:` and below it `- title: …` with `path: …`";

/// A compiled pair.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The path of `prompt_assembly.yml`, after which the template is named.
    pub(super) entry: String,
    /// The template.
    pub(super) source: String,
    /// The path of `prompt.yml`, which is a template, too.
    pub(super) base: String,
    pub(super) base_text: String,
    /// The file that lists the includes.
    pub(super) file: String,
    /// The key of the list, and the key of an entry's path.
    keys: (&'static str, &'static str),
    /// The position of each path in that file.
    positions: Vec<(u32, u32)>,
}

impl Compiled {
    /// The source of a line of the template.
    pub(super) fn origin_of_line(&self, line: u32) -> (Option<(u32, u32)>, String) {
        // The first line includes `prompt.yml`.
        let Some(index) = (line as usize).checked_sub(2) else {
            return (None, String::new());
        };
        let at = self.positions.get(index).copied();
        let (list, path) = self.keys;
        (at, format!("{list}[{index}]{path}"))
    }
}

/// Compiles a layer's pair of files. Every key of `runtime_context` must be a variable.
pub(super) fn compile_pair(
    tree: &Tree,
    home: &Home,
    variables: &BTreeMap<String, String>,
) -> Result<Compiled, Diagnostic> {
    let base = format!("{}/prompt.yml", home.folder);
    let entry = format!("{}/prompt_assembly.yml", home.folder);
    let base_text = text_of(tree, &base)?;
    refuse_statements(home, &base, base_text)?;
    if tree.get(&entry).is_none() {
        return of_contracts(tree, home, base, entry);
    }
    let text = text_of(tree, &entry)?;
    let reader = Reader { file: &entry };
    let root = reader.parse_root(text)?;
    let Value::Map(entries) = &root.value else {
        let message = "this is not a list of `key: value`";
        return Err(reader.error_at(&root, "", message, SHAPE));
    };
    for (key, value) in entries {
        reader.check_entry(home, variables, key, value)?;
    }
    let mut source = first_line(&base);
    let mut positions = Vec::new();
    for (index, include) in reader.includes_of(&root)?.iter().enumerate() {
        let (line, at) = reader.compile_include(index, include)?;
        source.push_str(&line);
        positions.push(at);
    }
    Ok(Compiled {
        source,
        base_text: base_text.to_owned(),
        file: entry.clone(),
        keys: ("includes", ".path"),
        positions,
        base,
        entry,
    })
}

/// Refuses a `prompt.yml` with more of the template language than variables.
fn refuse_statements(home: &Home, base: &str, text: &str) -> Result<(), Diagnostic> {
    for token in ["{%", "{#"] {
        if let Some(at) = text.find(token) {
            let message = format!("`{token}` is not understood in this form");
            let help = format!(
                "use `{{{{ name }}}}` only, or write a template `{}_prompt.j2`",
                home.layer
            );
            return Err(Diagnostic::error(base, message)
                .at_offset(text, at)
                .help(help));
        }
    }
    Ok(())
}

/// Compiles a `prompt.yml` without a `prompt_assembly.yml`: its text, followed by each contract that it lists. Without
/// a list the layer's own contract is included.
fn of_contracts(
    tree: &Tree,
    home: &Home,
    base: String,
    entry: String,
) -> Result<Compiled, Diagnostic> {
    let base_text = text_of(tree, &base)?.to_owned();
    let reader = Reader { file: &base };
    let root = reader.parse_root(&base_text)?;
    let mut source = first_line(&base);
    let mut places = Vec::new();
    match root.get("contracts") {
        None => source.push_str(&line_of(
            "Layer Contracts",
            "include_optional",
            &string_literal(&format!("{}/contracts.yml", home.folder)),
        )),
        Some(list) if !matches!(list.value, Value::List(_)) => {
            let help = "write `- .jules/…` below it for each contract";
            return Err(reader.error_at(list, "contracts", "this is not a list", help));
        }
        Some(list) if list.items().len() > INCLUDES_LIMIT => {
            let message = format!("more than {INCLUDES_LIMIT} files");
            return Err(reader.error_at(list, "contracts", &message, "name fewer"));
        }
        Some(list) => {
            for (index, item) in list.items().iter().enumerate() {
                let wrong = |message: &str, help: &str| {
                    Err(reader.error_at(item, &format!("contracts[{index}]"), message, help))
                };
                let Some(path) = item.text() else {
                    return wrong("this is not a path", "write the contract's path");
                };
                let path = match path_expression(path) {
                    Ok(path) => path,
                    Err(help) => return wrong("this path cannot be understood", help),
                };
                source.push_str(&line_of(
                    title_of(item.text().unwrap_or_default()),
                    "include_required",
                    &path,
                ));
                places.push((item.line, item.column));
            }
        }
    }
    Ok(Compiled {
        source,
        base_text,
        positions: places,
        file: base.clone(),
        keys: ("contracts", ""),
        base,
        entry,
    })
}

/// The heading of a contract.
fn title_of(path: &str) -> &str {
    match path.rsplit('/').next().unwrap_or(path) {
        "contracts.yml" => "Layer Contracts",
        "role.yml" => "Role",
        name => name,
    }
}

/// The line of the template that includes `prompt.yml`.
fn first_line(base: &str) -> String {
    format!(
        "{{% include {} %}}{{{{ \"\\n\" -}}}}\n",
        string_literal(base)
    )
}

/// The line of the template that includes a file below a heading.
fn line_of(title: &str, function: &str, path: &str) -> String {
    format!(
        "{{% with part = section({}, {function}({path})) %}}{{{{ \"\\n\" ~ part if part else \"\" }}}}{{% endwith %}}\n",
        string_literal(title)
    )
}

struct Reader<'t> {
    file: &'t str,
}

impl Reader<'_> {
    fn error_at(&self, at: &Node, key: &str, message: &str, help: &str) -> Diagnostic {
        let said = Diagnostic::error(self.file, message).key(key).help(help);
        said.at(at.line, at.column)
    }

    fn parse_root(&self, text: &str) -> Result<Node, Diagnostic> {
        let (root, mistakes) = yaml::parse(text);
        match (mistakes.into_iter().next(), root) {
            (Some(wrong), _) => Err(wrong.diagnostic(self.file)),
            (None, Some(root)) => Ok(root),
            (None, None) => Err(Diagnostic::error(self.file, "there is nothing in it").help(SHAPE)),
        }
    }

    /// Checks an entry of `prompt_assembly.yml`, other than the includes.
    fn check_entry(
        &self,
        home: &Home,
        variables: &BTreeMap<String, String>,
        key: &Node,
        value: &Node,
    ) -> Result<(), Diagnostic> {
        match key.text().unwrap_or_default() {
            "schema_version" if value.integer() == Some(VERSION) => Ok(()),
            "schema_version" => {
                let help = format!("write `schema_version: {VERSION}`");
                let message = "this version is not known";
                Err(self.error_at(value, "schema_version", message, &help))
            }
            "layer"
                if value.text().and_then(super::canonical_layer) == Some(home.layer.as_str()) =>
            {
                Ok(())
            }
            "layer" => {
                let help = format!("write `layer: {}`", home.layer);
                let message = "this is not the layer of the folder";
                Err(self.error_at(value, "layer", message, &help))
            }
            "runtime_context" => self.compile_context(value, variables),
            "includes" => Ok(()),
            other => {
                let message = format!("unknown key `{other}`");
                let help =
                    "the keys are `schema_version`, `layer`, `runtime_context` and `includes`";
                Err(self.error_at(key, other, &message, help))
            }
        }
    }

    fn includes_of<'n>(&self, root: &'n Node) -> Result<&'n [Node], Diagnostic> {
        let Some(includes) = root.get("includes") else {
            return Ok(&[]);
        };
        let wrong =
            |message: &str, help: &str| Err(self.error_at(includes, "includes", message, help));
        match &includes.value {
            Value::Null => Ok(&[]),
            Value::List(list) if list.len() > INCLUDES_LIMIT => {
                let message = format!("more than {INCLUDES_LIMIT} files");
                wrong(&message, "name fewer")
            }
            Value::List(list) => Ok(list),
            _ => {
                let help = "write `- title: …` with `path: …` below it";
                wrong("this is not a list", help)
            }
        }
    }

    fn compile_context(
        &self,
        value: &Node,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), Diagnostic> {
        let wanted = match &value.value {
            Value::Map(wanted) => wanted,
            Value::Null => return Ok(()),
            _ => {
                let message = "this is not a list of `name: text`";
                return Err(self.error_at(value, "runtime_context", message, "write `role: …`"));
            }
        };
        for (key, _) in wanted {
            let name = key.text().unwrap_or_default();
            if !variables.contains_key(name) {
                let message = format!("this prompt is not given `{name}`");
                let help = "take it out, or ask for the prompt with it";
                return Err(self.error_at(key, &format!("runtime_context.{name}"), &message, help));
            }
        }
        Ok(())
    }

    /// A line of the template, and the position of its path.
    fn compile_include(
        &self,
        index: usize,
        include: &Node,
    ) -> Result<(String, (u32, u32)), Diagnostic> {
        let whole = format!("includes[{index}]");
        let wrong = |message: &str| {
            Err(self.error_at(include, &whole, message, "write `title: …` and `path: …`"))
        };
        let Value::Map(entries) = &include.value else {
            return wrong("this is not an include");
        };
        let (mut title, mut path, mut optional) = (None, None, false);
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            let wrong = |at: &Node, message: &str, help: &str| {
                Err(self.error_at(at, &format!("{whole}.{name}"), message, help))
            };
            match (name, &value.value) {
                ("title", Value::Text(text)) => title = Some(text),
                ("path", Value::Text(text)) => match path_expression(text) {
                    Ok(text) => path = Some((text, (value.line, value.column))),
                    Err(help) => return wrong(value, "this path cannot be understood", help),
                },
                ("optional", Value::Flag(flag)) => optional = *flag,
                ("title" | "path", _) => {
                    return wrong(value, "this is not a text", "put it between quotes");
                }
                ("optional", _) => {
                    let message = "this is neither true nor false";
                    return wrong(value, message, "write `true` or `false`");
                }
                _ => {
                    let help = "the keys are `title`, `path` and `optional`";
                    return wrong(key, "unknown key", help);
                }
            }
        }
        let (Some(title), Some((path, at))) = (title, path) else {
            return wrong("an include needs both a title and a path");
        };
        let function = if optional {
            "include_optional"
        } else {
            "include_required"
        };
        Ok((line_of(title, function, &path), at))
    }
}

fn text_of<'t>(tree: &'t Tree, path: &str) -> Result<&'t str, Diagnostic> {
    let text = tree
        .text(path)
        .filter(|text| text.len() <= TEMPLATE_LIMIT_BYTES);
    text.ok_or_else(|| {
        let message = if tree.get(path).is_none() {
            "there is no such file, and the other one of the pair needs it".to_owned()
        } else {
            format!("this is not a text of at most {TEMPLATE_LIMIT_BYTES} bytes")
        };
        Diagnostic::error(path, message).help("write it")
    })
}

/// A text as a string literal of the template.
fn string_literal(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A path with `{{name}}` in it, as an expression of the template.
fn path_expression(path: &str) -> Result<String, &'static str> {
    let mut parts = Vec::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, left) = after.split_once("}}").ok_or("close `{{` with `}}`")?;
        let name = name.trim();
        let plain = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !plain {
            return Err("write one name between `{{` and `}}`");
        }
        parts.push(string_literal(before));
        parts.push(name.to_owned());
        rest = left;
    }
    parts.push(string_literal(rest));
    if path.contains("{%") || path.contains("{#") {
        return Err("use `{{name}}` only");
    }
    Ok(parts.join(" ~ "))
}
