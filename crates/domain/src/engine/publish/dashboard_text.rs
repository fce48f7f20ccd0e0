//! The text of the dashboard issue. It changes only with its facts, never with time alone.

use std::fmt::Write as _;

use super::dashboard_review::write_review;
use super::request_status::request_status;
use crate::engine::lookup::dashboard_issue;
use crate::engine::lookup::figures::Yield;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    DASHBOARD_BOXES, DASHBOARD_CELL, DASHBOARD_INTERVAL, DASHBOARD_ITEM, DASHBOARD_PERSONAS,
    DASHBOARD_REQUESTS, DASHBOARD_TRACKS,
};
use crate::engine::text::markdown::{quote_as_code, sanitize_word};
use crate::engine::text::markers::DASHBOARD_MARKER;
use crate::engine::text::time::{format_utc, span_text};
use crate::engine::view::repository::RepositoryView;
use crate::engine::view::track::{TrackView, place_text};
use crate::model::PersonaId;
use crate::state::RequestKind;

pub(crate) fn dashboard_text(builder: &DecisionBuilder<'_>) -> String {
    let view = RepositoryView::of_decision(builder, builder.all_lines());
    // The number changes the text with each request, so that it differs from the one that was ticked.
    let requests = builder.state.next_request_number();
    let mut out = format!("{DASHBOARD_MARKER}<!-- {requests} -->\n");
    let whole = view.other_lines.iter();
    let whole = whole.filter(|line| line.concerns_repository());
    let pauses = view.pauses.iter().map(|pause| pause.sentence());
    let needs = view.needs.iter().map(|need| need.list_item());
    let mut first: Vec<String> = pauses.chain(needs).collect();
    first.extend(
        whole
            .filter(|line| view.pauses.iter().all(|pause| pause.reason != line.reason))
            .map(|line| line.sentence(false)),
    );
    write_list(&mut out, "Needs attention", first);
    write_review(&view.review, &mut out);
    let turns = view.tracks.iter().flat_map(|track| track.turn_items(false));
    write_list(&mut out, "At work", turns.collect());
    let idle = view.tracks.iter().filter(|track| track.turns.is_empty());
    write_list(&mut out, "Waiting", idle.map(waiting_item).collect());
    if view.tracks.is_empty() {
        out.push_str("\nThe plan has no tracks and no schedules.\n");
    }
    if let Some((track, at)) = view.next_start() {
        let place = place_text(None, &track.name);
        let _ = write!(
            out,
            "\n**Next by schedule**: {place} at {}\n",
            format_utc(at)
        );
    }
    let _ = write!(out, "\n**Budget**: {}\n", view.budget.sentence(true));
    write_requested(builder, &mut out);
    write_yields(&view.yields, &mut out);
    write_checkboxes(builder, &view, &mut out);
    let minutes = DASHBOARD_INTERVAL.as_mins();
    let _ = write!(
        out,
        "\nphileas writes this issue again as things change, every {minutes} minutes at the most; what is written into it \
         by hand is lost. Close it to end it.\n"
    );
    out
}

/// A heading with a list of sentences; nothing where the list is empty.
fn write_list(out: &mut String, heading: &str, mut items: Vec<String>) {
    items.dedup();
    if items.is_empty() {
        return;
    }
    let more = items.len().saturating_sub(DASHBOARD_TRACKS);
    items.truncate(DASHBOARD_TRACKS);
    let _ = write!(out, "\n### {heading}\n\n");
    for item in items {
        let _ = writeln!(out, "- {}", truncate_code(item, DASHBOARD_ITEM));
    }
    if more > 0 {
        let _ = writeln!(out, "- and {more} more; `phileas status` shows all");
    }
}

/// A track without a live turn.
fn waiting_item(track: &TrackView) -> String {
    let line = track.lines.last();
    let place = place_text(line.and_then(|line| line.persona.as_ref()), &track.name);
    match (&track.pause, line) {
        (Some(pause), _) => format!("{place}: {}", pause.sentence()),
        (None, Some(line)) => format!("{place}: {}", line.sentence(false)),
        (None, None) => format!("{place}: nothing is known yet"),
    }
}

/// A name in a table cell: sanitized and truncated.
fn code_cell(word: &str) -> String {
    truncate_code(quote_as_code(word).replace('|', "¦"), DASHBOARD_CELL)
}

/// A text of at most `limit` characters, without inline code that does not end.
fn truncate_code(text: String, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text;
    }
    let cut: String = text.chars().take(limit - 2).collect();
    let is_code = cut.matches('`').count() % 2 == 1;
    format!("{cut}…{}", if is_code { "`" } else { "" })
}

/// Writes what became of the work.
fn write_yields(yields: &[(PersonaId, Yield)], out: &mut String) {
    if yields.is_empty() {
        return;
    }
    out.push_str(
        "\n| Persona | Sessions | Pull requests | Merged | Merged per session | Zero touch | Reverted | Rejected | Repeated or \
         no-op | Open | No review for 2 weeks | Median time to merge | Refused |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (persona, figures) in yields.iter().take(DASHBOARD_PERSONAS) {
        let median = figures.median_to_merge.map(span_text);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            code_cell(persona.as_str()),
            figures.sessions,
            figures.pulls,
            figures.merged,
            figures.merge_rate_text(),
            figures.zero_touch,
            figures.reverted,
            figures.rejected,
            figures.repeated + figures.no_op + figures.superseded,
            figures.open,
            figures.ignored,
            median.unwrap_or_default(),
            figures.refused_text(),
        );
    }
    let more = yields.len().saturating_sub(DASHBOARD_PERSONAS);
    if more > 0 {
        let _ = writeln!(out, "\nAnd {more} more; `phileas status` shows all.");
    }
}

/// Writes the latest checkbox requests.
fn write_requested(builder: &DecisionBuilder<'_>, out: &mut String) {
    let requests = builder.state.requests.values();
    let mut boxes: Vec<_> = requests
        .filter(|request| request.is_of_kind(RequestKind::Checkbox))
        .filter_map(|request| Some((request.number?, request)))
        .collect();
    boxes.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    let items = boxes.into_iter().take(DASHBOARD_REQUESTS);
    let items = items.map(|(number, request)| {
        let what = match (&request.persona, &request.command) {
            (Some(persona), _) => format!("run {}", code_cell(persona.as_str())),
            (None, Some(command)) => sanitize_word(command),
            (None, None) => "a request".to_owned(),
        };
        let who = request.actor.as_deref();
        let who = who.map(|login| format!(" by {}", code_cell(login)));
        let status = request_status(builder, number, request);
        let status = status.map_or_else(|| "is being started.".to_owned(), |it| it.text);
        format!("{what}{}: {status}", who.unwrap_or_default())
    });
    write_list(out, "Ticked lately", items.collect());
}

/// Writes the checkboxes.
fn write_checkboxes(builder: &DecisionBuilder<'_>, view: &RepositoryView, out: &mut String) {
    out.push_str(
        "\nTick a checkbox to request something; it is cleared once the request is accepted. Only people with write access may.\n\n",
    );
    let (text, word) = match builder.state.paused {
        None => ("Pause everything", "pause"),
        Some(_) => ("Resume", "resume"),
    };
    out.push_str(&dashboard_issue::checkbox_line(text, word));
    let turns = view
        .tracks
        .iter()
        .flat_map(|track| track.turns.iter().map(move |turn| (track, turn)));
    let waiting = turns.filter(|(_, turn)| turn.can_retry);
    for (track, turn) in waiting.take(DASHBOARD_BOXES) {
        let text = format!("Retry {}", place_text(Some(&turn.persona), &track.name));
        let word = format!("retry:{}", turn.turn);
        out.push_str(&dashboard_issue::checkbox_line(&text, &word));
    }
    let personas = builder.snapshot.plan.personas.keys();
    let personas = personas.filter(|id| PersonaId::is_possible(id.as_str()));
    for id in personas.take(DASHBOARD_BOXES) {
        let text = format!("Run {} now", code_cell(id.as_str()));
        out.push_str(&dashboard_issue::checkbox_line(&text, &format!("run:{id}")));
    }
}
