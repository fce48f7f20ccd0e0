//! The command `dashboard`.

use crate::engine::lookup::dashboard_issue::find_dashboard;
use crate::engine::output::builder::DecisionBuilder;
use crate::state::DashboardState;

/// Requests that the dashboard issue is opened, and returns the answer.
pub(crate) fn open_dashboard(builder: &mut DecisionBuilder<'_>) -> String {
    if let Some(dashboard) = find_dashboard(builder) {
        return format!("the dashboard is issue #{}", dashboard.number);
    }
    let known = builder.state.dashboard.take().unwrap_or_default();
    builder.state.dashboard = Some(DashboardState {
        requested: true,
        // The issue's text is compared again.
        digest: None,
        before: None,
        replaces: None,
        comments_read: Vec::new(),
        at: None,
        repeats: 0,
        extra: known.extra,
    });
    "the dashboard issue is being opened; close it to end it".to_owned()
}
