//! A request to open the dashboard issue.

use crate::engine::lookup::dashboard_issue::seen;
use crate::engine::output::builder::Draft;
use crate::state::DashboardState;

/// Asks for the dashboard issue to be open, and answers.
pub(crate) fn open(draft: &mut Draft<'_>) -> String {
    if let Some(dashboard) = seen(draft) {
        return format!("the dashboard is issue #{}", dashboard.number);
    }
    let known = draft.state.dashboard.take().unwrap_or_default();
    draft.state.dashboard = Some(DashboardState {
        wanted: true,
        // Whatever stands in it is looked at anew.
        digest: None,
        before: None,
        replaces: None,
        heard: Vec::new(),
        at: None,
        repeats: 0,
        extra: known.extra,
    });
    "the dashboard issue is opened; close it when it is not wanted any more".to_owned()
}
