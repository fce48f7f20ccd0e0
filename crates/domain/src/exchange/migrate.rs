//! Migrates older locations and shapes of artifacts to the repository's layout.
//!
//! [`migrate_layout`] converts one layout to the other. Files without a place among the artifacts stay and are
//! reported. If it is unclear which of two forms counts, nothing is changed at all. A second migration finds nothing to
//! do.

mod document;
mod locations;
mod memory;
mod migration;
mod other_layout;
mod same_layout;
mod shapes;
mod unambiguous;
mod waiting;

pub use migration::{Migration, Step, is_unread};
pub use other_layout::migrate_layout;
pub use same_layout::migrate_exchange;
