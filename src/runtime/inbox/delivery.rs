//! The facts of one delivery that the inbox stores. The payload is never stored.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};

use super::wake::Wake;

/// The longest event, action or node id that is stored, in bytes. GitHub's longest event name has
/// 38, its node ids about 40.
pub const MAX_WORD: usize = 128;
/// The longest delivery id, in bytes. GitHub's have 36.
const MAX_ID: usize = 64;

/// GitHub's id of a delivery (`X-GitHub-Delivery`). A redelivery has the same id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryId(String);

/// A text that is no delivery id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a delivery id has 1 to {MAX_ID} letters, digits, `-`, `_`, `.` or `:`")]
pub struct DeliveryIdError;

impl DeliveryId {
    /// The text of the id.
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
    /// The event's action, if it has one.
    pub action: Option<String>,
    /// The repository of the event.
    pub repository: Option<RepositoryId>,
    /// The repository's name at the time of the event. Names change; the id counts.
    pub repository_name: Option<RepositoryName>,
    /// The installation of the GitHub App that received it.
    pub installation: Option<u64>,
    /// The node id of the issue, pull request, comment, … of the event.
    pub subject: Option<String>,
    /// The account that caused the event.
    pub sender: Option<u64>,
    /// When it was received.
    pub received_at: Timestamp,
    /// Whether its repository is ticked for it. A delivery without a repository wakes nothing.
    pub wakes: bool,
}

impl Delivery {
    /// The repository to tick for it.
    #[must_use]
    pub fn woken_repository(&self) -> Option<RepositoryId> {
        self.repository.filter(|_| self.wakes)
    }

    /// Whether it is not stored when room is short. A push that wakes no repository is one of
    /// phileas itself: if it were refused, the sweep would take it for lost and request it again
    /// and again.
    #[must_use]
    pub fn gives_way(&self) -> bool {
        self.woken_repository().is_none() && self.event != "push"
    }
}

/// The result of storing a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is durable, and its repository is due.
    Stored,
    /// It was stored before, and was or will be handled. Nothing changed.
    Duplicate,
    /// It was not stored, because room is short and it wakes no repository. The caller must report
    /// that to the sender.
    PassedOver,
    /// There is no room, and nothing changed. The caller must report that to the sender.
    Overloaded,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// A future tick will handle it.
    Pending,
    /// A tick that began after it was received has ended well.
    Handled,
    /// Its repository was suspended before any tick ended well. If it is redelivered or replayed,
    /// it runs again.
    Failed,
    /// It wakes no repository.
    Noted,
}

impl Outcome {
    /// Its name in JSON and tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The outcome of a delivery that raised its repository's wake to this generation.
///
/// It is derived and not stored, so that the end of a tick writes one row, however many deliveries
/// it has handled.
#[must_use]
pub fn delivery_outcome(generation: Option<u64>, wake: Option<&Wake>) -> Outcome {
    match (generation, wake) {
        (None, _) => Outcome::Noted,
        // A repository's row is never removed while its deliveries are stored.
        (Some(_), None) => Outcome::Pending,
        (Some(generation), Some(wake)) if generation <= wake.done_generation => Outcome::Handled,
        (Some(generation), Some(wake)) if generation <= wake.failed_generation => Outcome::Failed,
        (Some(_), Some(_)) => Outcome::Pending,
    }
}

/// A stored delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number in the inbox: ascending in the order of storing, never used again.
    pub place: u64,
    /// Its facts. `received_at` is the newest one.
    pub delivery: Delivery,
    /// How often it was stored: more than once if it had failed.
    pub times: u32,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Which deliveries to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The start and the direction.
    pub start: Start,
    /// The most records; never more than [`MAX_PAGE`](super::MAX_PAGE).
    pub most: usize,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// After this number, oldest first; 0 begins at the oldest.
    After(u64),
    /// Before this number, newest first; `None` begins at the newest.
    Before(Option<u64>),
}

/// The result of a request to run a delivery again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replayed {
    /// Its repository is due.
    Woken(RepositoryId),
    /// Its repository is due, but suspended: it must be resumed first.
    Suspended(RepositoryId),
    /// It has no repository, or one that phileas does not manage.
    WakesNoRepository,
    /// No such delivery is stored.
    Unknown,
}
