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
//! | `work_item_issue` | What does a work item look like as an issue, on which a person approves it? |
//! | `work_item_text` | Which text of a work item do people and its session read? |
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
mod template;
pub(crate) mod validate;
pub(crate) mod values;
mod work_item_issue;
mod work_item_text;

pub use artifact::{
    Changes, Event, EventState, Evidence, Feedback, Filed, Memory, Proposal, Verification, WorkItem,
};
pub use bindings::{BoundRole, bound_roles};
pub use check::{CheckResult, UnknownStream, check_exchange};
pub use fix::{Fix, find_fixes};
pub use import::{Author, ChangedFile, CommitRange, FileContent, Import, Request, import_changes};
pub use inspect::inspect_exchange;
pub use labels::{LABELS_PATH, Label, Labels, USUAL};
pub use layout::{FLAT_STREAM, Layout};
pub use memory::{Owner, seed_text};
pub use migrate::{Migration, Step, is_unread, migrate_exchange, migrate_layout};
pub use model::{Exchange, Stream};
pub use names::proposal_prefix;
pub use patch::{apply_patch, base_paths};
pub use publish::{Publication, publication_of};
pub use roster::Roster;
pub use route::{Next, Routes};
pub use settle::{Files, SettleError, settle_merged, settle_returned};
pub use shape::Shape;
pub use shapes::{
    CHANGE, CHANGES, EVENT, FEEDBACK, HISTORY, INNOVATOR_PERSPECTIVE, ISSUE, PERSPECTIVE,
    PERSPECTIVE_V1, PROPOSAL, REQUIREMENT, SHAPES,
};
pub use work_item_issue::{offer_digest, split_issue_key, work_item_issue};
pub use work_item_text::issue_text;

pub(crate) use values::is_name as is_role;
