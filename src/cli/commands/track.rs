//! `phileas track`: shows tracks and schedules, moves pointers, pauses and resumes.

use std::cell::Cell;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::engine::{Ledger, SteerError, next_step, set_next_step};
use phileas_domain::model::TrackName;
use phileas_domain::plan::{self, Plan, StepKind, Track};
use phileas_domain::state::{Pause, State, TrackState};
use serde_json::{Value, json};

use crate::cli::arguments::{Repository, TrackCommand};
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::context::{clients, run_identity};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;
use crate::runtime::ports::ReadGitHub as _;
use crate::runtime::{Edit, edit_state, ledger_of};

pub(crate) async fn run(
    command: &TrackCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        TrackCommand::List(repository) => list_tracks(repository, screen).await,
        TrackCommand::Set {
            name,
            next,
            repository,
        } => set_step(name, next, repository, screen).await,
        TrackCommand::Pause {
            name,
            reason,
            repository,
        } => pause_track(name, reason.as_deref(), repository, screen).await,
        TrackCommand::Resume { name, repository } => resume_track(name, repository, screen).await,
    }
}

/// The next step of a track.
#[derive(Debug, Clone)]
struct NextStep {
    /// The step's index; schedules have none.
    index: Option<usize>,
    /// The persona, or the layer as `layer:<name>`.
    who: Option<String>,
    /// As text for people.
    text: String,
}

/// The status of a track or a schedule.
struct TrackStatus {
    name: TrackName,
    /// The persona that ran last, or is running.
    last: Option<String>,
    /// What comes next.
    next: Option<NextStep>,
    /// When it comes, if a cron expression says so.
    due: Option<Timestamp>,
    seq: u64,
    live: usize,
    paused: Option<Pause>,
}

async fn list_tracks(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let observation = github.observe_repository().await?;
    let now = observation.now;
    let (plan, _) = plan::read(&observation.tree);
    let state = match ledger_of(observation.ledger) {
        Ledger::Present { state, .. } => *state,
        Ledger::Missing { .. } => State::default(),
        Ledger::Corrupt { diagnostics, .. } => {
            let first = diagnostics
                .first()
                .map_or_else(String::new, ToString::to_string);
            return Err(CliError::corrupt(first));
        }
    };
    let standings = track_statuses(&plan, &state, now);
    if arguments.json {
        for one in &standings {
            screen.print_line(&status_json(one).to_string())?;
        }
        return Ok(Exit::Done);
    }
    if standings.is_empty() {
        screen.print_line("the plan has neither tracks nor schedules")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["track", "last", "next", "turns", ""]);
    for one in &standings {
        let next = match (&one.next, one.due) {
            (Some(next), Some(due)) => format!("{} at {} UTC", next.text, short_time(due)),
            (Some(next), None) => next.text.clone(),
            (None, _) => String::new(),
        };
        table.push_row([
            one.name.to_string(),
            one.last.clone().unwrap_or_default(),
            next,
            one.seq.to_string(),
            remark_text(one),
        ]);
    }
    screen.print_lines(&table.table_text())?;
    Ok(Exit::Done)
}

fn remark_text(one: &TrackStatus) -> String {
    let mut said = Vec::new();
    if one.live > 0 {
        said.push("under way".to_owned());
    }
    if let Some(pause) = &one.paused {
        let why = pause.reason.as_deref().unwrap_or("no reason was given");
        said.push(format!("paused: {why}"));
    }
    said.join(", ")
}

fn track_statuses(plan: &Plan, state: &State, now: Timestamp) -> Vec<TrackStatus> {
    let nothing = TrackState::default();
    let known = |name: &TrackName| state.tracks.get(name).unwrap_or(&nothing);
    let standing = |name: &TrackName, next: Option<NextStep>, due: Option<Timestamp>| {
        let known = known(name);
        TrackStatus {
            name: name.clone(),
            last: known.persona_id.as_ref().map(ToString::to_string),
            next,
            due,
            seq: known.seq,
            live: known.turns.len(),
            paused: known.paused.clone(),
        }
    };
    let mut all: Vec<TrackStatus> = Vec::new();
    for track in plan.tracks.values() {
        let index = next_step(track, known(&track.name));
        // A cron expression counts only where a pass begins.
        let due = track
            .start
            .as_ref()
            .filter(|_| index == Some(0))
            .and_then(|start| start.next_after(now));
        let next = index.map(|index| step_at(track, index));
        all.push(standing(&track.name, next, due));
    }
    for schedule in plan.schedules.values() {
        let due = schedule.cron.as_ref().and_then(|cron| cron.next_after(now));
        let next = NextStep {
            index: None,
            who: Some(schedule.persona.to_string()),
            text: match schedule.cron {
                Some(_) => schedule.persona.to_string(),
                None => format!("{} when asked for", schedule.persona),
            },
        };
        let name = TrackName::of_schedule(&schedule.persona);
        all.push(standing(&name, Some(next), due));
    }
    // The state also has tracks that the plan does not name, or never did.
    let live = state
        .tracks
        .iter()
        .filter(|(_, track)| !track.turns.is_empty());
    for (name, _) in live {
        if !all.iter().any(|one| one.name == *name) {
            all.push(standing(name, None, None));
        }
    }
    all
}

fn status_json(one: &TrackStatus) -> Value {
    json!({
        "track": one.name.as_str(),
        "last": one.last,
        "next": one.next.as_ref().map(next_json),
        "due": one.due.map(|at| at.to_string()),
        "turns": one.seq,
        "live": one.live,
        "paused": one.paused.as_ref().map(|pause| json!({
            "at": pause.at.map(|at| at.to_string()), "by": pause.by, "reason": pause.reason,
        })),
    })
}

fn next_json(next: &NextStep) -> Value {
    json!({ "index": next.index, "step": next.who })
}

/// `2 (tester)`.
fn step_at(track: &Track, index: usize) -> NextStep {
    let who = track.steps.get(index).map(|step| step.kind.to_string());
    let text = match &who {
        Some(who) => format!("{index} ({who})"),
        None => index.to_string(),
    };
    NextStep {
        index: Some(index),
        who,
        text,
    }
}

async fn set_step(
    name: &str,
    next: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let holder = run_identity::run_holder()?;
    let track = TrackName::from(name);
    let headline = format!("set {name} to {next}");
    let edit = Edit {
        headline: &headline,
        holder: &holder,
        moves_pointer_of: Some(&track),
    };
    let next = edit_state(&github, &edit, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        let planned = plan
            .tracks
            .get(&track)
            .ok_or_else(|| unknown_name(name, plan.tracks.keys().map(TrackName::as_str)))?;
        let index = find_step(planned, next)?;
        let known = state.tracks.entry(track.clone()).or_default();
        match set_next_step(planned, known, index) {
            Ok(()) => Ok(Ok(step_at(planned, index))),
            Err(live @ SteerError::Live { .. }) => Ok(Err(live)),
            Err(error) => Err(error.to_string()),
        }
    })
    .await?
    .map_err(|refused| CliError::finding(refused.to_string()))?;
    if arguments.json {
        screen.print_line(&json!({ "track": name, "next": next_json(&next) }).to_string())?;
    } else {
        screen.print_line(&format!("the next step of `{name}` is {}", next.text))?;
    }
    Ok(Exit::Done)
}

/// Finds a step by its index, its persona's id, or `layer:<name>`.
fn find_step(track: &Track, text: &str) -> Result<usize, String> {
    if let Ok(index) = text.parse::<usize>() {
        return Ok(index);
    }
    let kind = match text.strip_prefix("layer:") {
        Some(layer) => StepKind::Layer(layer.to_owned()),
        None => StepKind::Persona(text.into()),
    };
    let places: Vec<usize> = track
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| step.kind == kind)
        .map(|(index, _)| index)
        .collect();
    match places.as_slice() {
        [only] => Ok(*only),
        [] => {
            let names = track.steps.iter().map(|step| match &step.kind {
                StepKind::Persona(id) => id.as_str(),
                StepKind::Layer(name) => name.as_str(),
            });
            Err(format!(
                "`{text}` is not a step of `{}`{}",
                track.name,
                suggestion_text(text, names)
            ))
        }
        several => {
            let indices: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(format!(
                "`{text}` stands in `{}` more than once; give its index: {}",
                track.name,
                indices.join(" or ")
            ))
        }
    }
}

async fn pause_track(
    name: &str,
    reason: Option<&str>,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let headline = format!("pause {name}");
    let changed = change_track(name, &headline, arguments, |track, now| {
        let known = track.paused.take().unwrap_or_default();
        track.paused = Some(Pause {
            at: known.at.or(Some(now)),
            by: known.by.or_else(run_identity::github_actor),
            reason: reason.map(str::to_owned).or(known.reason),
            extra: known.extra,
        });
    });
    let is_paused = changed.await?;
    print_change(name, "is paused", is_paused, arguments, screen)
}

async fn resume_track(
    name: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let headline = format!("resume {name}");
    let was_paused = Cell::new(false);
    let changed = change_track(name, &headline, arguments, |track, _| {
        was_paused.set(track.paused.take().is_some());
    });
    let is_paused = changed.await?;
    let word = match was_paused.get() {
        true => "resumed",
        false => "was not paused; nothing changed",
    };
    print_change(name, word, is_paused, arguments, screen)
}

/// Changes the state of one existing track or schedule. Returns whether it is paused then.
async fn change_track(
    name: &str,
    headline: &str,
    arguments: &Repository,
    change: impl Fn(&mut TrackState, Timestamp),
) -> Result<bool, CliError> {
    let github = clients::github_client(&arguments.repo)?;
    let track = TrackName::from(name);
    let paused = edit_ledger(&github, headline, |state, observation| {
        let (plan, _) = plan::read(&observation.tree);
        let schedules: Vec<TrackName> = plan.schedules.keys().map(TrackName::of_schedule).collect();
        let planned = plan.tracks.contains_key(&track) || schedules.contains(&track);
        // A track that the plan no longer names can still be resumed.
        if !planned && !state.tracks.contains_key(&track) {
            let tracks = plan.tracks.keys().chain(&schedules);
            return Err(unknown_name(name, tracks.map(TrackName::as_str)));
        }
        if let Some(known) = state.tracks.get(&track) {
            let mut changed = known.clone();
            change(&mut changed, observation.now);
            state.tracks.insert(track.clone(), changed);
        } else {
            let mut new = TrackState::default();
            change(&mut new, observation.now);
            if new != TrackState::default() {
                state.tracks.insert(track.clone(), new);
            }
        }
        let known = state.tracks.get(&track);
        Ok(known.is_some_and(|track| track.paused.is_some()))
    })
    .await?;
    Ok(paused)
}

fn print_change(
    name: &str,
    word: &str,
    is_paused: bool,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if arguments.json {
        let document = json!({ "track": name, "paused": is_paused });
        screen.print_line(&document.to_string())?;
    } else {
        screen.print_line(&format!("`{name}` {word}"))?;
    }
    Ok(Exit::Done)
}

fn unknown_name<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!("there is no track `{name}`{}", suggestion_text(name, known))
}

/// `; did you mean …?`, or the list of names.
pub(crate) fn suggestion_text<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    match plan::closest(word, known.iter().copied()) {
        Some(one) => format!("; did you mean `{one}`?"),
        None if known.is_empty() => "; there are none".to_owned(),
        None => format!("; there are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phileas_domain::plan::{Policy, Step};

    fn sample_track(ids: &[&str]) -> Track {
        let steps = ids.iter().map(|id| Step {
            kind: StepKind::Persona((*id).into()),
            policy: Policy::default(),
        });
        Track {
            name: "default".into(),
            steps: steps.collect(),
            start: None,
            policy: Policy::default(),
        }
    }

    #[test]
    fn steps_are_named_by_index_or_persona() {
        let track = sample_track(&["curator", "tester", "curator"]);
        assert_eq!(find_step(&track, "2"), Ok(2));
        assert_eq!(find_step(&track, "tester"), Ok(1));
        let error = find_step(&track, "curator").unwrap_err();
        assert!(error.ends_with("give its index: 0 or 2"), "{error}");
        let error = find_step(&track, "testre").unwrap_err();
        assert!(error.ends_with("did you mean `tester`?"), "{error}");
    }
}
