//! `phileas stop --all` and `phileas resume`: the emergency brake, and its release.

mod look;
mod pause;
mod turns;

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::engine::Ledger;
use phileas_domain::model::SessionId;
use serde_json::json;

use crate::adapters::pause::{Pause as Waiting, SystemPause};
use crate::cli::arguments::Repository;
use crate::cli::context::{clients, env_var};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::runtime::ports::{WriteGitHub, WriteJules};
use crate::runtime::{EditError, ledger_of};
use look::{Announced, look};
use pause::pause;
use turns::end_turns;

pub(crate) use pause::resume;

/// How often everything is looked at anew while announced sessions are waited for.
const MOST_LOOKS: usize = 4;

/// How to stop a repository without its ledger.
const BY_HAND: &str =
    "set the repository variable PHILEAS_PAUSED, or put the label `phileas:pause` on an open issue";

/// Pauses the repository, then archives every live session of ours. Whatever fails, the rest is still done: for the
/// pause GitHub alone is needed, so a key that is missing does not keep it from being written.
pub(crate) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let json = arguments.json;
    let github = match clients::github(&arguments.repo) {
        Ok(github) => github,
        Err(stopped) => {
            say_unpaused(json, screen, &stopped.message)?;
            return Err(stopped);
        }
    };
    let jules = clients::jules(&arguments.repo);
    let variable = env_var::variable("PHILEAS_PAUSED").filter(|value| env_var::is_set(value));
    let brake = Brake {
        github: &github,
        pause: &SystemPause,
        paused_otherwise: variable.is_some(),
        json,
    };
    brake.pull(jules.as_ref(), screen).await
}

/// The emergency brake of one repository.
struct Brake<'a, G> {
    github: &'a G,
    pause: &'a dyn Waiting,
    /// The repository's variable pauses it already.
    paused_otherwise: bool,
    json: bool,
}

/// What became of the sessions.
struct Sessions {
    exit: Exit,
    paused_by_label: bool,
}

impl<G: WriteGitHub> Brake<'_, G> {
    /// `jules`: or why it cannot be reached at all.
    async fn pull<J: WriteJules>(
        &self,
        jules: Result<&J, &Stopped>,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, Stopped> {
        // The pause comes first, so that nothing starts behind our back.
        let paused = pause(self.github).await;
        match &paused {
            Ok(by) => self.say(
                screen,
                &json!({ "paused": true, "by": by }),
                &format!("paused by {}", by.as_deref().unwrap_or("this command")),
            )?,
            Err(error) => say_unpaused(self.json, screen, &error.to_string())?,
        }
        let mut archived = BTreeSet::new();
        let ended = match jules {
            Ok(jules) => self.end_sessions(jules, &mut archived, screen).await,
            Err(stopped) => Err(stopped.clone()),
        };
        // The ledger comes last: it may not keep anything from being stopped.
        let told = match &paused {
            Ok(_) if !archived.is_empty() => self.tell_ledger(&archived, screen).await?,
            _ => true,
        };
        let sessions = match ended {
            Ok(sessions) if told => sessions,
            Ok(sessions) => Sessions {
                exit: worse(sessions.exit),
                ..sessions
            },
            Err(stopped) => {
                self.name_live(&archived, screen).await?;
                screen.flush()?;
                return Err(stopped);
            }
        };
        match paused {
            Ok(_) => Ok(sessions.exit),
            Err(EditError::NoLedger) if self.paused_otherwise || sessions.paused_by_label => {
                Ok(sessions.exit)
            }
            // The first tick may give birth to the ledger at any time, and start what is due.
            Err(EditError::NoLedger) => Ok(worse(sessions.exit)),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the turns of archived sessions down as cancelled, and tells whether it could.
    async fn tell_ledger(
        &self,
        archived: &BTreeSet<SessionId>,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, Stopped> {
        match end_turns(self.github, archived).await {
            Ok(ended) => {
                for (track, turn) in &ended {
                    let (id, persona) = (turn.turn.as_str(), &turn.persona_id);
                    self.say(
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
                self.say(
                    screen,
                    &json!({ "ended": null, "detail": error.to_string() }),
                    &format!(
                        "the ledger could not be told that their turns are over: {error}; a later tick finds it out"
                    ),
                )?;
                Ok(false)
            }
        }
    }

    /// Names the sessions that the ledger follows, for whoever ends them by hand: nobody could ask Jules which are live.
    async fn name_live(
        &self,
        archived: &BTreeSet<SessionId>,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), Stopped> {
        // Why nothing could be asked is told already, and says more than a second failure would.
        let Ok(observation) = self.github.observe().await else {
            return Ok(());
        };
        let Ledger::Present { state, .. } = ledger_of(observation.ledger) else {
            return Ok(());
        };
        let turns = state.tracks.values().flat_map(|track| track.turns.values());
        let followed = turns.filter_map(|turn| Some((turn.session_id.as_ref()?, turn)));
        for (id, turn) in followed.filter(|(id, _)| !archived.contains(*id)) {
            self.say(
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
    ) -> Result<Sessions, Stopped> {
        let mut exit = Exit::Done;
        let mut found = look(self.github, jules).await?;
        let mut tried = BTreeSet::new();
        for announced in &found.announced {
            self.name(announced, screen)?;
        }
        for nth in 1..=MOST_LOOKS {
            for session in &found.live {
                if !tried.insert(session.clone()) {
                    continue;
                }
                if self.archive(jules, session, screen).await? {
                    archived.insert(session.clone());
                } else {
                    exit = Exit::Unavailable;
                }
            }
            let called = found.announced.iter().map(Announced::called_before).max();
            let Some(called) = called.filter(|called| *called > found.now) else {
                break;
            };
            if nth == MOST_LOOKS {
                break;
            }
            let wait = called.duration_since(found.now);
            if !self.json {
                screen.line(&format!("looking again at {} UTC", short(called)))?;
                screen.flush()?;
            }
            self.pause.pause(wait.unsigned_abs()).await;
            found = look(self.github, jules).await?;
        }
        if tried.is_empty() && found.announced.is_empty() && !self.json {
            screen.line("no session of ours is live")?;
        }
        for announced in &found.announced {
            // Nobody can say yet that nothing of it goes on.
            exit = worse(exit);
            self.doubt(announced, screen)?;
        }
        screen.flush()?;
        Ok(Sessions {
            exit,
            paused_by_label: found.paused_by_label,
        })
    }

    async fn archive<J: WriteJules>(
        &self,
        jules: &J,
        session: &SessionId,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, Stopped> {
        let id = session.as_str();
        let done = jules.archive(session).await;
        match &done {
            Ok(()) => self.say(
                screen,
                &json!({ "session_id": id, "archived": true }),
                &format!("session {id} archived"),
            )?,
            Err(failure) => self.say(
                screen,
                &json!({ "session_id": id, "archived": false, "detail": failure.detail }),
                &format!("session {id} NOT archived: {failure}"),
            )?,
        }
        Ok(done.is_ok())
    }

    fn name(&self, one: &Announced, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        self.say(
            screen,
            &json!({
                "announced": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "holder": one.holder.as_str(), "not_after": one.not_after.to_string(),
            }),
            &format!(
                "{track}: {} has announced a session of {persona} and may create it until {} UTC",
                one.holder,
                short(one.not_after)
            ),
        )
    }

    fn doubt(&self, one: &Announced, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
        let (track, persona) = (&one.track, &one.turn.persona_id);
        let listed_by = one.listed_before();
        self.say(
            screen,
            &json!({
                "may_still_start": one.turn.turn.as_str(), "track": track.as_str(), "persona": persona.as_str(),
                "certain_at": listed_by.to_string(),
            }),
            &format!(
                "{track}: the announced session of {persona} is not to be seen, and may be at work all the same; run \
                 this again after {} UTC",
                short(listed_by)
            ),
        )
    }

    fn say(
        &self,
        screen: &mut Screen<impl Write>,
        document: &serde_json::Value,
        text: &str,
    ) -> Result<(), Stopped> {
        say(self.json, screen, document, text)
    }
}

fn say(
    json: bool,
    screen: &mut Screen<impl Write>,
    document: &serde_json::Value,
    text: &str,
) -> Result<(), Stopped> {
    if json {
        screen.line(&document.to_string())?;
    } else {
        screen.line(text)?;
    }
    Ok(())
}

/// Says that nothing keeps the repository from starting sessions, and how to do that.
fn say_unpaused(json: bool, screen: &mut Screen<impl Write>, why: &str) -> Result<(), Stopped> {
    say(
        json,
        screen,
        &json!({ "paused": false, "detail": why, "mend": BY_HAND }),
        &format!("NOT paused: {why}; to keep it from starting anything, {BY_HAND}"),
    )?;
    screen.flush()?;
    Ok(())
}

/// Something may still start. A failure that is known already says more.
fn worse(exit: Exit) -> Exit {
    if exit == Exit::Done {
        Exit::Findings
    } else {
        exit
    }
}

#[cfg(test)]
mod tests;
