//! The service: a public listener stores deliveries in the inbox, and a [`Driver`] beside it does what is due.
//!
//! The public listener answers three addresses: `POST /webhook`, `GET /healthz`, `GET /readyz`. Everything for the
//! operators is on the admin listener, which is bound to loopback by default.
//!
//! | question | folder or file |
//! |---|---|
//! | how do deliveries come in? | [`public`] |
//! | who is the service to GitHub and to Jules, and how does it reach them? | [`accounts`] |
//! | which repositories does it look after? | [`repositories`] |
//! | what is a tick of one of them, and what starts it? which deliveries were lost? | [`worker`], [`crate::runtime::driver`] |
//! | what do operators see and do? | [`admin`] |
//! | how is it configured, put together and shut down? | [`config`], [`service`], [`shutdown`] |

pub mod accounts;
pub mod admin;
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
