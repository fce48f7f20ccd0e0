//! The older form of a layer's prompt, compiled to a template: the text of `prompt.yml`, and below it the includes of
//! `prompt_assembly.yml`, one a line.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use super::home::Home;
use crate::Diagnostic;
use crate::model::Tree;
use crate::prompt::limits::TEMPLATE_LIMIT_BYTES;
use crate::yaml::{self, Step};

/// The only version of the format that there is.
const VERSION: u64 = 1;
/// How many files one prompt may name.
const INCLUDES_LIMIT: usize = 100;

/// A compiled pair.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The path of `prompt_assembly.yml`, which the template is named after.
    pub(super) entry: String,
    /// The template.
    pub(super) source: String,
    /// The path of `prompt.yml`, which is a template of its own.
    pub(super) base: String,
    pub(super) base_text: String,
    /// The text of `prompt_assembly.yml`.
    text: String,
}

impl Compiled {
    /// Where a line of the template comes from.
    pub(super) fn origin(&self, line: u32) -> (Option<(u32, u32)>, String) {
        // The first line is the base.
        let Some(index) = (line as usize).checked_sub(2) else {
            return (None, String::new());
        };
        let path = [
            Step::Value("includes"),
            Step::Item(index),
            Step::Value("path"),
        ];
        (
            yaml::place(&self.text, &path),
            format!("includes[{index}].path"),
        )
    }
}

/// Compiles a layer's pair. Every key of `runtime_context` must be among the variables.
pub(super) fn compile(
    tree: &Tree,
    home: &Home,
    variables: &BTreeMap<String, String>,
) -> Result<Compiled, Diagnostic> {
    let base = format!("{}/prompt.yml", home.folder);
    let entry = format!("{}/prompt_assembly.yml", home.folder);
    let base_text = text_of(tree, &base)?;
    for token in ["{%", "{#"] {
        if let Some(at) = base_text.find(token) {
            return Err(Diagnostic::error(
                &base,
                format!("`{token}` is not understood in this form"),
            )
            .at_offset(base_text, at)
            .mend(format!(
                "use `{{{{ name }}}}` only, or write a template `{}_prompt.j2`",
                home.layer
            )));
        }
    }
    let text = text_of(tree, &entry)?;
    let reader = Reader { file: &entry, text };
    let root = reader.root()?;
    let mut source = format!("{{% include {} %}}{{{{ \"\\n\" -}}}}\n", literal(&base));
    for (key, value) in &root {
        match key.as_str().unwrap_or_default() {
            "schema_version" if value.as_u64() == Some(VERSION) => {}
            "schema_version" => {
                let mend = format!("write `schema_version: {VERSION}`");
                return Err(reader.error(
                    &[Step::Value("schema_version")],
                    "schema_version",
                    "this version is not known",
                    &mend,
                ));
            }
            "layer"
                if value.as_str().and_then(super::canonical_layer) == Some(home.layer.as_str()) => {
            }
            "layer" => {
                let mend = format!("write `layer: {}`", home.layer);
                return Err(reader.error(
                    &[Step::Value("layer")],
                    "layer",
                    "this is not the layer of the folder",
                    &mend,
                ));
            }
            "runtime_context" => reader.context(value, variables)?,
            "includes" => {}
            other => {
                let message = format!("unknown key `{other}`");
                let mend =
                    "the keys are `schema_version`, `layer`, `runtime_context` and `includes`";
                return Err(reader.error(&[Step::Key(other)], other, &message, mend));
            }
        }
    }
    let includes = match root.get("includes") {
        Some(Value::Sequence(includes)) => includes.as_slice(),
        None | Some(Value::Null) => &[],
        Some(_) => {
            return Err(reader.error(
                &[Step::Value("includes")],
                "includes",
                "this is not a list",
                "write `- title: …` with `path: …` below it",
            ));
        }
    };
    if includes.len() > INCLUDES_LIMIT {
        let message = format!("more than INCLUDES_LIMIT ({INCLUDES_LIMIT}) files");
        return Err(reader.error(
            &[Step::Value("includes")],
            "includes",
            &message,
            "name fewer",
        ));
    }
    for (index, include) in includes.iter().enumerate() {
        source.push_str(&reader.include(index, include)?);
    }
    Ok(Compiled {
        source,
        base_text: base_text.to_owned(),
        text: text.to_owned(),
        base,
        entry,
    })
}

struct Reader<'t> {
    file: &'t str,
    text: &'t str,
}

impl Reader<'_> {
    fn error(&self, path: &[Step<'_>], key: &str, message: &str, mend: &str) -> Diagnostic {
        let said = Diagnostic::error(self.file, message).key(key).mend(mend);
        match yaml::place(self.text, path) {
            Some((line, column)) => said.at(line, column),
            None => said,
        }
    }

    fn root(&self) -> Result<Mapping, Diagnostic> {
        let mend = "write `includes:` and below it `- title: …` with `path: …`";
        match yaml::parse(self.text) {
            Ok(Value::Mapping(root)) => Ok(root),
            Ok(_) => Err(self.error(&[], "", "this is not a list of `key: value`", mend)),
            Err((at, message)) => {
                let said = Diagnostic::error(self.file, message).mend(mend);
                Err(at.map_or(said.clone(), |(line, column)| said.at(line, column)))
            }
        }
    }

    fn context(
        &self,
        value: &Value,
        variables: &BTreeMap<String, String>,
    ) -> Result<(), Diagnostic> {
        let wanted = match value {
            Value::Mapping(wanted) => wanted,
            Value::Null => return Ok(()),
            _ => {
                let path = [Step::Value("runtime_context")];
                return Err(self.error(
                    &path,
                    "runtime_context",
                    "this is not a list of `name: text`",
                    "write `role: …`",
                ));
            }
        };
        for name in wanted.keys() {
            let name = name.as_str().unwrap_or_default();
            if !variables.contains_key(name) {
                let path = [Step::Value("runtime_context"), Step::Key(name)];
                let key = format!("runtime_context.{name}");
                let message = format!("this prompt is not given `{name}`");
                return Err(self.error(
                    &path,
                    &key,
                    &message,
                    "take it out, or ask for the prompt with it",
                ));
            }
        }
        Ok(())
    }

    /// A line of the template.
    fn include(&self, index: usize, include: &Value) -> Result<String, Diagnostic> {
        let here = [Step::Value("includes"), Step::Item(index)];
        let whole = format!("includes[{index}]");
        let Value::Mapping(include) = include else {
            return Err(self.error(
                &here,
                &whole,
                "this is not an include",
                "write `title: …` and `path: …`",
            ));
        };
        let (mut title, mut path, mut optional) = (None, None, false);
        for (key, value) in include {
            let key = key.as_str().unwrap_or_default();
            let wrong = |message: &str, mend: &str| {
                Err(self.error(
                    &[here[0], here[1], Step::Value(key)],
                    &format!("{whole}.{key}"),
                    message,
                    mend,
                ))
            };
            match (key, value) {
                ("title", Value::String(text)) => title = Some(text),
                ("path", Value::String(text)) => match expression(text) {
                    Ok(text) => path = Some(text),
                    Err(mend) => return wrong("this path cannot be understood", mend),
                },
                ("optional", Value::Bool(flag)) => optional = *flag,
                ("title" | "path", _) => {
                    return wrong("this is not a text", "put it between quotes");
                }
                ("optional", _) => {
                    return wrong("this is neither true nor false", "write `true` or `false`");
                }
                _ => return wrong("unknown key", "the keys are `title`, `path` and `optional`"),
            }
        }
        let (Some(title), Some(path)) = (title, path) else {
            return Err(self.error(
                &here,
                &whole,
                "an include needs both a title and a path",
                "write `title: …` and `path: …`",
            ));
        };
        let function = if optional {
            "include_optional"
        } else {
            "include_required"
        };
        Ok(format!(
            "{{% set part = section({}, {function}({path})) %}}{{{{ \"\\n\" ~ part if part else \"\" -}}}}\n",
            literal(title)
        ))
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
            format!("this is no text of at most TEMPLATE_LIMIT_BYTES ({TEMPLATE_LIMIT_BYTES})")
        };
        Diagnostic::error(path, message).mend("write it")
    })
}

/// A text as a template's expression.
fn literal(text: &str) -> String {
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

/// A path with `{{name}}` in it as an expression that puts it together.
fn expression(path: &str) -> Result<String, &'static str> {
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
        parts.push(literal(before));
        parts.push(name.to_owned());
        rest = left;
    }
    parts.push(literal(rest));
    if path.contains("{%") || path.contains("{#") {
        return Err("use `{{name}}` only");
    }
    Ok(parts.join(" ~ "))
}
