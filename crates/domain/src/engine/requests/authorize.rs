//! Who may ask, and for what. Decided when the wish is decided on, never when it was made.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::request::{What, Wish};
use crate::engine::input::comment::{Comment, command_in};
use crate::engine::input::request_kind::BY_LABEL;
use crate::engine::input::subject::{Actor, Permission};
use crate::engine::lookup::permissions::{may_write, stranger};
use crate::engine::lookup::request_origin::is_of_a_stranger;
use crate::engine::lookup::work_items;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    ACCOUNTS_READ, LOOK_UP_PATIENCE, OUTSIDERS_READ, REQUEST_VALID,
};
use crate::engine::output::report::Reason;
use crate::model::Login;
use crate::state::State;

/// Whether a wish is let through.
pub(crate) enum Admission {
    /// Its actor's permission must be read first.
    Unread,
    /// It is not.
    Refused(Reason, String),
    /// It is.
    Granted,
}

/// Whether a wish is let through. GitHub is asked about its actor only where the account itself does not settle it.
pub(crate) fn admit(draft: &mut Draft<'_>, wish: &Wish<'_>) -> Admission {
    let refused = |reason, text: &str| Admission::Refused(reason, text.to_owned());
    let subject = wish.subject;
    if draft.now().duration_since(wish.at) >= REQUEST_VALID {
        return refused(Reason::RequestOld, "it is older than seven days");
    }
    if wish.kind == BY_LABEL && wish.event.is_none() {
        let text = "nobody can tell who put the label on; put it on again";
        return refused(Reason::ActorUnknown, text);
    }
    let Some(actor) = wish.actor else {
        return refused(Reason::ActorPermission, "the account is gone");
    };
    if let Some((reason, text)) = stranger(draft, actor) {
        return Admission::Refused(reason, text);
    }
    // Before anything is said of what was asked for: a stranger learns nothing, and is not answered.
    match may_write(draft, actor) {
        None => return Admission::Unread,
        Some(false) => {
            return refused(
                Reason::ActorPermission,
                "only people with write access may ask",
            );
        }
        Some(true) => {}
    }
    let starts = matches!(wish.what, What::Run(_) | What::Retry);
    let is_merge = wish.what == What::Merge;
    let is_fork = subject
        .pull
        .as_ref()
        .is_some_and(|ends| !ends.same_repository);
    if (starts || is_merge) && is_fork {
        return refused(Reason::Fork, "the pull request comes from a fork");
    }
    if let What::Run(persona) = &wish.what
        && !draft.snapshot.plan.personas.contains_key(persona)
        && !work_items::is_about(draft, subject, persona)
    {
        let text = format!("there is no persona `{persona}`");
        return Admission::Refused(Reason::Unknown, text);
    }
    let is_bound = draft.state.dashboard_issue != Some(subject.number);
    if (starts || is_merge) && is_bound && subject.changed_since(wish.event, wish.at) {
        return refused(
            Reason::ContentChanged,
            "the text or the commits were changed after it was asked for",
        );
    }
    if starts && draft.snapshot.plan.budget.requests_per_actor_hour == 0 {
        return refused(
            Reason::ActorBudget,
            "`requests_per_actor_hour` is 0, so nobody may ask for sessions",
        );
    }
    Admission::Granted
}

impl Actor {
    /// Whether both are the same account.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let (own, login) = (self.login.as_str(), other.login.as_str());
        (self.id.is_some() && self.id == other.id) || own.eq_ignore_ascii_case(login)
    }
}

/// What is known of the author of a comment before anything else of it is looked at.
pub(crate) enum Speaker {
    /// They may ask.
    Writer,
    /// They may not.
    Refused(Reason, String),
    /// Their permission must be read first.
    Unread,
}

/// Whether the author of a comment may ask. Nothing further is read for one who may not.
pub(crate) fn speaker(draft: &Draft<'_>, author: Option<&Actor>) -> Speaker {
    let refused = |text: &str| Speaker::Refused(Reason::ActorPermission, text.to_owned());
    let Some(actor) = author else {
        return refused("the account is gone");
    };
    if let Some((reason, text)) = stranger(draft, actor) {
        return Speaker::Refused(reason, text);
    }
    let may = match draft.snapshot.permissions.get(&actor.login) {
        _ if actor.bot => Some(true),
        Some(permission) => Some(permission.lets_write(actor)),
        None if draft.snapshot.heard.refused.contains(&actor.login) => Some(false),
        None => None,
    };
    match may {
        None => Speaker::Unread,
        Some(true) => Speaker::Writer,
        Some(false) => refused("only people with write access may ask"),
    }
}

/// Has the permissions of the authors of comments read: of those who were let through before first, then of those who are
/// close to the repository by GitHub's word, then of those who only want to stop something; the oldest comment first. Which
/// of those of one second comes first differs from minute to minute, so that a crowd of one second is worked off as well.
/// Answers with how many must wait for another tick.
pub(crate) fn look_up(draft: &mut Draft<'_>, comments: &[&Comment]) -> usize {
    let known = known_writers(&draft.state);
    let minute = draft.now().as_second() / 60;
    let mut unread: BTreeMap<&Login, (bool, bool, bool, Timestamp, u64)> = BTreeMap::new();
    let mut outsiders = BTreeSet::new();
    for comment in comments {
        let Some(actor) = &comment.author else {
            continue;
        };
        let is_known = known.contains(&actor.login.as_str().to_ascii_lowercase());
        if !is_known && !comment.insider && draft.snapshot.permissions.contains_key(&actor.login) {
            outsiders.insert(&actor.login);
        }
        if !matches!(speaker(draft, Some(actor)), Speaker::Unread) {
            continue;
        }
        let is_outsider = !is_known && !comment.insider;
        if is_outsider && is_given_up(draft, comment) {
            continue;
        }
        let words = command_in(&comment.body).unwrap_or_default();
        let is_brake = What::of_comment(&words).is_brake();
        let rank = (
            !is_known,
            !comment.insider,
            !is_brake,
            comment.created_at,
            shuffled(comment.number, minute),
        );
        let first = unread.entry(&actor.login).or_insert(rank);
        *first = rank.min(*first);
    }
    let mut in_order: Vec<_> = unread.into_iter().collect();
    in_order.sort_by_key(|(_, rank)| *rank);
    let mut left = 0;
    for (login, (is_new, is_outside, ..)) in in_order {
        let is_outsider = is_new && is_outside;
        let looked = draft.snapshot.permissions.len() + draft.needs.permissions.len();
        if looked >= ACCOUNTS_READ || is_outsider && outsiders.len() >= OUTSIDERS_READ {
            left += 1;
            continue;
        }
        if is_outsider {
            outsiders.insert(login);
        }
        draft.needs.permissions.insert(login.clone());
    }
    left
}

/// Whether a command waits no longer for a look at an author of whom nothing is known.
pub(crate) fn is_given_up(draft: &Draft<'_>, comment: &Comment) -> bool {
    draft.now().duration_since(comment.created_at) >= LOOK_UP_PATIENCE
}

/// A number's place among others, another one each minute. The multiplier is that of Fibonacci hashing.
fn shuffled(number: u64, minute: i64) -> u64 {
    let mixed = number ^ minute.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The accounts whose requests were let through, as far as the ledger remembers, in lower case.
fn known_writers(state: &State) -> BTreeSet<String> {
    let requests = state.requests.values();
    let heard = requests.filter(|request| !is_of_a_stranger(request));
    heard
        .filter_map(|request| Some(request.actor.as_ref()?.to_ascii_lowercase()))
        .collect()
}

impl Permission {
    /// Whether it lets this very account write: a login may belong to another one by now.
    pub(crate) fn lets_write(&self, actor: &Actor) -> bool {
        self.writes && actor.id.is_some() && self.id == actor.id
    }
}
