//! Renders a session's title.

use std::sync::Arc;

use minijinja::Error;

use super::context::Context;
use super::limits::TITLE_LIMIT_CHARS;
use super::untrusted::{cut_chars, one_line};
use crate::model::TrackName;
use crate::plan::Persona;

/// The template name of a persona's own title. No file can have it.
pub(super) const TITLE_TEMPLATE: &str = "<title>";

/// `<emoji> <id>: <track>`, or the persona's own title, preceded by emoji and id if it lacks them.
pub(super) fn render_title(
    persona: &Persona,
    track: &TrackName,
    context: &Arc<Context>,
) -> Result<String, Error> {
    let own = match &persona.title {
        Some(_) => one_line(&context.render_template(TITLE_TEMPLATE)?),
        None => String::new(),
    };
    let text = if own.is_empty() {
        let (emoji, track) = (one_line(&persona.emoji), one_line(track.as_str()));
        format!("{emoji} {}: {track}", persona.id)
            .trim_start()
            .to_owned()
    } else {
        with_brand(persona, &own)
    };
    Ok(cut_chars(&text, TITLE_LIMIT_CHARS))
}

fn with_brand(persona: &Persona, text: &str) -> String {
    let id = persona.id.as_str();
    let emoji = one_line(&persona.emoji);
    let has_emoji = emoji.is_empty() || text.contains(&emoji);
    let has_id = text
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '/')))
        .any(|word| word == id);
    match (has_emoji, has_id) {
        (true, true) => text.to_owned(),
        (false, true) => format!("{emoji} {text}"),
        (true, false) => format!("{id}: {text}"),
        (false, false) => format!("{emoji} {id}: {text}"),
    }
}
