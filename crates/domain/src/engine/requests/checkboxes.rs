//! Boxes that people tick. Each ticked one is a wish that goes through the same gate as every other.
//!
//! Only a text of ours, with nothing changed but ticks, is obeyed; anything else is written anew. Whoever has edited it
//! since it was written must be somebody who may ask: GitHub tells the edits, their editors and the text that each of them
//! left. The newest version that is phileas' own text without a tick is where the edits that count begin.

use std::borrow::Cow;

use super::request::{What, Wish, say_unread};
use crate::engine::input::request_kind::BY_BOX;
use crate::engine::input::subject::{Actor, Subject, SubjectEdit};
use crate::engine::lookup::dashboard_issue::{Standing, seen, unticked, version};
use crate::engine::lookup::permissions::may_ask;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::EDITS_SHOWN;
use crate::engine::output::report::{Line, Reason, Verdict};

/// What people did to the dashboard issue, and the wishes that its ticked boxes stand for.
pub(crate) fn ticked<'s>(draft: &mut Draft<'s>) -> (Standing, Vec<Wish<'s>>) {
    let none = Vec::new();
    let snapshot = draft.snapshot;
    let Some(dashboard) = seen(draft) else {
        return (Standing::Unseen, none);
    };
    let known = draft.state.dashboard.clone().unwrap_or_default();
    let is_written = |digest: &String, words: &[String]| {
        words.is_empty() && known.digest.as_ref() == Some(digest)
    };
    let (digest, words) = unticked(&dashboard.body);
    if is_written(&digest, &words) {
        return (Standing::AsWritten, none);
    }
    if known.replaces == Some(version(&dashboard.body, dashboard.edited_at)) {
        return (Standing::Heard, none);
    }
    let subject = match snapshot.subjects.get(&dashboard.number) {
        Some(Some(subject)) => subject,
        Some(None) => return (Standing::Unseen, none),
        None => {
            draft.needs.subjects.insert(dashboard.number);
            let text = format!(
                "the dashboard issue #{} was touched; it is read next",
                dashboard.number
            );
            say_unread(draft, text);
            return (Standing::Unread, none);
        }
    };
    let (digest, words) = unticked(&subject.body);
    if is_written(&digest, &words) {
        return (Standing::AsWritten, none);
    }
    let version = version(&subject.body, subject.edited_at);
    if known.replaces.as_ref() == Some(&version) {
        return (Standing::Heard, none);
    }
    let is_ours = known.digest.as_ref() == Some(&digest) || known.before.as_ref() == Some(&digest);
    if is_ours && words.is_empty() {
        // An older one of ours: the newer one is on its way.
        return (Standing::Heard, none);
    }
    let edits = since_written(subject, &digest);
    let is_whole = edits.len() < subject.edits.len() || edits.len() < EDITS_SHOWN;
    let newest = edits
        .first()
        .filter(|edit| Some(edit.at) == subject.edited_at);
    let Some(newest) = newest.filter(|_| is_ours && is_whole) else {
        let text = format!(
            "the text of the dashboard issue #{} was changed by hand; it is written anew, and no box obeyed",
            subject.number
        );
        let line = Line::repository(Verdict::Refused, Reason::DashboardEdited, text);
        draft.say(line);
        return (Standing::Edited { version }, none);
    };
    let Some(actor) = actor_of(draft, &edits) else {
        say_unread(
            draft,
            "who ticked a box of the dashboard is looked at next".to_owned(),
        );
        return (Standing::Unread, none);
    };
    // Where the newer text has not arrived, its boxes have not sprung back since they were heard.
    let has_arrived = known.digest.as_ref() == Some(&digest);
    let (mut keys, mut wishes) = (Vec::new(), Vec::new());
    for word in words {
        // Or it was heard a moment ago, and another one was ticked before the text could be written.
        let requests = &draft.state.requests;
        let is_heard = edits
            .iter()
            .any(|edit| requests.contains_key(&key_of(edit, &word)));
        if is_heard || !has_arrived && known.heard.contains(&word) {
            continue;
        }
        let key = key_of(newest, &word);
        keys.push(key.clone());
        wishes.push(Wish {
            key: Cow::Owned(key),
            kind: BY_BOX,
            subject,
            what: What::of_box(&word),
            actor,
            at: newest.at,
            event: None,
            label: None,
            comment: None,
        });
    }
    (Standing::Touched { version, keys }, wishes)
}

/// Under which the wish of a box stands in the state.
fn key_of(edit: &SubjectEdit, word: &str) -> String {
    format!("{BY_BOX}:{}:{word}", edit.id)
}

/// The edits since the text stood there as phileas wrote it, without a tick, newest first. A tick that stands in the text
/// now was made by one of them. What an edit left tells that, and not its time or its editor's name: an edit soon after
/// phileas wrote may be another account's. Where no such version is among the edits that are shown, all of them count.
fn since_written<'s>(subject: &'s Subject, digest: &str) -> Vec<&'s SubjectEdit> {
    let edits = subject.edits.iter();
    edits
        .take_while(|edit| edit.digest.as_deref() != Some(digest))
        .collect()
}

/// Whose wish it is: the newest editor's, unless one of them may not ask. `None`: that has still to be read.
#[expect(
    clippy::option_option,
    reason = "an account that is gone is not one that is unread"
)]
fn actor_of<'s>(draft: &mut Draft<'_>, edits: &[&'s SubjectEdit]) -> Option<Option<&'s Actor>> {
    let mut is_unread = false;
    for edit in edits {
        match may_ask(draft, edit.actor.as_ref()) {
            Some(true) => {}
            Some(false) => return Some(edit.actor.as_ref()),
            None => is_unread = true,
        }
    }
    let newest = edits.first().and_then(|edit| edit.actor.as_ref());
    (!is_unread).then_some(newest)
}
