//! People are reminded of a pull request that nobody has reviewed: once, by a comment on it.

use jiff::Timestamp;

use super::tracked::{self, Watched};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::{Effect, NoticeKey};
use crate::engine::output::limits::{INTENT_VALID, REMINDED_AT_ONCE, STALE_AFTER};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::record::attempts::{self, Once};

/// Ends every reminder, so that one whose answer was lost is found.
pub(crate) const REMINDER_MARKER: &str = "<!-- phileas:reminder -->";

/// Looks after every open pull request of ours that waits for people. A draft that is none after three days is as
/// forgotten as any other, and what a person was called about by an issue is known.
pub(crate) fn run(draft: &mut Draft<'_>) {
    let now = draft.now();
    let mut count = 0;
    for watched in tracked::open(draft) {
        let pull = watched.pull;
        let is_called = draft.is_called(&NoticeKey::Pull(pull.number));
        // A person who made it a draft again means it, and about one whose session cannot go on a person is called.
        let known = watched.known(draft);
        let is_theirs = known.is_some_and(|known| {
            known.calls > 0 || known.ready.as_ref().is_some_and(|ready| ready.told)
        });
        let is_left = pull.draft && is_theirs;
        if is_left || pull.reviewed || is_called || watched.is_held(draft) {
            continue;
        }
        let known = watched
            .known(draft)
            .and_then(|known| known.reminded.as_ref());
        let stale_at = pull
            .created_at
            .checked_add(STALE_AFTER)
            .unwrap_or(Timestamp::MAX);
        match attempts::once(known, now) {
            Once::Over => {}
            Once::Later(at) => draft.wake(at),
            Once::Now if now < stale_at => draft.wake(stale_at),
            Once::Now if count == REMINDED_AT_ONCE => {}
            Once::Now => {
                count += 1;
                remind(draft, &watched);
            }
        }
    }
}

fn remind(draft: &mut Draft<'_>, watched: &Watched<'_>) {
    let (now, number) = (draft.now(), watched.number());
    let head = &watched.pull.head_oid;
    attempts::count_once(&mut watched.record(draft).reminded, head, now);
    watched.headline(draft, "reminder");
    let body = format!(
        "**phileas**\n\nThis comment is for maintainers and asks nothing of Jules: no change is wanted. This pull \
         request of `{}` has had no review for three days. While it is open it counts among those that wait for a \
         review (`max_open_pulls`), and a persona whose work is not taken rests. With the label `phileas:hold` phileas \
         leaves it alone.\n\nThis is said once.\n\n{REMINDER_MARKER}\n",
        watched.persona()
    );
    let not_after = draft.after(INTENT_VALID);
    draft.effect(Effect::RemindPeople {
        pull: number,
        marker: REMINDER_MARKER.to_owned(),
        body,
        not_after,
    });
    let text = format!("people are reminded of pull request #{number}");
    draft.say(watched.line(Verdict::Settled, Reason::Reminded, text));
}
