//! Ids and small values, each a type of its own so that they cannot be mixed up.

mod ids;
mod repository;
mod switch;
mod tree;
mod turn;

pub use ids::{
    BranchName, Holder, Login, Oid, PersonaId, PullNumber, RepositoryId, SessionId, Slot, TrackName,
};
pub use repository::{RepositoryName, RepositoryNameError};
pub use switch::{SwitchError, parse_switch};
pub use tree::{Entry, Mode, TEXT_LIMIT_BYTES, Tree};
pub use turn::{Marker, MarkerError, PromptLine, TurnId};
