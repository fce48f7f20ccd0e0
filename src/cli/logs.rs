//! The log: its destination, its level and its format.
//!
//! Commands log warnings, as text. The service also logs what it does, with times: as text at a terminal, else as one
//! JSON object a line. All log to standard error except the action: its runner parses both streams for commands and
//! shows them interleaved. So the action logs to standard output, where it stops commands.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use super::arguments::Command;
use super::terminal::output::Logged;
use crate::cli::context::env_var;

/// The variable with the level, such as `phileas=debug`.
const LEVEL_VARIABLE: &str = "PHILEAS_LOG";
/// The variable with the format: `json` or `text`.
const FORMAT_VARIABLE: &str = "PHILEAS_LOG_FORMAT";
/// Warnings of all crates.
const COMMAND_LEVELS: &str = "warn";
/// Also what phileas itself does.
const SERVICE_LEVELS: &str = "warn,phileas=info";

/// The format of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFormat {
    Text,
    Json,
}

/// The chosen options, and mistakes in the variables.
#[derive(Debug)]
struct LogOptions {
    filter: String,
    format: LogFormat,
    wrong: Vec<String>,
}

/// Starts the log of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "the library that writes them makes control characters visible by itself"
)]
pub(super) fn start_logging(command: &Command) {
    let terminal = std::io::stderr().is_terminal();
    let serves = matches!(command, Command::Serve(_));
    let options = read_log_options(serves, terminal, env_var::env_value);
    let (writer, colours) = if matches!(command, Command::Action(_)) {
        (BoxMakeWriter::new(|| Logged(std::io::stdout())), false)
    } else {
        (BoxMakeWriter::new(|| Logged(std::io::stderr())), terminal)
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&options.filter))
        .with_writer(writer)
        .with_ansi(colours)
        // The library would report a failed write on standard error, and panic if that is closed.
        .log_internal_errors(false)
        .with_target(false);
    match (options.format, serves) {
        (LogFormat::Json, _) => subscriber
            .json()
            .flatten_event(true)
            .with_span_list(false)
            .init(),
        (LogFormat::Text, true) => subscriber.init(),
        (LogFormat::Text, false) => subscriber.without_time().init(),
    }
    for wrong in &options.wrong {
        tracing::warn!("{wrong}");
    }
}

fn read_log_options(
    serves: bool,
    terminal: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> LogOptions {
    let mut wrong = Vec::new();
    let usual = if serves {
        SERVICE_LEVELS
    } else {
        COMMAND_LEVELS
    };
    let filter = match variable(LEVEL_VARIABLE) {
        Some(text) => match EnvFilter::try_new(&text) {
            Ok(_) => text,
            Err(error) => {
                wrong.push(format!(
                    "{LEVEL_VARIABLE}={text}: {error}; write it as `phileas=debug`, with error, warn, info, debug or trace. It \
                     counts as `{usual}`"
                ));
                usual.to_owned()
            }
        },
        None => usual.to_owned(),
    };
    let usual = if serves && !terminal {
        LogFormat::Json
    } else {
        LogFormat::Text
    };
    let format = match variable(FORMAT_VARIABLE).as_deref() {
        Some("json") => LogFormat::Json,
        Some("text") => LogFormat::Text,
        Some(other) => {
            let counts = match usual {
                LogFormat::Json => "json",
                LogFormat::Text => "text",
            };
            wrong.push(format!(
                "{FORMAT_VARIABLE}={other}: there is no such format; write `json` or `text`. It counts as `{counts}`"
            ));
            usual
        }
        None => usual,
    };
    LogOptions {
        filter,
        format,
        wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options_for(serves: bool, terminal: bool, variables: &[(&str, &str)]) -> LogOptions {
        read_log_options(serves, terminal, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_service_without_a_terminal_writes_for_programs() {
        for (serves, terminal, variables, format) in [
            (true, false, &[][..], LogFormat::Json),
            (true, true, &[], LogFormat::Text),
            (false, false, &[], LogFormat::Text),
            (true, false, &[(FORMAT_VARIABLE, "text")], LogFormat::Text),
            (true, true, &[(FORMAT_VARIABLE, "json")], LogFormat::Json),
            (false, true, &[(FORMAT_VARIABLE, "json")], LogFormat::Json),
        ] {
            let options = options_for(serves, terminal, variables);
            assert_eq!(options.format, format, "{serves} {terminal} {variables:?}");
            assert!(options.wrong.is_empty(), "{options:?}");
        }
    }

    #[test]
    fn unknown_words_are_reported() {
        assert_eq!(options_for(true, true, &[]).filter, SERVICE_LEVELS);
        assert_eq!(options_for(false, true, &[]).filter, COMMAND_LEVELS);
        let debug = options_for(true, true, &[(LEVEL_VARIABLE, "phileas=debug")]);
        assert_eq!(debug.filter, "phileas=debug");
        let loud = options_for(
            true,
            true,
            &[(LEVEL_VARIABLE, "phileas=loud"), (FORMAT_VARIABLE, "xml")],
        );
        assert_eq!(loud.filter, SERVICE_LEVELS);
        assert_eq!(loud.wrong.len(), 2, "{loud:?}");
        assert!(loud.wrong[0].contains("phileas=loud"), "{loud:?}");
        let said = "PHILEAS_LOG_FORMAT=xml: there is no such format; write `json` or `text`. It counts as `text`";
        assert_eq!(loud.wrong[1], said);
    }
}
