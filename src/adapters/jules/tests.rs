//! The whole adapter against a transport that plays a script.

mod activities;
mod calls;
mod creates;
mod failures;
mod listing;
mod secrecy;
mod stage;
mod wire;
