//! One repository on GitHub: what a tick reads of it and writes to it.
//!
//! | question | file |
//! |---|---|
//! | who are we to GitHub? | [`token`], `installation.rs`; what do several clients share? [`account`] |
//! | what is an App told of itself, its installations and its hook? | [`app`], `conversion.rs` |
//! | which repositories are there? | `reached.rs`; which hooks have they? `hooks.rs` |
//! | where is GitHub? | [`base`] |
//! | how does a request leave and an answer come back? | `channel.rs` (octocrab over any transport), `answer.rs` |
//! | what is repeated, followed, given up? | `request.rs`, [`retry`], [`budget`] |
//! | which paths are called? | [`routes`] |
//! | what is asked in GraphQL? | `graphql/`, `graphql.rs` |
//! | what does a tick see? | `observe.rs`, `texts.rs`, `folders.rs` (both by `paths.rs`), `pulls.rs` |
//! | may a person write here? | `people.rs` |
//! | what is a wish about? | `subjects.rs` |
//! | what do failed checks say? | `checks.rs` |
//! | what did a file of a branch say before? | `versions.rs` |
//! | what does it answer to a request of one's own making? | `verbatim.rs` |
//! | which labels has it? | `labels.rs` |
//! | how is a change proposed to people? | `proposal.rs` |
//! | what is the credential, and what may it see? | `rights.rs` |
//! | what keeps a branch from being changed? | `protection.rs` |
//! | which workflows and variables has it? | `workflows.rs`; who put a label on an issue? `issue_events.rs` |
//! | what is written? | `branch.rs`, `notice.rs`, `status.rs`, `dashboard.rs`, `objects.rs` (for the ledger) |

mod answer;
mod bodies;
mod branch;
mod channel;
mod checks;
mod comments;
mod commits;
mod conversion;
mod dashboard;
mod error;
mod folders;
mod graphql;
mod hooks;
mod installation;
mod issue_events;
mod labels;
mod merge;
mod notice;
mod observe;
mod opened;
mod pages;
mod paths;
mod people;
mod place;
mod plan_commit;
mod plan_files;
mod proposal;
mod protection;
mod publish;
mod pulls;
mod reached;
mod ready;
mod remarks;
mod request;
mod reviews;
mod rights;
mod status;
mod subjects;
mod texts;
mod verbatim;
mod versions;
mod wire;
mod workflows;

pub mod account;
pub mod app;
pub mod base;
pub mod budget;
pub mod objects;
pub mod retry;
pub mod routes;
pub mod token;

#[cfg(test)]
mod scripted;

use std::fmt;
use std::sync::Arc;

use phileas_domain::model::RepositoryName;

use crate::adapters::transport::Transport;

pub use crate::adapters::pause::{Pause, SystemPause};
pub use account::Account;
pub use answer::SECONDARY_LIMIT_WAIT;
pub use app::{AppClient, AppIdentity, Installation};
pub use base::{Base, BaseError};
pub use branch::{blocked, blocking_among};
pub use budget::{Face, Quota, Usage};
pub use conversion::{Conversion, convert};
pub use error::DETAIL_LIMIT_CHARS;
pub use graphql::documents;
pub use hooks::{DeliveryAttempt, DeliveryPage, Hook};
pub use labels::Label;
pub use notice::{NOTICE_COLOR, NOTICE_DESCRIPTION, NOTICE_LABEL, PAUSE_LABEL};
pub use observe::STATE_LIMIT_BYTES;
pub use proposal::{Proposal, Proposed};
pub use protection::{Classic, Protection, Rule};
pub use reached::Reached;
pub use rights::{Right, Shown};
pub use token::{App, Credential, CredentialError, Kind, Token};
pub use verbatim::{Verbatim, redacted};
pub use versions::{FileVersion, MAX_VERSIONS};
pub use workflows::{MAX_RUNS, Workflow, WorkflowRun};

use budget::Budget;
use channel::Channel;
use installation::Tokens;
use opened::Opened;
use pages::Busy;
use place::Place;
use retry::Backoff;

/// What a [`Client`] is made of.
pub struct Settings {
    /// Which repository.
    pub repository: RepositoryName,
    /// Who asks.
    pub credential: Credential,
    /// Where GitHub is.
    pub base: Base,
    /// How requests leave.
    pub transport: Arc<dyn Transport>,
    /// The clock, and waiting.
    pub pause: Arc<dyn Pause>,
    /// Makes waits differ between processes.
    pub seed: u64,
}

/// A client of one repository.
pub struct Client {
    rest: Channel,
    graph: Channel,
    base: Base,
    place: Place,
    tokens: Arc<Tokens>,
    budget: Arc<Budget>,
    opened: Arc<Opened>,
    busy: Arc<Busy>,
    refusals: Arc<people::Refusals>,
    backoff: Backoff,
    pause: Arc<dyn Pause>,
    /// For what lies elsewhere and is fetched without any credential.
    transport: Arc<dyn Transport>,
}

impl Client {
    /// A client that has asked nothing yet. Must be made within a Tokio runtime.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings {
            repository,
            credential,
            base,
            transport,
            pause,
            seed,
        } = settings;
        let Account {
            tokens,
            budget,
            opened,
            busy,
            refusals,
        } = Account::new(credential);
        Self {
            rest: Channel::new(Arc::clone(&transport), base.rest()),
            graph: Channel::new(Arc::clone(&transport), base.graphql()),
            base,
            place: Place::new(repository),
            tokens,
            budget,
            opened,
            busy,
            refusals,
            backoff: Backoff::new(seed),
            pause,
            transport,
        }
    }

    /// What this client has used so far, with those that share its account.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.budget.usage()
    }

    /// The primary limit of a face of the API, as GitHub last told it.
    #[must_use]
    pub fn quota(&self, face: Face) -> Option<Quota> {
        self.budget.quota(face)
    }

    pub(super) async fn wait(&self, length: std::time::Duration) {
        self.pause.pause(length).await;
    }

    /// The repository's name as GitHub last told it.
    #[must_use]
    pub fn repository(&self) -> RepositoryName {
        self.place.name()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("repository", &self.place.name())
            .field("base", &self.base)
            .field("tokens", &self.tokens)
            .field("usage", &self.usage())
            .finish_non_exhaustive()
    }
}
