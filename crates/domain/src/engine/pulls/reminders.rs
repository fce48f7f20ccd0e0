//! Reminds reviewers of a pull request without a review: once, by a comment on it.

use jiff::Timestamp;

use super::tracked::{self, OpenPull};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::{Effect, NoticeKey};
use crate::engine::output::limits::{INTENT_VALID, REMINDED_AT_ONCE, STALE_AFTER};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::record::attempts::{self, NextAttempt};

/// Ends every reminder, so that one whose answer was lost is found.
pub(crate) const REMINDER_MARKER: &str = "<!-- phileas:reminder -->";

/// Processes every open pull request that waits for people. A draft after three days needs a reminder as any other; one
/// with a notice does not.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    let now = builder.now();
    let mut count = 0;
    for tracked in tracked::open_pulls(builder) {
        let pull = tracked.pull;
        let is_called = builder.has_notice(&NoticeKey::Pull(pull.number));
        // Skip drafts that a person made, and those with notices.
        let known = tracked.record(builder);
        let is_theirs = known.is_some_and(|known| {
            known.notices_opened > 0
                || known
                    .draft_ready
                    .as_ref()
                    .is_some_and(|ready| ready.notified)
        });
        let is_left = pull.draft && is_theirs;
        if is_left || pull.reviewed || is_called || tracked.is_held(builder) {
            continue;
        }
        let known = tracked
            .record(builder)
            .and_then(|known| known.reminded.as_ref());
        let stale_at = pull
            .created_at
            .checked_add(STALE_AFTER)
            .unwrap_or(Timestamp::MAX);
        match attempts::next_attempt(known, now) {
            NextAttempt::Over => {}
            NextAttempt::Later(at) => builder.wake_by(at),
            NextAttempt::Now if now < stale_at => builder.wake_by(stale_at),
            NextAttempt::Now if count == REMINDED_AT_ONCE => {}
            NextAttempt::Now => {
                count += 1;
                send_reminder(builder, &tracked);
            }
        }
    }
}

fn send_reminder(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>) {
    let (now, number) = (builder.now(), tracked.number());
    let head = &tracked.pull.head_oid;
    attempts::count_attempt(&mut tracked.record_mut(builder).reminded, head, now);
    tracked.add_headline(builder, "reminder");
    let body = format!(
        "**phileas**\n\nThis comment is for maintainers and asks nothing of Jules: no change is wanted. This pull \
         request of `{}` has had no review for three days. While it is open it counts among those that wait for a \
         review (`max_open_pulls`), and a persona whose work is not taken rests. With the label `phileas:hold` phileas \
         leaves it alone.\n\nThis is said once.\n\n{REMINDER_MARKER}\n",
        tracked.persona()
    );
    let not_after = builder.now_plus(INTENT_VALID);
    builder.add_effect(Effect::RemindPeople {
        pull: number,
        marker: REMINDER_MARKER.to_owned(),
        body,
        not_after,
    });
    let text = format!("reviewers are reminded of pull request #{number}");
    builder.report_line(tracked.report_line(Verdict::Settled, Reason::Reminded, text));
}
