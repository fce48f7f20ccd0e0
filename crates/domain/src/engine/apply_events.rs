//! What came of this tick's effects is written into the state.

use super::output::builder::Draft;
use super::output::event::Event;
use super::publish::{dashboard, proposals, status_comment, work_items};
use super::pulls::{drafts, merge, message};
use super::record::refused_effect::refused;
use super::turns::created::{created, not_created};

pub(crate) fn apply(draft: &mut Draft<'_>, events: &[Event]) {
    for event in events {
        match event {
            Event::SessionCreated {
                track,
                slot,
                marker,
                session,
            } => created(draft, track, slot, marker, session),
            Event::SessionNotCreated {
                track,
                slot,
                marker,
                failure,
            } => {
                not_created(draft, track, slot, marker, failure);
            }
            Event::StatusTold {
                request,
                digest,
                comment_id,
            } => status_comment::told(draft, request, digest, *comment_id),
            Event::PullReadied { pull } => drafts::done(draft, *pull),
            Event::PullTold { pull, marker } => message::told_of(draft, *pull, marker),
            Event::PullMerged { request } => merge::answered(draft, request, None),
            Event::MergeRefused { request, detail } => {
                merge::answered(draft, request, Some(detail));
            }
            Event::MergePutOff { request, retry_at } => {
                merge::put_off(draft, request, *retry_at);
            }
            Event::ProposalPublished { key, number } => proposals::published(draft, key, *number),
            Event::WorkOffered { key, number } => work_items::shown(draft, key, *number),
            Event::OfferClosed { number } => work_items::closed(draft, *number),
            Event::DashboardOpened { number } => dashboard::opened(draft, *number),
            Event::EffectRefused { key } => refused(draft, key),
            // The executor has reported it; the next tick looks at the world again and decides again.
            Event::EffectFailed { .. } => {}
        }
    }
}
