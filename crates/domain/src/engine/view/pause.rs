//! What pauses a repository or a track, and who ordered it.

use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::{quote_as_code, sanitize_word};
use crate::engine::text::markers::REQUESTED_ON;
use crate::engine::text::time::since_text;
use crate::state::{Pause, State};

/// A pause.
#[derive(Debug, Clone, PartialEq)]
pub struct PauseView {
    /// The reason.
    pub reason: Reason,
    /// Who ordered it, when and why, where the ledger knows that.
    pub order: Option<Pause>,
}

impl PauseView {
    /// The pause, its actor and its end as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Some(order) = &self.order else {
            return format!("{} (`{}`)", self.reason.clause(), self.reason);
        };
        let by = order.by.as_ref();
        let by = by.map(|login| format!(" by `{}`", sanitize_word(login)));
        let since = order.at.map(since_text);
        let why = order.reason.as_deref();
        let why = why.map(|why| match is_request_place(why) {
            true => format!(": {why}"),
            false => format!(": {}", quote_as_code(why)),
        });
        let resume = match self.reason {
            Reason::PausedTrack => "`phileas track resume`",
            _ => "`/phileas resume`",
        };
        format!(
            "paused{}{} (`{}`){}; {resume} ends the pause",
            by.unwrap_or_default(),
            since.unwrap_or_default(),
            self.reason,
            why.unwrap_or_default()
        )
    }
}

/// Whether a reason is the one that phileas gives for a command on an issue: its number is to be a link.
fn is_request_place(why: &str) -> bool {
    let number = why.strip_prefix(REQUESTED_ON).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// What pauses the repository, by the lines of a decision.
pub(crate) fn repository_pauses<'l>(
    state: &State,
    lines: impl Iterator<Item = &'l Line>,
) -> Vec<PauseView> {
    let mut pauses: Vec<PauseView> = Vec::new();
    for line in lines.filter(|line| line.track.is_none() && line.verdict == Verdict::Paused) {
        let is_ordered = line.reason == Reason::PausedState;
        let pause = PauseView {
            reason: line.reason,
            order: state.paused.clone().filter(|_| is_ordered),
        };
        if !pauses.contains(&pause) {
            pauses.push(pause);
        }
    }
    pauses
}
