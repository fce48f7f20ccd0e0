//! A draft is marked as ready for review when its session is done: nobody reviews a draft, and Jules leaves some behind.
//!
//! It is done once. A person who turns it back into a draft means it, so it stays one then.

use super::message::{self, Listener};
use super::tracked::{self, Watched};
use crate::engine::input::pull::{Checks, Mergeable};
use crate::engine::input::session::SessionState;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::PULL_POLL;
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::record::attempts::{self, Once};
use crate::model::PullNumber;

/// Looks after every draft of ours. One whose checks fail, or that conflicts with its base, is not ready.
pub(crate) fn run(draft: &mut Draft<'_>) {
    for watched in tracked::open(draft) {
        let pull = watched.pull;
        // Those two are mended, and that is told.
        let is_mended = pull.checks == Checks::Red || pull.mergeable == Mergeable::Conflicting;
        if pull.draft && !is_mended {
            tend(draft, &watched);
        }
    }
}

fn tend(draft: &mut Draft<'_>, watched: &Watched<'_>) {
    let number = watched.number();
    let now = draft.now();
    let known = watched.known(draft).and_then(|known| known.ready.as_ref());
    match attempts::once(known, now) {
        // A person has turned it back, and means it.
        Once::Over if known.is_some_and(|known| known.told) => return,
        Once::Over => {
            let text = "it is a draft, and GitHub did not let it be marked as ready";
            return watched.call(draft, Reason::DraftUnfinished, text);
        }
        Once::Later(at) => return draft.wake(at),
        Once::Now => {}
    }
    if watched.is_held(draft) {
        let text =
            format!("pull request #{number} is a draft, and `phileas:hold` keeps it for people");
        return draft.say(watched.line(Verdict::Paused, Reason::SubjectHeld, text));
    }
    if watched.pull.checks == Checks::Pending {
        let text = format!("pull request #{number} is a draft, and its checks are not over");
        let line = watched.line(Verdict::Waiting, Reason::DraftUnfinished, text);
        return draft.say(line.until(draft.after(PULL_POLL)));
    }
    let session = match message::look(draft, watched) {
        Ok(session) => session,
        Err(Listener::Later { why, until }) => {
            let text = format!("pull request #{number} is a draft; {why}");
            let line = watched.line(Verdict::Waiting, Reason::DraftUnfinished, text);
            return draft.say(line.until(until));
        }
        Err(Listener::Gone(why)) => return left(draft, watched, why),
        Err(Listener::Listens) => return,
    };
    if session.state == SessionState::Failed {
        message::wait(draft, watched, None);
        return left(draft, watched, "its session has failed");
    }
    if session.state != SessionState::Completed {
        let until = message::wait(draft, watched, None);
        let text = format!("pull request #{number} is a draft, and its session is not done");
        let line = watched.line(Verdict::Waiting, Reason::DraftUnfinished, text);
        return draft.say(line.until(until));
    }
    let head = &watched.pull.head_oid;
    attempts::count_once(&mut watched.record(draft).ready, head, now);
    watched.headline(draft, "end of the draft");
    draft.effect(Effect::MarkReady { pull: number });
    // GitHub may refuse it, so that it is done is said when GitHub has answered.
    let text = format!(
        "pull request #{number} is a draft whose session is done; phileas marks it as ready"
    );
    draft.say(watched.line(Verdict::Waiting, Reason::DraftUnfinished, text));
}

/// What nobody can tell to be done is left to people.
fn left(draft: &mut Draft<'_>, watched: &Watched<'_>, why: &str) {
    let text = format!("it is a draft, and {why}");
    watched.call(draft, Reason::DraftUnfinished, &text);
}

/// Notes that it was done.
pub(crate) fn done(draft: &mut Draft<'_>, pull: PullNumber) {
    if let Some(known) = draft.state.pulls.get_mut(&pull)
        && let Some(ready) = &mut known.ready
    {
        ready.told = true;
    }
    let readied = tracked::open(draft)
        .into_iter()
        .find(|watched| watched.number() == pull);
    if let Some(watched) = readied {
        let text = format!("pull request #{pull} is marked as ready, since its session is done");
        draft.say(watched.line(Verdict::Settled, Reason::DraftReady, text));
    }
}
