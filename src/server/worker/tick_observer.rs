//! Observers of ticks, which show or count the results.

use std::fmt::Debug;
use std::time::Duration;

use crate::runtime::TickReport;
use crate::runtime::inbox::Fault;
use crate::server::repositories::Member;

/// Receives the result of each tick. It is called from the tick's own task, so it must be quick, and it can change
/// nothing.
pub trait TickObserver: Send + Sync + Debug {
    /// A tick ended well, or early because the service ends.
    fn tick_finished(&self, member: &Member, report: &TickReport, took: Duration);

    /// A tick failed, or could not even begin.
    fn tick_failed(&self, member: &Member, fault: &Fault, took: Duration);
}
