//! The repositories that the service manages, each with its account and key.

mod discovered;
mod member;
mod registry;
mod relist;
mod source;
mod verify;

pub use discovered::DiscoveredIds;
pub use member::Member;
pub use registry::{KEYLESS_REST, Membership, Repositories};
pub use relist::{RELIST, SHORTEST_GAP};
pub use source::{Source, UnreachableEntry};
pub use verify::Verification;
