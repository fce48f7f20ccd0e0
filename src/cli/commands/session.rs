//! `phileas session`: the sessions of a repository, looked at, spoken to, ended, taken in.

mod again;
mod follow_up;
mod import;
mod list;
mod lookup;
mod show;
mod speak;

use std::io::Write;

use phileas_domain::model::TrackName;

use crate::cli::arguments::SessionCommand;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;

/// What stands before a session's id where people copy it from.
const PAGES: [&str; 3] = ["sessions", "/session", "/task"];
/// How much of a wrong id is printed, in characters.
const ID_CHARS: usize = 60;

pub(crate) async fn run(
    command: &SessionCommand,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        SessionCommand::List {
            archived,
            repository,
        } => list::run(*archived, repository, screen).await,
        SessionCommand::Show { id, repository } => show::run(&id_of(id)?, repository, screen).await,
        SessionCommand::Approve { id, repository } => {
            speak::approve(&id_of(id)?, repository, screen).await
        }
        SessionCommand::Message {
            id,
            text,
            repository,
        } => speak::message(&id_of(id)?, text, repository, screen).await,
        SessionCommand::Retry { id, repository } => {
            again::retry(&id_of(id)?, repository, deadline, screen).await
        }
        SessionCommand::Cancel { id, repository } => {
            again::cancel(&id_of(id)?, repository, deadline, screen).await
        }
        SessionCommand::Import {
            id,
            persona,
            repository,
        } => import::run(&id_of(id)?, persona, repository, screen).await,
    }
}

/// An id as people copy it: bare, as `sessions/<id>`, or as the address of its page.
fn id_of(text: &str) -> Result<String, Stopped> {
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    let bare = bare.trim().trim_end_matches('/');
    let id = match bare.rsplit_once('/') {
        None => bare,
        Some((before, last)) if PAGES.iter().any(|page| before.ends_with(page)) => last,
        Some(_) => "",
    };
    let is_request = TrackName::from(id).request_number().is_some();
    let names = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || !is_request && !id.chars().all(names) {
        return Err(Stopped::usage(format!(
            "`{}` is no session's id; give its digits, `sessions/<id>` or the address of its page, or a turn's id",
            plain(text, ID_CHARS)
        )));
    }
    Ok(id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::id_of;

    #[test]
    fn ids_are_taken_as_people_copy_them() {
        for text in [
            "15481661885092594092",
            "sessions/15481661885092594092",
            "https://jules.google.com/session/15481661885092594092/?x=1#top",
            "https://jules.google.com/task/15481661885092594092",
        ] {
            assert_eq!(id_of(text).unwrap(), "15481661885092594092", "{text}");
        }
        assert_eq!(id_of("request:3").unwrap(), "request:3");
    }

    #[test]
    fn what_is_no_id_is_refused_and_not_cut_to_one() {
        for text in ["../../x", "sessions/..", "x/y", "a b", "", "/", "é"] {
            assert!(id_of(text).is_err(), "{text}");
        }
    }
}
