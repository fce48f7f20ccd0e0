//! What `/phileas status` and `/phileas explain` answer: how the repository, each track and each open request stand at
//! the end of a decision, one sentence each. The commands that ask for it are not part of it.

use jiff::Timestamp;

use crate::engine::lookup::pending_requests;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::ANSWER_LINES;
use crate::engine::output::reason_text::reason_text;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::{neutral, plain, session_link};
use crate::engine::text::time::utc;
use crate::model::TrackName;
use crate::state::{Pause, Turn};

/// The answer, one line of a list for each. `explain`: with all that was decided about each track, and its details.
pub(crate) fn account(draft: &Draft<'_>, explain: bool) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if !said.contains(&text) {
            said.push(text);
        }
    };
    for pause in pauses(draft) {
        add(format!("- {pause}"));
    }
    for line in draft.all_lines().filter(|line| concerns_everything(line)) {
        // The pauses stand above, with the accounts that made them.
        if line.verdict != Verdict::Paused || explain {
            add(of_line("everything", line, explain));
        }
    }
    let names = names(draft);
    for name in &names {
        for text in of_track(draft, name, explain) {
            add(text);
        }
    }
    if names.is_empty() {
        add("- the plan has no tracks and no schedules, and nothing is at work".to_owned());
    }
    let more = said.len().saturating_sub(ANSWER_LINES);
    said.truncate(ANSWER_LINES);
    if more > 0 {
        said.push(format!(
            "- and {more} more; `phileas explain` on the command line shows all"
        ));
    }
    said.join("\n")
}

/// Whether a line tells how the repository as a whole stands. What single accounts asked for is no part of it.
pub(crate) fn concerns_everything(line: &Line) -> bool {
    let stands = matches!(
        line.verdict,
        Verdict::Paused | Verdict::Held | Verdict::Waiting
    );
    line.track.is_none() && stands && line.reason != Reason::RequestUnread
}

/// The tracks and schedules of the plan, and what else is at work or waits.
pub(crate) fn names(draft: &Draft<'_>) -> Vec<TrackName> {
    let plan = &draft.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let mut names: Vec<TrackName> = plan.tracks.keys().cloned().chain(schedules).collect();
    let tracks = draft.state.tracks.iter();
    let live = tracks.filter(|(_, track)| !track.turns.is_empty());
    let live = live.map(|(name, _)| name.clone());
    let pending = pending_requests::pending(draft)
        .into_iter()
        .map(|one| one.track);
    for name in live.chain(pending) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn of_track(draft: &Draft<'_>, name: &TrackName, explain: bool) -> Vec<String> {
    let shown = neutral(name.as_str());
    let turns = draft.state.tracks.get(name).map(|track| &track.turns);
    let live = turns.into_iter().flat_map(|turns| turns.values());
    let mut said: Vec<String> = live
        .map(|turn| of_turn(draft, name, &shown, turn))
        .collect();
    let mut lines = draft.lines_of(name);
    if explain {
        said.extend(lines.map(|line| of_line(&shown, line, true)));
    } else if said.is_empty() {
        said.extend(lines.next_back().map(|line| of_line(&shown, line, false)));
    }
    if said.is_empty() {
        said.push(format!("- {shown}: this run did not decide about it"));
    }
    said
}

/// A turn that is at work: its persona, its reason, since when, its session and its pull request.
fn of_turn(draft: &Draft<'_>, name: &TrackName, shown: &str, turn: &Turn) -> String {
    let mut lines = draft.lines_of(name).rev();
    let line = lines.find(|line| line.turn.as_ref() == Some(&turn.turn));
    let stands = line.map_or_else(
        || "its turn is under way".to_owned(),
        |line| why(line, true),
    );
    let since = since(draft, turn).map(|at| format!("; since {}", utc(at)));
    let session = turn.session_id.as_ref();
    let session = session.map(|id| format!("; {}", session_link(id.as_str())));
    let pull = turn.pr_number.map(|pull| format!("; pull request #{pull}"));
    format!(
        "- {shown}, {}: {stands}{}{}{}",
        neutral(turn.persona_id.as_str()),
        since.unwrap_or_default(),
        session.unwrap_or_default(),
        pull.unwrap_or_default(),
    )
}

/// When the session of a turn was created, or else its creation decided.
pub(crate) fn since(draft: &Draft<'_>, turn: &Turn) -> Option<Timestamp> {
    let entry = draft.state.history.get(&turn.history_key?);
    let decided = || Some(turn.intent.as_ref()?.created_at);
    entry.and_then(|entry| entry.created_at).or_else(decided)
}

fn of_line(shown: &str, line: &Line, explain: bool) -> String {
    let persona = line.persona.as_ref().map(|id| neutral(id.as_str()));
    let persona = persona.map(|id| format!(", {id}")).unwrap_or_default();
    let why = why(line, true);
    if !explain {
        return format!("- {shown}{persona}: {why}");
    }
    let detail = Some(neutral(&line.detail)).filter(|text| text.len() > 2);
    let detail = detail.map(|text| format!(": {text}")).unwrap_or_default();
    format!(
        "- {shown}{persona}: {}: {why}{detail}",
        line.verdict.as_str()
    )
}

/// Whether the time of such a line is when the reason ends, not when phileas looks again.
fn has_a_time(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::RetryPause
            | Reason::CreateRefused
            | Reason::JulesQuota
            | Reason::BudgetDaily
            | Reason::BudgetShare
            | Reason::ActorHour
            | Reason::PersonaResting
    )
}

/// The sentence of a line with its stable code. `timed`: with the time until which it stands; without it only a time of
/// the plan is told, because other times move with every look.
pub(crate) fn why(line: &Line, timed: bool) -> String {
    let is_fixed = line.reason == Reason::NotDue || timed && has_a_time(line.reason);
    let until = line.until.filter(|_| is_fixed);
    let until = until.map(|at| format!(" until {}", utc(at)));
    format!(
        "{}{} (`{}`)",
        reason_text(line.reason),
        until.unwrap_or_default(),
        line.reason
    )
}

pub(crate) fn since_text(at: Timestamp) -> String {
    format!(" since {}", utc(at))
}

/// What keeps everything from starting, with the account that paused it where one did.
pub(crate) fn pauses(draft: &Draft<'_>) -> Vec<String> {
    let lines = draft.all_lines();
    let paused = lines.filter(|line| line.track.is_none() && line.verdict == Verdict::Paused);
    let mut said: Vec<String> = Vec::new();
    for line in paused {
        let text = match (line.reason, &draft.state.paused) {
            (Reason::PausedState, Some(pause)) => paused_text(pause),
            (reason, _) => format!("{} (`{reason}`)", reason_text(reason)),
        };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    said
}

fn paused_text(pause: &Pause) -> String {
    let by = pause.by.as_ref();
    let by = by.map(|login| format!(" by `{}`", plain(login)));
    let since = pause.at.map(since_text);
    let why = pause.reason.as_deref();
    let why = why.map(|why| format!(": {}", neutral(why)));
    format!(
        "paused{}{} (`{}`){}; `/phileas resume` ends the pause",
        by.unwrap_or_default(),
        since.unwrap_or_default(),
        Reason::PausedState,
        why.unwrap_or_default()
    )
}
