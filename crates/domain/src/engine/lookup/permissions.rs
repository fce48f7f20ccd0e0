//! What an account is permitted to request.

use crate::engine::input::subject::Actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{ACCOUNTS_READ, JULES_LOGIN};
use crate::engine::output::report::Reason;

/// Why an account is never authorized, whatever its permission: it is phileas itself, Jules, or a bot that the plan
/// does not name.
pub(crate) fn untrusted_reason(
    builder: &DecisionBuilder<'_>,
    actor: &Actor,
) -> Option<(Reason, String)> {
    let login = &actor.login;
    // A person whose token phileas uses is still a person; phileas' own texts are recognized by their markers.
    let is_own = actor.bot
        && builder
            .snapshot
            .viewer
            .as_ref()
            .is_some_and(|own| own.is_same_account(actor));
    if is_own || login.as_str().eq_ignore_ascii_case(JULES_LOGIN) {
        let text = format!("`{login}` is phileas itself or Jules, and would trigger itself");
        return Some((Reason::ActorSelf, text));
    }
    (actor.bot && !is_allowed_bot(builder, actor)).then(|| {
        let text = format!("`{login}` is a bot that `gate.allow_bots` does not name");
        (Reason::ActorBot, text)
    })
}

/// Whether an account may make requests; `None`: its permission must be read first.
pub(crate) fn may_request(
    builder: &mut DecisionBuilder<'_>,
    actor: Option<&Actor>,
) -> Option<bool> {
    match actor {
        Some(actor) if untrusted_reason(builder, actor).is_none() => may_write(builder, actor),
        _ => Some(false),
    }
}

/// Whether the plan names this bot, by login and number.
fn is_allowed_bot(builder: &DecisionBuilder<'_>, actor: &Actor) -> bool {
    let allowed = &builder.snapshot.plan.gate.allow_bots;
    allowed
        .iter()
        .any(|bot| bot.login == actor.login.as_str() && Some(bot.id) == actor.id)
}

/// Whether an account has write access, as GitHub says in this tick; `None`: it must be read first. A login that
/// belongs to another account now has none.
pub(crate) fn may_write(builder: &mut DecisionBuilder<'_>, actor: &Actor) -> Option<bool> {
    if actor.bot {
        return Some(is_allowed_bot(builder, actor));
    }
    match builder.snapshot.permissions.get(&actor.login) {
        None => {
            let asked = builder.snapshot.permissions.len() + builder.reads.permissions.len();
            if asked < ACCOUNTS_READ {
                builder.reads.permissions.insert(actor.login.clone());
            }
            None
        }
        Some(permission) => Some(permission.allows_write(actor)),
    }
}
