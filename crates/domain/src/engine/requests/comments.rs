//! Requests by comments.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::authorize::{CommentAuthor, check_author, is_given_up, request_permissions};
use super::cursor;
use super::cursor::CommentCursor;
use super::request::{Command, Request, report_unread};
use crate::engine::input::comment::{Comment, parse_command};
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    NUMBERS_NAMED, PERMISSION_PATIENCE, REQUEST_VALID, SUBJECTS_READ,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers::STATUS_MARKER;
use crate::state::RequestKind;

/// Returns the requests in comments. A recorded one is finished, whatever its comment says now. Comments of
/// unauthorized accounts cost one read of their permission.
pub(crate) fn comment_requests<'s>(
    builder: &mut DecisionBuilder<'s>,
    cursor: &mut CommentCursor,
) -> Vec<Request<'s>> {
    cursor::warn_missed_comments(builder, cursor);
    let comments = new_commands(builder, cursor);
    let left = request_permissions(builder, &comments);
    if left > 0 {
        cursor.mark_overflow();
    }
    let (mut unread, mut unknown, mut given_up) = (0, 0, 0);
    let mut refused: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut requests = Vec::new();
    for comment in comments {
        match check_author(builder, comment.author.as_ref()) {
            CommentAuthor::Writer => {}
            CommentAuthor::Refused(reason, text) => {
                cursor.mark_repeated(comment.created_at);
                let count = refused.entry(reason).or_default();
                *count += 1;
                if *count <= NUMBERS_NAMED {
                    let text = format!("on #{}: {text}", comment.thread);
                    builder.report_line(Line::about_repository(Verdict::Refused, reason, text));
                }
                continue;
            }
            CommentAuthor::Unread if is_abandoned(builder, comment) => {
                given_up += 1;
                cursor.mark_repeated(comment.created_at);
                continue;
            }
            CommentAuthor::Unread => {
                unknown += 1;
                cursor.hold_from(comment.created_at);
                continue;
            }
        }
        let Some(subject) = comment_subject(builder, cursor, comment, &mut unread) else {
            continue;
        };
        let words = parse_command(&comment.body).unwrap_or_default();
        let command =
            Command::from_comment(&words).with_plan_spelling(builder, RequestKind::Comment);
        // A comment on a closed subject does not count, but for the reason of its closing; the first read shows no other.
        let counts = subject.open || command.concerns_closing();
        if !counts && is_from_second_read(builder, comment) {
            continue;
        }
        requests.push(Request {
            key: Cow::from(&comment.id),
            kind: RequestKind::Comment,
            subject,
            command,
            actor: comment.author.as_ref(),
            at: comment.created_at,
            event: None,
            label: None,
            comment: Some(comment.number),
        });
    }
    report_authors(builder, &refused, (unknown, left), given_up);
    requests
}

/// Returns the subject of a comment; `None` where it is gone, or is read next.
fn comment_subject<'s>(
    builder: &mut DecisionBuilder<'s>,
    cursor: &mut CommentCursor,
    comment: &Comment,
    unread: &mut usize,
) -> Option<&'s Subject> {
    let snapshot = builder.snapshot;
    if let Some(known) = snapshot.subjects.get(&comment.thread) {
        return known.as_ref();
    }
    if *unread < SUBJECTS_READ {
        builder.reads.subjects.insert(comment.thread);
    }
    *unread += 1;
    cursor.hold_from(comment.created_at);
    let text = format!("a command on #{} is read next", comment.thread);
    report_unread(builder, text);
    None
}

/// Whether a command of an unknown account has waited too long for its permission.
fn is_abandoned(builder: &DecisionBuilder<'_>, comment: &Comment) -> bool {
    let actor = comment.author.as_ref();
    let is_asked = actor.is_some_and(|actor| builder.reads.permissions.contains(&actor.login));
    !is_asked && !comment.may_belong_to_project && is_given_up(builder, comment)
}

/// Reports how many commands were ignored without a line of their own, and how many wait for permissions.
fn report_authors(
    builder: &mut DecisionBuilder<'_>,
    refused: &BTreeMap<Reason, usize>,
    (unknown, left): (usize, usize),
    given_up: usize,
) {
    for (reason, count) in refused {
        if *count > NUMBERS_NAMED {
            let text = format!(
                "{} more commands of unauthorized accounts",
                count - NUMBERS_NAMED
            );
            builder.report_line(Line::about_repository(Verdict::Refused, *reason, text));
        }
    }
    if given_up > 0 {
        let text = format!(
            "commands whose authors could not be looked up for {} hours, because too many accounts gave some: {given_up}; one \
             of an account with write access is to be given again",
            PERMISSION_PATIENCE.as_hours()
        );
        builder.report_line(Line::about_repository(
            Verdict::Waiting,
            Reason::CommentsMissed,
            text,
        ));
    }
    if unknown > 0 {
        let later = match left {
            0 => String::new(),
            left => format!("; {left} accounts wait for the next ticks"),
        };
        let text = format!(
            "the permissions of the authors of commands are read next (commands: {unknown}{later})"
        );
        report_unread(builder, text);
    }
}

/// Whether only the second read shows a comment.
fn is_from_second_read(builder: &DecisionBuilder<'_>, comment: &Comment) -> bool {
    let mut shown = builder.snapshot.comments.iter();
    !shown.any(|one| one.id == comment.id)
}

/// Returns the comments with a new command, oldest first: not finished, and not older than phileas' reading.
fn new_commands<'s>(
    builder: &mut DecisionBuilder<'s>,
    cursor: &mut CommentCursor,
) -> Vec<&'s Comment> {
    let snapshot = builder.snapshot;
    let now = builder.now();
    let until = cursor::read_until(builder);
    let further = snapshot.comment_coverage.further.iter();
    let all = further.flat_map(|further| &further.comments);
    let mut past: Vec<Timestamp> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut comments = Vec::new();
    for comment in snapshot.comments.iter().chain(all) {
        if parse_command(&comment.body).is_none() || !ids.insert(&comment.id) {
            continue;
        }
        let is_old = now.duration_since(comment.created_at) >= REQUEST_VALID;
        // It was read, and is either in the state or was refused for its author.
        let is_over = until.is_some_and(|until| comment.created_at <= until);
        // Comments with the marker are phileas' own, whatever account wrote them.
        let is_own = comment.body.contains(STATUS_MARKER);
        if comment.edited
            || is_old
            || is_over
            || is_own
            || builder.state.requests.contains_key(&comment.id)
        {
            continue;
        }
        if cursor::is_before_start(builder, comment.created_at) {
            past.push(comment.created_at);
            continue;
        }
        comments.push(comment);
    }
    if let Some(oldest) = past.iter().min() {
        cursor::warn_old_commands(builder, cursor, past.len(), *oldest);
    }
    comments.sort_by_key(|comment| (comment.created_at, comment.number));
    comments
}
