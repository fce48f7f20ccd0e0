//! What it costs to look after many repositories, by the quotas that are published.
//!
//! The quotas are the limit, and not the engine: Jules' sessions a day, GitHub's points an hour for each installation, and
//! the minutes of Actions where the Action drives. All figures are of arithmetic; what is assumed is a constant here.

mod cost;
mod plot;

pub use cost::{
    BUSY_DAYS, BUSY_LOOK, Bound, Cost, Habits, LOOK, QUIET_PULLS, Quota, estimate_cost, fleet_sizes,
};
pub use plot::plot_costs;
