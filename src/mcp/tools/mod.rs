//! The tools, in the order in which they are listed. A file for each family.

mod arguments;
pub(super) mod artifacts;
mod create;
mod end;
mod events;
mod house;
mod look;
mod merge;
mod messages;
mod pipeline;
mod sources;
mod speak;

use super::offer::Offer;

/// All tools.
pub(super) fn all() -> Vec<Offer> {
    vec![
        create::create_job(),
        events::register_job(),
        look::get_job(),
        look::list_jobs(),
        messages::get_messages(),
        speak::send_message(),
        speak::approve_plan(),
        artifacts::get_artifacts(),
        artifacts::get_diff(),
        end::request_retry(),
        merge::merge_pr(),
        end::cancel_job(),
        events::wait_for_event(),
        events::list_events(),
        events::ack_event(),
        sources::list_sources(),
        house::explain(),
        house::status(),
        house::run(),
        pipeline::status(),
        pipeline::comes_next(),
        pipeline::validate(),
        pipeline::check(),
        pipeline::write(),
    ]
}
