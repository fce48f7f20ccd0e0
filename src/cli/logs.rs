//! Where the log goes, how much of it there is, and in which form.
//!
//! Commands log warnings, as text for people. The service says what it does as well, with times: as text at a terminal,
//! elsewhere as one JSON object a line. All write to standard error but the action: the runner of a workflow obeys both
//! streams and reads them side by side, so there logs stand in the one in which its obedience is suspended.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::arguments::Command;
use super::terminal::output::Logged;
use crate::cli::context::env_var;

/// What is logged, such as `phileas=debug`.
const LEVEL: &str = "PHILEAS_LOG";
/// In which form: `json` or `text`.
const FORMAT: &str = "PHILEAS_LOG_FORMAT";
/// Warnings of everybody.
const OF_COMMANDS: &str = "warn";
/// Also what phileas itself has done.
const OF_THE_SERVICE: &str = "warn,phileas=info";

/// In which form lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Json,
}

/// What was decided, and what was wrong with the variables.
#[derive(Debug)]
struct Wish {
    filter: String,
    format: Format,
    wrong: Vec<String>,
}

/// Opens the log for this process.
#[expect(
    clippy::disallowed_methods,
    reason = "the library that writes them makes control characters visible by itself"
)]
pub(super) fn open(command: &Command) {
    let terminal = std::io::stderr().is_terminal();
    let serves = matches!(command, Command::Serve(_));
    let wish = wish(serves, terminal, env_var::variable);
    let (writer, colours) = if matches!(command, Command::Action(_)) {
        (BoxMakeWriter::new(|| Logged(std::io::stdout())), false)
    } else {
        (BoxMakeWriter::new(|| Logged(std::io::stderr())), terminal)
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&wish.filter))
        .with_writer(writer)
        .with_ansi(colours)
        // It would tell a line that cannot be written on standard error, and panic where that is what has gone.
        .log_internal_errors(false)
        .with_target(false);
    match (wish.format, serves) {
        (Format::Json, _) => subscriber
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .init(),
        (Format::Text, true) => subscriber.init(),
        (Format::Text, false) => subscriber.without_time().init(),
    }
    for wrong in &wish.wrong {
        tracing::warn!("{wrong}");
    }
}

fn wish(serves: bool, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Wish {
    let mut wrong = Vec::new();
    let usual = if serves { OF_THE_SERVICE } else { OF_COMMANDS };
    let filter = match variable(LEVEL) {
        Some(text) => match EnvFilter::try_new(&text) {
            Ok(_) => text,
            Err(error) => {
                wrong.push(format!(
                    "{LEVEL}={text}: {error}; write it as `phileas=debug`, with error, warn, info, debug or trace. It \
                     counts as `{usual}`"
                ));
                usual.to_owned()
            }
        },
        None => usual.to_owned(),
    };
    let usual = if serves && !terminal {
        Format::Json
    } else {
        Format::Text
    };
    let format = match variable(FORMAT).as_deref() {
        Some("json") => Format::Json,
        Some("text") => Format::Text,
        Some(other) => {
            wrong.push(format!("{FORMAT}={other}: it is `json` or `text`"));
            usual
        }
        None => usual,
    };
    Wish {
        filter,
        format,
        wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(serves: bool, terminal: bool, variables: &[(&str, &str)]) -> Wish {
        wish(serves, terminal, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_service_without_a_terminal_writes_for_programs() {
        for (serves, terminal, variables, format) in [
            (true, false, &[][..], Format::Json),
            (true, true, &[], Format::Text),
            (false, false, &[], Format::Text),
            (true, false, &[(FORMAT, "text")], Format::Text),
            (true, true, &[(FORMAT, "json")], Format::Json),
            (false, true, &[(FORMAT, "json")], Format::Json),
        ] {
            let wish = of(serves, terminal, variables);
            assert_eq!(wish.format, format, "{serves} {terminal} {variables:?}");
            assert!(wish.wrong.is_empty(), "{wish:?}");
        }
    }

    #[test]
    fn words_that_nobody_understands_are_told() {
        assert_eq!(of(true, true, &[]).filter, OF_THE_SERVICE);
        assert_eq!(of(false, true, &[]).filter, OF_COMMANDS);
        let debug = of(true, true, &[(LEVEL, "phileas=debug")]);
        assert_eq!(debug.filter, "phileas=debug");
        let loud = of(true, true, &[(LEVEL, "phileas=loud"), (FORMAT, "xml")]);
        assert_eq!(loud.filter, OF_THE_SERVICE);
        assert_eq!(loud.wrong.len(), 2, "{loud:?}");
        assert!(loud.wrong[0].contains("phileas=loud"), "{loud:?}");
        assert!(loud.wrong[1].contains("json"), "{loud:?}");
    }
}
