//! Records the results of this tick's effects in the state.

use super::output::builder::DecisionBuilder;
use super::output::event::Event;
use super::publish::{dashboard, proposals, status_comment, work_items};
use super::pulls::{drafts, merge, message, refusals, work_marks};
use super::record::refused_effect::record_refused_effect;
use super::turns::created::{record_created, record_not_created};

pub(crate) fn apply_events(builder: &mut DecisionBuilder<'_>, events: &[Event]) {
    for event in events {
        match event {
            Event::SessionCreated {
                track,
                slot,
                marker,
                session,
            } => record_created(builder, track, slot, marker, session),
            Event::SessionNotCreated {
                track,
                slot,
                marker,
                failure,
            } => {
                record_not_created(builder, track, slot, marker, failure);
            }
            Event::StatusWritten {
                request,
                digest,
                comment_id,
            } => status_comment::record_written(builder, request, digest, *comment_id),
            Event::PullMarkedReady { pull } => drafts::record_ready(builder, *pull),
            Event::PullNotified { pull, marker } => {
                message::record_delivery(builder, *pull, marker)
            }
            Event::PullMerged { request } => merge::record_answer(builder, request, None),
            Event::LabelAdded { pull } => work_marks::record_labelled(builder, *pull),
            Event::PullClosed { pull } => {
                refusals::record_closed(builder, *pull);
                work_marks::record_closed(builder, *pull);
            }
            Event::MergeRefused { request, detail } => {
                merge::record_answer(builder, request, Some(detail));
            }
            Event::MergePostponed { request, retry_at } => {
                merge::postpone_merge(builder, request, *retry_at);
            }
            Event::ProposalPublished { key, number } => {
                proposals::record_published(builder, key, *number)
            }
            Event::WorkItemOpened { key, number } => {
                work_items::record_opened(builder, key, *number)
            }
            Event::WorkItemClosed { number } => work_items::record_closed(builder, *number),
            Event::DashboardOpened { number } => dashboard::record_opened(builder, *number),
            Event::EffectRefused { key } => record_refused_effect(builder, key),
            // The executor has reported the failure. The next tick reads the world again and decides again.
            Event::EffectFailed { .. } => {}
        }
    }
}
