//! Stories about decisions: what a person would see over days, told in minutes of a clock that is moved by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alike;
mod answers;
mod broken;
mod catch_up;
mod commits;
mod creates;
mod cycle;
mod dark;
mod desk;
mod dismissals;
mod dispatch;
mod endings;
mod figures;
mod forecast;
mod found;
mod gates;
mod layers;
mod losses;
mod money;
mod older;
mod order;
mod part;
mod paused;
mod pointers;
mod properties;
mod pulls;
mod put_back;
mod questions;
mod reach;
mod reading;
mod recovery;
mod refusals;
mod remembered;
mod repeats;
mod rest;
mod schedules;
mod sessions;
mod silence;
mod spans;
mod spending;
mod wishes;
mod witness;
mod yields;
