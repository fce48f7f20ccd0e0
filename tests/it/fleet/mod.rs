//! The service that ticks many repositories: the driver on a virtual clock, and all of it against the models.

mod check;
mod clock;
mod driver;
mod many;
mod process;
mod setup;
mod stage;
mod sweep;
