//! What the dashboard issue says. It changes only with what it tells of, never by the mere passing of time.

use std::fmt::Write as _;

use super::account::{concerns_everything, names, why};
use super::status_comment::standing;
use crate::engine::input::request_kind::{BY_BOX, could_be_persona};
use crate::engine::lookup::dashboard_issue;
use crate::engine::lookup::figures::{budget_of, yields_of};
use crate::engine::lookup::waiting_turns::waits_for_a_person;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    DASHBOARD_BOXES, DASHBOARD_CALM, DASHBOARD_CELL, DASHBOARD_PERSONAS, DASHBOARD_REQUESTS,
    DASHBOARD_TRACKS,
};
use crate::engine::text::markdown::{neutral, plain, session_link};
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::model::TrackName;

pub(crate) fn text(draft: &Draft<'_>) -> String {
    let minutes = DASHBOARD_CALM.as_mins();
    // With each wish the text is another one, so that it can be told from the one that was ticked.
    let wishes = draft.state.next_request_number();
    let mut out = format!(
        "{DASHBOARD_MARKER}<!-- {wishes} -->\n**phileas** keeps Jules at work in this repository, and keeps this issue: it is written anew as \
         things change, every {minutes} minutes at the most, and what is written into it by hand is lost. Close it \
         when it is not wanted any more.\n"
    );
    repository(draft, &mut out);
    tracks(draft, &mut out);
    figures(draft, &mut out);
    asked(draft, &mut out);
    commands(draft, &mut out);
    out
}

/// A cell of a table: a line that would end it is broken, and it is no longer than it may be.
fn cell(text: &str) -> String {
    let text = text.replace('|', "¦");
    if text.chars().count() <= DASHBOARD_CELL {
        return text;
    }
    let cut: String = text.chars().take(DASHBOARD_CELL - 2).collect();
    // What was begun as code ends as code.
    let end = if cut.matches('`').count() % 2 == 1 {
        "…`"
    } else {
        "…"
    };
    format!("{cut}{end}")
}

fn code(word: &str) -> String {
    cell(&neutral(word))
}

/// What concerns everything.
fn repository(draft: &Draft<'_>, out: &mut String) {
    let mut said: Vec<String> = Vec::new();
    for line in draft.all_lines().filter(|line| concerns_everything(line)) {
        let text = format!("- {}: {}", line.verdict.as_str(), why(line, false));
        if !said.contains(&text) {
            said.push(text);
        }
    }
    if !said.is_empty() {
        let _ = write!(out, "\n{}\n", said.join("\n"));
    }
}

fn tracks(draft: &Draft<'_>, out: &mut String) {
    let names = names(draft);
    if names.is_empty() {
        out.push_str("\nThe plan has no tracks and no schedules.\n");
        return;
    }
    out.push_str("\n| Track | Persona | Session | Stands |\n|---|---|---|---|\n");
    let more = names.len().saturating_sub(DASHBOARD_TRACKS);
    for name in names.iter().take(DASHBOARD_TRACKS) {
        track(draft, name, out);
    }
    if more > 0 {
        let _ = writeln!(out, "\nAnd {more} more; `phileas status` shows all.");
    }
}

fn track(draft: &Draft<'_>, name: &TrackName, out: &mut String) {
    let turn = draft
        .state
        .tracks
        .get(name)
        .and_then(|track| track.turns.values().next());
    let mut lines = draft.lines_of(name).rev();
    let line = match turn {
        Some(turn) => lines.find(|line| line.turn.as_ref() == Some(&turn.turn)),
        None => lines.next(),
    };
    let persona = turn
        .map(|turn| &turn.persona_id)
        .or_else(|| line?.persona.as_ref());
    let session = turn.and_then(|turn| {
        let session = session_link(turn.session_id.as_ref()?.as_str());
        Some(match turn.pr_number {
            Some(pull) => format!("{session}, #{pull}"),
            None => session,
        })
    });
    let stands = line.map_or_else(|| "nothing is known".to_owned(), |line| why(line, false));
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} |",
        code(name.as_str()),
        persona.map(|id| code(id.as_str())).unwrap_or_default(),
        cell(&session.unwrap_or_default()),
        cell(&stands),
    );
}

/// What came of the work, and what it may still cost.
fn figures(draft: &Draft<'_>, out: &mut String) {
    let yields = yields_of(draft);
    if !yields.is_empty() {
        out.push_str(
            "\n| Persona | Sessions | Pull requests | Merged | Rejected | Open | Ignored | To the merge |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        for (persona, of_it) in yields.iter().take(DASHBOARD_PERSONAS) {
            let median = of_it.median_to_merge.map(|span| {
                let minutes = span.as_mins();
                format!("{} h {} min", minutes / 60, minutes % 60)
            });
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                code(persona.as_str()),
                of_it.sessions,
                of_it.pulls,
                of_it.merged,
                of_it.rejected,
                of_it.open,
                of_it.ignored,
                median.unwrap_or_default(),
            );
        }
        let more = yields.len().saturating_sub(DASHBOARD_PERSONAS);
        if more > 0 {
            let _ = writeln!(out, "\nAnd {more} more; `phileas status` shows all.");
        }
    }
    let budget = budget_of(draft);
    let _ = writeln!(
        out,
        "\nSessions of the last day: {} of {}; at work: {} of {}; pull requests that wait for a review: {} of {}.",
        budget.day,
        budget.day_limit,
        budget.live,
        budget.live_limit,
        budget.backlog,
        budget.backlog_limit,
    );
}

/// What became of the boxes that were ticked last.
fn asked(draft: &Draft<'_>, out: &mut String) {
    let requests = draft.state.requests.values();
    let mut boxes: Vec<_> = requests
        .filter(|request| request.kind == BY_BOX)
        .filter_map(|request| Some((request.number?, request)))
        .collect();
    boxes.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    if boxes.is_empty() {
        return;
    }
    out.push_str("\nTicked lately:\n\n");
    for (number, request) in boxes.into_iter().take(DASHBOARD_REQUESTS) {
        let what = match (&request.persona, &request.command) {
            (Some(persona), _) => format!("run {}", code(persona.as_str())),
            (None, Some(command)) => plain(command),
            (None, None) => "a wish".to_owned(),
        };
        let who = request
            .actor
            .as_deref()
            .map(|login| format!(" by {}", code(login)));
        let stands = standing(draft, number, request);
        let stands = stands.map_or_else(|| "is being started.".to_owned(), |it| it.text);
        let _ = writeln!(out, "- {what}{}: {stands}", who.unwrap_or_default());
    }
}

/// The boxes.
fn commands(draft: &Draft<'_>, out: &mut String) {
    out.push_str(
        "\nTick a box to ask for something; it springs back once it was heard. Only people with write access are.\n\n",
    );
    match draft.state.paused {
        None => out.push_str(&dashboard_issue::line("Pause everything", "pause")),
        Some(_) => out.push_str(&dashboard_issue::line("Go on", "resume")),
    }
    let tracks = draft.state.tracks.iter();
    let waiting = tracks.flat_map(|(name, track)| {
        let turns = track.turns.values().filter(|turn| waits_for_a_person(turn));
        turns.map(move |turn| (name, turn))
    });
    for (name, turn) in waiting.take(DASHBOARD_BOXES) {
        let text = format!(
            "Retry {} in {}",
            code(turn.persona_id.as_str()),
            code(name.as_str())
        );
        out.push_str(&dashboard_issue::line(
            &text,
            &format!("retry:{}", turn.turn),
        ));
    }
    let personas = draft.snapshot.plan.personas.keys();
    let personas = personas.filter(|id| could_be_persona(id.as_str()));
    for id in personas.take(DASHBOARD_BOXES) {
        let text = format!("Run {} now", code(id.as_str()));
        out.push_str(&dashboard_issue::line(&text, &format!("run:{id}")));
    }
}
