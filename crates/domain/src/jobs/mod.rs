//! Jobs: Jules sessions that another agent started, and the events that are worth waking it for.
//!
//! The formats are those of an existing watcher of Jules (`zai_jobs.jsonl`, `zai_events.jsonl`, its `config.json` and its
//! two state files). Everything that phileas adds is optional, so that either program can read the other's files.
//!
//! | file | question it answers |
//! |---|---|
//! | [`job`] | What is known about one job? |
//! | [`registry`] | Which jobs does a jobs file name? |
//! | [`config`] | What does a `config.json` say? |
//! | [`session`] | What does the monitor read of a session? |
//! | [`mod@line`] | What does a line of a file say, and why is one skipped? |
//! | [`memory`] | What does the monitor remember between two checks? |
//! | [`cause`] | Which state of a session is worth an event, and was the event sent before? |
//! | [`turn`] | Which turn of a track needs an agent, and was the agent woken? |
//! | [`settled`] | Does an event still need an answer? |
//! | [`event`] | What does an event say? |
//! | [`backoff`] | When is a failed request retried? |
//! | [`queue`] | Which events were handed on, and which are acknowledged? |
//! | [`metrics`] | Which metrics does the monitor export? |
//! | [`brief`] | What does an agent read when it is woken? |

pub mod backoff;
pub mod brief;
pub mod cause;
pub mod config;
pub mod event;
pub mod job;
pub mod line;
pub mod memory;
pub mod metrics;
pub mod queue;
pub mod registry;
pub mod session;
pub mod settled;
pub mod turn;

pub use brief::Brief;
pub use cause::{Rules, SessionRead, judge_session, needs_activities, turn_event};
pub use config::Config;
pub use event::{Event, EventId, EventKind, NewEvent, Payload};
pub use job::{Job, JobId, Priority, RetireReason, Retired};
pub use line::{Line, LineFault};
pub use memory::{AccountMemory, JobMemory, MonitorMemory};
pub use queue::{Acknowledged, WatcherMemory};
pub use registry::Registry;
pub use session::{AccountSession, Changes, PullLink, SessionPull};
pub use settled::settled_reason;
pub use turn::{FeedMemory, NewsKind, SentNews, TurnNews};
