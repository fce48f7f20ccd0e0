//! `phileas stop --all` and `phileas resume`: the emergency brake, and its release.

mod look;
mod pause;

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::model::SessionId;
use serde_json::json;

use super::arguments::Repository;
use super::connect::{self, Connection};
use super::exit::{Exit, Stopped};
use super::lines::short;
use super::output::Screen;
use crate::adapters::pause::{Pause as Waiting, SystemPause};
use crate::runtime::EditError;
use crate::runtime::ports::{WriteGitHub, WriteJules};
use look::{Announced, look};
use pause::pause;

pub(super) use pause::resume;

/// How often everything is looked at anew while announced sessions are waited for.
const MOST_LOOKS: usize = 4;

/// How to stop a repository without its ledger.
const BY_HAND: &str =
    "set the repository variable PHILEAS_PAUSED, or put the label `phileas:pause` on an open issue";

/// Pauses the repository, then archives every live session of ours. Whatever fails, the rest is still done.
pub(super) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let variable = connect::variable("PHILEAS_PAUSED").filter(|value| connect::is_set(value));
    let brake = Brake {
        github: &connection.github,
        jules: &connection.jules,
        pause: &SystemPause,
        paused_otherwise: variable.is_some(),
        json: arguments.json,
    };
    brake.pull(screen).await
}

/// The emergency brake of one repository.
struct Brake<'a, G, J> {
    github: &'a G,
    jules: &'a J,
    pause: &'a dyn Waiting,
    /// The repository's variable pauses it already.
    paused_otherwise: bool,
    json: bool,
}

impl<G: WriteGitHub, J: WriteJules> Brake<'_, G, J> {
    async fn pull(&self, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
        // The pause comes first, so that nothing starts behind our back.
        let paused = pause(self.github).await;
        match &paused {
            Ok(by) => self.say(
                screen,
                &json!({ "paused": true, "by": by }),
                &format!("paused by {}", by.as_deref().unwrap_or("this command")),
            )?,
            Err(error) => self.say(
                screen,
                &json!({ "paused": false, "detail": error.to_string(), "mend": BY_HAND }),
                &format!("NOT paused: {error}; to keep it from starting anything, {BY_HAND}"),
            )?,
        }
        let mut exit = Exit::Done;
        let mut found = look(self.github, self.jules).await?;
        let mut archived = BTreeSet::new();
        for announced in &found.announced {
            self.name(announced, screen)?;
        }
        for nth in 1..=MOST_LOOKS {
            for session in &found.live {
                if archived.insert(session.clone()) && !self.archive(session, screen).await? {
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
            found = look(self.github, self.jules).await?;
        }
        if archived.is_empty() && found.announced.is_empty() && !self.json {
            screen.line("no session of ours is live")?;
        }
        for announced in &found.announced {
            // Nobody can say yet that nothing of it goes on.
            exit = worse(exit);
            self.doubt(announced, screen)?;
        }
        screen.flush()?;
        match paused {
            Ok(_) => Ok(exit),
            Err(EditError::NoLedger) if self.paused_otherwise || found.paused_by_label => Ok(exit),
            // The first tick may give birth to the ledger at any time, and start what is due.
            Err(EditError::NoLedger) => Ok(worse(exit)),
            Err(error) => Err(error.into()),
        }
    }

    async fn archive(
        &self,
        session: &SessionId,
        screen: &mut Screen<impl Write>,
    ) -> Result<bool, Stopped> {
        let id = session.as_str();
        let done = self.jules.archive(session).await;
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
        if self.json {
            screen.line(&document.to_string())?;
        } else {
            screen.line(text)?;
        }
        Ok(())
    }
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
