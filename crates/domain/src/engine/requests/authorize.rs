//! Decides whether the actor of a request may make it. Checked when the request is decided, not when it was made.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::request::{Command, Request};
use crate::engine::input::comment::{Comment, parse_command};
use crate::engine::input::subject::{Actor, Permission};
use crate::engine::lookup::permissions::{may_write, untrusted_reason};
use crate::engine::lookup::request_origin::is_unauthorized;
use crate::engine::lookup::work_items;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    ACCOUNTS_READ, OUTSIDERS_READ, PERMISSION_PATIENCE, REQUEST_VALID,
};
use crate::engine::output::report::Reason;
use crate::model::Login;
use crate::state::{RequestKind, State};

/// Whether a request is authorized.
pub(crate) enum Authorization {
    /// Its actor's permission must be read first.
    Unread,
    /// It is refused.
    Refused(Reason, String),
    /// It is authorized.
    Granted,
}

/// Whether a request is authorized. GitHub is asked for the actor's permission only where the account itself does not
/// settle it.
pub(crate) fn authorize_request(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Authorization {
    let refused = |reason, text: &str| Authorization::Refused(reason, text.to_owned());
    let subject = request.subject;
    if builder.now().duration_since(request.at) >= REQUEST_VALID {
        return refused(Reason::RequestOld, "it is older than seven days");
    }
    if request.kind == RequestKind::Label && request.event.is_none() {
        let text = "GitHub does not show who added the label; add it again";
        return refused(Reason::ActorUnknown, text);
    }
    let Some(actor) = request.actor else {
        return refused(Reason::ActorPermission, "the account is gone");
    };
    if let Some((reason, text)) = untrusted_reason(builder, actor) {
        return Authorization::Refused(reason, text);
    }
    // Check the permission before any other property, so that an unauthorized user learns nothing and gets no answer.
    match may_write(builder, actor) {
        None => return Authorization::Unread,
        Some(false) => {
            return refused(
                Reason::ActorPermission,
                "only people with write access may request it",
            );
        }
        Some(true) => {}
    }
    let starts = matches!(request.command, Command::Run(_) | Command::Retry);
    let is_merge = request.command == Command::Merge;
    let is_fork = subject
        .pull
        .as_ref()
        .is_some_and(|ends| !ends.same_repository);
    if (starts || is_merge) && is_fork {
        return refused(Reason::Fork, "the pull request comes from a fork");
    }
    if let Command::Run(persona) = &request.command
        && !builder.snapshot.plan.personas.contains_key(persona)
        && !work_items::names_work_item(builder, subject, persona)
    {
        let text = format!("there is no persona `{persona}`");
        return Authorization::Refused(Reason::Unknown, text);
    }
    let is_bound = builder.state.dashboard_issue != Some(subject.number);
    if (starts || is_merge) && is_bound && subject.changed_since(request.event, request.at) {
        return refused(
            Reason::ContentChanged,
            "the text or the commits were changed after the request",
        );
    }
    if starts && builder.snapshot.plan.budget.requests_per_actor_hour == 0 {
        return refused(
            Reason::ActorBudget,
            "`requests_per_actor_hour` is 0, so requests for sessions are not allowed",
        );
    }
    Authorization::Granted
}

impl Actor {
    /// Whether both are the same account.
    pub(crate) fn is_same_account(&self, other: &Self) -> bool {
        let (own, login) = (self.login.as_str(), other.login.as_str());
        (self.id.is_some() && self.id == other.id) || own.eq_ignore_ascii_case(login)
    }
}

/// Whether the author of a comment may make requests.
pub(crate) enum CommentAuthor {
    /// They may.
    Writer,
    /// They may not.
    Refused(Reason, String),
    /// Their permission must be read first.
    Unread,
}

/// Whether the author of a comment may make requests. Nothing more is read for one who may not.
pub(crate) fn check_author(builder: &DecisionBuilder<'_>, author: Option<&Actor>) -> CommentAuthor {
    let refused = |text: &str| CommentAuthor::Refused(Reason::ActorPermission, text.to_owned());
    let Some(actor) = author else {
        return refused("the account is gone");
    };
    if let Some((reason, text)) = untrusted_reason(builder, actor) {
        return CommentAuthor::Refused(reason, text);
    }
    let may = match builder.snapshot.permissions.get(&actor.login) {
        _ if actor.bot => Some(true),
        Some(permission) => Some(permission.allows_write(actor)),
        None if builder
            .snapshot
            .comment_coverage
            .refused
            .contains(&actor.login) =>
        {
            Some(false)
        }
        None => None,
    };
    match may {
        None => CommentAuthor::Unread,
        Some(true) => CommentAuthor::Writer,
        Some(false) => refused("only people with write access may request it"),
    }
}

/// Requests the permissions of comment authors: first of those who were authorized before, then of those that GitHub
/// calls close to the repository, then of those who only stop something; oldest comment first. The order within one
/// second changes each minute, so that many comments of one second are worked off, too. Returns how many authors wait for
/// another tick.
pub(crate) fn request_permissions(
    builder: &mut DecisionBuilder<'_>,
    comments: &[&Comment],
) -> usize {
    let known = known_writers(&builder.state);
    let minute = builder.now().as_second() / 60;
    let mut unread: BTreeMap<&Login, (bool, bool, bool, Timestamp, u64)> = BTreeMap::new();
    let mut outsiders = BTreeSet::new();
    for comment in comments {
        let Some(actor) = &comment.author else {
            continue;
        };
        let is_known = known.contains(&actor.login.as_str().to_ascii_lowercase());
        if !is_known
            && !comment.may_belong_to_project
            && builder.snapshot.permissions.contains_key(&actor.login)
        {
            outsiders.insert(&actor.login);
        }
        if !matches!(check_author(builder, Some(actor)), CommentAuthor::Unread) {
            continue;
        }
        let is_outsider = !is_known && !comment.may_belong_to_project;
        if is_outsider && is_given_up(builder, comment) {
            continue;
        }
        let words = parse_command(&comment.body).unwrap_or_default();
        let is_brake = Command::from_comment(&words).only_stops();
        let rank = (
            !is_known,
            !comment.may_belong_to_project,
            !is_brake,
            comment.created_at,
            shuffle_rank(comment.number, minute),
        );
        let first = unread.entry(&actor.login).or_insert(rank);
        *first = rank.min(*first);
    }
    let mut in_order: Vec<_> = unread.into_iter().collect();
    in_order.sort_by_key(|(_, rank)| *rank);
    let mut left = 0;
    for (login, (is_new, is_outside, ..)) in in_order {
        let is_outsider = is_new && is_outside;
        let looked = builder.snapshot.permissions.len() + builder.reads.permissions.len();
        if looked >= ACCOUNTS_READ || is_outsider && outsiders.len() >= OUTSIDERS_READ {
            left += 1;
            continue;
        }
        if is_outsider {
            outsiders.insert(login);
        }
        builder.reads.permissions.insert(login.clone());
    }
    left
}

/// Whether a command has waited too long for the permission of an unknown author.
pub(crate) fn is_given_up(builder: &DecisionBuilder<'_>, comment: &Comment) -> bool {
    builder.now().duration_since(comment.created_at) >= PERMISSION_PATIENCE
}

/// A number's rank among others, which changes each minute. The multiplier is that of Fibonacci hashing.
fn shuffle_rank(number: u64, minute: i64) -> u64 {
    let mixed = number ^ minute.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The accounts whose requests were authorized, as far as the ledger remembers, in lower case.
fn known_writers(state: &State) -> BTreeSet<String> {
    let requests = state.requests.values();
    let heard = requests.filter(|request| !is_unauthorized(request));
    heard
        .filter_map(|request| Some(request.actor.as_ref()?.to_ascii_lowercase()))
        .collect()
}

impl Permission {
    /// Whether it gives write access to this account. The login may belong to another account by now.
    pub(crate) fn allows_write(&self, actor: &Actor) -> bool {
        self.writes && actor.id.is_some() && self.id == actor.id
    }
}
