//! A wish that was let through is carried out.

use super::draft::Draft;
use super::wish::{PENDING, What, Wish, record};
use super::{Line, Reason, Verdict};

/// Carries out a wish of somebody who may ask.
pub(super) fn carry_out(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    match &wish.what {
        What::Run(persona) => {
            let track = record(draft, wish, true, |request, _| {
                request.outcome = Some(PENDING.to_owned());
            });
            draft.headline(format!("{track} {persona}"), None);
        }
        What::Merge => refuse(
            draft,
            wish,
            Reason::NotBuilt,
            "this version does not merge; merge it yourself",
        ),
        What::Retry | What::ApprovePlan => refuse(
            draft,
            wish,
            Reason::NotBuilt,
            "this version does not know this command yet",
        ),
        What::Unknown(word) => {
            let text = format!("`{word}` is no command of a label");
            refuse(draft, wish, Reason::Unknown, &text);
        }
    }
}

/// Answers that it cannot be done.
fn refuse(draft: &mut Draft<'_>, wish: &Wish<'_>, reason: Reason, text: &str) {
    let track = record(draft, wish, true, |request, now| {
        request.outcome = Some(super::wish::REFUSED.to_owned());
        request.reason = Some(reason.code().to_owned());
        request.finished_at = Some(now);
    });
    draft.headline(format!("refused {track}"), None);
    let text = format!("on #{}: {text}", wish.subject.number);
    draft.say(Line::track(&track, Verdict::Refused, reason, text));
}
