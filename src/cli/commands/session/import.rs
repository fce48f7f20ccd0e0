//! `phileas session import`: imports a session that was started elsewhere as the work of a persona.

use std::io::Write;

use phileas_domain::engine::Import;
use phileas_domain::model::PersonaId;
use phileas_domain::plan;
use serde_json::json;

use super::lookup::read_own_session;
use crate::cli::arguments::Repository;
use crate::cli::commands::track::suggestion_text;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity::{self, hex_text};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::{Edit, edit_state};

pub(super) async fn run(
    id: &str,
    persona: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let session = read_own_session(&connection, id).await?;
    let holder = run_identity::run_holder()?;
    let actor = run_identity::github_actor();
    let nonce = hex_text(&run_identity::random_bytes()?[..6]);
    let persona = PersonaId::from(persona);
    let headline = format!("import session {id} as {persona}");
    let edit = Edit {
        headline: &headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    let (track, turn) = edit_state(&connection.github, &edit, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        if !plan.personas.contains_key(&persona) {
            let known = plan.personas.keys().map(PersonaId::as_str);
            let meant = suggestion_text(persona.as_str(), known);
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
        Ok(import.into_state(state))
    })
    .await?
    .map_err(|refused| CliError::finding(refused.to_string()))?;
    if arguments.json {
        let document = json!({
            "session_id": id, "persona": persona.as_str(), "track": track.as_str(), "turn": turn.as_str(),
        });
        screen.print_line(&document.to_string())?;
    } else {
        screen.print_line(&format!(
            "session {id} is turn {turn} of `{persona}` in track `{track}`; the next tick follows it"
        ))?;
    }
    Ok(Exit::Done)
}
