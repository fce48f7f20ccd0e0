//! Explains template errors to the person who wrote the template.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use minijinja::{Error, ErrorKind};

use super::context::Context;
use super::files::{Files, Refusal};
use super::limits::{FUEL_LIMIT_STEPS, RECURSION_LIMIT};
use super::percent::{line_and_column, without_percent};
use super::title::TITLE_TEMPLATE;
use crate::Diagnostic;
use crate::plan::Persona;

/// The fix for an unknown method.
const METHOD_HELP: &str = "use a method that gives a new value, such as `x.upper()` or `x.get(\"a\")`: no template changes a \
     list or a map in place; `{% set x = x + [1] %}` makes a new one";
/// The fix for an unknown filter or test.
const FILTER_HELP: &str =
    "use one of Jinja2's; those that draw by chance are left out, so that a prompt stays the same";
/// What the engine says where no value has the wrong type.
const VALUE_ERRORS: [&str; 7] = [
    "unable to calculate",
    "rounded value is too large",
    "count cannot be 0",
    "step",
    "of wrong length",
    "super",
    "recurs",
];
/// The longest expression of GitHub Actions that a message quotes, in bytes.
const EXPRESSION_SHOWN_BYTES: usize = 80;

/// A name is suggested only if at most a third of its characters differ.
const NEAR_FRACTION: usize = 3;

/// The context that is needed to explain an error.
pub(super) struct TemplateFailure<'a> {
    pub(super) persona: &'a Persona,
    pub(super) files: &'a Files,
    pub(super) context: &'a Arc<Context>,
}

impl TemplateFailure<'_> {
    /// The innermost template that failed, the reason, and the templates that led to it.
    pub(super) fn diagnose_error(&self, error: &Error) -> Diagnostic {
        let (errors, refusal) = error_chain(error);
        let innermost = errors.last().copied().unwrap_or(error);
        let placed = errors
            .iter()
            .rev()
            .copied()
            .find(|error| error.name().is_some());
        let (message, help) = match refusal {
            Some(refusal) => (refusal.message.clone(), refusal.help.clone()),
            None => self.explain_error(innermost),
        };
        let help = placed.and_then(actions_expression).unwrap_or(help);
        let mut said = self.diagnostic_at(placed, message).help(help);
        let mut from: Vec<String> = Vec::new();
        for error in errors.iter().rev() {
            let at = self.diagnostic_at(Some(error), String::new());
            let here = at.line.map_or_else(
                || format!("`{}`", at.file),
                |line| format!("`{}`:{line}", at.file),
            );
            let is_place = (&at.file, at.line) == (&said.file, said.line);
            if error.name().is_some() && !is_place && from.last() != Some(&here) {
                from.push(here);
            }
        }
        if from.is_empty() && said.file != self.persona.path {
            from.push(format!("`{}`", self.persona.path));
        }
        if !from.is_empty() {
            said.message
                .push_str(&format!(" (used by {})", from.join(", used by ")));
        }
        said
    }

    /// A diagnostic at an error's position, in lines of the file, not of the template below its frontmatter.
    fn diagnostic_at(&self, error: Option<&Error>, message: String) -> Diagnostic {
        let name = error.and_then(Error::name).unwrap_or(&self.persona.path);
        if name == TITLE_TEMPLATE {
            return Diagnostic::error(&self.persona.path, message).key("title");
        }
        let mut said = Diagnostic::error(name, message);
        let skipped = if name == self.persona.path {
            self.persona.body_line.saturating_sub(1)
        } else {
            0
        };
        if let Some(error) = error.filter(|error| error.name().is_some()) {
            if let (Some(source), Some(range)) = (error.template_source(), error.range()) {
                let (line, column) = line_and_column(source, range.start);
                said = said.at(line.saturating_add(skipped), column);
            } else if let Some(line) = error.line() {
                said.line = Some(
                    u32::try_from(line)
                        .unwrap_or(u32::MAX)
                        .saturating_add(skipped),
                );
            }
        }
        said
    }

    fn explain_error(&self, error: &Error) -> (String, String) {
        let detail = error.detail().unwrap_or_default();
        match error.kind() {
            ErrorKind::OutOfFuel => (
                format!("the template takes more than {FUEL_LIMIT_STEPS} steps"),
                "shorten its loops".to_owned(),
            ),
            ErrorKind::InvalidOperation if detail.contains("recursion limit") => (
                format!(
                    "templates or macros call each other more than {RECURSION_LIMIT} levels deep (an include counts ten, a macro four)"
                ),
                "nest fewer of them; one that includes itself never ends".to_owned(),
            ),
            ErrorKind::UndefinedError => self.explain_undefined(detail),
            ErrorKind::TemplateNotFound => (detail.to_owned(), self.near_file(detail)),
            ErrorKind::UnknownFunction => (
                error_text(error),
                self.near_name(quoted_name(detail).unwrap_or_default()),
            ),
            _ => (error_text(error), error_help(error).to_owned()),
        }
    }

    fn explain_undefined(&self, detail: &str) -> (String, String) {
        if quoted_name(detail).is_some_and(|expression| expression.contains(['.', '[', '('])) {
            let help = "name a part that it has, or guard it with `is defined`";
            return (detail.to_owned(), help.to_owned());
        }
        let message = if detail.is_empty() {
            "a value is undefined"
        } else {
            detail
        };
        let name = quoted_name(detail).unwrap_or_default();
        (message.to_owned(), self.near_name(name))
    }

    fn near_name(&self, name: &str) -> String {
        let functions = [
            "include_required",
            "include_optional",
            "range",
            "dict",
            "namespace",
        ];
        match nearest_name(name, self.context.value_names().chain(functions)) {
            Some(known) if known == name => {
                "guard it with `is defined`, or give it a `|default(…)`".to_owned()
            }
            Some(known) => format!("did you mean `{known}`?"),
            None => "add it to the frontmatter, or as a file of a `partials` folder".to_owned(),
        }
    }

    fn near_file(&self, detail: &str) -> String {
        let wanted = detail.split('"').nth(1).unwrap_or_default();
        let names = self.files.paths().flat_map(|path| {
            let below = self
                .files
                .source_folders()
                .iter()
                .filter_map(move |folder| path.strip_prefix(folder.as_str())?.strip_prefix('/'));
            below.chain([path])
        });
        nearest_name(wanted, names).map_or_else(
            || "write it below `.jules`, or fix the name".to_owned(),
            |known| format!("did you mean `{known}`?"),
        )
    }
}

/// The errors from the outermost to the innermost, and the refusal that caused them, if there is one.
pub(super) fn error_chain(error: &Error) -> (Vec<&Error>, Option<&Refusal>) {
    let mut errors = vec![error];
    let mut cause = error.source();
    while let Some(source) = cause {
        if let Some(refusal) = source.downcast_ref::<Refusal>() {
            return (errors, Some(refusal));
        }
        if let Some(failed) = source.downcast_ref::<io::Error>() {
            let refusal = failed
                .get_ref()
                .and_then(|inner| inner.downcast_ref::<Refusal>());
            return (errors, refusal);
        }
        if let Some(inner) = source.downcast_ref::<Error>() {
            errors.push(inner);
        }
        cause = source.source();
    }
    (errors, None)
}

/// How to write an expression of GitHub Actions, `${{ … }}`, literally, if the error is inside one.
pub(super) fn actions_expression(error: &Error) -> Option<String> {
    let source = error.template_source()?;
    let open = match error.range() {
        Some(range) => {
            let begun = source.get(..range.end)?;
            let open = begun.rfind("${{")?;
            (!begun[open..].contains("}}")).then_some(open)?
        }
        // For a character that no template may contain, only the line is known.
        None => {
            let before = error.line()?.checked_sub(1)?;
            let mut lines = source.split_inclusive('\n');
            let start: usize = lines.by_ref().take(before).map(str::len).sum();
            start + lines.next()?.find("${{")?
        }
    };
    let end = source[open..].find("}}").map(|length| open + length + 2);
    let expression = end
        .map(|end| &source[open..end])
        .filter(|text| text.len() <= EXPRESSION_SHOWN_BYTES && !text.contains('\n'))
        .map_or_else(|| "${{ … }}".to_owned(), without_percent);
    Some(format!(
        "`${{{{ … }}}}` is an expression of GitHub Actions; to show it as it stands, write `{{% raw %}}{expression}{{% endraw %}}`"
    ))
}

/// The fix for an error that needs no other knowledge of the template.
pub(super) fn error_help(error: &Error) -> &'static str {
    let detail = error.detail().unwrap_or_default();
    match error.kind() {
        ErrorKind::SyntaxError => syntax_help(detail),
        ErrorKind::UnknownMethod => METHOD_HELP,
        ErrorKind::UnknownFilter | ErrorKind::UnknownTest => FILTER_HELP,
        ErrorKind::MissingArgument | ErrorKind::TooManyArguments => {
            "write the arguments that the macro declares, or that Jinja2 describes for the filter or function"
        }
        _ if detail.contains("too many elements") => {
            "a range has at most 100000 numbers; write a smaller one"
        }
        _ if detail.contains("repeat") && detail.contains("too large") => "repeat it fewer times",
        _ if VALUE_ERRORS.iter().any(|part| detail.contains(part)) => "",
        _ => {
            "write a value of the kind that is needed here; `x|int` makes a whole number, and `x|string` a text"
        }
    }
}

/// The fix for a syntax error, by what the parser expected.
fn syntax_help(detail: &str) -> &'static str {
    if detail.contains("unexpected end of input") && detail.contains("end of block") {
        "close every `{% if … %}`, `{% for … %}` and `{% block … %}` with its `{% end… %}`"
    } else if detail.contains("unexpected end of") {
        "complete the tag: something is missing before its end"
    } else if detail.contains("recursion limit") {
        "it is nested too deep to be read; put its inner part into a `{% set %}` or a template of its own"
    } else if detail.contains("unknown statement") || detail.contains("unexpected tag") {
        "use a tag of Jinja (`if`, `for`, `set`, `block`, `include`, `macro`), or write `{% raw %}` around the text"
    } else {
        "to show braces as they are, write `{% raw %}` before them and `{% endraw %}` after them"
    }
}

pub(super) fn error_text(error: &Error) -> String {
    error.detail().map_or_else(
        || error.kind().to_string(),
        |detail| format!("{}: {detail}", error.kind()),
    )
}

pub(super) fn quoted_name(detail: &str) -> Option<&str> {
    detail
        .split('`')
        .nth(1)
        .or_else(|| detail.split_whitespace().next())
}

pub(super) fn nearest_name<'n>(
    wanted: &str,
    names: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let allowed = (wanted.chars().count() / NEAR_FRACTION).max(1);
    names
        .map(|name| (strsim::damerau_levenshtein(wanted, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, name)| name)
}
