//! The prompt of a persona's session.

use std::collections::BTreeMap;

use super::candidate::Candidate;
use super::request_gate;
use super::session_text::{Words, no_prompt};
use crate::board;
use crate::engine::input::pull::PullState;
use crate::engine::input::subject::Subject;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::plan::Automation;
use crate::prompt::{self, RenderRequest};

/// What a persona's session is told, and what a person asked for it on.
pub(crate) fn of_persona<'s>(
    draft: &mut Draft<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(Words, Option<&'s Subject>), (Reason, String)> {
    let snapshot = draft.snapshot;
    let Some(persona) = snapshot.plan.personas.get(&candidate.work.persona) else {
        let text = format!("there is no persona `{}` any more", candidate.work.persona);
        return Err((Reason::PersonaInvalid, text));
    };
    let subject = request_gate::content(draft, &candidate.track)?;
    let unread: Vec<_> = prompt::journals_to_read(&snapshot.tree, &persona.id)
        .into_iter()
        .filter(|path| {
            snapshot
                .tree
                .get(path)
                .is_some_and(|entry| entry.text.is_none())
        })
        .collect();
    draft.needs.texts.extend(unread);
    let mut folders = prompt::folders_to_read(sprint);
    if snapshot.plan.sprints.is_none() {
        folders.push(board::current_sprint_path());
    }
    let folders = snapshot.papers.unread(folders);
    draft.needs.folders.extend(folders);
    let open_pulls: Vec<_> = snapshot
        .pulls
        .values()
        .filter(|pull| pull.state == PullState::Open)
        .map(|pull| prompt::OpenPull {
            number: pull.number,
            title: pull.title.clone(),
            author: pull.author.to_string(),
            head: pull.head.to_string(),
            draft: pull.draft,
        })
        .collect();
    let notes = notes(draft, candidate);
    let request = prompt::Request {
        repository: &snapshot.repository.name,
        persona,
        tree: &snapshot.tree,
        track: &candidate.track,
        open_pulls: &open_pulls,
        sprint,
        entropy: &snapshot.entropy,
        notes: &notes,
        subject: subject.map(quoted),
    };
    let rendered = match prompt::is_plain(persona) {
        true => prompt::render(&request),
        false => {
            let request = RenderRequest::persona(&request, &draft.sources());
            draft.rendered(request).into_persona()
        }
    };
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(error) => return Err(no_prompt(draft, error)),
    };
    let words = Words {
        title: rendered.title,
        prompt: rendered.prompt,
        open_pull: candidate.policy.automation == Automation::PullRequest,
        seeds: BTreeMap::new(),
        given: BTreeMap::new(),
    };
    Ok((words, subject))
}

fn quoted(subject: &Subject) -> prompt::Subject<'_> {
    prompt::Subject {
        number: subject.number,
        title: &subject.title,
        body: &subject.body,
        head: subject.pull.as_ref().map(|ends| ends.head.as_str()),
    }
}

/// What the persona should know of its own earlier turns: our words, not an agent's.
fn notes(draft: &Draft<'_>, candidate: &Candidate) -> Vec<String> {
    let newest = draft
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
