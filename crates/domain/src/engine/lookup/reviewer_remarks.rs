//! Collects people's remarks on implementers' pull requests: why one was rejected, and what an integrator should
//! consider.
//!
//! Only remarks of people with write access count: text of other users enters no prompt.

use super::in_progress::open_implementer_pulls;
use super::permissions::may_write;
use crate::engine::input::comment::{parse_command, refusal_words};
use crate::engine::input::pull::Remark;
use crate::engine::input::subject::Actor;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    REMARK_AUTHORS_READ, REMARK_CHARS, REMARK_PULLS, REMARKS_KEPT,
};
use crate::engine::text::markers::STATUS_MARKER;
use crate::layers::Section;
use crate::model::PullNumber;
use crate::prompt;

/// Appears in every text that phileas writes on GitHub.
const OWN: &str = "<!-- phileas:";

/// Requests the remarks on a pull request and their authors' permissions. Returns whether something is missing.
pub(crate) fn request_remarks(builder: &mut DecisionBuilder<'_>, pull: PullNumber) -> bool {
    let Some(remarks) = builder.snapshot.remarks.get(&pull) else {
        builder.reads.remarks.insert(pull);
        return true;
    };
    let mut unread = false;
    for actor in remark_authors(remarks) {
        unread |= may_write(builder, actor).is_none();
    }
    // Where no more permissions can be requested in this tick, the known ones count.
    unread && !builder.reads.permissions.is_empty()
}

/// Requests the remarks on all pull requests that an integrator combines.
pub(crate) fn request_candidate_remarks(builder: &mut DecisionBuilder<'_>) -> bool {
    let mut is_unread = false;
    for pull in open_implementer_pulls(builder)
        .into_iter()
        .take(REMARK_PULLS)
    {
        is_unread |= request_remarks(builder, pull);
    }
    is_unread
}

/// The remarks on these pull requests, one prompt section each.
pub(crate) fn candidate_sections(builder: &mut DecisionBuilder<'_>) -> Vec<Section> {
    let pulls = open_implementer_pulls(builder)
        .into_iter()
        .take(REMARK_PULLS);
    let mut sections = Vec::new();
    for pull in pulls {
        let said = writer_remarks(builder, pull);
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

/// The remarks of people with write access, one line each.
pub(crate) fn writer_remarks(builder: &mut DecisionBuilder<'_>, pull: PullNumber) -> Vec<String> {
    let Some(remarks) = builder.snapshot.remarks.get(&pull) else {
        return Vec::new();
    };
    let heard: Vec<&Actor> = remark_authors(remarks)
        .into_iter()
        .filter(|actor| may_write(builder, actor) == Some(true))
        .collect();
    // Sort and truncate only now, so that other users' remarks push none of them out.
    let mut said: Vec<&Remark> = countable_remarks(remarks)
        .filter(|remark| heard.contains(&&remark.actor))
        .collect();
    said.sort_by_key(|remark| remark.at);
    let surplus = said.len().saturating_sub(REMARKS_KEPT);
    said.drain(..surplus);
    said.into_iter().map(remark_line).collect()
}

/// The authors whose remarks may count, each once: GitHub's members first, then by their newest remark, so that many authors
/// of other users comes last.
fn remark_authors(remarks: &[Remark]) -> Vec<&Actor> {
    let mut said: Vec<&Remark> = countable_remarks(remarks).collect();
    said.sort_by_key(|remark| std::cmp::Reverse((remark.belongs, remark.at)));
    let mut actors: Vec<&Actor> = Vec::new();
    for remark in said {
        if !actors.contains(&&remark.actor) {
            actors.push(&remark.actor);
        }
    }
    actors.truncate(REMARK_AUTHORS_READ);
    actors
}

/// The remarks that may count: people's, and neither commands nor phileas' own. What a person wrote behind
/// `/phileas refuse REASON` is a remark.
fn countable_remarks(remarks: &[Remark]) -> impl Iterator<Item = &Remark> {
    let counts = |remark: &&Remark| {
        let Actor { bot, .. } = remark.actor;
        let is_own = remark.text.contains(OWN) || remark.text.contains(STATUS_MARKER);
        let is_command = parse_command(&remark.text).is_some();
        !bot && !is_own && (!is_command || !refusal_words(&remark.text).is_empty())
    };
    remarks.iter().filter(counts)
}

fn remark_line(remark: &Remark) -> String {
    let said = match parse_command(&remark.text) {
        Some(_) => refusal_words(&remark.text),
        None => &remark.text,
    };
    let text = prompt::without_secrets(&prompt::clean_line(said));
    let text: String = text.chars().take(REMARK_CHARS).collect();
    let path = remark.path.as_deref().map(prompt::clean_line);
    let place = path.map(|path| format!(" on {path}")).unwrap_or_default();
    format!("{}{place}: {text}", remark.actor.login)
}
