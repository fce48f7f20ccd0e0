//! Limits of the set-up's files.

/// The largest file that is read, in bytes.
pub const FILE_LIMIT_BYTES: usize = 64 * 1024;

/// How many tools of its own a repository may have.
pub const COMPONENTS_LIMIT: usize = 100;

/// How many tools `tools.yml` may name.
pub const TOOLS_LIMIT: usize = 100;

/// How many variables one file may hold, and one tool declare.
pub const VARIABLES_LIMIT: usize = 200;

/// A variable's value, in bytes.
pub const VALUE_LIMIT_BYTES: usize = 8 * 1024;
