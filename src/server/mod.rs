//! The service: deliveries come in by a public listener, what they tell is kept in the inbox, and a [`Driver`] beside
//! the listeners does what is due.
//!
//! The public listener has three addresses and no more: `POST /webhook`, `GET /healthz`, `GET /readyz`. Everything for
//! the people who run the service is on the admin listener, which is bound to loopback unless somebody says otherwise.

pub mod app;
pub mod audit;
pub mod check;
pub mod config;
pub mod dashboard;
pub mod driver;
pub mod ending;
pub mod figures;
pub mod fleet;
pub mod health;
pub mod housekeeping;
pub mod keys;
pub mod listen;
pub mod metrics;
pub mod onlooker;
pub mod outside;
pub mod repositories;
pub mod service;
pub mod setup;
pub mod sweep;
pub mod ticks;
pub mod webhook;

pub use driver::Driver;
pub use ending::{Ending, ending};
pub use fleet::Fleet;
pub use service::Service;
