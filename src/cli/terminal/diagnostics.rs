//! Prints diagnostics as text or JSON.

use std::io::Write;

use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use super::output::{self, Screen};
use crate::cli::exit::{CliError, Exit};

/// Prints diagnostics beside a result: for people on standard error, so that scripts can compare the result; for
/// programs one JSON object a line.
pub(crate) fn print_beside_results(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if json {
        return print_diagnostics(found, json, screen);
    }
    print_to_stderr(found, json)
}

/// A mistake is a finding; a warning is none.
pub(crate) fn findings_exit(found: &[Diagnostic]) -> Exit {
    if found.iter().any(Diagnostic::is_error) {
        Exit::Findings
    } else {
        Exit::Done
    }
}

/// Prints diagnostics as text, or one JSON object a line.
pub(crate) fn print_diagnostics(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    for one in found {
        let text = if json {
            diagnostic_json(one).to_string()
        } else {
            one.to_string()
        };
        screen.print_line(&text)?;
    }
    Ok(())
}

/// One diagnostic as JSON.
#[must_use]
pub(crate) fn diagnostic_json(one: &Diagnostic) -> serde_json::Value {
    json!({
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "key": one.key,
        "severity": match one.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": one.message,
        "help": one.help,
    })
}

/// Prints diagnostics to standard error, as text or one JSON object a line.
pub(crate) fn print_to_stderr(found: &[Diagnostic], json: bool) -> Result<(), CliError> {
    for one in found {
        let text = if json {
            diagnostic_json(one).to_string()
        } else {
            one.to_string()
        };
        output::print_error(&text)?;
    }
    Ok(())
}
