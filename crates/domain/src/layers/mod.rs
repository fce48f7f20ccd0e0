//! The layers of the hand-over pipeline: what each is told, and who works in it.
//!
//! The binary brings a catalogue: rules for all layers, and for each layer a prompt, a contract, tasks, schemas and roles.
//! Files of the default branch lie over it, one by one: what a repository has itself counts, everything else is the
//! catalogue's. Nothing of the ledger does.
//!
//! | file | question it answers |
//! |---|---|
//! | `texts` | what does the binary bring? |
//! | `spelling` | under which names may a layer's and a role's files lie? |
//! | `role` | which roles are there, and where does each come from? |
//! | `catalogue` | what counts in a repository? |
//! | `standing` | which roles work now, and why do the others not? |
//! | `pin` | what did which version write, and what may a newer one replace? |
//! | `brief` | what does the prompt of one session need? |
//! | `digest` | how does a prompt show work that is under way? |
//!
//! Who is on the roster, and when the layers run, is a part of the [plan](crate::plan::Roster).

mod brief;
mod catalogue;
mod digest;
pub mod limits;
mod pin;
mod role;
mod spelling;
mod standing;
#[cfg(test)]
mod tests;
mod texts;

pub use brief::{Brief, Job, Section};
pub use catalogue::Catalogue;
pub use pin::{
    CONFIG_PIN_PATH, Fate, LEDGER_PIN_PATH, Move, Pin, PinError, README_PATH, keepers, moves,
};
pub use role::{ROLE_NAME, Role, Source, blank_role, is_role_name, role_names};
pub use standing::{Held, Standing};
pub use texts::{DEFAULT_INNOVATORS, DEFAULT_OBSERVERS};

pub(crate) use texts::RULES;
