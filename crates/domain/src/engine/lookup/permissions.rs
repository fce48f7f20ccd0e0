//! What an account may ask for.

use crate::engine::input::subject::Actor;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{ACCOUNTS_READ, JULES_LOGIN};
use crate::engine::output::report::Reason;

/// Why an account is never listened to, whatever it may do in the repository.
pub(crate) fn stranger(draft: &Draft<'_>, actor: &Actor) -> Option<(Reason, String)> {
    let login = &actor.login;
    // A person whose own token phileas works with is still a person; what phileas writes in that name is told by its
    // marker.
    let is_own = actor.bot
        && draft
            .snapshot
            .viewer
            .as_ref()
            .is_some_and(|own| own.is(actor));
    if is_own || login.as_str().eq_ignore_ascii_case(JULES_LOGIN) {
        let text = format!("`{login}` is phileas itself or Jules, and would ask in a circle");
        return Some((Reason::ActorSelf, text));
    }
    (actor.bot && !is_allowed(draft, actor)).then(|| {
        let text = format!("`{login}` is a bot that `gate.allow_bots` does not name");
        (Reason::ActorBot, text)
    })
}

/// Whether somebody may ask for anything; `None` where that has still to be read.
pub(crate) fn may_ask(draft: &mut Draft<'_>, actor: Option<&Actor>) -> Option<bool> {
    match actor {
        Some(actor) if stranger(draft, actor).is_none() => may_write(draft, actor),
        _ => Some(false),
    }
}

/// Whether the plan names this very bot: login and number.
fn is_allowed(draft: &Draft<'_>, actor: &Actor) -> bool {
    let allowed = &draft.snapshot.plan.gate.allow_bots;
    allowed
        .iter()
        .any(|bot| bot.login == actor.login.as_str() && Some(bot.id) == actor.id)
}

/// Whether an account may write, by GitHub's word of this very tick; `None` where that has not been read. A login that
/// belongs to another account by now may not.
pub(crate) fn may_write(draft: &mut Draft<'_>, actor: &Actor) -> Option<bool> {
    if actor.bot {
        return Some(is_allowed(draft, actor));
    }
    match draft.snapshot.permissions.get(&actor.login) {
        None => {
            let asked = draft.snapshot.permissions.len() + draft.needs.permissions.len();
            if asked < ACCOUNTS_READ {
                draft.needs.permissions.insert(actor.login.clone());
            }
            None
        }
        Some(permission) => Some(permission.lets_write(actor)),
    }
}
