//! Keys that several shapes have.

use crate::exchange::shape::{Key, Kind};

/// The version of an artifact's format.
pub(super) const fn version(number: i64) -> Key {
    let kind = Kind::Version(number);
    Key::new("schema_version", kind, "The version of the format.")
}

/// An artifact's id.
pub(super) const ID: Key = Key::new(
    "id",
    Kind::Id,
    "Six lower-case letters and digits, in quotes.",
);
