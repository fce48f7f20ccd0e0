//! Accepts the requests of labels, comments and checkboxes: each once, under the id of the event that made it.
//!
//! Acceptance is level-triggered. A label that is still there is a request that was not accepted yet, or one whose
//! label could not be removed yet; the requests in the state tell which.

use super::acceptance::Acceptance;
use super::authorize::{Authorization, authorize_request};
use super::command_result::CommandResult;
use super::comments::comment_requests;
use super::cursor::CommentCursor;
use super::execute::execute_command;
use super::labels::label_requests;
use super::record::record_acceptance;
use super::request::{Request, report_unread};
use super::{checkboxes, cursor};
use crate::engine::lookup::dashboard_issue::DashboardStatus;
use crate::engine::lookup::request_origin::is_about_actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::REQUESTS_ACCEPTED;
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
            if again > REQUESTS_ACCEPTED {
                continue;
            }
        } else if builder.state.requests.len() - before >= REQUESTS_ACCEPTED
            && !request.command.only_stops()
        {
            let text = format!(
                "more than {REQUESTS_ACCEPTED} requests at once; the others are accepted next"
            );
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
    let acceptance = decide_request(builder, request);
    match &acceptance {
        Acceptance::Unread(_) => cursor.hold_from(request.at),
        Acceptance::Ignored(..) => cursor.mark_repeated(request.at),
        Acceptance::Known { .. } | Acceptance::Refused(..) | Acceptance::Executed(_) => {}
    }
    record_acceptance(builder, request, acceptance);
}

fn decide_request(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> Acceptance {
    if let Some(known) = builder.state.requests.get(&*request.key) {
        return Acceptance::Known {
            was_refused: known.is_refused(),
        };
    }
    let number = request.subject.number;
    match authorize_request(builder, request) {
        Authorization::Unread => {
            let text = format!("the permission of the actor on #{number} is read next");
            Acceptance::Unread(text)
        }
        Authorization::Refused(reason, text)
            if request.kind == RequestKind::Comment && is_about_actor(reason) =>
        {
            Acceptance::Ignored(reason, text)
        }
        Authorization::Refused(reason, text) => Acceptance::Refused(reason, text),
        Authorization::Granted => match execute_command(builder, request) {
            CommandResult::NeedsRead => {
                let verb = request.command.verb_name();
                Acceptance::Unread(format!("`{verb}` waits for a listing of Jules' sessions"))
            }
            result => Acceptance::Executed(result),
        },
    }
}
