//! The dashboard issue: one issue in which people see how everything stands, and tick boxes to ask for something.
//!
//! A person opens it by `/phileas dashboard` and ends it by closing it. What it should say is worked out anew from the
//! state each time, so nothing is lost when whoever should have written it dies. The digest of what it was last made to
//! say goes into the ledger before it is written: of several processes the one whose commit wins writes. What stands
//! there is compared with that digest, so that a look costs nothing more while nobody has touched it.

use super::dashboard_text;
use crate::engine::lookup::dashboard_issue::{self, Standing, seen, text_digest, version};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    DASHBOARD_AGAIN, DASHBOARD_CALM, DASHBOARD_REPEATS, DAY, GRACE, INTENT_VALID,
};
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::engine::text::time::later;
use crate::state::DashboardState;

/// What the dashboard issue is about, among the issues that phileas opens.
pub const DASHBOARD_KEY: &str = "dashboard";

const TITLE: &str = "phileas: dashboard";

/// Notes that it is open.
pub(crate) fn opened(draft: &mut Draft<'_>, number: u64) {
    draft.state.dashboard_issue = Some(number);
    if let Some(known) = &mut draft.state.dashboard {
        known.wanted = false;
    }
    draft.headline(format!("dashboard #{number}"), None);
}

/// Brings the dashboard issue up to date, where there is one or one is wanted.
/// `standing`: what people did to it.
pub(crate) fn show(draft: &mut Draft<'_>, standing: &Standing) {
    let known = draft.state.dashboard.clone().unwrap_or_default();
    let dashboard = seen(draft);
    if dashboard.is_none() && !known.wanted {
        return;
    }
    let is_touched = match standing {
        Standing::Unread => return,
        Standing::Touched { keys, .. } => {
            // A box springs back only once what it asks for stands in the ledger.
            let requests = &draft.state.requests;
            if keys.iter().any(|key| !requests.contains_key(key)) {
                return;
            }
            true
        }
        // Whoever writes something else there each time is not answered each time.
        Standing::Edited { .. } | Standing::Unseen | Standing::AsWritten | Standing::Heard => false,
    };
    // What is just being started is told of a moment later. A box does not wait for what nobody may ever know.
    if draft.is_creating() || !is_touched && is_starting(draft) {
        return;
    }
    let body = dashboard_text::text(draft);
    let digest = text_digest(&body);
    let is_news = known.digest.as_ref() != Some(&digest);
    let mut repeats = 0;
    if !is_touched {
        let stands = *standing == Standing::AsWritten;
        if stands && !is_news {
            return;
        }
        let pause = match is_news {
            _ if !stands && known.repeats >= DASHBOARD_REPEATS => DAY,
            true => DASHBOARD_CALM,
            false => DASHBOARD_AGAIN,
        };
        if let Some(at) = known
            .at
            .filter(|at| draft.now().duration_since(*at) < pause)
        {
            if let Standing::Edited { version } = standing
                && let Some(known) = &mut draft.state.dashboard
            {
                // It was looked at, and needs no look of its own while it waits.
                known.replaces = Some(version.clone());
            }
            draft.wake(later(at, pause));
            return;
        }
        if !stands && known.at.is_some() {
            repeats = known.repeats.saturating_add(1).min(DASHBOARD_REPEATS);
        }
    }
    write(draft, known, standing, repeats, (body, digest));
}

fn write(
    draft: &mut Draft<'_>,
    known: DashboardState,
    standing: &Standing,
    repeats: u32,
    (body, digest): (String, String),
) {
    let now = draft.now();
    let not_after = later(now, INTENT_VALID);
    let dashboard = seen(draft);
    // What was looked at last: the issue by itself, where it was read, is newer than the list.
    let subject = dashboard.and_then(|one| draft.snapshot.subjects.get(&one.number)?.as_ref());
    let text = match standing {
        Standing::Touched { .. } | Standing::Edited { .. } => {
            subject.map(|subject| subject.body.as_str())
        }
        _ => None,
    };
    let text = text.or(dashboard.map(|one| one.body.as_str()));
    let replaces = match standing {
        Standing::Touched { version, .. } | Standing::Edited { version } => Some(version.clone()),
        _ => dashboard.map(|one| version(&one.body, one.edited_at)),
    };
    // Whichever of ours stands there now may get a tick before the new one arrives.
    let (standing_there, heard) = text.map(dashboard_issue::unticked).unzip();
    let is_ours =
        |one: &String| known.digest.as_ref() == Some(one) || known.before.as_ref() == Some(one);
    let before = standing_there.filter(is_ours).or(known.before.clone());
    match (dashboard, text) {
        (Some(dashboard), Some(text)) => {
            draft.state.dashboard_issue = Some(dashboard.number);
            draft.effect(Effect::EditDashboard {
                number: dashboard.number,
                seen: text_digest(text),
                body,
                not_after,
            });
        }
        _ => draft.effect(Effect::OpenDashboard {
            known: draft.state.dashboard_issue,
            title: TITLE.to_owned(),
            marker: DASHBOARD_MARKER.to_owned(),
            body,
            not_after,
        }),
    }
    draft.headline("dashboard".to_owned(), None);
    draft.state.dashboard = Some(DashboardState {
        wanted: dashboard.is_none(),
        digest: Some(digest),
        before,
        replaces,
        heard: heard.unwrap_or_default(),
        at: Some(now),
        repeats,
        extra: known.extra,
    });
}

/// Whether a session is being started that the next moment tells of.
fn is_starting(draft: &Draft<'_>) -> bool {
    let now = draft.now();
    let tracks = draft.state.tracks.values();
    tracks.flat_map(|track| track.turns.values()).any(|turn| {
        let intent = turn.intent.as_ref().filter(|_| turn.session_id.is_none());
        intent.is_some_and(|intent| now.duration_since(intent.created_at) < GRACE)
    })
}
