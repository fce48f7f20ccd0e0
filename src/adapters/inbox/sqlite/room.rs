//! How much room an inbox may take on the disk.

/// The room that is kept free for SQLite's write-ahead log, in bytes. The log is folded into the database whenever it
/// has reached half of this; a batch and a reader that holds it up fit into the other half.
pub const LOG_ROOM: u64 = 8 << 20;
/// The least room that an inbox can be given, in bytes.
pub const LEAST_ROOM: u64 = 2 * LOG_ROOM;
/// The room of an inbox that was not told otherwise, in bytes: the facts of a million deliveries and more.
pub const DEFAULT_ROOM: u64 = 512 << 20;
