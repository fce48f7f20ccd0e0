//! `phileas pause` and `phileas resume`: keeps a repository from starting sessions, and resumes it.

mod live_sessions;
mod state;
mod turns;

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::engine::Ledger;
use phileas_domain::model::{RepositoryName, SessionId};
use serde_json::json;

use crate::adapters::pause::{Pause as Waiting, SystemPause};
use crate::cli::arguments::Pause;
use crate::cli::context::{clients, env_var};
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::{WriteGitHub, WriteJules};
use crate::runtime::{EditError, ledger_of};
use live_sessions::{AnnouncedSession, find_live_sessions};
use state::write_pause;
use turns::end_turns;

pub(crate) use state::resume_repository;

/// How often to check everything again while waiting for announced sessions.
const MAX_CHECKS: usize = 4;

/// The reason of a pause that leaves sessions alone.
const PAUSE_REASON: &str = "phileas pause";
/// The reason of a pause that cancels them.
const STOP_REASON: &str = "phileas pause --cancel-sessions";

/// How to stop a repository without its ledger.
const MANUAL_STOP: &str =
    "set the repository variable PHILEAS_PAUSED, or put the label `phileas:pause` on an open issue";

/// Pauses the repository, then archives all its live sessions if the options ask for it. A failure does not stop the
/// other steps: the pause needs GitHub only, so it is written without a Jules key, too.
pub(crate) async fn run(
    arguments: &Pause,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let Pause {
        cancel_sessions,
        repository,
    } = arguments;
    let json = repository.json;
    let github = match clients::github_client(&repository.repo) {
        Ok(github) => github,
        Err(stopped) => return PauseFailure::from(stopped).print(json, screen),
    };
    let variable = env_var::pausing_value();
    let brake = Stopper {
        repository: &repository.repo,
        github: &github,
        pause: &SystemPause,
        deadline,
        paused_otherwise: variable.is_some(),
        json,
    };
    if *cancel_sessions {
        let jules = clients::repository_jules(&repository.repo);
        brake.stop_repository(jules.as_ref(), screen).await
    } else {
        brake.pause_repository(screen).await
    }
}

/// Stops one repository.
struct Stopper<'a, G> {
    repository: &'a RepositoryName,
    github: &'a G,
    pause: &'a dyn Waiting,
    deadline: Option<Deadline>,
    /// The repository's variable pauses it already.
    paused_otherwise: bool,
    json: bool,
}

/// The results for the sessions.
struct SessionResults {
    exit: Exit,
    paused_by_label: bool,
}

impl<G: WriteGitHub> Stopper<'_, G> {
    /// Pauses the repository, and leaves its sessions alone.
    async fn pause_repository(&self, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
        match self.write_pause(PAUSE_REASON, screen).await? {
            Err(failure) if self.is_held_anyway(&failure) => Ok(Exit::Done),
            Err(failure) => Ok(failure.error.exit),
            Ok(()) => Ok(Exit::Done),
        }
    }

    /// Whether only the ledger is missing, and the variable holds everything meanwhile.
    fn is_held_anyway(&self, failure: &PauseFailure) -> bool {
        failure.lacks_ledger && self.paused_otherwise
    }

    /// Writes the pause, and prints whether that succeeded.
    async fn write_pause(
        &self,
        reason: &str,
        screen: &mut Screen<impl Write>,
    ) -> Result<Result<(), PauseFailure>, CliError> {
        // At its deadline the command says that it is not paused, as after any other failure.
        let written = async { Ok(write_pause(self.github, reason).await) };
        let written = match Deadline::run_within(self.deadline, "", written).await {
            Ok(written) => written.map_err(PauseFailure::from),
            Err(late) => Err(PauseFailure::from(late)),
        };
        match written {
            Ok(by) => {
                let author = by.as_ref().map(|by| format!(" by {by}"));
                self.print_result(
                    screen,
                    &json!({ "paused": true, "by": by }),
                    &format!(
                        "{} is paused{}; `phileas resume` ends it",
                        self.repository,
                        author.unwrap_or_default()
                    ),
                )?;
                Ok(Ok(()))
            }
            Err(failure) => {
                if self.is_held_anyway(&failure) {
                    self.print_result(
                        screen,
                        &json!({ "paused": true, "by": "PHILEAS_PAUSED" }),
                        "paused by the variable PHILEAS_PAUSED; there is no ledger yet",
                    )?;
                } else {
                    failure.print(self.json, screen)?;
                }
                Ok(Err(failure))
            }
        }
    }

    /// `jules`: the client, or why there is none.
    async fn stop_repository<J: WriteJules>(
        &self,
        jules: Result<&J, &CliError>,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, CliError> {
        // Pause first, so that no session starts meanwhile.
        let paused = self.write_pause(STOP_REASON, screen).await?;
        let mut archived = BTreeSet::new();
        let ended = match jules {
            Ok(jules) => self.end_sessions(jules, &mut archived, screen).await,
            Err(stopped) => Err(stopped.clone()),
        };
        // Write the ledger last: its failure must not keep a session alive.
        let told = match &paused {
            Ok(_) if !archived.is_empty() => self.record_cancelled_turns(&archived, screen).await?,
            _ => true,
        };
        let sessions = match ended {
            Ok(sessions) if told => sessions,
            Ok(sessions) => SessionResults {
                exit: at_least_findings(sessions.exit),
                ..sessions
            },
            Err(stopped) => {
                self.print_live_sessions(&archived, screen).await?;
                screen.flush()?;
                return match &paused {
                    Err(failure) if failure.has_same_cause(&stopped) => Ok(stopped.exit),
                    _ => Err(stopped),
                };
            }
        };
        match paused {
            Ok(()) => Ok(sessions.exit),
            Err(failure)
                if failure.lacks_ledger && (self.paused_otherwise || sessions.paused_by_label) =>
            {
                Ok(sessions.exit)
            }
            // An earlier failure says more.
            Err(failure) if failure.lacks_ledger => Ok(at_least_findings(sessions.exit)),
            Err(failure) => Ok(failure.error.exit),
        }
    }

    /// Records the turns of archived sessions as cancelled. Returns whether that succeeded.
    async fn record_cancelled_turns(
        &self,
        archived: &BTreeSet<SessionId>,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, CliError> {
        match end_turns(self.github, archived).await {
            Ok(ended) => {
                for (track, turn) in &ended {
                    let (id, persona) = (turn.turn.as_str(), &turn.persona_id);
                    self.print_result(
                        screen,
                        &json!({
                            "ended": id, "track": track.as_str(), "persona": persona.as_str(), "outcome": "cancelled",
                        }),
                        &format!("{track}: the turn of {persona} is over, as cancelled"),
                    )?;
                }
                Ok(true)
            }
            Err(error) => {
                self.print_result(
                    screen,
                    &json!({ "ended": null, "detail": error.to_string() }),
                    &format!(
                        "the ledger could not record that their turns are over: {error}; a later tick records it"
                    ),
                )?;
                Ok(false)
            }
        }
    }

    /// Prints the sessions that the ledger follows, for a person to end by hand, because Jules could not be asked which
    /// are live.
    async fn print_live_sessions(
        &self,
        archived: &BTreeSet<SessionId>,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), CliError> {
        // The reason for not asking is printed already, and says more than a second failure.
        let Ok(observation) = self.github.observe_repository().await else {
            return Ok(());
        };
        let Ledger::Present { state, .. } = ledger_of(observation.ledger) else {
            return Ok(());
        };
        let turns = state.tracks.values().flat_map(|track| track.turns.values());
        let followed = turns.filter_map(|turn| Some((turn.session_id.as_ref()?, turn)));
        for (id, turn) in followed.filter(|(id, _)| !archived.contains(*id)) {
            self.print_result(
                screen,
                &json!({ "session_id": id.as_str(), "archived": false, "detail": "Jules could not be asked" }),
                &format!(
                    "session {id} of {} NOT archived; it may be at work: https://jules.google.com/session/{id}",
                    turn.persona_id
                ),
            )?;
        }
        Ok(())
    }

    async fn end_sessions<J: WriteJules>(
        &self,
        jules: &J,
        archived: &mut BTreeSet<SessionId>,
        screen: &mut Screen<impl Write>,
    ) -> Result<SessionResults, CliError> {
        let mut exit = Exit::Done;
        let mut found = find_live_sessions(self.github, jules).await?;
        let mut tried = BTreeSet::new();
        for announced in &found.announced {
            self.print_announced(announced, screen)?;
        }
        for nth in 1..=MAX_CHECKS {
            for session in &found.live {
                if !tried.insert(session.clone()) {
                    continue;
                }
                if self.archive_session(jules, session, screen).await? {
                    archived.insert(session.clone());
                } else {
                    exit = Exit::Unavailable;
                }
            }
            let called = found
                .announced
                .iter()
                .map(AnnouncedSession::call_ends_by)
                .max();
            let Some(called) = called.filter(|called| *called > found.now) else {
                break;
            };
            if nth == MAX_CHECKS {
                break;
            }
            let wait = called.duration_since(found.now);
            if !self.json {
                screen.print_line(&format!("looking again at {} UTC", short_time(called)))?;
                screen.flush()?;
            }
            self.pause.pause_for(wait.unsigned_abs()).await;
            found = find_live_sessions(self.github, jules).await?;
        }
        if tried.is_empty() && found.announced.is_empty() && !self.json {
            screen.print_line("phileas has no live session here")?;
        }
        for announced in &found.announced {
            // It is not certain yet that all sessions have ended.
            exit = at_least_findings(exit);
            self.print_unconfirmed(announced, screen)?;
        }
        screen.flush()?;
        Ok(SessionResults {
            exit,
            paused_by_label: found.paused_by_label,
        })
    }

    async fn archive_session<J: WriteJules>(
        &self,
        jules: &J,
        session: &SessionId,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, CliError> {
        let id = session.as_str();
        let done = jules.archive_session(session).await;
        match &done {
            Ok(()) => self.print_result(
                screen,
                &json!({ "session_id": id, "archived": true }),
                &format!("session {id} archived"),
            )?,
            Err(failure) => self.print_result(
                screen,
                &json!({ "session_id": id, "archived": false, "detail": failure.detail }),
                &format!("session {id} NOT archived: {failure}"),
            )?,
        }
        Ok(done.is_ok())
    }

    fn print_announced(
        &self,
        one: &AnnouncedSession,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), CliError> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        self.print_result(
            screen,
            &json!({
                "announced": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "holder": one.holder.as_str(), "not_after": one.not_after.to_string(),
            }),
            &format!(
                "{track}: {} has announced a session of {persona} and may create it until {} UTC",
                one.holder,
                short_time(one.not_after)
            ),
        )
    }

    fn print_unconfirmed(
        &self,
        one: &AnnouncedSession,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), CliError> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        let listed_by = one.listed_by();
        self.print_result(
            screen,
            &json!({
                "may_still_start": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "certain_at": listed_by.to_string(),
            }),
            &format!(
                "{track}: the announced session of {persona} is not to be seen, and may be at work all the same; run \
                 this again after {} UTC",
                short_time(listed_by)
            ),
        )
    }

    fn print_result(
        &self,
        screen: &mut Screen<impl Write>,
        document: &serde_json::Value,
        text: &str,
    ) -> Result<(), CliError> {
        print_result(self.json, screen, document, text)
    }
}

fn print_result(
    json: bool,
    screen: &mut Screen<impl Write>,
    document: &serde_json::Value,
    text: &str,
) -> Result<(), CliError> {
    if json {
        screen.print_line(&document.to_string())?;
    } else {
        screen.print_line(text)?;
    }
    Ok(())
}

/// Why the pause is not written.
struct PauseFailure {
    error: CliError,
    /// The first tick may create the ledger at any time, and start what is due.
    lacks_ledger: bool,
}

impl From<CliError> for PauseFailure {
    fn from(error: CliError) -> Self {
        Self {
            error,
            lacks_ledger: false,
        }
    }
}

impl From<EditError> for PauseFailure {
    fn from(error: EditError) -> Self {
        Self {
            lacks_ledger: matches!(error, EditError::NoLedger(_)),
            error: error.into(),
        }
    }
}

impl PauseFailure {
    /// Whether GitHub answered both requests in the same words, which are printed already.
    fn has_same_cause(&self, other: &CliError) -> bool {
        let words = |error: &CliError| {
            let (words, _) = error.message.split_once(" (GitHub")?;
            Some(words.to_owned())
        };
        words(&self.error).is_some_and(|known| words(other) == Some(known))
    }

    /// Prints that nothing keeps the repository from starting sessions, and how to stop it. A wrong name or address has
    /// no such way.
    fn print(&self, json: bool, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
        let why = &self.error.message;
        let is_reachable = self.lacks_ledger || self.error.exit != Exit::Usage;
        let help = is_reachable.then_some(MANUAL_STOP);
        if json {
            let document = json!({ "paused": false, "detail": why, "help": help });
            screen.print_line(&document.to_string())?;
        } else {
            let help = help.map(|help| format!("; to keep it from starting anything, {help}"));
            output::print_error(&format!(
                "error: NOT paused: {why}{}",
                help.unwrap_or_default()
            ))?;
        }
        screen.flush()?;
        Ok(self.error.exit)
    }
}

/// The exit code if something may still start. An earlier failure says more.
fn at_least_findings(exit: Exit) -> Exit {
    if exit == Exit::Done {
        Exit::Findings
    } else {
        exit
    }
}

#[cfg(test)]
mod tests;
