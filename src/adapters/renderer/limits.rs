//! The limits of rendering, and the argument that makes the program a child.

use std::time::Duration;

/// The hidden argument that makes the program a child: it answers requests to render prompts, and does nothing else.
pub const ARGUMENT: &str = "__render-prompts";
/// The memory that rendering may take, in bytes.
pub const MEMORY_LIMIT_BYTES: u64 = 64 * 1024 * 1024;
/// The part of it that is the stack. A template whose nesting needs more is too deep.
pub const STACK_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// The processor time that one prompt may take, in seconds.
pub const PROCESSOR_LIMIT_SECS: u64 = 2;
/// How long one prompt may take. On a busy machine two seconds of processor time can take much longer, so exceeding
/// this limit does not blame the template if processor time is limited.
pub const WALL_LIMIT: Duration = Duration::from_secs(30);
/// How long a child may take to start.
pub const START_LIMIT: Duration = Duration::from_secs(10);
/// How long all prompts of one round may take.
pub const ROUND_LIMIT: Duration = Duration::from_secs(30);
/// How long a round waits for other rounds.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How many children run at once.
pub const MAX_CHILDREN: usize = 2;
