//! How far back people were listened to. Where more may have been said since the last complete look than is shown, that
//! is owned up to, however long ago it was.
//!
//! The time of that look stands in the ledger, and moves with commits that are made anyway: a commit of its own for each
//! look would be one for each tick. Only where the same things would be read again and again for its sake, one is made.

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::coverage::Reach;
use crate::engine::input::snapshot::Ledger;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{GRACE, NUMBERS_NAMED, POLL, RECONCILE, REQUEST_VALID};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::time::later;

/// GitHub's times are whole seconds.
const ONE_SECOND: SignedDuration = SignedDuration::from_secs(1);

/// What is known of how far the listening came, while wishes are taken up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listening {
    /// Wishes from then on still wait to be decided on.
    pending: Option<Timestamp>,
    /// What was said then was read once more and leaves no trace in the ledger.
    repeated: Option<Timestamp>,
    /// Everything up to here was heard.
    until: Option<Timestamp>,
    /// More is waiting than one tick hears, so that how far this one came is written down.
    overflows: bool,
}

impl Listening {
    /// A wish of this time still waits to be decided on.
    pub(crate) fn waits_since(&mut self, at: Timestamp) {
        self.pending = Some(self.pending.map_or(at, |known| known.min(at)));
    }

    /// Something waits, and nobody can tell since when.
    pub(crate) fn waits(&mut self) {
        self.waits_since(Timestamp::MIN);
    }

    /// There is more than one tick hears.
    pub(crate) fn overflows(&mut self) {
        self.overflows = true;
    }

    /// What was said then will be read again as long as the ledger does not say that it was heard.
    pub(crate) fn repeats(&mut self, at: Timestamp) {
        self.repeated = Some(self.repeated.map_or(at, |known| known.min(at)));
    }
}

/// Comments up to here were heard. `None`: nobody has written down how far.
pub(crate) fn until(draft: &Draft<'_>) -> Option<Timestamp> {
    draft.state.cursors.comments_since
}

/// What was said up to then is nobody's wish any more where a ledger does not tell how far was heard: it is new or was
/// made by hand, and one before it may have obeyed the same words. An hour before its birth somebody may already have
/// asked for the first session.
fn beginning(draft: &Draft<'_>) -> Timestamp {
    let genesis = draft.state.genesis.as_ref();
    let birth = genesis.map_or(draft.now(), |genesis| genesis.born_at);
    birth.checked_sub(RECONCILE).unwrap_or(Timestamp::MIN)
}

/// What is said to be missing only counts since then.
fn since(draft: &Draft<'_>) -> Timestamp {
    let ago = draft.now().checked_sub(REQUEST_VALID);
    let from = until(draft).unwrap_or_else(|| beginning(draft));
    from.max(ago.unwrap_or(Timestamp::MIN))
}

/// Whether something was said before anybody listened.
pub(crate) fn is_before_the_beginning(draft: &Draft<'_>, at: Timestamp) -> bool {
    until(draft).is_none() && at <= beginning(draft)
}

/// Owns up to commands that were given before anybody listened, the oldest of them then.
pub(crate) fn own_up_to_the_past(
    draft: &mut Draft<'_>,
    cursor: &mut Listening,
    commands: usize,
    oldest: Timestamp,
) {
    cursor.repeats(oldest);
    let text = format!(
        "the ledger does not tell what was heard before {}, so commands from before then are not obeyed ({commands} are \
         read); one that is not answered is to be given again",
        beginning(draft)
    );
    draft.say(Line::repository(
        Verdict::Waiting,
        Reason::CommentsMissed,
        text,
    ));
}

/// Has all comments read where more were written since the last look than are shown. Owns up to what cannot be read.
pub(crate) fn own_up(draft: &mut Draft<'_>, cursor: &mut Listening) {
    let heard = &draft.snapshot.heard;
    let after = since(draft);
    let is_later = |at: &Timestamp| *at > after;
    let cut = heard.cut.iter().filter(|(_, at)| is_later(at));
    let threads: Vec<u64> = cut.map(|(number, _)| *number).collect();
    let issues = heard.issues_after.as_ref().is_some_and(is_later);
    let pulls = heard.pulls_after.as_ref().is_some_and(is_later);
    if threads.is_empty() && !issues && !pulls {
        return;
    }
    let reach = heard.further.as_ref().map(|further| further.reach);
    match reach {
        None => {
            draft.needs.comments = Some(after);
            cursor.waits_since(after);
            let text = "more comments were written since the last look than the first read shows; all of them are read next";
            say_more(draft, text.to_owned());
        }
        // What comes after it is read by the next tick, from there on.
        Some(Reach::Until(until)) if until > later(after, ONE_SECOND) => {
            cursor.waits_since(until);
            cursor.overflows();
            let text = format!(
                "more comments were written since the last look than one tick reads; those since {until} are read next"
            );
            say_more(draft, text);
        }
        Some(Reach::All) => {
            cursor.repeats(after);
            if issues || pulls {
                say_missed(draft, &[], issues, pulls, true);
            }
        }
        Some(Reach::Until(_) | Reach::Nowhere) => {
            cursor.repeats(after);
            say_missed(draft, &threads, issues, pulls, false);
        }
    }
}

fn say_more(draft: &mut Draft<'_>, text: String) {
    let soon = draft.after(POLL);
    let line = Line::repository(Verdict::Waiting, Reason::RequestUnread, text);
    draft.say(line.until(soon));
}

/// Names where something may have been missed.
fn say_missed(draft: &mut Draft<'_>, threads: &[u64], issues: bool, pulls: bool, labels: bool) {
    let mut missed: Vec<String> = threads
        .iter()
        .take(NUMBERS_NAMED)
        .map(|number| format!("#{number}"))
        .collect();
    if threads.len() > NUMBERS_NAMED {
        missed.push(format!("{} more", threads.len() - NUMBERS_NAMED));
    }
    missed.extend(issues.then(|| "issues that were touched before others".to_owned()));
    missed.extend(pulls.then(|| "pull requests that were touched before others".to_owned()));
    let missed = missed.join(", ");
    let text = if labels {
        format!(
            "labels that were put on since the last look may not be seen, on {missed}; a label that is not answered there is \
             to be put on again"
        )
    } else {
        format!(
            "more was said since the last look than is read, on {missed}; a command that is not answered there is to be \
             given again"
        )
    };
    draft.say(Line::repository(
        Verdict::Waiting,
        Reason::CommentsMissed,
        text,
    ));
}

/// Closes the look: everything was heard but what waits, and what may not be shown yet.
pub(crate) fn close(draft: &Draft<'_>, cursor: &mut Listening) {
    let settled = draft.now().checked_sub(GRACE).ok();
    let before = cursor.pending.map(|at| {
        at.checked_sub(SignedDuration::from_secs(1))
            .unwrap_or(Timestamp::MIN)
    });
    cursor.until = settled.map(|at| before.map_or(at, |before| before.min(at)));
}

/// Whether the same things would be read on and on, because no commit says that they were heard.
pub(crate) fn has_to_be_written(draft: &Draft<'_>, cursor: &Listening) -> bool {
    let repeated = cursor.repeated;
    if cursor.overflows {
        return matches!(draft.snapshot.ledger, Ledger::Present { .. })
            && news(draft, cursor).is_some();
    }
    let lasts = repeated.is_some_and(|at| draft.now().duration_since(at) >= RECONCILE);
    lasts
        && matches!(draft.snapshot.ledger, Ledger::Present { .. })
        && news(draft, cursor) > repeated
}

/// Writes down how far it was listened.
pub(crate) fn write_down(draft: &mut Draft<'_>, cursor: &Listening) {
    if let Some(heard) = news(draft, cursor) {
        draft.state.cursors.comments_since = Some(heard);
    }
}

/// Up to when it was listened, where that is more than the state says.
fn news(draft: &Draft<'_>, cursor: &Listening) -> Option<Timestamp> {
    let heard = cursor.until?;
    let is_news = until(draft).is_none_or(|known| known < heard);
    Some(heard).filter(|heard| is_news && *heard > Timestamp::MIN)
}
