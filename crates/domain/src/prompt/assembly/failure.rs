//! Explains errors in a layer's template to the person who wrote it.

use std::collections::BTreeMap;

use minijinja::{Error, ErrorKind};

use super::older::Compiled;
use crate::Diagnostic;
use crate::prompt::failure::{
    actions_expression, error_chain, error_help, error_text, nearest_name, quoted_name,
};
use crate::prompt::limits::{FUEL_LIMIT_STEPS, RECURSION_LIMIT};
use crate::prompt::percent::line_and_column;

/// The functions of a template.
const FUNCTIONS: [&str; 4] = [
    "include_required",
    "include_optional",
    "file_exists",
    "section",
];

/// The innermost position that failed, the reason, and the templates that led to it.
pub(super) fn explain_error(
    error: &Error,
    entry: &str,
    variables: &BTreeMap<String, String>,
    compiled: Option<&Compiled>,
) -> Diagnostic {
    let entry = compiled.map_or(entry, |compiled| compiled.file.as_str());
    let (errors, refusal) = error_chain(error);
    let innermost = errors.last().copied().unwrap_or(error);
    let (message, help) = match refusal {
        Some(refusal) => (refusal.message.clone(), refusal.help.clone()),
        None => error_reason(innermost, variables),
    };
    let expression = errors.iter().rev().find_map(|one| actions_expression(one));
    let help = expression.unwrap_or(help);
    let placed: Vec<ErrorLocation> = errors
        .iter()
        .rev()
        .filter_map(|one| error_location(one, compiled))
        .collect();
    let mut places = placed.into_iter();
    let Some(first) = places.next() else {
        return Diagnostic::error(entry, message).help(help);
    };
    let mut seen = vec![first.location_text()];
    let mut from = Vec::new();
    for next in places {
        let shown = next.location_text();
        // A `prompt.yml` without a `prompt_assembly.yml` is both the template and its source.
        let is_same = next.at.is_none() && next.file == first.file;
        if !is_same && !seen.contains(&shown) {
            from.push(shown.clone());
            seen.push(shown);
        }
    }
    if from.is_empty() && first.file != entry {
        from.push(format!("`{entry}`"));
    }
    let mut said = Diagnostic::error(first.file, message).help(help);
    if !from.is_empty() {
        said.message
            .push_str(&format!(" (used by {})", from.join(", used by ")));
    }
    match first.at {
        Some((line, column)) => said.at(line, column).key(first.key),
        None => said,
    }
}

struct ErrorLocation {
    file: String,
    at: Option<(u32, u32)>,
    key: String,
}

impl ErrorLocation {
    fn location_text(&self) -> String {
        match self.at {
            Some((line, _)) => format!("`{}`:{line}", self.file),
            None => format!("`{}`", self.file),
        }
    }
}

/// The position of an error. A line of a compiled template maps to the line that it was compiled from.
fn error_location(error: &Error, compiled: Option<&Compiled>) -> Option<ErrorLocation> {
    let file = error.name()?.to_owned();
    let at = match (error.template_source(), error.range()) {
        (Some(source), Some(range)) => Some(line_and_column(source, range.start)),
        _ => error
            .line()
            .map(|line| (u32::try_from(line).unwrap_or(u32::MAX), 1)),
    };
    if let (Some(compiled), Some((line, _))) = (compiled, at)
        && file == compiled.entry
    {
        let (at, key) = compiled.origin_of_line(line);
        let file = compiled.file.clone();
        return Some(ErrorLocation { file, at, key });
    }
    let key = String::new();
    Some(ErrorLocation { file, at, key })
}

fn error_reason(error: &Error, variables: &BTreeMap<String, String>) -> (String, String) {
    let detail = error.detail().unwrap_or_default();
    match error.kind() {
        ErrorKind::OutOfFuel => (
            format!("the template takes more than {FUEL_LIMIT_STEPS} steps"),
            "shorten its loops".to_owned(),
        ),
        ErrorKind::InvalidOperation if detail.contains("recursion limit") => (
            format!(
                "templates include each other more than {RECURSION_LIMIT} levels deep (an include counts ten)"
            ),
            "nest fewer of them; one that includes itself never ends".to_owned(),
        ),
        ErrorKind::UndefinedError | ErrorKind::UnknownFunction => {
            let name = quoted_name(detail).unwrap_or_default();
            let known = variables.keys().map(String::as_str).chain(FUNCTIONS);
            let help = match nearest_name(name, known) {
                Some(known) => format!("did you mean `{known}`?"),
                None if variables.is_empty() => {
                    "this prompt is given no names; guard it with `is defined`".to_owned()
                }
                None => {
                    let names: Vec<&str> = variables.keys().map(String::as_str).collect();
                    format!(
                        "this prompt is given {}; guard others with `is defined`",
                        names.join(", ")
                    )
                }
            };
            (error_text(error), help)
        }
        ErrorKind::TemplateNotFound => (
            detail.to_owned(),
            "write it, or fix the path: it counts from the repository's root".to_owned(),
        ),
        _ => (error_text(error), error_help(error).to_owned()),
    }
}
