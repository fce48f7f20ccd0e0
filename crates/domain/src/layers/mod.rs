//! The layers of the hand-over pipeline: their prompts, their roles, and which of them run.
//!
//! phileas has built-in files for all layers: common rules, and for each layer a prompt, a contract, tasks, schemas and
//! roles. Files of the default branch replace them one by one. Files of the ledger never do.
//!
//! | file | question it answers |
//! |---|---|
//! | `texts` | Which files are built in? |
//! | `spelling` | In which folders, and under which names, may a layer's and a role's files be? |
//! | `role` | Which roles exist, and where does each come from? |
//! | `own_files` | Are the contracts and tasks sound that a repository has of its own? |
//! | `catalogue` | Which files does a repository use? |
//! | `role_status` | Which roles run now, and why do the others not? |
//! | `pin` | Which version wrote which files, and which may a newer version replace? |
//! | `brief` | What does the prompt of one session need? |
//! | `digest` | How does a prompt list current work? |
//!
//! The roster, and when the layers run, are part of the [plan](crate::plan::Roster).

mod brief;
mod catalogue;
mod digest;
pub mod limits;
mod own_files;
mod pin;
mod role;
mod role_status;
mod spelling;
#[cfg(test)]
mod tests;
mod texts;

pub use brief::{Brief, Job, Section};
pub use catalogue::Catalogue;
pub use own_files::{check_included_files, check_layer_files};
pub use pin::{
    CONFIG_PIN_PATH, FileChangeKind, LEDGER_PIN_PATH, Move, Pin, PinError, README_PATH,
    is_own_copy, placeholder_files, upgrade_moves,
};
pub use role::{ROLE_NAME, Role, Source, blank_role, is_role_name, role_names};
pub use role_status::{HoldReason, RoleStatus};
pub use texts::{DEFAULT_INNOVATORS, DEFAULT_OBSERVERS};

pub(crate) use texts::RULES;
