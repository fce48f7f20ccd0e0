//! How much room an inbox may take on the disk.

/// The room for SQLite's write-ahead log, in bytes. The log is checkpointed when it reaches half of this; a batch,
/// and a reader that delays the checkpoint, fit into the other half.
pub const LOG_ROOM: u64 = 8 << 20;
/// The smallest room of an inbox, in bytes.
pub const LEAST_ROOM: u64 = 2 * LOG_ROOM;
/// The default room of an inbox, in bytes: enough for a million deliveries.
pub const DEFAULT_ROOM: u64 = 512 << 20;
