//! `phileas session import`: a session that somebody started elsewhere counts as a persona's work from now on.

use std::cell::RefCell;
use std::io::Write;

use phileas_domain::engine::Import;
use phileas_domain::model::PersonaId;
use phileas_domain::plan;
use serde_json::json;

use super::lookup::of_repository;
use crate::cli::arguments::Repository;
use crate::cli::commands::track::meant;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity::{self, hex};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::runtime::{Edit, edit};

pub(super) async fn run(
    id: &str,
    persona: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let session = of_repository(&connection, id).await?;
    let holder = run_identity::this_run()?;
    let actor = run_identity::actor();
    let nonce = hex(&run_identity::entropy()?[..6]);
    let persona = PersonaId::from(persona);
    let headline = format!("import session {id} as {persona}");
    let wish = Edit {
        headline: &headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    let taken = RefCell::new(None);
    edit(&connection.github, &wish, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        if !plan.personas.contains_key(&persona) {
            let known = plan.personas.keys().map(PersonaId::as_str);
            let meant = meant(persona.as_str(), known);
            return Err(format!("there is no persona `{persona}`{meant}"));
        }
        let import = Import {
            repository: observation.repository.id,
            now: observation.now,
            holder: &holder,
            actor: actor.as_deref(),
            persona: &persona,
            session: &session,
            nonce: &nonce,
        };
        let place = import
            .into_state(state)
            .map_err(|error| error.to_string())?;
        taken.replace(Some(place));
        Ok(())
    })
    .await?;
    let (track, turn) = taken
        .into_inner()
        .ok_or_else(|| Stopped::fault("nothing was imported"))?;
    if arguments.json {
        let document = json!({
            "session_id": id, "persona": persona.as_str(), "track": track.as_str(), "turn": turn.as_str(),
        });
        screen.line(&document.to_string())?;
    } else {
        screen.line(&format!(
            "session {id} is turn {turn} of `{persona}` in track `{track}`; the next tick follows it"
        ))?;
    }
    Ok(Exit::Done)
}
