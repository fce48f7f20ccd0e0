//! The text of the dashboard issue. It changes only with its facts, never with time alone.

use std::fmt::Write as _;

use super::account::{concerns_repository, reason_sentence, track_names};
use super::status_comment::request_status;
use crate::engine::lookup::dashboard_issue;
use crate::engine::lookup::figures::{budget_so_far, yields_so_far};
use crate::engine::lookup::waiting_turns::waits_for_person;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    DASHBOARD_BOXES, DASHBOARD_CELL, DASHBOARD_INTERVAL, DASHBOARD_PERSONAS, DASHBOARD_REQUESTS,
    DASHBOARD_TRACKS,
};
use crate::engine::text::markdown::{quote_as_code, sanitize_word, session_link};
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::model::{PersonaId, TrackName};
use crate::state::RequestKind;

pub(crate) fn dashboard_text(builder: &DecisionBuilder<'_>) -> String {
    let minutes = DASHBOARD_INTERVAL.as_mins();
    // The number changes the text with each request, so that it differs from the one that was ticked.
    let requests = builder.state.next_request_number();
    let mut out = format!(
        "{DASHBOARD_MARKER}<!-- {requests} -->\n**phileas** keeps Jules at work in this repository, and keeps this issue: phileas writes it again as \
         things change, every {minutes} minutes at the most, and what is written into it by hand is lost. Close it \
         to end it.\n"
    );
    write_repository(builder, &mut out);
    write_tracks(builder, &mut out);
    write_figures(builder, &mut out);
    write_requested(builder, &mut out);
    write_checkboxes(builder, &mut out);
    out
}

/// A table cell: sanitized and truncated.
fn table_cell(text: &str) -> String {
    let text = text.replace('|', "¦");
    if text.chars().count() <= DASHBOARD_CELL {
        return text;
    }
    let cut: String = text.chars().take(DASHBOARD_CELL - 2).collect();
    // Close inline code that was cut.
    let end = if cut.matches('`').count() % 2 == 1 {
        "…`"
    } else {
        "…"
    };
    format!("{cut}{end}")
}

fn code_cell(word: &str) -> String {
    table_cell(&quote_as_code(word))
}

/// Writes what concerns the whole repository.
fn write_repository(builder: &DecisionBuilder<'_>, out: &mut String) {
    let mut said: Vec<String> = Vec::new();
    for line in builder.all_lines().filter(|line| concerns_repository(line)) {
        let text = format!(
            "- {}: {}",
            line.verdict.as_str(),
            reason_sentence(line, false)
        );
        if !said.contains(&text) {
            said.push(text);
        }
    }
    if !said.is_empty() {
        let _ = write!(out, "\n{}\n", said.join("\n"));
    }
}

fn write_tracks(builder: &DecisionBuilder<'_>, out: &mut String) {
    let names = track_names(builder);
    if names.is_empty() {
        out.push_str("\nThe plan has no tracks and no schedules.\n");
        return;
    }
    out.push_str("\n| Track | Persona | Session | Stands |\n|---|---|---|---|\n");
    let more = names.len().saturating_sub(DASHBOARD_TRACKS);
    for name in names.iter().take(DASHBOARD_TRACKS) {
        write_track(builder, name, out);
    }
    if more > 0 {
        let _ = writeln!(out, "\nAnd {more} more; `phileas status` shows all.");
    }
}

fn write_track(builder: &DecisionBuilder<'_>, name: &TrackName, out: &mut String) {
    let turn = builder
        .state
        .tracks
        .get(name)
        .and_then(|track| track.turns.values().next());
    let mut lines = builder.lines_of_track(name).rev();
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
    let stands = line.map_or_else(
        || "nothing is known".to_owned(),
        |line| reason_sentence(line, false),
    );
    let _ = writeln!(
        out,
        "| {} | {} | {} | {} |",
        code_cell(name.as_str()),
        persona.map(|id| code_cell(id.as_str())).unwrap_or_default(),
        table_cell(&session.unwrap_or_default()),
        table_cell(&stands),
    );
}

/// Writes the figures of the work and the budgets.
fn write_figures(builder: &DecisionBuilder<'_>, out: &mut String) {
    let yields = yields_so_far(builder);
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
                code_cell(persona.as_str()),
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
    let budget = budget_so_far(builder);
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

/// Writes the latest checkbox requests.
fn write_requested(builder: &DecisionBuilder<'_>, out: &mut String) {
    let requests = builder.state.requests.values();
    let mut boxes: Vec<_> = requests
        .filter(|request| request.is_of_kind(RequestKind::Checkbox))
        .filter_map(|request| Some((request.number?, request)))
        .collect();
    boxes.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    if boxes.is_empty() {
        return;
    }
    out.push_str("\nTicked lately:\n\n");
    for (number, request) in boxes.into_iter().take(DASHBOARD_REQUESTS) {
        let what = match (&request.persona, &request.command) {
            (Some(persona), _) => format!("run {}", code_cell(persona.as_str())),
            (None, Some(command)) => sanitize_word(command),
            (None, None) => "a request".to_owned(),
        };
        let who = request
            .actor
            .as_deref()
            .map(|login| format!(" by {}", code_cell(login)));
        let stands = request_status(builder, number, request);
        let stands = stands.map_or_else(|| "is being started.".to_owned(), |it| it.text);
        let _ = writeln!(out, "- {what}{}: {stands}", who.unwrap_or_default());
    }
}

/// Writes the checkboxes.
fn write_checkboxes(builder: &DecisionBuilder<'_>, out: &mut String) {
    out.push_str(
        "\nTick a checkbox to request something; it is cleared once the request is accepted. Only people with write access may.\n\n",
    );
    match builder.state.paused {
        None => out.push_str(&dashboard_issue::checkbox_line("Pause everything", "pause")),
        Some(_) => out.push_str(&dashboard_issue::checkbox_line("Go on", "resume")),
    }
    let tracks = builder.state.tracks.iter();
    let waiting = tracks.flat_map(|(name, track)| {
        let turns = track.turns.values().filter(|turn| waits_for_person(turn));
        turns.map(move |turn| (name, turn))
    });
    for (name, turn) in waiting.take(DASHBOARD_BOXES) {
        let text = format!(
            "Retry {} in {}",
            code_cell(turn.persona_id.as_str()),
            code_cell(name.as_str())
        );
        out.push_str(&dashboard_issue::checkbox_line(
            &text,
            &format!("retry:{}", turn.turn),
        ));
    }
    let personas = builder.snapshot.plan.personas.keys();
    let personas = personas.filter(|id| PersonaId::is_possible(id.as_str()));
    for id in personas.take(DASHBOARD_BOXES) {
        let text = format!("Run {} now", code_cell(id.as_str()));
        out.push_str(&dashboard_issue::checkbox_line(&text, &format!("run:{id}")));
    }
}
