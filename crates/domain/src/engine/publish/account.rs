//! Answers `/phileas status` and `/phileas explain`: the status of the repository, each track and each pending request
//! at the end of a decision, one sentence each.

use jiff::Timestamp;

use crate::engine::lookup::pending_requests;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::ANSWER_LINES;
use crate::engine::output::reason_text::reason_text;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::{quote_as_code, sanitize_word, session_link};
use crate::engine::text::time::format_utc;
use crate::model::TrackName;
use crate::state::{Pause, Turn};

/// The answer, one list item for each. `explain`: with all lines about each track, and their details.
pub(crate) fn status_answer(builder: &DecisionBuilder<'_>, explain: bool) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if !said.contains(&text) {
            said.push(text);
        }
    };
    for pause in pause_lines(builder) {
        add(format!("- {pause}"));
    }
    for line in builder.all_lines().filter(|line| concerns_repository(line)) {
        // The pauses are listed above, with their actors.
        if line.verdict != Verdict::Paused || explain {
            add(line_text("everything", line, explain));
        }
    }
    let names = track_names(builder);
    for name in &names {
        for text in track_lines(builder, name, explain) {
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

/// Whether a line concerns the repository as a whole. Lines about single requests do not.
pub(crate) fn concerns_repository(line: &Line) -> bool {
    let stands = matches!(
        line.verdict,
        Verdict::Paused | Verdict::Held | Verdict::Waiting
    );
    line.track.is_none() && stands && line.reason != Reason::RequestUnread
}

/// The tracks and schedules of the plan, and all others with live turns or pending requests.
pub(crate) fn track_names(builder: &DecisionBuilder<'_>) -> Vec<TrackName> {
    let plan = &builder.snapshot.plan;
    let schedules = plan.schedules.keys().map(TrackName::of_schedule);
    let mut names: Vec<TrackName> = plan.tracks.keys().cloned().chain(schedules).collect();
    let tracks = builder.state.tracks.iter();
    let live = tracks.filter(|(_, track)| !track.turns.is_empty());
    let live = live.map(|(name, _)| name.clone());
    let pending = pending_requests::waiting_requests(builder)
        .into_iter()
        .map(|one| one.track);
    for name in live.chain(pending) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn track_lines(builder: &DecisionBuilder<'_>, name: &TrackName, explain: bool) -> Vec<String> {
    let shown = quote_as_code(name.as_str());
    let turns = builder.state.tracks.get(name).map(|track| &track.turns);
    let live = turns.into_iter().flat_map(|turns| turns.values());
    let mut said: Vec<String> = live
        .map(|turn| turn_line(builder, name, &shown, turn))
        .collect();
    let mut lines = builder.lines_of_track(name);
    if explain {
        said.extend(lines.map(|line| line_text(&shown, line, true)));
    } else if said.is_empty() {
        said.extend(lines.next_back().map(|line| line_text(&shown, line, false)));
    }
    if said.is_empty() {
        said.push(format!("- {shown}: this run did not decide about it"));
    }
    said
}

/// A live turn: its persona, its reason, since when, its session and its pull request.
fn turn_line(builder: &DecisionBuilder<'_>, name: &TrackName, shown: &str, turn: &Turn) -> String {
    let mut lines = builder.lines_of_track(name).rev();
    let line = lines.find(|line| line.turn.as_ref() == Some(&turn.turn));
    let stands = line.map_or_else(
        || "its turn is under way".to_owned(),
        |line| reason_sentence(line, true),
    );
    let since = started_at(builder, turn).map(|at| format!("; since {}", format_utc(at)));
    let session = turn.session_id.as_ref();
    let session = session.map(|id| format!("; {}", session_link(id.as_str())));
    let pull = turn.pr_number.map(|pull| format!("; pull request #{pull}"));
    format!(
        "- {shown}, {}: {stands}{}{}{}",
        quote_as_code(turn.persona_id.as_str()),
        since.unwrap_or_default(),
        session.unwrap_or_default(),
        pull.unwrap_or_default(),
    )
}

/// When the session of a turn was created, or else its creation was decided.
pub(crate) fn started_at(builder: &DecisionBuilder<'_>, turn: &Turn) -> Option<Timestamp> {
    let entry = builder.state.history.get(&turn.history_key?);
    let decided = || Some(turn.intent.as_ref()?.created_at);
    entry.and_then(|entry| entry.created_at).or_else(decided)
}

fn line_text(shown: &str, line: &Line, explain: bool) -> String {
    let persona = line.persona.as_ref().map(|id| quote_as_code(id.as_str()));
    let persona = persona.map(|id| format!(", {id}")).unwrap_or_default();
    let why = reason_sentence(line, true);
    if !explain {
        return format!("- {shown}{persona}: {why}");
    }
    let detail = Some(quote_as_code(&line.detail)).filter(|text| text.len() > 2);
    let detail = detail.map(|text| format!(": {text}")).unwrap_or_default();
    format!(
        "- {shown}{persona}: {}: {why}{detail}",
        line.verdict.as_str()
    )
}

/// Whether the time of a line with this reason is its end, not phileas' next check.
fn has_end_time(reason: Reason) -> bool {
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

/// The sentence of a line with its reason code. `timed`: with the end of the reason; otherwise only a time of the plan
/// is shown, because other times change with every check.
pub(crate) fn reason_sentence(line: &Line, timed: bool) -> String {
    let is_fixed = line.reason == Reason::NotDue || timed && has_end_time(line.reason);
    let until = line.until.filter(|_| is_fixed);
    let until = until.map(|at| format!(" until {}", format_utc(at)));
    format!(
        "{}{} (`{}`)",
        reason_text(line.reason),
        until.unwrap_or_default(),
        line.reason
    )
}

pub(crate) fn since_text(at: Timestamp) -> String {
    format!(" since {}", format_utc(at))
}

/// What pauses the repository, with the actor where one did.
pub(crate) fn pause_lines(builder: &DecisionBuilder<'_>) -> Vec<String> {
    let lines = builder.all_lines();
    let paused = lines.filter(|line| line.track.is_none() && line.verdict == Verdict::Paused);
    let mut said: Vec<String> = Vec::new();
    for line in paused {
        let text = match (line.reason, &builder.state.paused) {
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
    let by = by.map(|login| format!(" by `{}`", sanitize_word(login)));
    let since = pause.at.map(since_text);
    let why = pause.reason.as_deref();
    let why = why.map(|why| format!(": {}", quote_as_code(why)));
    format!(
        "paused{}{} (`{}`){}; `/phileas resume` ends the pause",
        by.unwrap_or_default(),
        since.unwrap_or_default(),
        Reason::PausedState,
        why.unwrap_or_default()
    )
}
