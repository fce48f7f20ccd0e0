//! The interface of observers, which show or count the results of ticks.

use std::fmt::Debug;
use std::time::Duration;

use crate::runtime::TickReport;
use crate::runtime::inbox::Fault;
use crate::server::repositories::Member;

/// Receives the result of each tick. The tick's own task calls it, so it must be quick, and it can
/// change nothing.
pub trait TickObserver: Send + Sync + Debug {
    /// A tick ended well, or early because of a shutdown.
    fn tick_finished(&self, member: &Member, report: &TickReport, took: Duration);

    /// A tick failed, or could not even begin.
    fn tick_failed(&self, member: &Member, fault: &Fault, took: Duration);
}
