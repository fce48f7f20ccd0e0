//! `phileas serve` and the commands beside it, as GitHub, a person and an attacker meet them.

mod accept;
pub(crate) mod client;
mod commands;
mod drain;
mod handler;
mod health;
mod hook;
mod kill;
mod log;
mod misuse;
mod rubbish;
mod served;
mod start;
mod tools;
