//! One delivery: the facts that are kept of it. The payload never is.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};

use super::wake::Wake;

/// The longest event, action or node id that is kept, in bytes. GitHub's longest event name has 38, its node ids about 40.
pub const MAX_WORD: usize = 128;
/// The longest delivery id, in bytes. GitHub's have 36.
const MAX_ID: usize = 64;

/// GitHub's id of a delivery (`X-GitHub-Delivery`). A redelivery carries the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryId(String);

/// Why a text is no delivery id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a delivery id has 1 to {MAX_ID} letters, digits, `-`, `_`, `.` or `:`")]
pub struct DeliveryIdError;

impl DeliveryId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DeliveryId {
    type Err = DeliveryIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if (1..=MAX_ID).contains(&text.len()) && text.bytes().all(legal) {
            Ok(Self(text.to_owned()))
        } else {
            Err(DeliveryIdError)
        }
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The facts of one delivery. Texts are at most [`MAX_WORD`] bytes long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// GitHub's id of it.
    pub id: DeliveryId,
    /// The event's name, as in `X-GitHub-Event`.
    pub event: String,
    /// The event's action, where it has one.
    pub action: Option<String>,
    /// The repository that it is about.
    pub repository: Option<RepositoryId>,
    /// The repository's name when it was sent. Names change; the id counts.
    pub repository_name: Option<RepositoryName>,
    /// The installation of a GitHub App that it was sent for.
    pub installation: Option<u64>,
    /// The node id of the issue, pull request, comment, … that it is about.
    pub subject: Option<String>,
    /// The account whose act it tells of.
    pub sender: Option<u64>,
    /// When it was received.
    pub received_at: Timestamp,
    /// Whether its repository is to be ticked for it. Without a repository nothing is.
    pub wakes: bool,
}

impl Delivery {
    /// The repository that is to be ticked for it.
    #[must_use]
    pub fn woken_repository(&self) -> Option<RepositoryId> {
        self.repository.filter(|_| self.wakes)
    }

    /// Whether it gives way to others where there is little room. A push that wakes no repository is one of the service itself:
    /// refused, it would stand among those that were lost, and be offered again and again.
    #[must_use]
    pub fn gives_way(&self) -> bool {
        self.woken_repository().is_none() && self.event != "push"
    }
}

/// What became of a delivery that was brought to the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is stored, durably, and its repository is due.
    Stored,
    /// It was stored before, and was handled or will be. Nothing changed.
    Duplicate,
    /// There is little room, and it wakes no repository: it was not stored, and the sender must be told.
    PassedOver,
    /// There is no room. Nothing changed; the sender must be told.
    Overloaded,
}

/// What came of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A tick that is still to come will see to it.
    Pending,
    /// A tick that began after it was received has ended well.
    Handled,
    /// Its repository was suspended before any tick ended well. Redelivered or replayed, it runs again.
    Failed,
    /// It wakes no repository.
    Noted,
}

impl Outcome {
    /// The word for it in JSON and tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Handled => "handled",
            Self::Failed => "failed",
            Self::Noted => "noted",
        }
    }
}

/// What came of a delivery that made its repository's wake reach this generation.
///
/// It is derived rather than stored, so that ending a tick writes one row however many deliveries it has handled.
#[must_use]
pub fn delivery_outcome(generation: Option<u64>, wake: Option<&Wake>) -> Outcome {
    match (generation, wake) {
        (None, _) => Outcome::Noted,
        // Rows of repositories are never removed while deliveries of theirs are stored.
        (Some(_), None) => Outcome::Pending,
        (Some(generation), Some(wake)) if generation <= wake.done_generation => Outcome::Handled,
        (Some(generation), Some(wake)) if generation <= wake.failed_generation => Outcome::Failed,
        (Some(_), Some(_)) => Outcome::Pending,
    }
}

/// A delivery as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the inbox: ascending in the order of storing, never used again.
    pub place: u64,
    /// Its facts. `received_at` is the newest of several.
    pub delivery: Delivery,
    /// How often it was stored: more than once after it had failed.
    pub times: u32,
    /// What came of it.
    pub outcome: Outcome,
}

/// Which deliveries to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Where to begin, and in which direction.
    pub start: Start,
    /// How many at most; never more than [`MAX_PAGE`](super::MAX_PAGE).
    pub most: usize,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// After this place, oldest first; 0 begins at the oldest.
    After(u64),
    /// Before this place, newest first; `None` begins at the newest.
    Before(Option<u64>),
}

/// The result of a request to run a delivery again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// Its repository is due.
    Woken(RepositoryId),
    /// Its repository is due, but suspended: it must be resumed first.
    Suspended(RepositoryId),
    /// It is about no repository, or about one that phileas does not look after.
    WakesNoRepository,
    /// No such delivery is stored.
    Unknown,
}
