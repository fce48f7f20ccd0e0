//! The service: a public listener stores deliveries in the inbox, and a [`Driver`] beside it ticks
//! what is due.
//!
//! The public listener has three routes: `POST /webhook`, `GET /healthz`, `GET /readyz`. Everything
//! for operators is on the admin listener, which is bound to loopback by default.
//!
//! | question | folder or file |
//! |---|---|
//! | how are deliveries received? | [`public`] |
//! | which accounts does the service use at GitHub and Jules? | [`accounts`] |
//! | which repositories does it manage? | [`repositories`] |
//! | what is a tick of one of them, and what starts it? which deliveries were lost? | [`worker`], [`crate::runtime::driver`] |
//! | what do operators see and do? | [`admin`] |
//! | how is it configured, started and shut down? | [`config`], `assemble.rs`, [`service`], [`shutdown`] |

pub mod accounts;
pub mod admin;
pub(crate) mod assemble;
pub mod config;
pub mod public;
pub mod repositories;
pub mod service;
pub mod shutdown;
pub mod worker;

pub use service::Service;
pub use shutdown::{Shutdown, shutdown_pair};
pub use worker::driver::Driver;
pub use worker::fleet::Fleet;
