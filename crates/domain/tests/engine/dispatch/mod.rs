//! What starts, when, and why something waits.

mod broken_prompts;
mod budget_limits;
mod budgets;
mod catch_up;
mod changed_times;
mod create_session;
mod earlier_work;
mod eligibility;
mod exhaustion;
mod intents;
mod order;
mod overlap;
mod paused;
mod pointers;
mod refusal_quotes;
mod refused_creates;
mod request_rate;
mod rest;
mod rest_spans;
mod schedules;
mod sprints;
mod track_share;
mod tracks;
