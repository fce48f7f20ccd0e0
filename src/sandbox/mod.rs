//! The sandbox: models of GitHub and Jules, a repository, a maintainer, and phileas working on
//! them.
//!
//! It is the first thing that a newcomer runs, and the judge of the tests. The adapters, the
//! runtime and the engine in it are the real ones; only GitHub and Jules are models.

pub mod clients;
pub mod delivery;
pub mod newcomer;
pub mod running_time;
pub mod scenario;
pub mod timeline;
pub mod transport;
pub mod virtual_time;
pub mod world_setup;

pub use clients::Clients;
pub use timeline::{Step, Ticked, Timeline};
pub use virtual_time::{SharedWorld, VirtualTime};
pub use world_setup::WorldSetup;
