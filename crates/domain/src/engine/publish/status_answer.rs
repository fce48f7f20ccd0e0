//! Answers `/phileas status` and `/phileas explain`: what a person has to do, each track and each pending request at the
//! end of a decision, and the budget, one sentence each.

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::ANSWER_LINES;
use crate::engine::output::report::{Line, Verdict};
use crate::engine::text::markdown::quote_as_code;
use crate::engine::view::repository::RepositoryView;
use crate::engine::view::track::{TrackView, place_text};
use crate::engine::view::turn::TurnView;

/// The answer, one list item for each. `explain`: with all lines about each track, and their details.
pub(crate) fn status_answer(builder: &DecisionBuilder<'_>, explain: bool) -> String {
    let (mut said, budget) = answer_lines(builder, explain);
    let more = said.len().saturating_sub(ANSWER_LINES);
    said.truncate(ANSWER_LINES);
    if more > 0 {
        said.push(format!(
            "- and {more} more; `phileas explain` on the command line shows all"
        ));
    }
    said.push(budget);
    said.join("\n")
}

/// All lines of the answer, and the one about the budget.
pub(crate) fn answer_lines(builder: &DecisionBuilder<'_>, explain: bool) -> (Vec<String>, String) {
    let view = RepositoryView::of_decision(builder, builder.all_lines());
    let mut items: Vec<String> = Vec::new();
    items.extend(view.pauses.iter().map(|pause| pause.sentence()));
    items.extend(view.needs.iter().map(|need| need.list_item()));
    let whole = view.other_lines.iter();
    for line in whole.filter(|line| line.concerns_repository()) {
        // The pauses are listed above, with their actors.
        if line.verdict != Verdict::Paused || explain {
            items.push(line_item("everything", line, explain));
        }
    }
    for track in &view.tracks {
        items.extend(track_items(track, explain));
    }
    if view.tracks.is_empty() {
        items.push("the plan has no tracks and no schedules, and nothing is at work".to_owned());
    }
    let mut said: Vec<String> = Vec::new();
    for item in items.into_iter().map(|item| format!("- {item}")) {
        if !said.contains(&item) {
            said.push(item);
        }
    }
    (said, format!("- budget: {}", view.budget.sentence(true)))
}

fn track_items(track: &TrackView, explain: bool) -> Vec<String> {
    let turns = track.turns.iter();
    let mut items: Vec<String> = turns
        .map(|turn| match turn.line.as_ref().filter(|_| explain) {
            Some(line) => format!("{}{}", track.turn_item(turn, true), turn_detail(turn, line)),
            None => track.turn_item(turn, true),
        })
        .collect();
    items.extend(track.pause.as_ref().map(|pause| {
        let place = place_text(None, &track.name);
        format!("{place}: {}", pause.sentence())
    }));
    let item = |line: &Line| {
        let place = place_text(line.persona.as_ref(), &track.name);
        line_item(&place, line, explain)
    };
    if explain {
        let is_of_turn = |line: &&Line| track.turns.iter().any(|turn| turn.is_described_by(line));
        items.extend(
            track
                .lines
                .iter()
                .filter(|line| !is_of_turn(line))
                .map(item),
        );
    } else if items.is_empty() {
        items.extend(track.lines.last().map(item));
    }
    if items.is_empty() {
        let place = place_text(None, &track.name);
        items.push(format!("{place}: this run did not decide about it"));
    }
    items
}

/// The detail of a turn's line, with the reason's code where the turn's sentence does not have it.
fn turn_detail(turn: &TurnView, line: &Line) -> String {
    let code = format!("`{}`", line.reason);
    let code = match turn.sentence(true).contains(&code) {
        true => String::new(),
        false => format!(" ({code})"),
    };
    format!("{code}{}", detail_text(line))
}

fn detail_text(line: &Line) -> String {
    let detail = Some(quote_as_code(&line.detail)).filter(|text| text.len() > 2);
    detail.map(|text| format!(": {text}")).unwrap_or_default()
}

fn line_item(place: &str, line: &Line, explain: bool) -> String {
    let why = line.sentence(true);
    if !explain {
        return format!("{place}: {why}");
    }
    let detail = detail_text(line);
    format!("{place}: {}: {why}{detail}", line.verdict.as_str())
}
