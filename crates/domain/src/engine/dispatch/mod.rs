//! Dispatch: what is due (tracks, schedules, requests), eligibility, budgets, gates, prompts and intents.

pub(super) mod announce;
pub(super) mod budget;
pub(super) mod candidate;
mod earlier_work;
pub(super) mod eligibility;
mod exhaustion;
pub(super) mod layer_idle;
pub(super) mod layer_prompt;
pub(super) mod layer_step;
mod overlap;
pub(super) mod pause;
pub(super) mod persona_prompt;
mod refusal_quotes;
pub(super) mod request_gate;
pub(super) mod request_rate;
pub(super) mod requested;
pub(super) mod schedule;
pub(super) mod session_text;
pub(super) mod sprint;
pub(super) mod start;
pub(super) mod timing;
pub(super) mod track;
