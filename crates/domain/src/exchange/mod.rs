//! The exchange: the files by which narrator, observers, decider, planner, implementer and innovators hand over work.
//!
//! | file | question it answers |
//! |---|---|
//! | `shapes/` | What may an artifact say? Validator, JSON Schema and template are generated from it. |
//! | `layout` | Which artifact is at which path, in either layout? |
//! | `read`, `check` | What is in the exchange, and what is wrong with it? |
//! | `fix` | Which mistakes have exactly one fix? |
//! | `migrate` | Which files have the location or shape of older versions, and what should they become? |
//! | `patch` | Which files did a session write? |
//! | `import` | Which files of a session enter the ledger? |
//! | `publish` | What does a proposal look like as an issue? |
//! | `offer` | What does a work item look like as an issue, on which a person approves it? |
//! | `shown` | Which text of a work item do people and its session read? |
//! | `settle` | What happens to a work item when its pull request has ended? |
//! | `route`, `inspect` | Which layer takes a work item next, and what does the exchange look like as JSON? |

mod artifact;
mod artifact_file;
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
mod model;
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
pub use model::{Exchange, Stream};
pub use names::proposal_prefix;
pub use offer::{offer, offer_digest, offered};
pub use patch::{bases, changed};
pub use publish::{Publication, publication};
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
