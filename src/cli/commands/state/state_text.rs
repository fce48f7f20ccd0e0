//! The text of a state file, and what is wrong with it.

use phileas_domain::Diagnostic;
use phileas_domain::state::codec;

use crate::cli::exit::CliError;
use crate::cli::terminal::output;

/// The text of a state file.
pub(crate) struct StateText {
    /// Its name for people.
    pub(crate) place: String,
    pub(crate) text: String,
}

/// Whether a newer program wrote the file. Then it is not broken, and there is nothing to repair.
pub(crate) fn has_newer_format(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_newer_format)
}

/// The error for a file of a newer phileas.
pub(crate) fn newer_format_error(place: &str) -> CliError {
    CliError::corrupt(format!(
        "{place} was written by a newer phileas, so it is left as it is and nothing is proposed; upgrade this one \
         ({})",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Prints diagnostics to standard error, each with its location. The command prints the help, because it knows more
/// than the parser.
pub(crate) fn print_diagnostics(
    found: &StateText,
    diagnostics: &[Diagnostic],
) -> Result<(), CliError> {
    for one in diagnostics {
        let named = Diagnostic {
            file: found.place.clone(),
            help: if one.help == codec::REPAIR_HELP {
                String::new()
            } else {
                one.help.clone()
            },
            ..one.clone()
        };
        output::print_error(&named.to_string())?;
    }
    Ok(())
}
