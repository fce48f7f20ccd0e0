//! A model of the Jules REST API (v1alpha) and of the service behind it.
//!
//! The methods, their validation and their encoding follow what Google's documentation, the official SDK and
//! recorded replies of the live service show. A knob answers each question that these leave open.

mod account;
mod activity;
mod beat;
mod body;
mod bookkeeping;
mod config;
mod face;
mod file_texts;
mod filter;
mod life;
mod listing;
mod model;
mod patch;
mod perform;
mod query;
mod question;
mod quota;
mod react;
mod record;
mod refusal;
mod resource;
mod route;
mod scenario;
mod session;
mod shown;
mod sources;
mod state;
mod user;
mod web_app;
mod wire;
mod words;
pub mod work;

#[cfg(test)]
mod tests;

pub use account::{Account, Installed, Tier};
pub use activity::{Activity, Artifact, ChangeSet, Kind, Plan};
pub use beat::{Beat, Deed};
pub use config::{Config, Weights};
pub use file_texts::FileTexts;
pub use model::Model;
pub use record::{Act, SessionRecord, Via};
pub use refusal::Refusal;
pub use route::template;
pub use scenario::{Ending, Matcher, Pattern, Scenario};
pub use session::Session;
pub use state::State;
pub use web_app::{WebAct, WebSession};
pub use work::{BOT, Task, Worker};
