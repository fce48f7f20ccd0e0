//! Diagnostics on the screen, and as JSON.

use std::io::Write;

use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use super::output::{self, Screen};
use crate::cli::exit::Stopped;

/// Findings for people beside the result, so that scripts may compare it; for programs one a line.
pub(crate) fn tell(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    for one in found {
        if json {
            screen.line(&diagnostic_json(one).to_string())?;
        } else {
            output::beside(&one.to_string())?;
        }
    }
    Ok(())
}

/// Diagnostics as people read them, or one JSON object a line.
pub(crate) fn print(
    found: &[Diagnostic],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    for one in found {
        if json {
            screen.line(&diagnostic_json(one).to_string())?;
        } else {
            screen.line(&one.to_string())?;
        }
    }
    Ok(())
}

/// One diagnostic as programs read it.
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
        "mend": one.mend,
    })
}

/// One diagnostic a line, where a list is asked for as JSON.
pub(crate) fn tell_beside(found: &[Diagnostic], json: bool) -> Result<(), Stopped> {
    for one in found {
        let text = if json {
            diagnostic_json(one).to_string()
        } else {
            one.to_string()
        };
        output::beside(&text)?;
    }
    Ok(())
}
