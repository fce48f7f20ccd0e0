//! Calls the stages of a decision in order.

use std::collections::BTreeMap;

use super::dispatch::{pause, start, timing};
use super::input::snapshot::Snapshot;
use super::ledger::trust;
use super::lookup::exchange_view;
use super::output::builder::DecisionBuilder;
use super::output::decision::Decision;
use super::output::event::Event;
use super::output::limits::{INTENTS_PER_COMMIT, RECONCILE};
use super::output::read_requests::ReadRequests;
use super::publish::{self, dashboard, ledger_documents, notices, status_comment};
use super::pulls::{
    archive, conflicts, drafts, failed_checks, merge, refusals, reminders, review_feedback, settle,
    tracked, work_marks, work_records,
};
use super::record::{refused_effect, retention};
use super::requests::{command_line, cursor, intake};
use super::turns::follow;
use super::{apply_events, observe_only};
use crate::prompt::RenderRequest;

/// Decides what should happen next.
///
/// `events` are the results of the effects of earlier rounds of the same tick. The snapshot's ledger must be the one
/// that their commit produced. The same snapshot and the same events give the same bytes.
pub fn decide(snapshot: &Snapshot, events: &[Event]) -> Decision {
    build_decision(snapshot, events, 0).0
}

/// Like [`decide`], but starts nothing: for the last round of a tick, after which no commit could record a result. A
/// turn that could start is reported as waiting for the next commit.
pub fn decide_without_starts(snapshot: &Snapshot, events: &[Event]) -> Decision {
    build_decision(snapshot, events, INTENTS_PER_COMMIT).0
}

/// Returns what must be read before [`decide`] can say more than "wait". Reading it and calling again converges:
/// nothing that was read is requested again.
#[must_use]
pub fn read_requests(snapshot: &Snapshot) -> ReadRequests {
    build_decision(snapshot, &[], 0).1
}

/// The prompts that must be rendered before [`decide`] can say more than "wait", by the keys of their requests. They
/// depend on the results of effects, as the decision does.
#[must_use]
pub fn prompts_to_render(snapshot: &Snapshot, events: &[Event]) -> BTreeMap<String, RenderRequest> {
    build_decision(snapshot, events, 0).1.prompts
}

/// The decision, and what must be read or rendered before it can say more.
pub(crate) fn decide_with_reads(snapshot: &Snapshot, events: &[Event]) -> (Decision, ReadRequests) {
    build_decision(snapshot, events, 0)
}

/// `started`: how many sessions count as announced already.
fn build_decision(
    snapshot: &Snapshot,
    events: &[Event],
    started: usize,
) -> (Decision, ReadRequests) {
    let mut builder = DecisionBuilder::new(snapshot, exchange_view::exchange_at_head(snapshot));
    let reconcile_at = builder.now_plus(RECONCILE);
    builder.wake_by(reconcile_at);
    if trust::is_ledger_trusted(&mut builder) {
        // Record results even while nothing may start.
        apply_events::apply_events(&mut builder, events);
        // Accept requests even while nothing may start, and before any other stage acts on the same turns.
        let intake = intake::accept_requests(&mut builder);
        follow::follow_turns(&mut builder);
        settle::settle_pulls(&mut builder);
        tracked::forget_settled(&mut builder);
        retention::forget_old(&mut builder);
        refused_effect::forget_refused(&mut builder);
        timing::record_changes(&mut builder);
        match pause::report_pause(&mut builder) {
            None => {
                command_line::accept_run_request(&mut builder);
                start::start_due(&mut builder, started);
                merge::process_merges(&mut builder, started == 0);
                review_feedback::process_reviews(&mut builder, started == 0);
                // The last round sends no message: no commit could record that it was sent.
                if started == 0 {
                    tracked::report_observed(&mut builder);
                    conflicts::run(&mut builder);
                    failed_checks::run(&mut builder);
                    drafts::run(&mut builder);
                    reminders::run(&mut builder);
                    refusals::run(&mut builder);
                    work_marks::run(&mut builder);
                    archive::run(&mut builder);
                    publish::run(&mut builder);
                }
            }
            Some(reason) => {
                start::report_paused(&mut builder, reason);
                merge::report_paused(&mut builder, reason);
                review_feedback::report_paused(&mut builder, reason);
            }
        }
        work_records::record_work(&mut builder);
        notices::open_refusal_notices(&mut builder);
        notices::dismiss_settled(&mut builder);
        // Later rounds of a tick decide on the same snapshot, which does not show the issue that the first round
        // opened.
        if events.is_empty() {
            notices::update_plan_notice(&mut builder);
        }
        status_comment::run(&mut builder);
        dashboard::update_dashboard(&mut builder, &intake.dashboard);
        ledger_documents::write_documents(&mut builder);
        if builder.is_changed() || cursor::needs_commit(&builder, &intake.cursor) {
            cursor::save_cursor(&mut builder, &intake.cursor);
        }
    }
    observe_only::drop_effects_if_observing(builder.into_decision(), snapshot)
}
