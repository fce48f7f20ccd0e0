//! Personas: `.jules/personas/<id>/prompt.md[.j2]` with YAML frontmatter.

mod definition;
mod folders;
mod keys;
mod read;

pub use definition::Persona;
pub(crate) use folders::is_id;
pub use folders::{MAX_ID_BYTES, MAX_PERSONAS, MAX_PROMPT_BYTES, PROMPT_FILES, is_persona_id};
pub(super) use folders::{folder_of, folder_switched_off, is_prompt_switched_off};
pub use read::read_personas;

#[cfg(test)]
mod tests;
