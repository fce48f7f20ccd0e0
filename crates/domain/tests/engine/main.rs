//! Stories about decisions: what a person would see over days, told in minutes of a clock that is moved by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alike;
mod broken;
mod catch_up;
mod cycle;
mod desk;
mod dismissals;
mod dispatch;
mod figures;
mod forecast;
mod gates;
mod layers;
mod losses;
mod money;
mod older;
mod paused;
mod pointers;
mod properties;
mod pulls;
mod recovery;
mod refusals;
mod remembered;
mod repeats;
mod rest;
mod schedules;
mod sessions;
mod spans;
mod spending;
mod witness;
mod yields;
