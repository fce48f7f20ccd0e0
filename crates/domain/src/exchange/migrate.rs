//! Migrates older locations and shapes of artifacts to the repository's layout.
//!
//! [`migrate_layout`] converts one layout to the other. Files without a place among the artifacts stay and are
//! reported. If it is unclear which of two forms counts, nothing is changed at all. A second migration finds nothing to
//! do.

mod across;
mod document;
mod memory;
mod migration;
mod one_answer;
mod places;
mod same_layout;
mod shapes;
mod waiting;

pub use across::across;
pub use migration::{Migration, Step};
pub use same_layout::migrate;
