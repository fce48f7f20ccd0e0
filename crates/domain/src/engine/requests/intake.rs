//! Accepts the requests of labels, comments and checkboxes: each once, under the id of the event that made it.
//!
//! Acceptance is level-triggered. A label that is still there is a request that was not accepted yet, or one whose
//! label could not be removed yet; the requests in the state tell which.

use super::authorize::{Authorization, authorize_request};
use super::command_result::CommandResult;
use super::comments::comment_requests;
use super::cursor::CommentCursor;
use super::execute::execute_command;
use super::labels::label_requests;
use super::record::{self, acknowledge_request};
use super::request::{Request, report_unread};
use super::{checkboxes, cursor, merge, reviews};
use crate::engine::lookup::dashboard_issue::DashboardStatus;
use crate::engine::lookup::request_origin::is_about_actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::WISHES_TAKEN;
use crate::engine::output::report::{Line, Verdict};
use crate::state::RequestKind;

/// What later stages need of the accepted requests.
pub(crate) struct Intake {
    /// What people did to the dashboard issue.
    pub(crate) dashboard: DashboardStatus,
    /// How far comments were read.
    pub(crate) cursor: CommentCursor,
}

/// Accepts every visible request that is not recorded yet, in the order in which they were made: the later of two
/// commands of a person must win, wherever they were given.
pub(crate) fn accept_requests(builder: &mut DecisionBuilder<'_>) -> Intake {
    let mut cursor = CommentCursor::default();
    let mut requests = label_requests(builder, &mut cursor);
    requests.extend(comment_requests(builder, &mut cursor));
    let (dashboard, ticked) = checkboxes::ticked_requests(builder);
    requests.extend(ticked);
    requests.sort_by_key(|request| (request.at, request.comment));
    let before = builder.state.requests.len();
    let mut again = 0;
    for request in &requests {
        // A recorded request whose label could not be removed must not block others.
        if builder.state.requests.contains_key(&*request.key) {
            again += 1;
            if again > WISHES_TAKEN {
                continue;
            }
        } else if builder.state.requests.len() - before >= WISHES_TAKEN
            && !request.command.only_stops()
        {
            let text =
                format!("more than {WISHES_TAKEN} requests at once; the others are accepted next");
            cursor.hold_from(request.at);
            report_unread(builder, text);
            continue;
        }
        accept_request(builder, &mut cursor, request);
    }
    cursor::close_cursor(builder, &mut cursor);
    Intake { dashboard, cursor }
}

fn accept_request(
    builder: &mut DecisionBuilder<'_>,
    cursor: &mut CommentCursor,
    request: &Request<'_>,
) {
    if let Some(known) = builder.state.requests.get(&*request.key) {
        // The process died before it removed the label, or GitHub shows an earlier state.
        let was_let_through = !known.is_refused();
        acknowledge_request(builder, request, was_let_through);
        return;
    }
    match authorize_request(builder, request) {
        Authorization::Unread => {
            cursor.hold_from(request.at);
            let text = format!(
                "the permission of the actor on #{} is read next",
                request.subject.number
            );
            report_unread(builder, text);
        }
        // A comment of an unauthorized account causes neither an answer nor a commit.
        Authorization::Refused(reason, text)
            if request.kind == RequestKind::Comment && is_about_actor(reason) =>
        {
            cursor.mark_repeated(request.at);
            let text = format!("on #{}: {text}", request.subject.number);
            builder.report_line(Line::about_repository(Verdict::Refused, reason, text));
        }
        Authorization::Refused(reason, text) => {
            record::record_refusal(builder, request, reason, &text);
            acknowledge_request(builder, request, false);
        }
        Authorization::Granted => {
            let result = execute_command(builder, request);
            if record_result(builder, request, result) {
                acknowledge_request(builder, request, true);
            } else {
                cursor.hold_from(request.at);
                let text = format!(
                    "`{}` waits for a listing of Jules' sessions",
                    request.command.verb_name()
                );
                report_unread(builder, text);
            }
        }
    }
}

/// Records an authorized request with the result of its command. `false`: more must be read first.
fn record_result(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    result: CommandResult,
) -> bool {
    match result {
        CommandResult::NeedsRead => return false,
        CommandResult::Executed(answer) => record::record_executed(builder, request, answer),
        CommandResult::StartSession(persona) => {
            record::record_session_request(builder, request, &persona);
        }
        CommandResult::Refused(reason, text) => {
            record::record_refusal(builder, request, reason, &text);
        }
        CommandResult::Merge(head) => merge::record_merge(builder, request, head),
        CommandResult::SendReviews(head) => reviews::record_reviews(builder, request, head),
    }
    true
}
