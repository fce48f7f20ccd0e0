//! Stories about decisions: what a person would see over days, told in minutes of a clock that is moved by hand.

mod cycle;
mod desk;
mod dispatch;
mod gates;
mod money;
mod schedules;
mod sessions;
mod yields;
