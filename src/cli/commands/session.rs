//! `phileas session`: lists, shows, messages, ends and imports the sessions of a repository.

mod follow_up;
mod import;
mod list;
mod lookup;
mod message;
mod retry_cancel;
mod show;

use std::io::Write;

use phileas_domain::model::TrackName;

use crate::cli::arguments::SessionCommand;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;

/// What stands before a session's id in the texts that people copy.
const ID_PREFIXES: [&str; 3] = ["sessions", "/session", "/task"];
/// How many characters of a wrong id are printed.
const ID_CHARS: usize = 60;

pub(crate) async fn run(
    command: &SessionCommand,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        SessionCommand::List {
            archived,
            repository,
        } => list::run(*archived, repository, screen).await,
        SessionCommand::Show { id, repository } => {
            show::run(&parse_session_id(id)?, repository, screen).await
        }
        SessionCommand::Approve { id, repository } => {
            message::approve_plan(&parse_session_id(id)?, repository, screen).await
        }
        SessionCommand::Message {
            id,
            text,
            repository,
        } => message::send_message(&parse_session_id(id)?, text, repository, screen).await,
        SessionCommand::Retry { id, repository } => {
            retry_cancel::retry_turn(&parse_session_id(id)?, repository, deadline, screen).await
        }
        SessionCommand::Cancel { id, repository } => {
            retry_cancel::cancel_turn(&parse_session_id(id)?, repository, deadline, screen).await
        }
        SessionCommand::Import {
            id,
            persona,
            repository,
        } => import::run(&parse_session_id(id)?, persona, repository, screen).await,
    }
}

/// Parses an id as people copy it: bare, as `sessions/<id>`, or as the address of its page.
fn parse_session_id(text: &str) -> Result<String, CliError> {
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    let bare = bare.trim().trim_end_matches('/');
    let id = match bare.rsplit_once('/') {
        None => bare,
        Some((before, last)) if ID_PREFIXES.iter().any(|page| before.ends_with(page)) => last,
        Some(_) => "",
    };
    let is_request = TrackName::from(id).request_number().is_some();
    let names = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || !is_request && !id.chars().all(names) {
        return Err(CliError::usage(format!(
            "`{}` is not a session's id; give its digits, `sessions/<id>` or the address of its page, or a turn's id",
            sanitize(text, ID_CHARS)
        )));
    }
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_session_id;

    #[test]
    fn ids_are_parsed_as_people_copy_them() {
        for text in [
            "15481661885092594092",
            "sessions/15481661885092594092",
            "https://jules.google.com/session/15481661885092594092/?x=1#top",
            "https://jules.google.com/task/15481661885092594092",
        ] {
            assert_eq!(
                parse_session_id(text).unwrap(),
                "15481661885092594092",
                "{text}"
            );
        }
        assert_eq!(parse_session_id("request:3").unwrap(), "request:3");
    }

    #[test]
    fn a_text_that_is_no_id_is_refused_and_not_truncated_to_one() {
        for text in ["../../x", "sessions/..", "x/y", "a b", "", "/", "é"] {
            assert!(parse_session_id(text).is_err(), "{text}");
        }
    }
}
