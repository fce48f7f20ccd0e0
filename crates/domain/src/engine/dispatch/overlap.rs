//! Lets a turn wait while an open pull request changes a file that its persona or request names, so that people need not
//! resolve the conflict.

use globset::GlobSet;

use super::candidate::{Candidate, waiting_line};
use super::request_gate::{bound_subject, unread_line};
use crate::engine::lookup::open_paths::open_paths;
use crate::engine::lookup::policy::only_observes;
use crate::engine::lookup::protected_paths::build_globs;
use crate::engine::lookup::request_origin::thread_request;
use crate::engine::lookup::work_files::{entry_of, open_work};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{POLL, PULL_POLL};
use crate::engine::output::report::{Line, Reason};
use crate::engine::text::markdown::{quote_as_code, sanitize_word};
use crate::model::PullNumber;
use crate::plan::NoveltyMode;
use crate::prompt::clean_text;
use crate::work::NamedFiles;

/// Blocks a candidate while an open pull request changes a file that its persona or request names. Called only when its
/// turn is due, because it reads the work records. The work of layers comes from requirements, so it never waits.
pub(crate) fn overlap_line(
    builder: &mut DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    let novelty = &builder.snapshot.plan.novelty;
    let is_off = !novelty.avoid_overlap || novelty.mode == NoveltyMode::Off;
    let is_of_layer = !candidate.work.slot.as_str().is_empty();
    if is_off || is_of_layer || only_observes(builder.snapshot).is_some() {
        return None;
    }
    let globs = persona_globs(builder, candidate);
    let thread = thread_request(builder, &candidate.track).and_then(|request| request.thread);
    if globs.is_none() && thread.is_none() {
        return None;
    }
    let others = open_pulls_of_others(builder, candidate, thread);
    if others.is_empty() {
        return None;
    }
    // A request names what its text says now.
    if let Some(line) = unread_line(builder, candidate) {
        return Some(line);
    }
    let Ok(subject) = bound_subject(builder, &candidate.track) else {
        // It is refused, not held.
        return None;
    };
    // Requests on two pull requests of the same files would wait for each other.
    if subject.is_some_and(|subject| subject.pull.is_some()) {
        return None;
    }
    let Some(paths) = open_paths(builder, &others) else {
        let text = "whether an open pull request changes its files is being read";
        let until = builder.now_plus(POLL);
        return Some(waiting_line(candidate, Reason::Overlap, text).with_until(until));
    };
    let text = subject.map(|subject| clean_text(&format!("{}\n{}", subject.title, subject.body)));
    let named = text.as_deref().map(NamedFiles::from_text);
    let mut changes = paths
        .iter()
        .flat_map(|(number, paths)| paths.iter().map(move |path| (*number, path)));
    let (number, path, by) = changes.find_map(|(number, path)| {
        let by_persona = globs.as_ref().is_some_and(|globs| globs.is_match(path));
        let by_request = named.as_ref().is_some_and(|named| named.contains(path));
        let by = match (by_persona, thread) {
            (true, _) => format!(
                "`{}` works on",
                sanitize_word(candidate.work.persona.as_str())
            ),
            (false, Some(thread)) if by_request => format!("#{thread} names"),
            _ => return None,
        };
        Some((number, path, by))
    })?;
    let path = quote_as_code(path);
    let text = format!("pull request #{number} is open and changes {path}, which {by}");
    let until = builder.now_plus(PULL_POLL);
    Some(waiting_line(candidate, Reason::Overlap, text).with_until(until))
}

/// The files that a persona works on. `None`: it names none.
fn persona_globs(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Option<GlobSet> {
    let persona = builder
        .snapshot
        .plan
        .personas
        .get(&candidate.work.persona)?;
    build_globs(persona.paths.iter().cloned()).filter(|globs| !globs.is_empty())
}

/// The open pull requests of Jules, but for those of the turn's earlier attempts and the one that its request is about.
fn open_pulls_of_others(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
    thread: Option<u64>,
) -> Vec<PullNumber> {
    let turn = builder.find_turn(&candidate.track, &candidate.work.slot);
    let is_own = |number: PullNumber| {
        turn.is_some_and(|turn| {
            let entry = entry_of(&builder.state, number);
            entry.is_some_and(|entry| entry.turn.as_ref() == Some(&turn.turn))
        })
    };
    let open = open_work(builder).into_keys();
    open.filter(|number| thread != Some(number.0) && !is_own(*number))
        .collect()
}
