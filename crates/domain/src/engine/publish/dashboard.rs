//! Keeps the dashboard issue: it shows the status of everything, and people tick its checkboxes to make requests.
//!
//! A person opens it by `/phileas dashboard` and ends it by closing it. Its text is computed from the state each time,
//! so a process that dies loses nothing. The ledger gets the digest of a text before it is written: of several
//! processes, the one whose commit wins writes. Comparing the issue with that digest costs no further read while people
//! do not edit it.

use super::dashboard_text;
use crate::engine::lookup::dashboard_issue::{
    self, DashboardStatus, find_dashboard, text_digest, text_version,
};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    DASHBOARD_AGAIN, DASHBOARD_INTERVAL, DASHBOARD_REPEATS, DAY, GRACE, INTENT_VALID,
};
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::engine::text::time::time_after;
use crate::state::DashboardState;

/// The key of the dashboard issue among phileas' issues.
pub const DASHBOARD_KEY: &str = "dashboard";

const TITLE: &str = "phileas: dashboard";

/// Records that it is open.
pub(crate) fn record_opened(builder: &mut DecisionBuilder<'_>, number: u64) {
    builder.state.dashboard_issue = Some(number);
    if let Some(known) = &mut builder.state.dashboard {
        known.requested = false;
    }
    builder.add_headline(format!("dashboard #{number}"), None);
}

/// Updates the dashboard issue, where one exists or is requested. `status`: what people did to it.
pub(crate) fn update_dashboard(builder: &mut DecisionBuilder<'_>, status: &DashboardStatus) {
    let known = builder.state.dashboard.clone().unwrap_or_default();
    let dashboard = find_dashboard(builder);
    if dashboard.is_none() && !known.requested {
        return;
    }
    let is_touched = match status {
        DashboardStatus::Unread => return,
        DashboardStatus::Touched { keys, .. } => {
            // A checkbox is cleared only once its request is in the ledger.
            let requests = &builder.state.requests;
            if keys.iter().any(|key| !requests.contains_key(key)) {
                return;
            }
            true
        }
        // Repeated edits by hand are not answered each time.
        DashboardStatus::Edited { .. }
        | DashboardStatus::Unseen
        | DashboardStatus::AsWritten
        | DashboardStatus::Handled => false,
    };
    // Wait for sessions that are being created, but a checkbox does not wait for an ambiguous one.
    if builder.creates_session() || !is_touched && is_starting(builder) {
        return;
    }
    let body = dashboard_text::dashboard_text(builder);
    let digest = text_digest(&body);
    let is_news = known.digest.as_ref() != Some(&digest);
    let mut repeats = 0;
    if !is_touched {
        let stands = *status == DashboardStatus::AsWritten;
        if stands && !is_news {
            return;
        }
        let pause = match is_news {
            _ if !stands && known.repeats >= DASHBOARD_REPEATS => DAY,
            true => DASHBOARD_INTERVAL,
            false => DASHBOARD_AGAIN,
        };
        if let Some(at) = known
            .at
            .filter(|at| builder.now().duration_since(*at) < pause)
        {
            if let DashboardStatus::Edited { version } = status
                && let Some(known) = &mut builder.state.dashboard
            {
                // It was read, and needs no further read while it waits.
                known.replaces = Some(version.clone());
            }
            builder.wake_by(time_after(at, pause));
            return;
        }
        if !stands && known.at.is_some() {
            repeats = known.repeats.saturating_add(1).min(DASHBOARD_REPEATS);
        }
    }
    write_dashboard(builder, known, status, repeats, (body, digest));
}

fn write_dashboard(
    builder: &mut DecisionBuilder<'_>,
    known: DashboardState,
    status: &DashboardStatus,
    repeats: u32,
    (body, digest): (String, String),
) {
    let now = builder.now();
    let not_after = time_after(now, INTENT_VALID);
    let dashboard = find_dashboard(builder);
    // The issue that was read by itself is newer than the list.
    let subject = dashboard.and_then(|one| builder.snapshot.subjects.get(&one.number)?.as_ref());
    let text = match status {
        DashboardStatus::Touched { .. } | DashboardStatus::Edited { .. } => {
            subject.map(|subject| subject.body.as_str())
        }
        _ => None,
    };
    let text = text.or(dashboard.map(|one| one.body.as_str()));
    let replaces = match status {
        DashboardStatus::Touched { version, .. } | DashboardStatus::Edited { version } => {
            Some(version.clone())
        }
        _ => dashboard.map(|one| text_version(&one.body, one.edited_at)),
    };
    // The current text of phileas may get a tick before the new one arrives.
    let (current, heard) = text.map(dashboard_issue::without_ticks).unzip();
    let is_ours =
        |one: &String| known.digest.as_ref() == Some(one) || known.before.as_ref() == Some(one);
    let before = current.filter(is_ours).or(known.before.clone());
    match (dashboard, text) {
        (Some(dashboard), Some(text)) => {
            builder.state.dashboard_issue = Some(dashboard.number);
            builder.add_effect(Effect::EditDashboard {
                number: dashboard.number,
                seen: text_digest(text),
                body,
                not_after,
            });
        }
        _ => builder.add_effect(Effect::OpenDashboard {
            known: builder.state.dashboard_issue,
            title: TITLE.to_owned(),
            marker: DASHBOARD_MARKER.to_owned(),
            body,
            not_after,
        }),
    }
    builder.add_headline("dashboard".to_owned(), None);
    builder.state.dashboard = Some(DashboardState {
        requested: dashboard.is_none(),
        digest: Some(digest),
        before,
        replaces,
        comments_read: heard.unwrap_or_default(),
        at: Some(now),
        repeats,
        extra: known.extra,
    });
}

/// Whether a session is being created whose result comes soon.
fn is_starting(builder: &DecisionBuilder<'_>) -> bool {
    let now = builder.now();
    let tracks = builder.state.tracks.values();
    tracks.flat_map(|track| track.turns.values()).any(|turn| {
        let intent = turn.intent.as_ref().filter(|_| turn.session_id.is_none());
        intent.is_some_and(|intent| now.duration_since(intent.created_at) < GRACE)
    })
}
