//! Reports an outage of Jules.

use crate::engine::input::session::Listing;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};

/// Reports that Jules does not answer or refuses the key.
pub(crate) fn report_outage(builder: &mut DecisionBuilder<'_>) {
    let Listing::Failed(outage) = &builder.snapshot.sessions else {
        return;
    };
    if outage.credential {
        let text = format!("Jules refuses the key: {}", outage.detail);
        builder.report_line(Line::about_repository(
            Verdict::Paused,
            Reason::JulesCredential,
            text,
        ));
        builder.open_notice(
            NoticeKey::JulesCredential,
            "phileas: Jules refuses the key".to_owned(),
            "Jules answers that the API key is missing, wrong or disabled. Make a new one in Jules' settings and put \
             it where phileas reads it (`JULES_API_KEY`). phileas goes on by itself then, and closes this issue."
                .to_owned(),
        );
    } else {
        let until = outage.retry_at.unwrap_or_else(|| builder.now_plus(POLL));
        let text = format!("Jules does not answer: {}", outage.detail);
        builder.report_line(
            Line::about_repository(Verdict::Waiting, Reason::JulesUnavailable, text)
                .with_until(until),
        );
    }
}
