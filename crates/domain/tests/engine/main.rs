//! Stories about decisions: what a person would see over days, told in minutes of a clock that is moved by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alike;
mod answers;
mod broken;
mod commits;
mod creates;
mod cycle;
mod dark;
mod desk;
mod dispatch;
mod endings;
mod found;
mod gates;
mod layers;
mod losses;
mod money;
mod order;
mod part;
mod paused;
mod properties;
mod pulls;
mod questions;
mod reach;
mod reading;
mod recovery;
mod refusals;
mod repeats;
mod rest;
mod schedules;
mod sessions;
mod silence;
mod yields;
