//! An outage of Jules or GitHub, in the report.

use crate::engine::input::session::Listing;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};

/// Says that Jules does not answer, or that the key is refused.
pub(crate) fn unavailable(draft: &mut Draft<'_>) {
    let Listing::Failed(outage) = &draft.snapshot.sessions else {
        return;
    };
    if outage.credential {
        let text = format!("Jules refuses the key: {}", outage.detail);
        draft.say(Line::repository(
            Verdict::Paused,
            Reason::JulesCredential,
            text,
        ));
        draft.call(
            NoticeKey::JulesCredential,
            "phileas: Jules refuses the key".to_owned(),
            "Jules answers that the API key is missing, wrong or disabled. Make a new one in Jules' settings and put \
             it where phileas reads it (`JULES_API_KEY`). phileas goes on by itself then, and closes this issue."
                .to_owned(),
        );
    } else {
        let until = outage.retry_at.unwrap_or_else(|| draft.after(POLL));
        let text = format!("Jules does not answer: {}", outage.detail);
        draft.say(Line::repository(Verdict::Waiting, Reason::JulesUnavailable, text).until(until));
    }
}
