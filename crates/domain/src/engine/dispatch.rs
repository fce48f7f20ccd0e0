//! A turn is announced: its intent goes into the state, its session becomes an effect.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::layers::{self, Seat};
use super::limits::{BUDGET_DAY, INTENT_VALID};
use super::start::{Candidate, Cause};
use super::{
    CreateSession, Effect, Line, MakeBranch, PullState, Reason, Subject, Verdict, binding, gate,
    sprint,
};
use crate::board;
use crate::model::{BranchName, Marker, PromptLine, TrackName, TurnId};
use crate::plan::{Automation, Branch, PlanApproval};
use crate::prompt::{self, RenderError, RenderRequest};
use crate::state::{Extra, Genesis, Intent, Turn};

/// Before the names of the branches that sessions start from where a persona asks for one of its own.
pub(super) const START_BRANCHES: &str = "phileas/";

/// How many paths that are read for a prompt a report names.
const PATHS_SHOWN: usize = 3;

/// Announces a candidate's turn.
///
/// # Errors
///
/// Why its persona cannot run after all; nothing was announced.
pub(super) fn start(draft: &mut Draft<'_>, candidate: &Candidate) -> Result<(), (Reason, String)> {
    let snapshot = draft.snapshot;
    let sprint = sprint::of(draft, candidate);
    let (words, subject) = match words(draft, candidate, sprint) {
        // No session gets the prompt, so that the files it is made of are not read for it.
        Err((Reason::PromptUnread, _)) if gate::only_observes(snapshot).is_some() => {
            (Words::default(), None)
        }
        other => other?,
    };
    let persona = &candidate.work.persona;
    let turn = announce(draft, candidate);
    sprint::go_on(draft, sprint);
    let marker = Marker {
        turn: turn.turn.clone(),
        attempt: turn.attempt,
    };
    let seq = draft.seq(&candidate.track);
    let line = PromptLine {
        marker: marker.clone(),
        repository: snapshot.repository.id,
        track: candidate.track.clone(),
        seq,
        slot: candidate.work.slot.clone(),
        persona: persona.clone(),
    };
    let text = prompt::with_marker(&words.prompt, &line);
    let not_after = draft.after(INTENT_VALID);
    let (branch, make_branch) = branch(draft, candidate, subject, seq, turn.attempt);
    let (now, holder, base) = (
        draft.now(),
        snapshot.holder.clone(),
        snapshot.repository.default_head.clone(),
    );
    let prompt_sha256 = prompt::sha256(&text);
    if let Some(turn) = draft.turn_mut(&candidate.track, &candidate.work.slot) {
        turn.intent = Some(Intent {
            created_at: now,
            not_after,
            holder,
            prompt_sha256,
            extra: Extra::new(),
        });
        turn.not_before = None;
        turn.warned_at = None;
        turn.base_sha = base;
        turn.branch = Some(branch.clone());
        turn.given = words.given;
    }
    draft
        .state
        .budget
        .created
        .retain(|at| now.duration_since(*at) < BUDGET_DAY);
    draft.effect(Effect::CreateSession(Box::new(CreateSession {
        track: candidate.track.clone(),
        slot: candidate.work.slot.clone(),
        title: prompt::title_with_marker(&words.title, &marker),
        marker,
        persona: persona.clone(),
        prompt: text,
        source: snapshot.repository.name.clone(),
        branch,
        make_branch,
        open_pull: words.open_pull,
        environment_variables: candidate.policy.environment_variables,
        require_plan_approval: candidate.policy.plan_approval != PlanApproval::Auto,
        not_after,
    })));
    draft.write(words.seeds);
    draft.headline(
        format!("intent {}#{seq} {persona}", candidate.track),
        Some(&turn.turn),
    );
    let line = Line::turn(
        &candidate.track,
        seq,
        &candidate.work.slot,
        &turn,
        Verdict::Dispatched,
        reason(&candidate.cause),
        format!("starts a session of `{persona}`"),
    );
    draft.say(line);
    Ok(())
}

/// What the session is told, and what a person asked for it on.
fn words<'s>(
    draft: &mut Draft<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(Words, Option<&'s Subject>), (Reason, String)> {
    let Some(seat) = Seat::of(&candidate.work.slot) else {
        return of_persona(draft, candidate, sprint);
    };
    let subject = binding::content(draft, &candidate.track)?;
    layers::stands(draft, &seat, subject, &candidate.track)?;
    Ok((layers::speak(draft, candidate, &seat)?, None))
}

/// What a session is told, and under which title.
#[derive(Default)]
pub(super) struct Words {
    pub(super) title: String,
    pub(super) prompt: String,
    /// Whether Jules opens a pull request.
    pub(super) open_pull: bool,
    /// Files of the ledger that begin with this prompt.
    pub(super) seeds: BTreeMap<String, Option<String>>,
    /// The digests of the work items that it is given.
    pub(super) given: BTreeMap<String, String>,
}

/// What a persona's session is told, and what a person asked for it on.
fn of_persona<'s>(
    draft: &mut Draft<'s>,
    candidate: &Candidate,
    sprint: Option<u64>,
) -> Result<(Words, Option<&'s Subject>), (Reason, String)> {
    let snapshot = draft.snapshot;
    let Some(persona) = snapshot.plan.personas.get(&candidate.work.persona) else {
        let text = format!("there is no persona `{}` any more", candidate.work.persona);
        return Err((Reason::PersonaInvalid, text));
    };
    let subject = binding::content(draft, &candidate.track)?;
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

/// Why there is no prompt: what it is made from is asked for, what is wrong with it is reported.
pub(super) fn no_prompt(draft: &mut Draft<'_>, error: RenderError) -> (Reason, String) {
    match error {
        RenderError::Unread(paths) => {
            let text = format!(
                "its prompt waits for files of the default branch to be read: {}",
                listed(&paths)
            );
            draft.needs.sources.extend(paths);
            (Reason::PromptUnread, text)
        }
        RenderError::Unrendered => {
            let text = "its prompt waits to be rendered".to_owned();
            (Reason::PromptUnread, text)
        }
        RenderError::Unavailable(why) => {
            let text = format!(
                "its prompt was not rendered: {}; the next tick tries again",
                prompt::clean_line(&why)
            );
            (Reason::PromptUnread, text)
        }
        RenderError::Invalid(diagnostics) => {
            let text = diagnostics.first().map_or_else(
                || "its prompt cannot be rendered".to_owned(),
                ToString::to_string,
            );
            draft.diagnose(diagnostics);
            (Reason::PromptInvalid, text)
        }
    }
}

/// The first paths, and how many more there are.
fn listed(paths: &BTreeSet<String>) -> String {
    let shown: Vec<String> = paths
        .iter()
        .take(PATHS_SHOWN)
        .map(|path| format!("`{}`", prompt::clean_line(path)))
        .collect();
    let more = paths.len() - shown.len();
    let and = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{and}", shown.join(", "))
}

fn quoted(subject: &Subject) -> prompt::Subject<'_> {
    prompt::Subject {
        number: subject.number,
        title: &subject.title,
        body: &subject.body,
        head: subject.pull.as_ref().map(|ends| ends.head.as_str()),
    }
}

fn reason(cause: &Cause) -> Reason {
    match cause {
        Cause::Track { .. } | Cause::Slot => Reason::DueTrack,
        Cause::Schedule { .. } => Reason::DueSchedule,
        Cause::Request { .. } => Reason::DueRequest,
        Cause::Retry => Reason::DueRetry,
    }
}

/// Moves the track to its new turn, or finds the live one whose next attempt this is.
fn announce(draft: &mut Draft<'_>, candidate: &Candidate) -> Turn {
    if let Some(turn) = draft.turn(&candidate.track, &candidate.work.slot) {
        return turn.clone();
    }
    let nonce = genesis(draft).nonce;
    let repository = draft.snapshot.repository.id;
    let known = draft.state.tracks.get(&candidate.track);
    let ran_before = match known.map_or(0, |track| track.seq) {
        0 => ran_before(draft, &candidate.track),
        _ => 0,
    };
    let persona = candidate.work.persona.clone();
    // What a request took in this very decision stays its own; two that hold one item would wait for each other for ever.
    let beside: Vec<_> = candidate
        .beside
        .iter()
        .filter(|work| !super::start::is_held_elsewhere(draft, &candidate.track, &work.slot))
        .collect();
    let state = draft.track_mut(&candidate.track);
    if state.seq == 0 {
        // A program without sequence numbers had turns, too.
        state.seq = ran_before;
    }
    state.seq += 1;
    state.persona_id = Some(persona.clone());
    state.session_id = None;
    state.pr_number = None;
    match &candidate.cause {
        Cause::Track {
            index,
            passes,
            started,
        } => {
            // A plan that was edited may lead back; that begins a pass, so that (passes, index) only ever rises.
            let back = *passes == state.passes && state.index > Some(*index);
            state.index = Some(*index);
            state.passes = passes + u64::from(back);
            // A start by hand on a clock that was put back must not bring an answered start time back.
            state.last_started = state.last_started.max(*started);
            state.pass_stalled = false;
            let last = state.last_started;
            state.timing.missed.retain(|slot| last < Some(*slot));
        }
        Cause::Schedule { .. } | Cause::Request { .. } | Cause::Retry | Cause::Slot => {
            state.index = Some(0);
        }
    }
    for work in beside {
        let id = TurnId::derive(&nonce, repository, &candidate.track, state.seq, &work.slot);
        let turn = Turn::new(id, work.persona.clone());
        state.turns.insert(work.slot.clone(), turn);
    }
    let id = TurnId::derive(
        &nonce,
        repository,
        &candidate.track,
        state.seq,
        &candidate.work.slot,
    );
    let turn = Turn::new(id.clone(), persona.clone());
    state
        .turns
        .insert(candidate.work.slot.clone(), turn.clone());
    match &candidate.cause {
        Cause::Schedule { slot } => {
            let schedules = &mut draft.state.schedules;
            let known = schedules.entry(persona.as_str().to_owned()).or_default();
            known.last_fired = Some(*slot);
            known.timing.missed.retain(|missed| missed > slot);
        }
        Cause::Request { key } => {
            if let Some(request) = draft.state.requests.get_mut(key) {
                request.outcome = Some("dispatched".to_owned());
                request.turn = Some(id);
            }
        }
        Cause::Track { .. } | Cause::Retry | Cause::Slot => {}
    }
    turn
}

/// How many turns the history knows of a track.
fn ran_before(draft: &Draft<'_>, track: &TrackName) -> u64 {
    draft
        .state
        .history
        .values()
        .filter(|entry| entry.is_of_track(track))
        .count() as u64
}

/// The ledger's birth, now if it has none.
fn genesis(draft: &mut Draft<'_>) -> Genesis {
    let snapshot = draft.snapshot;
    let genesis = draft.state.genesis.get_or_insert_with(|| Genesis {
        repository_id: snapshot.repository.id,
        born_at: snapshot.now,
        nonce: data_encoding::HEXLOWER.encode(&snapshot.entropy[..6]),
        extra: Extra::new(),
    });
    genesis.clone()
}

/// Where the session starts. Each attempt has a branch of its own: what is there stays where the one before began.
fn branch(
    draft: &Draft<'_>,
    candidate: &Candidate,
    subject: Option<&Subject>,
    seq: u64,
    attempt: u32,
) -> (BranchName, Option<MakeBranch>) {
    let repository = &draft.snapshot.repository;
    let ends = subject.and_then(|subject| subject.pull.as_ref());
    match (&candidate.policy.branch, &repository.default_head) {
        // Work on a pull request goes on where it stands.
        (Branch::Default, _) if let Some(ends) = ends => (ends.head.clone(), None),
        (Branch::Named(name), _) => (BranchName::from(name.as_str()), None),
        (Branch::Persona, Some(head)) => {
            let track = candidate.track.as_str().replace(':', "-");
            let again = match attempt {
                1 => String::new(),
                _ => format!(".{attempt}"),
            };
            let name = BranchName::new(format!(
                "{START_BRANCHES}{track}/{}-{seq}{again}",
                candidate.work.persona
            ));
            (
                name.clone(),
                Some(MakeBranch {
                    name,
                    at: head.clone(),
                }),
            )
        }
        (Branch::Default, _) | (Branch::Persona, None) => (repository.default_branch.clone(), None),
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
