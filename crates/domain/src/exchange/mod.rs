//! The exchange: the files by which narrator, observers, decider, planner, implementer and innovators pass work on.
//!
//! | file | question it answers |
//! |---|---|
//! | `shapes/` | what may an artifact say? Validator, JSON Schema and template are made of it |
//! | `layout` | where does which artifact lie, in either layout? |
//! | `read`, `check` | what is there, and what is wrong with it? |
//! | `fix` | what of that has one answer? |
//! | `migrate` | what lies or looks as it did in older versions, and where does it belong? |
//! | `patch` | which files did a session write? |
//! | `import` | what does a session bring into the ledger? |
//! | `publish` | what does a proposal look like as an issue? |
//! | `offer` | what does a work item look like as an issue, on which a person lets it through? |
//! | `shown` | what do people read of it then, and what is its session given? |
//! | `settle` | what becomes of a work item when its pull request has ended? |
//! | `route`, `inspect` | what comes next, and what is there, for programs? |

mod artifact;
mod bindings;
mod check;
mod drift;
pub(crate) mod edit;
mod fix;
mod import;
mod index;
mod inspect;
mod labels;
mod layout;
pub mod limits;
mod links;
mod memory;
mod migrate;
mod names;
mod offer;
mod patch;
mod placeholder;
mod publish;
mod quality;
mod read;
mod roster;
mod route;
pub(crate) mod schema;
mod settle;
pub(crate) mod shape;
mod shapes;
mod shown;
mod template;
pub(crate) mod validate;
pub(crate) mod values;

pub use artifact::{
    Changes, Event, EventState, Evidence, Feedback, Filed, Memory, Proposal, Verification, WorkItem,
};
pub use bindings::{Bound, bound};
pub use check::{Checked, UnknownStream, check};
pub use fix::{Fix, fix};
pub use import::{Author, Changed, CommitRange, Content, Import, Request, import};
pub use inspect::inspect;
pub use labels::{LABELS_PATH, Label, Labels, USUAL};
pub use layout::{FLAT_STREAM, Layout};
pub use memory::{Owner, seed};
pub use migrate::{Migration, Step, across, migrate};
pub use names::proposal_prefix;
pub use offer::{offer, offer_digest, offered};
pub use patch::{bases, changed};
pub use publish::{Publication, publication};
pub use read::{Exchange, Stream};
pub use roster::Roster;
pub use route::{Next, Routes};
pub use settle::{Files, SettleError, merged, returned};
pub use shape::Shape;
pub use shapes::{
    CHANGE, CHANGES, EVENT, FEEDBACK, HISTORY, INNOVATOR_PERSPECTIVE, ISSUE, PERSPECTIVE,
    PERSPECTIVE_V1, PROPOSAL, REQUIREMENT, SHAPES,
};
pub use shown::shown;
pub(crate) use values::is_name as is_role;
