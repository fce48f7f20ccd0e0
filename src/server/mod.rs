//! The service: deliveries come in by a public listener, what they tell is kept in the inbox, and a [`Driver`] beside
//! the listeners does what is due.
//!
//! The public listener has three addresses and no more: `POST /webhook`, `GET /healthz`, `GET /readyz`. Everything for
//! the people who run the service is on the admin listener, which is bound to loopback unless somebody says otherwise.
//!
//! | question | file |
//! |---|---|
//! | how do deliveries come in? | [`listen`], [`webhook`], [`health`] |
//! | who is the service to GitHub, and with which Jules key? | [`app`], [`keys`], [`setup`] |
//! | which repositories does it look after? | [`repositories`] |
//! | what is a tick of one of them, and who starts it? | [`ticks`], [`fleet`], [`crate::runtime::driver`] |
//! | what was not delivered? | [`sweep`] |
//! | what is told of all this? | [`journal`], [`audit`], [`metrics`], [`dashboard`], and to agents by [`feed`] |
//! | could it do its work? | [`check`] |
//! | how is it set up, put together and ended? | [`config`], [`service`], [`driver`], [`mod@ending`] |

pub mod app;
pub mod audit;
pub mod check;
pub mod config;
pub mod dashboard;
pub mod driver;
pub mod ending;
pub mod feed;
pub mod figures;
pub mod fleet;
pub mod health;
pub mod housekeeping;
pub mod journal;
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
