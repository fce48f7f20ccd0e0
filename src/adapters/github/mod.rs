//! One repository on GitHub: what a tick reads of it and writes to it.
//!
//! | question | file |
//! |---|---|
//! | what is a client made of? | `client.rs` |
//! | which credential does a request carry, and what may it see? | [`auth`] |
//! | how does a request leave, and what is repeated, followed, given up? | [`http`] |
//! | which queries are sent? | `graphql/`, `graphql.rs` |
//! | what does a tick, or a command, read? | `read/` |
//! | what is written? | [`mod@write`] |
//! | which answers does GitHub give? | `wire/` |

pub mod auth;
pub mod http;
pub mod write;

mod client;
mod graphql;
mod notice_marks;
mod read;
mod repository;
mod wire;

#[cfg(test)]
mod scripted;

pub use self::http::answer::SECONDARY_LIMIT_WAIT;
pub use self::http::api_url::{Base, BaseError};
pub use self::http::budget::{Api, Quota, Usage};
pub use self::http::error::DETAIL_LIMIT_CHARS;
pub use crate::adapters::pause::{Pause, SystemPause};
pub use auth::account::{Account, Credential};
pub use auth::app::{AppClient, AppIdentity, Installation};
pub use auth::conversion::{Conversion, convert_manifest};
pub use auth::rights::{RepositoryAccess, Right, TOKEN_RIGHTS};
pub use auth::token::{App, CredentialError, Token, TokenKind};
pub use client::{Client, Settings};
pub use notice_marks::{NOTICE_COLOR, NOTICE_DESCRIPTION, NOTICE_LABEL, PAUSE_LABEL};
pub use read::hooks::{DeliveryAttempt, DeliveryPage, Hook};
pub use read::labels::Label;
pub use read::observe::STATE_LIMIT_BYTES;
pub use read::protection::{Classic, Protection, Rule};
pub(crate) use read::pull_history::{HISTORY_PAGE, HistoryPage};
pub use read::reached::ReachedRepository;
pub use read::versions::{FileVersion, MAX_VERSIONS};
pub use read::workflows::{MAX_RUNS, Workflow, WorkflowRun};
pub use write::branch::{blocked_text, find_blocking_branch};
pub use write::proposal::{Proposal, Proposed};
