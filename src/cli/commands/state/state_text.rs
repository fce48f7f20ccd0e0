//! A state file that was read, and what is wrong with it.

use phileas_domain::Diagnostic;
use phileas_domain::state::codec;

use crate::cli::exit::Stopped;
use crate::cli::terminal::output;

/// A state file that was read.
pub(crate) struct Found {
    /// What people call it.
    pub(crate) place: String,
    pub(crate) text: String,
}

/// Whether a file was written by a newer program. Nothing is wrong with it then, and nothing is to be mended.
pub(crate) fn is_newer(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_newer_format)
}

/// What a newer phileas wrote is nothing to mend for this one.
pub(crate) fn newer(place: &str) -> Stopped {
    Stopped::corrupt(format!(
        "{place} was written by a newer phileas, so it is left as it is and nothing is proposed; upgrade this one \
         ({})",
        env!("CARGO_PKG_VERSION")
    ))
}

/// Everything that is wrong with a file goes to standard error, each with its place. What helps is said by the command,
/// which knows more of it than the file does.
pub(crate) fn tell(found: &Found, diagnostics: &[Diagnostic]) -> Result<(), Stopped> {
    for one in diagnostics {
        let named = Diagnostic {
            file: found.place.clone(),
            mend: if one.mend == codec::MEND_BY_REPAIR {
                String::new()
            } else {
                one.mend.clone()
            },
            ..one.clone()
        };
        output::beside(&named.to_string())?;
    }
    Ok(())
}
