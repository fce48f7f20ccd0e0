//! The tools in the order in which clients list them. A file for each family.

mod arguments;
pub(super) mod artifacts;
mod create;
mod end;
mod events;
mod jobs;
mod merge;
mod messages;
mod pipeline;
mod repositories;
mod send_message;
mod sources;

use super::tool_definition::ToolDefinition;

/// Returns all tools.
pub(super) fn all_tools() -> Vec<ToolDefinition> {
    vec![
        create::create_job(),
        events::register_job(),
        jobs::get_job(),
        jobs::list_jobs(),
        messages::get_messages(),
        send_message::send_message(),
        send_message::approve_plan(),
        artifacts::get_artifacts(),
        artifacts::get_diff(),
        end::request_retry(),
        merge::merge_pr(),
        end::cancel_job(),
        events::wait_for_event(),
        events::list_events(),
        events::ack_event(),
        sources::list_sources(),
        repositories::explain_repository(),
        repositories::repository_status(),
        repositories::run_repository(),
        pipeline::pipeline_status(),
        pipeline::pipeline_next(),
        pipeline::pipeline_validate(),
        pipeline::pipeline_check(),
        pipeline::pipeline_write(),
    ]
}
