//! The service that ticks many repositories: the driver on a virtual clock, and all of it against the models.

mod check;
mod clock;
mod dashboard;
mod driver;
mod fatal;
mod feed;
mod hostile;
mod idle;
mod inbox_outage;
mod listing;
mod many;
mod names;
mod process;
mod replicas;
mod rig;
mod sessions_api;
mod setup;
mod slow;
mod soak;
pub(crate) mod stage;
mod stop;
mod suspended;
mod sweep;
mod troubled;
mod unreachable;
mod way;
