//! Jobs: Jules sessions that somebody's own agent has hired, and the events that are worth waking it for.
//!
//! The formats are those of a well-known watcher of Jules (`zai_jobs.jsonl`, `zai_events.jsonl`, its `config.json` and its
//! two state files); what is added here is optional, so that files of either side work with the other.
//!
//! | file | question it answers |
//! |---|---|
//! | [`job`] | what is known of one job? |
//! | [`registry`] | which jobs does a jobs file name? |
//! | [`config`] | what does a `config.json` say? |
//! | [`sight`] | what is seen of a session? |
//! | [`mod@line`] | what does a line of a file of many say, and why is one passed over? |
//! | [`memory`] | what does the monitor remember from one look to the next? |
//! | [`cause`] | which sight is worth an event, and was it told before? |
//! | [`turn`] | for which turn of a cycle is somebody woken, and was he? |
//! | [`settled()`] | does what an event tells still wait for somebody? |
//! | [`event`] | what does an event say? |
//! | [`backoff`] | when is somebody who failed asked again? |
//! | [`queue`] | how far have events been handed on, and which are acknowledged? |
//! | [`figures`] | what do the figures for a dashboard say? |
//! | [`brief`] | what does an agent read when it is woken? |

pub mod backoff;
pub mod brief;
pub mod cause;
pub mod config;
pub mod event;
pub mod figures;
pub mod job;
pub mod line;
pub mod memory;
pub mod queue;
pub mod registry;
pub mod settled;
pub mod sight;
pub mod turn;

pub use brief::Brief;
pub use cause::{Rules, judge, needs_activities, of_turn};
pub use config::Config;
pub use event::{Draft, Event, EventId, EventKind, Payload};
pub use job::{Job, JobId, Priority, RetireReason, Retired};
pub use line::{Line, LineFault};
pub use memory::{AccountMemory, JobMemory, MonitorMemory};
pub use queue::{Acknowledged, WatcherMemory};
pub use registry::Registry;
pub use settled::settled;
pub use sight::{Activity, ActivityKind, PullLink, Session};
pub use turn::{FeedMemory, News, Told, What};
