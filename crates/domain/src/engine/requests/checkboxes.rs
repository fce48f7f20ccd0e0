//! Requests by checkboxes of the dashboard issue. They pass the same gate as all others.
//!
//! Only a text of phileas with nothing but ticks changed counts; any other text is overwritten. Each editor since
//! phileas wrote it must be authorized. GitHub shows the edits, their editors and the text after each of them. The
//! edits that count begin after the newest version that is phileas' own text without a tick.

use std::borrow::Cow;

use super::request::{Command, Request, report_unread};
use crate::engine::input::subject::{Actor, Subject, SubjectEdit};
use crate::engine::lookup::dashboard_issue::{
    DashboardStatus, find_dashboard, text_version, without_ticks,
};
use crate::engine::lookup::permissions::may_request;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::EDITS_SHOWN;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::state::{DashboardState, RequestKind};

/// Returns what people did to the dashboard issue, and the requests of its ticked checkboxes.
pub(crate) fn ticked_requests<'s>(
    builder: &mut DecisionBuilder<'s>,
) -> (DashboardStatus, Vec<Request<'s>>) {
    let none = Vec::new();
    let known = builder.state.dashboard.clone().unwrap_or_default();
    let subject = match read_edited(builder, &known) {
        Ok(subject) => subject,
        Err(status) => return (status, none),
    };
    let version = text_version(&subject.body, subject.edited_at);
    if let Some(status) = settled_status(&known, &subject.body, &version) {
        return (status, none);
    }
    let (digest, words) = without_ticks(&subject.body);
    let is_ours = known.digest.as_ref() == Some(&digest) || known.before.as_ref() == Some(&digest);
    if is_ours && words.is_empty() {
        // An older text of phileas: the newer one is being written.
        return (DashboardStatus::Handled, none);
    }
    let edits = edits_since_written(subject, &digest);
    let is_whole = edits.len() < subject.edits.len() || edits.len() < EDITS_SHOWN;
    let newest = edits
        .first()
        .filter(|edit| Some(edit.at) == subject.edited_at);
    let Some(newest) = newest.filter(|_| is_ours && is_whole) else {
        let text = format!(
            "the text of the dashboard issue #{} was edited by hand; phileas writes it again and ignores its checkboxes",
            subject.number
        );
        let line = Line::about_repository(Verdict::Refused, Reason::DashboardEdited, text);
        builder.report_line(line);
        return (DashboardStatus::Edited { version }, none);
    };
    let Ok(actor) = editor_of(builder, &edits) else {
        report_unread(
            builder,
            "the permission of the account that ticked a checkbox is read next".to_owned(),
        );
        return (DashboardStatus::Unread, none);
    };
    let ticks = words.iter().filter(|word| {
        let is_heard = |edit: &&SubjectEdit| {
            let stored = &builder.state.requests;
            stored.contains_key(&request_key(edit, word))
        };
        // Where the newer text has not arrived, its checkboxes still show ticks that were accepted. Or a tick was
        // accepted before, and another checkbox was ticked before the text could be written.
        let has_arrived = known.digest.as_ref() == Some(&digest);
        let is_old = edits.iter().any(is_heard);
        !is_old && (has_arrived || !known.comments_read.contains(*word))
    });
    let requests: Vec<Request<'s>> = ticks
        .map(|word| checkbox_request(subject, newest, actor, word))
        .collect();
    let keys = requests
        .iter()
        .map(|request| request.key.to_string())
        .collect();
    (DashboardStatus::Touched { version, keys }, requests)
}

/// Returns the dashboard issue with its edits. Requests a read of it where its text was changed.
fn read_edited<'s>(
    builder: &mut DecisionBuilder<'s>,
    known: &DashboardState,
) -> Result<&'s Subject, DashboardStatus> {
    let dashboard = find_dashboard(builder).ok_or(DashboardStatus::Unseen)?;
    let version = text_version(&dashboard.body, dashboard.edited_at);
    if let Some(status) = settled_status(known, &dashboard.body, &version) {
        return Err(status);
    }
    match builder.snapshot.subjects.get(&dashboard.number) {
        Some(Some(subject)) => Ok(subject),
        Some(None) => Err(DashboardStatus::Unseen),
        None => {
            builder.reads.subjects.insert(dashboard.number);
            let text = format!(
                "the dashboard issue #{} was edited; it is read next",
                dashboard.number
            );
            report_unread(builder, text);
            Err(DashboardStatus::Unread)
        }
    }
}

/// The status of a text that phileas wrote or has answered already.
fn settled_status(known: &DashboardState, body: &str, version: &str) -> Option<DashboardStatus> {
    let (digest, words) = without_ticks(body);
    if words.is_empty() && known.digest.as_ref() == Some(&digest) {
        return Some(DashboardStatus::AsWritten);
    }
    (known.replaces.as_deref() == Some(version)).then_some(DashboardStatus::Handled)
}

fn checkbox_request<'s>(
    subject: &'s Subject,
    edit: &SubjectEdit,
    actor: Option<&'s Actor>,
    word: &str,
) -> Request<'s> {
    Request {
        key: Cow::Owned(request_key(edit, word)),
        kind: RequestKind::Checkbox,
        subject,
        command: Command::from_checkbox(word),
        actor,
        at: edit.at,
        event: None,
        label: None,
        comment: None,
    }
}

/// The key of a checkbox request in the state.
fn request_key(edit: &SubjectEdit, word: &str) -> String {
    format!("{}:{}:{word}", RequestKind::Checkbox.as_str(), edit.id)
}

/// Returns the edits since phileas' own text without a tick, newest first. One of them made each current tick. The text
/// after an edit decides, not its time or its editor's name, because an edit right after phileas' own may be another
/// account's. If no such version is among the listed edits, all of them count.
fn edits_since_written<'s>(subject: &'s Subject, digest: &str) -> Vec<&'s SubjectEdit> {
    let edits = subject.edits.iter();
    edits
        .take_while(|edit| edit.digest.as_deref() != Some(digest))
        .collect()
}

/// The permission of an account must be read first.
struct UnreadPermission;

/// Returns the actor of a checkbox request: the newest editor, unless one of the editors may not make requests. `None`:
/// its account is deleted.
fn editor_of<'s>(
    builder: &mut DecisionBuilder<'_>,
    edits: &[&'s SubjectEdit],
) -> Result<Option<&'s Actor>, UnreadPermission> {
    let mut is_unread = false;
    for edit in edits {
        match may_request(builder, edit.actor.as_ref()) {
            Some(true) => {}
            Some(false) => return Ok(edit.actor.as_ref()),
            None => is_unread = true,
        }
    }
    if is_unread {
        return Err(UnreadPermission);
    }
    Ok(edits.first().and_then(|edit| edit.actor.as_ref()))
}
