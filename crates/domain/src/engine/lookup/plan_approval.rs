//! Session plans that wait for approval: where they wait, their text, and how to approve them.

use super::request_origin;
use crate::engine::input::session::{Activity, ActivityKind, PlanStep};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{NUMBERS_NAMED, PLAN_LINE, PLAN_LINES, PLAN_STEPS};
use crate::engine::text::markdown::{inert_line, sanitize_word, session_link};
use crate::engine::text::time::format_utc;
use crate::model::{SessionId, TrackName};
use crate::plan::{CONFIG_PATH, PlanApproval, SCHEDULES_PATH, StepKind};
use crate::prompt;
use crate::state::{RequestKind, Turn};

/// Whether there is a session whose plan could wait.
pub(crate) fn has_session(builder: &DecisionBuilder<'_>) -> bool {
    let tracks = builder.state.tracks.values();
    let mut turns = tracks.flat_map(|track| track.turns.values());
    turns.any(|turn| turn.session_id.is_some())
}

/// Where plans wait, for the live turns that `waits` selects: the issue or pull request on which a comment approves it,
/// else the session.
pub(crate) fn approval_places(
    builder: &DecisionBuilder<'_>,
    waits: impl Fn(&TrackName, &SessionId) -> bool,
) -> Vec<String> {
    let mut places = Vec::new();
    for (name, track) in &builder.state.tracks {
        for turn in track.turns.values() {
            if let Some(id) = turn.session_id.as_ref().filter(|id| waits(name, id)) {
                places.push(approval_place(builder, turn, id));
            }
        }
    }
    places
}

fn approval_place(builder: &DecisionBuilder<'_>, turn: &Turn, id: &SessionId) -> String {
    let mut requests = builder.state.requests.values();
    let asked = requests.find(|request| request.turn.as_ref() == Some(&turn.turn));
    let mut notices = builder.snapshot.notices.iter();
    let called = || {
        let is_of_turn = |key: &str| key.strip_prefix("turn:") == Some(turn.turn.as_str());
        let notice = notices.find(|notice| is_of_turn(&notice.key))?;
        Some(notice.number)
    };
    let link = session_link(id);
    match asked.and_then(|request| request.thread).or_else(called) {
        Some(thread) => format!("#{thread} ({link})"),
        None => link,
    }
}

/// The first of these places as part of a sentence; `None`: there are none.
pub(crate) fn list_places(places: &[String]) -> Option<String> {
    let mut named: Vec<&str> = places.iter().map(String::as_str).collect();
    named.truncate(NUMBERS_NAMED);
    if named.len() < places.len() {
        named.push("…");
    }
    (!named.is_empty()).then(|| named.join(", "))
}

/// The newest plan of a session, where its activities were read: the activity, and its steps.
pub(crate) fn newest_plan<'s>(
    builder: &DecisionBuilder<'s>,
    session: &SessionId,
) -> Option<(&'s Activity, &'s [PlanStep])> {
    let activities = builder.snapshot.activities.get(session)?;
    activities
        .iter()
        .rev()
        .find_map(|activity| match &activity.kind {
            ActivityKind::PlanGenerated { steps, .. } => Some((activity, steps.as_slice())),
            _ => None,
        })
}

/// The newest plan of a turn for people: its origin and its steps, folded and fenced, because an agent wrote them.
pub(crate) fn plan_text(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    turn: &Turn,
) -> Option<String> {
    let id = turn.session_id.as_ref()?;
    let (made, steps) = newest_plan(builder, id)?;
    let link = session_link(id);
    let origin = origin_text(builder, track, turn);
    let lines = step_lines(steps);
    if lines.is_empty() {
        return Some(format!(
            "The plan of {link}, {origin}, has no steps that can be shown here; read it there."
        ));
    }
    let count = match steps.len() {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    };
    Some(format!(
        "The plan of {link}, {origin}:\n\n<details><summary>{count}, planned at {}</summary>\n\n```text\n{}\n```\n\n\
         </details>",
        format_utc(made.at),
        lines.join("\n")
    ))
}

/// The origin of a turn, with a link.
fn origin_text(builder: &DecisionBuilder<'_>, track: &TrackName, turn: &Turn) -> String {
    let mut requests = builder.state.requests.values();
    let request = requests.find(|request| request.turn.as_ref() == Some(&turn.turn));
    if let Some(request) = request {
        let who = request.actor.as_ref();
        let who = who.map(|login| format!(" by `{}`", sanitize_word(login)));
        let board = builder.state.dashboard_issue;
        let place = request
            .thread
            .or(board.filter(|_| request.is_of_kind(RequestKind::Checkbox)));
        return match place {
            Some(number) => format!("requested{} on #{number}", who.unwrap_or_default()),
            None => format!("requested{} by a command", who.unwrap_or_default()),
        };
    }
    let plan = &builder.snapshot.plan;
    let mut steps = plan
        .tracks
        .get(track)
        .into_iter()
        .flat_map(|track| &track.steps);
    let file = match steps.any(|step| matches!(step.kind, StepKind::Layer(_))) {
        true => CONFIG_PATH,
        false => SCHEDULES_PATH,
    };
    let page = format!(
        "https://github.com/{}/blob/HEAD/{file}",
        builder.snapshot.repository.name
    );
    format!(
        "requested by track `{}` of [the plan]({page})",
        sanitize_word(track.as_str())
    )
}

/// The lines of a plan: numbered steps with their descriptions. What is omitted is counted.
fn step_lines(steps: &[PlanStep]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_cut = false;
    for (index, step) in steps.iter().take(PLAN_STEPS).enumerate() {
        let title = inert_line(&step.title, PLAN_LINE);
        lines.push(format!("{}. {title}", index + 1));
        let text = prompt::without_secrets(&prompt::clean_text(&step.description));
        let description = text.lines().map(|line| inert_line(line, PLAN_LINE));
        for line in description.filter(|line| !line.is_empty()) {
            lines.push(format!("   {line}"));
        }
    }
    // Keep titles rather than the end of a long description.
    if lines.len() > PLAN_LINES {
        is_cut = true;
        let is_title = |line: &String| !line.starts_with("   ");
        let titles = lines.iter().filter(|line| is_title(line)).count();
        let mut room = PLAN_LINES.saturating_sub(titles);
        lines.retain(|line| {
            is_title(line) || {
                let stays = room > 0;
                room = room.saturating_sub(1);
                stays
            }
        });
    }
    match steps.len().saturating_sub(PLAN_STEPS) {
        0 => {}
        1 => lines.push("and 1 more step".to_owned()),
        more => lines.push(format!("and {more} more steps")),
    }
    if is_cut {
        lines.push("more is said of these steps in Jules".to_owned());
    }
    lines
}

/// Says that a plan waits, and how to approve it on its issue or pull request.
pub(crate) fn unapproved_text(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    turn: &Turn,
    id: &SessionId,
) -> String {
    let policy = request_origin::turn_policy(builder, track, &turn.persona_id);
    let link = session_link(id);
    match policy.plan_approval {
        PlanApproval::Never => format!("its plan waits for approval in {link} itself"),
        PlanApproval::Auto | PlanApproval::Writers => format!(
            "its plan waits for approval: read it in {link}, and say `/phileas approve` here"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(title: &str, description: &str) -> PlanStep {
        PlanStep {
            title: title.to_owned(),
            description: description.to_owned(),
        }
    }

    #[test]
    fn a_plan_is_sanitized_and_truncated() {
        let lines = step_lines(&[
            step(
                "Fix\u{202e} it ```",
                "@octocat\n/merge now\n\n</details><!-- x -->fixes #7",
            ),
            step("", ""),
        ]);
        assert_eq!(
            lines,
            [
                "1. Fix it '''",
                "   (at)octocat",
                "   ∕merge now",
                "   ‹/details›fixes no. 7",
                "2. "
            ]
        );
        let long = "x".repeat(4_000);
        let text = format!("{long}\n").repeat(50);
        let steps = vec![step(&long, &text); 100];
        let lines = step_lines(&steps);
        assert_eq!(lines.len(), PLAN_LINES + 2, "{lines:#?}");
        assert_eq!(lines[PLAN_LINES], "and 70 more steps");
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() < PLAN_LINE + 10)
        );
        let titles = lines.iter().filter(|line| line.contains(". x"));
        assert_eq!(
            titles.count(),
            PLAN_STEPS,
            "each step that is shown has its title"
        );
        let one_more = step_lines(&vec![step("Do it", ""); PLAN_STEPS + 1]);
        assert_eq!(one_more[PLAN_STEPS], "and 1 more step");
        assert_eq!(step_lines(&[]), [""; 0]);
    }

    #[test]
    fn list_places_truncates_long_lists() {
        let places: Vec<String> = (1..=NUMBERS_NAMED + 1).map(|n| format!("#{n}")).collect();
        let named = "#1, #2, #3, #4, #5, #6, #7, #8, #9, #10";
        let said = |count: usize| list_places(&places[..count]);
        assert_eq!(said(NUMBERS_NAMED).as_deref(), Some(named));
        assert_eq!(said(NUMBERS_NAMED + 1), Some(format!("{named}, …")));
        assert_eq!(said(1).as_deref(), Some("#1"));
        assert_eq!(said(0), None);
    }
}
