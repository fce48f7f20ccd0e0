//! Parses numbers and addresses. A refusal says what to write.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::adapters::transport::excessive_port;

/// Parses a whole number in a range. `what` is what it is, such as `a number of days`.
///
/// # Errors
///
/// The text is no whole number, or out of the range. The error says the range and shows an example.
pub(super) fn parse_whole<N>(
    text: &str,
    range: RangeInclusive<u64>,
    what: &str,
    example: u64,
) -> Result<N, String>
where
    N: TryFrom<u64>,
{
    let number = text.trim().parse::<u64>().ok();
    let number = number.filter(|number| range.contains(number));
    let number = number.and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| {
        let (least, most) = range.into_inner();
        format!("write {what} from {least} to {most}, such as {example}")
    })
}

/// A parser of one of these values, by name. Completion and help list the names.
pub(super) fn one_of<N, T>(
    values: impl IntoIterator<Item = (N, T)>,
) -> impl TypedValueParser<Value = T>
where
    N: Into<PossibleValue>,
    T: Clone + Send + Sync + 'static,
{
    let values = values.into_iter().map(|(name, value)| (name.into(), value));
    let values: Vec<(PossibleValue, T)> = values.collect();
    let names: Vec<PossibleValue> = values.iter().map(|(name, _)| name.clone()).collect();
    PossibleValuesParser::new(names).map(move |text| {
        let named = values.iter().find(|(name, _)| name.matches(&text, false));
        named.expect("the text is one of the names").1.clone()
    })
}

/// Parses an address to listen on.
///
/// # Errors
///
/// The text is no address with a port.
pub(super) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.trim().parse().map_err(|_| {
        if let Some(port) = excessive_port(text.trim()) {
            return format!("there is no port {port}; write a port from 0 to {}", u16::MAX);
        }
        "write an address and a port, such as `127.0.0.1:8080` (`0.0.0.0:8080` for all addresses); names such as \
         localhost are not looked up"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::*;
    use crate::cli::arguments::Arguments;

    /// What Rust's and clap's own parsers say. None of it says what to write.
    const RAW: [&str; 8] = [
        "failed to parse",
        "invalid digit",
        "too large to fit",
        "empty string",
        "invalid float",
        "socket address syntax",
        "is not in 0..",
        "unknown variant",
    ];

    /// The refusals of a value by every option, and by every first argument, of a command and those below it.
    fn refusals(command: &Command, value: &str, found: &mut Vec<String>) {
        for argument in command.get_arguments() {
            let line = match (argument.get_long(), argument.get_index()) {
                (Some(long), _) => vec![format!("--{long}={value}")],
                (None, Some(1)) => vec!["--".to_owned(), value.to_owned()],
                _ => continue,
            };
            let command = command.clone().no_binary_name(true);
            if let Err(error) = command.try_get_matches_from(line) {
                found.push(error.to_string());
            }
        }
        for inner in command.get_subcommands() {
            refusals(inner, value, found);
        }
    }

    #[test]
    fn no_option_answers_in_the_words_of_a_parser() {
        let mut command = Arguments::command();
        command.build();
        let mut found = Vec::new();
        for value in [
            "abc",
            "",
            "-1",
            "1.5",
            "999999999999999999999",
            "127.0.0.1:99999",
        ] {
            refusals(&command, value, &mut found);
        }
        for option in ["--days", "--github", "--date"] {
            let is_refused = found
                .iter()
                .any(|one| one.contains(&format!("'{option} <")));
            assert!(is_refused, "{option}: {found:?}");
        }
        for one in found {
            let raw = RAW.iter().find(|raw| one.contains(**raw));
            assert_eq!(raw, None, "{one}");
        }
    }

    #[test]
    fn a_refused_number_names_its_range() {
        let days = |text| parse_whole::<u16>(text, 1..=90, "a whole number of days", 14);
        assert_eq!(days("90"), Ok(90));
        for text in ["abc", "0", "91", "1.5", "", "999999999999999999999"] {
            let said = days(text).unwrap_err();
            assert_eq!(
                said,
                "write a whole number of days from 1 to 90, such as 14"
            );
        }
        assert!(parse_whole::<u8>("300", 0..=1_000, "a number", 1).is_err());
    }

    #[test]
    fn a_refused_address_names_its_port() {
        assert!(parse_address("[::1]:0").is_ok());
        for (text, said) in [
            (
                "127.0.0.1:99999",
                "there is no port 99999; write a port from 0 to 65535",
            ),
            ("127.0.0.1", "write an address and a port"),
            (
                "localhost:8080",
                "names such as localhost are not looked up",
            ),
            ("127.0.0.1:http", "write an address and a port"),
        ] {
            let error = parse_address(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
