//! The work beside the listeners: the driver, ticks, the sweep for lost deliveries, housekeeping.

pub mod driver;
pub mod fleet;
pub mod housekeeping;
pub mod journal;
pub mod sweep;
pub mod tick_observer;
pub mod ticks;
