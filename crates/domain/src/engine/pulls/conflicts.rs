//! A pull request that conflicts with its base, or must catch up with it, goes back to its session, once for each commit.

use super::backoff;
use super::message::{self, Matter, Pusher};
use super::tracked::{self, Watched};
use crate::engine::input::pull::{Checks, Mergeable};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{CHECKS_READ, MAX_BASE_ROUNDS, PULL_POLL};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers;

/// Looks after every open pull request of ours that needs its base. What GitHub has not worked out yet waits.
pub(crate) fn run(draft: &mut Draft<'_>) {
    for watched in tracked::open(draft) {
        // What fails is mended before it catches up: only then is it worth another run of its checks.
        let passes = !matches!(watched.pull.checks, Checks::Red | Checks::Pending);
        match watched.pull.mergeable {
            Mergeable::Conflicting => tend(draft, &watched, "it conflicts with its base"),
            Mergeable::Behind if passes => tend(draft, &watched, "it is behind its base"),
            Mergeable::Behind | Mergeable::Unknown | Mergeable::Yes => {}
        }
    }
}

fn tend(draft: &mut Draft<'_>, watched: &Watched<'_>, problem: &'static str) {
    let number = watched.number();
    let head = &watched.pull.head_oid;
    let (told, rounds) = watched.known(draft).map_or((None, 0), |known| {
        let told = message::told_about(known.base.as_ref(), &known.base_heads, head);
        (told, known.base_rounds)
    });
    let matter = Matter {
        problem,
        marker: markers::base_marker(number, head),
        told,
        rounds,
        most: MAX_BASE_ROUNDS,
        waits: Reason::BaseNeeded,
        said: Reason::BaseTold,
    };
    if !message::is_time(draft, watched, &matter) {
        return;
    }
    let Some(commit) = draft.snapshot.red.get(head) else {
        if draft.snapshot.red.len() + draft.needs.red.len() < CHECKS_READ {
            draft.needs.red.insert(head.clone());
        }
        let text =
            format!("pull request #{number}: {problem}; whose commit is its newest is read next");
        let soon = draft.after(PULL_POLL);
        draft.say(
            watched
                .line(Verdict::Waiting, Reason::BaseNeeded, text)
                .until(soon),
        );
        return;
    };
    match message::pusher(draft, watched, commit.committed_at, commit.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            backoff::wait_longer(draft, watched, None);
            let text = format!("{problem}, and its newest commit is not the session's");
            watched.call(draft, Reason::BaseNeeded, &text);
            return;
        }
        Pusher::Unread => {
            let text =
                format!("pull request #{number}: {problem}; what its session does is read next");
            let line = watched.line(Verdict::Waiting, Reason::BaseNeeded, text);
            return draft.say(line.until(draft.after(PULL_POLL)));
        }
    }
    let now = draft.now();
    let text = format!(
        "Your pull request #{number} cannot be merged as it stands on its newest commit {head}: {problem}. Merge the \
         newest commit of its base branch into your branch, keep what both sides meant, run the project's own checks, \
         and push to the same branch. Do not force-push and do not undo what others have done.\n\n{}",
        matter.marker
    );
    let record = watched.record(draft);
    if matter.told.is_none() {
        record.base_rounds += 1;
    }
    message::count(&mut record.base, &mut record.base_heads, head, now);
    watched.headline(draft, "base");
    message::say(draft, watched, matter, text, "");
}
