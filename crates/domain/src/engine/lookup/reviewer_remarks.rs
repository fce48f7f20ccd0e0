//! What people said of implementers' pull requests: why one was turned down, and what an integrator should heed.
//!
//! Only the words of people who may write count: what strangers say enters no prompt.

use super::in_progress::candidates;
use super::permissions::may_write;
use crate::engine::input::comment::command_in;
use crate::engine::input::pull::Remark;
use crate::engine::input::subject::Actor;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{PULLS_TALKED_OF, REMARK_CHARS, REMARKS_KEPT, SPEAKERS_LOOKED};
use crate::engine::text::markers::STATUS_MARKER;
use crate::layers::Section;
use crate::model::PullNumber;
use crate::prompt;

/// Stands in whatever phileas writes on GitHub in whosever name.
const OWN: &str = "<!-- phileas:";

/// Whether what people said, or who of them may write, is still to be read; asks for it.
pub(crate) fn unread(draft: &mut Draft<'_>, pull: PullNumber) -> bool {
    let Some(remarks) = draft.snapshot.remarks.get(&pull) else {
        draft.needs.remarks.insert(pull);
        return true;
    };
    let mut unread = false;
    for actor in speakers(remarks) {
        unread |= may_write(draft, actor).is_none();
    }
    // Where no more accounts are looked at in one go, those that were count.
    unread && !draft.needs.permissions.is_empty()
}

/// The same of the pull requests that an integrator puts together.
pub(crate) fn unread_of_candidates(draft: &mut Draft<'_>) -> bool {
    let mut is_unread = false;
    for pull in candidates(draft).into_iter().take(PULLS_TALKED_OF) {
        is_unread |= unread(draft, pull);
    }
    is_unread
}

/// What people said of them, a section each.
pub(crate) fn of_candidates(draft: &mut Draft<'_>) -> Vec<Section> {
    let pulls = candidates(draft).into_iter().take(PULLS_TALKED_OF);
    let mut sections = Vec::new();
    for pull in pulls {
        let said = words(draft, pull);
        if !said.is_empty() {
            let lines: Vec<String> = said.iter().map(|line| format!("- {line}")).collect();
            sections.push(Section {
                title: format!("What people said of #{pull}"),
                what: "remarks of people who may write here".to_owned(),
                text: lines.join("\n"),
            });
        }
    }
    sections
}

/// What people who may write said, a line each.
pub(crate) fn words(draft: &mut Draft<'_>, pull: PullNumber) -> Vec<String> {
    let Some(remarks) = draft.snapshot.remarks.get(&pull) else {
        return Vec::new();
    };
    let heard: Vec<&Actor> = speakers(remarks)
        .into_iter()
        .filter(|actor| may_write(draft, actor) == Some(true))
        .collect();
    // Only then are they put in order and counted, so that nobody else's words push them out.
    let mut said: Vec<&Remark> = counting(remarks)
        .filter(|remark| heard.contains(&&remark.actor))
        .collect();
    said.sort_by_key(|remark| remark.at);
    let surplus = said.len().saturating_sub(REMARKS_KEPT);
    said.drain(..surplus);
    said.into_iter().map(line).collect()
}

/// The accounts whose words may count, each once: those first whom GitHub counts among the repository's people, then who
/// spoke last. However many strangers there are, they come behind.
fn speakers(remarks: &[Remark]) -> Vec<&Actor> {
    let mut said: Vec<&Remark> = counting(remarks).collect();
    said.sort_by_key(|remark| std::cmp::Reverse((remark.belongs, remark.at)));
    let mut actors: Vec<&Actor> = Vec::new();
    for remark in said {
        if !actors.contains(&&remark.actor) {
            actors.push(&remark.actor);
        }
    }
    actors.truncate(SPEAKERS_LOOKED);
    actors
}

/// What may count: people's words that are no commands and not phileas' own.
fn counting(remarks: &[Remark]) -> impl Iterator<Item = &Remark> {
    let counts = |remark: &&Remark| {
        let Actor { bot, .. } = remark.actor;
        let is_own = remark.text.contains(OWN) || remark.text.contains(STATUS_MARKER);
        !bot && !is_own && command_in(&remark.text).is_none()
    };
    remarks.iter().filter(counts)
}

fn line(remark: &Remark) -> String {
    let text = prompt::without_secrets(&prompt::clean_line(&remark.text));
    let text: String = text.chars().take(REMARK_CHARS).collect();
    let path = remark.path.as_deref().map(prompt::clean_line);
    let place = path.map(|path| format!(" on {path}")).unwrap_or_default();
    format!("{}{place}: {text}", remark.actor.login)
}
