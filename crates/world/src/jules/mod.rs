//! A model of the Jules REST API (v1alpha) and of the service behind it.
//!
//! The methods, their validation and their encoding follow what Google's documentation, the official SDK and
//! recorded replies of the live service show. A knob answers each question that these leave open.

mod account;
mod activity;
mod beat;
mod beat_plan;
mod bookkeeping;
mod config;
mod encoding_key;
mod file_texts;
mod filter;
mod ideas;
mod listing;
mod model;
mod patch;
mod perform;
mod query;
mod question;
mod quota;
mod reactions;
mod record;
mod refusal;
mod request;
mod request_body;
mod resource;
mod route;
mod sample_texts;
mod scenario;
mod session;
mod sources;
mod state;
mod user_acts;
mod web_app;
mod wire;
pub mod work;

#[cfg(test)]
mod tests;

pub use account::{Account, Installed, Tier};
pub use activity::{Activity, Artifact, ChangeSet, Kind, Plan};
pub use beat::{Beat, BeatAction};
pub use config::{Config, Weights};
pub use file_texts::FileTexts;
pub use ideas::{IDEAS, Ideas, Rewritten};
pub use model::Model;
pub use record::{Act, SessionRecord, Via};
pub use refusal::Refusal;
pub use route::route_template;
pub use scenario::{Ending, Matcher, Pattern, Scenario};
pub use session::Session;
pub use state::State;
pub use web_app::{WebAct, WebSession};
pub use work::{BOT, Task, Worker};
