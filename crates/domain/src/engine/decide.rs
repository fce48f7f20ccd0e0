//! The decision itself: a page that reads like the specification.

use std::collections::BTreeMap;

use super::dispatch::{pause, start, timing};
use super::input::snapshot::Snapshot;
use super::ledger::trust;
use super::lookup::exchange_view;
use super::output::builder::Draft;
use super::output::decision::Decision;
use super::output::event::Event;
use super::output::limits::{INTENTS_PER_COMMIT, RECONCILE};
use super::output::needs::Needs;
use super::publish::{self, dashboard, ledger_documents, notices, status_comment};
use super::pulls::{
    archive, conflicts, drafts, failed_checks, merge, reminders, review_feedback, settle, tracked,
};
use super::record::{refused_effect, retention};
use super::requests::{command_line, cursor, intake};
use super::turns::follow;
use super::{apply_events, observe_only};
use crate::prompt::RenderRequest;

/// Decides what should happen next.
///
/// `events` is what came of the effects of earlier rounds of the same tick; the snapshot's ledger must be the one that
/// their commit produced. The same snapshot and the same events give the same bytes.
pub fn decide(snapshot: &Snapshot, events: &[Event]) -> Decision {
    draft(snapshot, events, 0).0
}

/// Like [`decide`], and starts nothing: for the last round of a tick, whose answers nobody would write down. What could
/// start says that the next commit goes on.
pub fn settle(snapshot: &Snapshot, events: &[Event]) -> Decision {
    draft(snapshot, events, INTENTS_PER_COMMIT).0
}

/// What must still be read before [`decide`] can say more than "wait". Reading it and asking again converges: what was
/// read is not asked for again.
#[must_use]
pub fn needs(snapshot: &Snapshot) -> Needs {
    draft(snapshot, &[], 0).1
}

/// The prompts that must be rendered before [`decide`] can say more than "wait", by the keys of their requests. Like its
/// decision they depend on what came of effects.
#[must_use]
pub fn prompts_to_render(snapshot: &Snapshot, events: &[Event]) -> BTreeMap<String, RenderRequest> {
    draft(snapshot, events, 0).1.prompts
}

/// What is decided, and what must be read or rendered before more can be.
pub(crate) fn decide_with_needs(snapshot: &Snapshot, events: &[Event]) -> (Decision, Needs) {
    draft(snapshot, events, 0)
}

/// `started`: how many sessions count as announced already.
fn draft(snapshot: &Snapshot, events: &[Event], started: usize) -> (Decision, Needs) {
    let mut draft = Draft::new(snapshot, exchange_view::at_hand(snapshot));
    let heard = draft.after(RECONCILE);
    draft.wake(heard);
    if trust::ledger(&mut draft) {
        // What happened is written down even while nothing may start.
        apply_events::apply(&mut draft, events);
        // What people ask for is heard even while nothing may start, and before anybody else speaks.
        let intake = intake::take_up(&mut draft);
        follow::turns(&mut draft);
        settle::settle(&mut draft);
        tracked::forget(&mut draft);
        retention::forget_old(&mut draft);
        refused_effect::forget_refused(&mut draft);
        timing::note_changes(&mut draft);
        match pause::paused(&mut draft) {
            None => {
                command_line::take_up(&mut draft);
                start::due(&mut draft, started);
                merge::due(&mut draft, started == 0);
                review_feedback::due(&mut draft, started == 0);
                // The last round says nothing more: nobody would write down that it was said.
                if started == 0 {
                    tracked::say_observed(&mut draft);
                    conflicts::run(&mut draft);
                    failed_checks::run(&mut draft);
                    drafts::run(&mut draft);
                    reminders::run(&mut draft);
                    archive::run(&mut draft);
                    publish::run(&mut draft);
                }
            }
            Some(reason) => {
                start::say_paused(&mut draft, reason);
                merge::say_paused(&mut draft, reason);
                review_feedback::say_paused(&mut draft, reason);
            }
        }
        notices::refused_sessions(&mut draft);
        notices::dismiss_settled(&mut draft);
        // Later rounds of a tick decide about the same look, in which the issue is not open yet.
        if events.is_empty() {
            notices::plan(&mut draft);
        }
        status_comment::run(&mut draft);
        dashboard::show(&mut draft, &intake.dashboard);
        ledger_documents::write_documents(&mut draft);
        if draft.is_changed() || cursor::has_to_be_written(&draft, &intake.cursor) {
            cursor::write_down(&mut draft, &intake.cursor);
        }
    }
    observe_only::silence_observers(draft.finish(), snapshot)
}
