//! Executes the command of an authorized request.

use super::approve::approve_plan;
use super::cancel::cancel_turns;
use super::command_result::CommandResult;
use super::dashboard::open_dashboard;
use super::merge::check_merge;
use super::pause::{pause_repository, resume_repository, stop_repository};
use super::refuse::{forget_refusal, refuse_work};
use super::request::{Command, Request, unknown_text};
use super::retry::{resume_waiting_turn, retry_turns};
use super::subject_turns::live_turns;
use crate::engine::lookup::work_items;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;

/// Executes the command of an authorized request, as far as it needs no pending request.
pub(crate) fn execute_command(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> CommandResult {
    let live = live_turns(builder, request);
    match &request.command {
        Command::Run(persona) => {
            work_items::requested_session(builder, request.subject, persona).into()
        }
        Command::Retry => retry_turns(builder, request, &live),
        Command::ApprovePlan => approve_plan(builder, request, &live),
        Command::ResumeTurn(turn) => resume_waiting_turn(builder, turn).into(),
        Command::Dashboard => CommandResult::Executed(open_dashboard(builder)),
        Command::Cancel => cancel_turns(builder, request, &live).into(),
        Command::Pause => CommandResult::Executed(pause_repository(builder, request)),
        Command::Resume => resume_repository(builder, request).into(),
        Command::Stop => CommandResult::Executed(stop_repository(builder, request)),
        // The answer is written when everything is decided.
        Command::Status | Command::Explain => CommandResult::Executed(String::new()),
        Command::Merge => match check_merge(builder, request) {
            Ok(head) => CommandResult::Merge(head),
            Err((reason, text)) => CommandResult::Refused(reason, text),
        },
        Command::Refuse { reason, never } => refuse_work(builder, request, *reason, *never).into(),
        Command::Forget => forget_refusal(builder, request).into(),
        Command::Help => CommandResult::Executed("the commands are listed below".to_owned()),
        Command::Unknown(word) => {
            CommandResult::Refused(Reason::Unknown, unknown_text(builder, request, word))
        }
    }
}
