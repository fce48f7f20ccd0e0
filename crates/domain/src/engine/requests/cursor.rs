//! Tracks how far comments were read. Where comments since the last complete read may be missing, the report says so,
//! however long ago that was.
//!
//! The ledger keeps the time of that read, and updates it with commits that are made anyway: a commit of its own for
//! each read would be one each tick. A commit is made only where the same comments would otherwise be read again and
//! again.

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::coverage::ReadReach;
use crate::engine::input::snapshot::Ledger;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{GRACE, NUMBERS_NAMED, POLL, RECONCILE, REQUEST_VALID};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::time::{format_utc, time_after};

/// GitHub's times are whole seconds.
const ONE_SECOND: SignedDuration = SignedDuration::from_secs(1);

/// How far the requests of this tick were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommentCursor {
    /// Requests from this time on still wait to be decided.
    pending: Option<Timestamp>,
    /// Comments of this time were read again and leave no trace in the ledger.
    repeated: Option<Timestamp>,
    /// Everything up to this time was read.
    until: Option<Timestamp>,
    /// More is waiting than one tick reads, so that its position must be committed.
    overflows: bool,
}

impl CommentCursor {
    /// A request of this time still waits to be decided.
    pub(crate) fn hold_from(&mut self, at: Timestamp) {
        self.pending = Some(self.pending.map_or(at, |known| known.min(at)));
    }

    /// A request of unknown time still waits to be decided.
    pub(crate) fn hold_everything(&mut self) {
        self.hold_from(Timestamp::MIN);
    }

    /// There is more than one tick reads.
    pub(crate) fn mark_overflow(&mut self) {
        self.overflows = true;
    }

    /// Comments of this time will be read again until the ledger records that they were read.
    pub(crate) fn mark_repeated(&mut self, at: Timestamp) {
        self.repeated = Some(self.repeated.map_or(at, |known| known.min(at)));
    }
}

/// Comments up to this time were read. `None`: the ledger does not say.
pub(crate) fn read_until(builder: &DecisionBuilder<'_>) -> Option<Timestamp> {
    builder.state.cursors.comments_since
}

/// Commands up to this time are ignored where the ledger has no cursor: it is new or was made by hand, and an earlier
/// ledger may have executed the same commands. A first command may be up to an hour older than the ledger.
fn first_instant(builder: &DecisionBuilder<'_>) -> Timestamp {
    let genesis = builder.state.genesis.as_ref();
    let birth = genesis.map_or(builder.now(), |genesis| genesis.born_at);
    birth.checked_sub(RECONCILE).unwrap_or(Timestamp::MIN)
}

/// Missing comments count since this time.
fn counted_since(builder: &DecisionBuilder<'_>) -> Timestamp {
    let ago = builder.now().checked_sub(REQUEST_VALID);
    let from = read_until(builder).unwrap_or_else(|| first_instant(builder));
    from.max(ago.unwrap_or(Timestamp::MIN))
}

/// Whether a comment is older than the first instant that counts.
pub(crate) fn is_before_start(builder: &DecisionBuilder<'_>, at: Timestamp) -> bool {
    read_until(builder).is_none() && at <= first_instant(builder)
}

/// Reports commands that are older than the first instant that counts.
pub(crate) fn warn_old_commands(
    builder: &mut DecisionBuilder<'_>,
    cursor: &mut CommentCursor,
    commands: usize,
    oldest: Timestamp,
) {
    cursor.mark_repeated(oldest);
    let text = format!(
        "the ledger does not record which comments were read before {}, so commands from before then are not executed ({commands} are \
         read); one that is not answered is to be given again",
        first_instant(builder)
    );
    builder.report_line(Line::about_repository(
        Verdict::Waiting,
        Reason::CommentsMissed,
        text,
    ));
}

/// Requests all comments where the first read does not show all since the last read. Reports what cannot be read.
pub(crate) fn warn_missed_comments(builder: &mut DecisionBuilder<'_>, cursor: &mut CommentCursor) {
    let heard = &builder.snapshot.comment_coverage;
    let after = counted_since(builder);
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
            builder.reads.comments = Some(after);
            cursor.hold_from(after);
            let text = "more comments were written since the last look than the first read shows; all of them are read next";
            report_more(builder, text.to_owned());
        }
        // The next tick reads the rest, from this time on.
        Some(ReadReach::Until(until)) if until > time_after(after, ONE_SECOND) => {
            cursor.hold_from(until);
            cursor.mark_overflow();
            let text = format!(
                "more comments were written since the last look than one tick reads; those since {} are read next",
                format_utc(until)
            );
            report_more(builder, text);
        }
        Some(ReadReach::All) => {
            cursor.mark_repeated(after);
            if issues || pulls {
                report_missed(builder, &[], issues, pulls, true);
            }
        }
        Some(ReadReach::Until(_) | ReadReach::Nowhere) => {
            cursor.mark_repeated(after);
            report_missed(builder, &threads, issues, pulls, false);
        }
    }
}

fn report_more(builder: &mut DecisionBuilder<'_>, text: String) {
    let soon = builder.now_plus(POLL);
    let line = Line::about_repository(Verdict::Waiting, Reason::RequestUnread, text);
    builder.report_line(line.with_until(soon));
}

/// Reports where comments or labels may have been missed.
fn report_missed(
    builder: &mut DecisionBuilder<'_>,
    threads: &[u64],
    issues: bool,
    pulls: bool,
    labels: bool,
) {
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
    builder.report_line(Line::about_repository(
        Verdict::Waiting,
        Reason::CommentsMissed,
        text,
    ));
}

/// Closes the cursor: everything was read but what waits and what GitHub may not show yet.
pub(crate) fn close_cursor(builder: &DecisionBuilder<'_>, cursor: &mut CommentCursor) {
    let settled = builder.now().checked_sub(GRACE).ok();
    let before = cursor.pending.map(|at| {
        at.checked_sub(SignedDuration::from_secs(1))
            .unwrap_or(Timestamp::MIN)
    });
    cursor.until = settled.map(|at| before.map_or(at, |before| before.min(at)));
}

/// Whether the same comments would be read again and again, because no commit records that they were read.
pub(crate) fn needs_commit(builder: &DecisionBuilder<'_>, cursor: &CommentCursor) -> bool {
    let repeated = cursor.repeated;
    if cursor.overflows {
        return matches!(builder.snapshot.ledger, Ledger::Present { .. })
            && new_position(builder, cursor).is_some();
    }
    let lasts = repeated.is_some_and(|at| builder.now().duration_since(at) >= RECONCILE);
    lasts
        && matches!(builder.snapshot.ledger, Ledger::Present { .. })
        && new_position(builder, cursor) > repeated
}

/// Records the position in the state.
pub(crate) fn save_cursor(builder: &mut DecisionBuilder<'_>, cursor: &CommentCursor) {
    if let Some(heard) = new_position(builder, cursor) {
        builder.state.cursors.comments_since = Some(heard);
    }
}

/// The new position, where it is later than the state's.
fn new_position(builder: &DecisionBuilder<'_>, cursor: &CommentCursor) -> Option<Timestamp> {
    let heard = cursor.until?;
    let is_news = read_until(builder).is_none_or(|known| known < heard);
    Some(heard).filter(|heard| is_news && *heard > Timestamp::MIN)
}
