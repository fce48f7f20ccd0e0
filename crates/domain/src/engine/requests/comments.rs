//! Requests by comments.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::authorize::{Speaker, is_given_up, look_up, speaker};
use super::cursor;
use super::cursor::Listening;
use super::request::{What, Wish, say_unread};
use crate::engine::input::comment::{Comment, command_in};
use crate::engine::input::request_kind::BY_COMMENT;
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    LOOK_UP_PATIENCE, NUMBERS_NAMED, REQUEST_VALID, SUBJECTS_READ,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers::STATUS_MARKER;

/// The wishes that stand in comments. One that is known is over, whatever its comment has become. What is said by accounts
/// that may not ask costs no more than a look at what they may do.
pub(crate) fn commented<'s>(draft: &mut Draft<'s>, cursor: &mut Listening) -> Vec<Wish<'s>> {
    cursor::own_up(draft, cursor);
    let comments = commands(draft, cursor);
    let left = look_up(draft, &comments);
    if left > 0 {
        cursor.overflows();
    }
    let (mut unread, mut unknown, mut given_up) = (0, 0, 0);
    let mut refused: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut wishes = Vec::new();
    for comment in comments {
        match speaker(draft, comment.author.as_ref()) {
            Speaker::Writer => {}
            Speaker::Refused(reason, text) => {
                cursor.repeats(comment.created_at);
                let count = refused.entry(reason).or_default();
                *count += 1;
                if *count <= NUMBERS_NAMED {
                    let text = format!("on #{}: {text}", comment.thread);
                    draft.say(Line::repository(Verdict::Refused, reason, text));
                }
                continue;
            }
            Speaker::Unread if is_left_alone(draft, comment) => {
                given_up += 1;
                cursor.repeats(comment.created_at);
                continue;
            }
            Speaker::Unread => {
                unknown += 1;
                cursor.waits_since(comment.created_at);
                continue;
            }
        }
        let Some(subject) = subject_of(draft, cursor, comment, &mut unread) else {
            continue;
        };
        // What stands on something closed counts for nothing; the first read shows nothing of it.
        if !subject.open && is_further(draft, comment) {
            continue;
        }
        let words = command_in(&comment.body).unwrap_or_default();
        wishes.push(Wish {
            key: Cow::from(&comment.id),
            kind: BY_COMMENT,
            subject,
            what: What::of_comment(&words).spelt_by(draft),
            actor: comment.author.as_ref(),
            at: comment.created_at,
            event: None,
            label: None,
            comment: Some(comment.number),
        });
    }
    say_speakers(draft, &refused, (unknown, left), given_up);
    wishes
}

/// What a comment stands on; `None` where that is gone, or is read next.
fn subject_of<'s>(
    draft: &mut Draft<'s>,
    cursor: &mut Listening,
    comment: &Comment,
    unread: &mut usize,
) -> Option<&'s Subject> {
    let snapshot = draft.snapshot;
    if let Some(known) = snapshot.subjects.get(&comment.thread) {
        return known.as_ref();
    }
    if *unread < SUBJECTS_READ {
        draft.needs.subjects.insert(comment.thread);
    }
    *unread += 1;
    cursor.waits_since(comment.created_at);
    let text = format!("a command on #{} is read next", comment.thread);
    say_unread(draft, text);
    None
}

/// Whether a command of an account of which nothing is known has waited too long for a look at it.
fn is_left_alone(draft: &Draft<'_>, comment: &Comment) -> bool {
    let actor = comment.author.as_ref();
    let is_asked = actor.is_some_and(|actor| draft.needs.permissions.contains(&actor.login));
    !is_asked && !comment.insider && is_given_up(draft, comment)
}

/// Says how many commands were left alone without a line of their own, and how many wait for a look at their authors.
fn say_speakers(
    draft: &mut Draft<'_>,
    refused: &BTreeMap<Reason, usize>,
    (unknown, left): (usize, usize),
    given_up: usize,
) {
    for (reason, count) in refused {
        if *count > NUMBERS_NAMED {
            let text = format!(
                "{} more commands of accounts that may not ask",
                count - NUMBERS_NAMED
            );
            draft.say(Line::repository(Verdict::Refused, *reason, text));
        }
    }
    if given_up > 0 {
        let text = format!(
            "commands whose authors could not be looked up for {} hours, because too many accounts gave some: {given_up}; one \
             of an account with write access is to be given again",
            LOOK_UP_PATIENCE.as_hours()
        );
        draft.say(Line::repository(
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
        let text = format!("who gave commands is looked at next (commands: {unknown}{later})");
        say_unread(draft, text);
    }
}

/// Whether a comment is shown by the second read alone.
fn is_further(draft: &Draft<'_>, comment: &Comment) -> bool {
    let mut shown = draft.snapshot.comments.iter();
    !shown.any(|one| one.id == comment.id)
}

/// The comments that give a command, oldest first, and that neither are over nor were given before phileas listened.
fn commands<'s>(draft: &mut Draft<'s>, cursor: &mut Listening) -> Vec<&'s Comment> {
    let snapshot = draft.snapshot;
    let now = draft.now();
    let until = cursor::until(draft);
    let further = snapshot.heard.further.iter();
    let all = further.flat_map(|further| &further.comments);
    let mut past: Vec<Timestamp> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut comments = Vec::new();
    for comment in snapshot.comments.iter().chain(all) {
        if command_in(&comment.body).is_none() || !ids.insert(&comment.id) {
            continue;
        }
        let is_old = now.duration_since(comment.created_at) >= REQUEST_VALID;
        // It was heard, and either stands in the state or was said by nobody who may ask.
        let is_over = until.is_some_and(|until| comment.created_at <= until);
        // What bears the marker was written by phileas, in whosever name.
        let is_own = comment.body.contains(STATUS_MARKER);
        if comment.edited
            || is_old
            || is_over
            || is_own
            || draft.state.requests.contains_key(&comment.id)
        {
            continue;
        }
        if cursor::is_before_the_beginning(draft, comment.created_at) {
            past.push(comment.created_at);
            continue;
        }
        comments.push(comment);
    }
    if let Some(oldest) = past.iter().min() {
        cursor::own_up_to_the_past(draft, cursor, past.len(), *oldest);
    }
    comments.sort_by_key(|comment| (comment.created_at, comment.number));
    comments
}
