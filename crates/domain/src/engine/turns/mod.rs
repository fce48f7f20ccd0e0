//! Live turns: adopt sessions, follow them, assess them, send messages, import output.

pub(super) mod act;
pub(super) mod adopt;
pub(super) mod assess;
pub(super) mod assess_layer;
pub(super) mod created;
pub(super) mod follow;
pub(super) mod import;
pub(super) mod judge_plan;
pub(super) mod messages;
pub(super) mod progress;
pub(super) mod unreadable;
