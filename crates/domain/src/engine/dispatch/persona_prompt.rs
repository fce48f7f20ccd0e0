//! Builds the prompt of a persona's session.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::earlier_work::earlier_work;
use super::request_gate;
use super::session_text::{SessionText, report_missing_prompt};
use crate::board;
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::PersonaId;
use crate::plan::Automation;
use crate::prompt::{self, RenderRequest};

/// Builds the text of a persona's session, and returns the issue or pull request of its request.
pub(crate) fn build_persona_prompt<'s>(
    builder: &mut DecisionBuilder<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(SessionText, Option<&'s Subject>), (Reason, String)> {
    let snapshot = builder.snapshot;
    let Some(persona) = snapshot.plan.personas.get(&candidate.work.persona) else {
        let text = format!("there is no persona `{}` any more", candidate.work.persona);
        return Err((Reason::PersonaInvalid, text));
    };
    let subject = request_gate::bound_subject(builder, &candidate.track)?;
    request_files(builder, &persona.id, sprint);
    let open_pulls: Vec<_> = snapshot
        .pulls
        .values()
        .filter(|pull| pull.state == PullState::Open)
        .map(Pull::to_prompt)
        .collect();
    let notes = outcome_notes(builder, candidate);
    let work = earlier_work(builder, candidate);
    let request = prompt::Request {
        repository: &snapshot.repository.name,
        persona,
        tree: &snapshot.tree,
        track: &candidate.track,
        open_pulls: &open_pulls,
        sprint,
        entropy: &snapshot.entropy,
        notes: &notes,
        work: &work,
        subject: subject.map(quote_subject),
    };
    let rendered = match prompt::is_plain(persona) {
        true => prompt::render_prompt(&request),
        false => {
            let request = RenderRequest::for_persona(&request, &builder.prompt_sources());
            builder.render_prompt(request).into_persona()
        }
    };
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(error) => return Err(report_missing_prompt(builder, error)),
    };
    let words = SessionText {
        title: rendered.title,
        prompt: rendered.prompt,
        open_pull: candidate.policy.automation == Automation::PullRequest,
        seeds: BTreeMap::new(),
        item_digests: BTreeMap::new(),
    };
    Ok((words, subject))
}

/// Requests what is unread of the journals and the folders that a prompt shows.
fn request_files(builder: &mut DecisionBuilder<'_>, persona: &PersonaId, sprint: Option<u64>) {
    let snapshot = builder.snapshot;
    let is_unread = |path: &String| {
        let entry = snapshot.tree.get(path);
        entry.is_some_and(|entry| entry.text.is_none())
    };
    let journals = prompt::journals_to_read(&snapshot.tree, persona).into_iter();
    builder.reads.texts.extend(journals.filter(is_unread));
    let mut folders = prompt::folders_to_read(sprint);
    if snapshot.plan.sprints.is_none() {
        folders.push(board::current_sprint_path());
    }
    let folders = snapshot.working_docs.unread(folders);
    builder.reads.folders.extend(folders);
}

fn quote_subject(subject: &Subject) -> prompt::Subject<'_> {
    prompt::Subject {
        number: subject.number,
        title: &subject.title,
        body: &subject.body,
        head: subject.pull.as_ref().map(|ends| ends.head.as_str()),
    }
}

/// Notes on the persona's earlier turn, in phileas' own words.
fn outcome_notes(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Vec<String> {
    let newest = builder
        .state
        .history
        .values()
        .rev()
        .find(|entry| entry.persona_id == candidate.work.persona);
    let Some((entry, outcome)) = newest.and_then(|entry| Some((entry, entry.outcome.as_ref()?)))
    else {
        return Vec::new();
    };
    let number = entry
        .pr_number
        .map(|number| format!(" (pull request #{number})"))
        .unwrap_or_default();
    vec![format!("Your previous turn ended as `{outcome}`{number}.")]
}
