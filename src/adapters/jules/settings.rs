//! How a client is set up.

use super::{Base, JulesKey};

/// The most creates that may be in flight for a key. Ten at a time were seen to fail, five to succeed
/// (google-labs-code/jules-sdk#20).
pub const MAX_CREATES_IN_FLIGHT: usize = 5;

/// How many creates are in flight for a key unless it is set otherwise.
pub const DEFAULT_CREATES_IN_FLIGHT: usize = 2;

/// How a client is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the API is.
    pub base: Base,
    /// The credential.
    pub key: JulesKey,
    /// How many creates may be in flight, from 1 to [`MAX_CREATES_IN_FLIGHT`].
    pub creates_in_flight: usize,
    /// What the jitter of waits is drawn from.
    pub seed: u64,
    /// Whether several repositories share one listing of the key's sessions, for
    /// [`KEPT_FOR`](super::listing_cache::KEPT_FOR).
    pub shared: bool,
    /// Whether a failed call is repeated after a pause. Callers that poll anyway need no repetition.
    pub patient: bool,
}

impl Settings {
    /// The public API with this key.
    #[must_use]
    pub fn new(key: JulesKey) -> Self {
        Self {
            base: Base::default(),
            key,
            creates_in_flight: DEFAULT_CREATES_IN_FLIGHT,
            seed: 0,
            shared: false,
            patient: true,
        }
    }
}
