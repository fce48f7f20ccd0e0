//! The text of a status comment: current work, pauses, the newest answer, finished requests.

use super::request_status::{open_pull_text, request_status, turn_status};
use super::status_answer::answer_lines;
use crate::engine::input::commands::{COMMANDS, UNKNOWN};
use crate::engine::lookup::pull_owner;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{PLANS_SHOWN, STATUS_REQUESTS, STATUS_WORK};
use crate::engine::output::report::Reason;
use crate::engine::text::markdown::sanitize_word;
use crate::engine::text::markers::STATUS_MARKER;
use crate::engine::text::time::format_utc;
use crate::engine::view::pause::repository_pauses;
use crate::engine::view::track::place_text;
use crate::model::{PullNumber, TrackName};
use crate::state::{Outcome, RequestOutcome, RequestState};

/// The text of a comment.
pub(crate) struct CommentText {
    pub(crate) body: String,
    /// The text without the reasons to wait.
    pub(crate) stable: String,
}

/// The parts of a comment.
#[derive(Default)]
struct Parts {
    work: Vec<String>,
    /// Plans that wait for approval.
    plans: Vec<String>,
    answer: Option<String>,
    past: Vec<String>,
    /// Whether to list the commands.
    lists_commands: bool,
    /// Whether to show pauses.
    shows_pauses: bool,
}

/// Whether a request is an authorized `status` or `explain`.
pub(crate) fn is_question(request: &RequestState) -> bool {
    request.has_outcome(&RequestOutcome::Done)
        && matches!(request.command.as_deref(), Some("status" | "explain"))
}

/// Whether a request is an authorized `pause` or `stop`.
fn is_pause(request: &RequestState) -> bool {
    request.has_outcome(&RequestOutcome::Done)
        && matches!(request.command.as_deref(), Some("pause" | "stop"))
}

/// Whether the comment shows more than a request's own end, so that it changes later, too.
pub(crate) fn shows_repository(request: &RequestState) -> bool {
    is_question(request) || is_pause(request)
}

/// The text of a comment; its requests, newest first. `None` while a session is being created whose result comes soon.
/// Nothing else may hold it back, because one unknown request would silence all others of its subject.
pub(crate) fn comment_text(
    builder: &DecisionBuilder<'_>,
    requests: &[(u64, String)],
) -> Option<CommentText> {
    let mut stable = String::new();
    let mut parts = Parts::default();
    work_of_thread(builder, requests, (&mut stable, &mut parts));
    for (number, key) in requests {
        let Some(request) = builder.state.requests.get(key) else {
            continue;
        };
        if is_question(request) {
            if parts.answer.is_none() {
                stable.push_str(&format!("{number}: answered\n"));
                parts.answer = Some(match is_outdated(builder, request) {
                    true => outdated_answer(request),
                    false => answer_text(request),
                });
            }
            continue;
        }
        let is_current = is_current(builder, *number, request);
        if !is_current && parts.past.len() >= STATUS_REQUESTS {
            continue;
        }
        let status = request_status(builder, *number, request)?;
        stable.push_str(&format!("{number}: {}\n", status.stable));
        let line = format!("- {}: {}", request_text(request), status.text);
        let command = request.command.as_deref();
        parts.shows_pauses |= is_pause(request);
        parts.lists_commands |= matches!(command, Some("help" | UNKNOWN));
        parts.plans.extend(status.plan);
        if is_current {
            parts.work.push(line);
        } else {
            parts.past.push(line);
        }
    }
    let body = parts.render_body(builder);
    Some(CommentText { body, stable })
}

impl Parts {
    fn render_body(mut self, builder: &DecisionBuilder<'_>) -> String {
        let shows_pauses = self.shows_pauses || self.answer.is_some() || !self.work.is_empty();
        let more = self.work.len().saturating_sub(STATUS_WORK);
        self.work.truncate(STATUS_WORK);
        if more > 0 {
            self.work.push(format!("- and {more} more"));
        }
        self.plans.truncate(PLANS_SHOWN);
        let mut parts = vec!["**phileas**".to_owned()];
        if !self.work.is_empty() {
            parts.push(self.work.join("\n"));
        } else if shows_pauses || self.past.is_empty() {
            parts.push("Nothing of phileas is at work or waits here.".to_owned());
        }
        parts.extend(self.plans);
        if shows_pauses {
            let pauses = repository_pauses(&builder.state, builder.all_lines()).into_iter();
            let pauses: Vec<_> = pauses.map(|one| format!("- {}", one.sentence())).collect();
            parts.extend((!pauses.is_empty()).then(|| pauses.join("\n")));
        }
        parts.extend(self.answer);
        if !self.past.is_empty() {
            let past = self.past.join("\n");
            let stands_alone = parts.len() == 1;
            parts.push(match stands_alone {
                true => past,
                false => format!("Before:\n\n{past}"),
            });
        }
        parts.extend(self.lists_commands.then(command_list));
        format!("{}\n\n{STATUS_MARKER}\n", parts.join("\n\n"))
    }
}

/// Whether a request is pending, is at work, or has an open pull request.
fn is_current(builder: &DecisionBuilder<'_>, number: u64, request: &RequestState) -> bool {
    let track = builder.state.tracks.get(&TrackName::of_request(number));
    track.is_some_and(|track| !track.turns.is_empty())
        || request.is_pending()
        || request.has_outcome(&RequestOutcome::Turn(Outcome::PrOpen))
}

/// What is requested, and by which account.
fn request_text(request: &RequestState) -> String {
    let what = match (&request.persona, request.command.as_deref()) {
        (Some(persona), _) => format!("`{}`", sanitize_word(persona.as_str())),
        (None, None | Some(UNKNOWN)) => "a request".to_owned(),
        (None, Some(command)) => format!("the command `{}`", sanitize_word(command)),
    };
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(", requested by `{}`", sanitize_word(login)));
    what + &who.unwrap_or_default()
}

/// The answer to `status` or `explain`, as of its time.
fn answer_text(request: &RequestState) -> String {
    let command = sanitize_word(request.command.as_deref().unwrap_or_default());
    let who = request.actor.as_ref();
    let who = who.map(|login| format!(" to `{}`", sanitize_word(login)));
    let at = request
        .finished_at
        .map(|at| format!(", {}", format_utc(at)));
    format!(
        "The answer to `/phileas {command}`{}{}:\n\n{}",
        who.unwrap_or_default(),
        at.unwrap_or_default(),
        request.answer.as_deref().unwrap_or_default()
    )
}

/// Whether an answer names a pause, or something that waits for a person, that has ended since. What stands after the
/// reason's code does not count: it may say for how many minutes.
fn is_outdated(builder: &DecisionBuilder<'_>, request: &RequestState) -> bool {
    let answer = request.answer.as_deref().unwrap_or_default();
    let mut named = answer.lines().filter_map(person_reason).peekable();
    if named.peek().is_none() {
        return false;
    }
    let explain = request.command.as_deref() == Some("explain");
    let (mut current, budget) = answer_lines(builder, explain);
    current.push(budget);
    named.any(|reason| !current.iter().any(|line| line.starts_with(reason)))
}

/// A line of an answer up to the code of a reason that only a person ends.
fn person_reason(line: &str) -> Option<&str> {
    let mut codes = line.match_indices("(`").filter_map(|(start, opening)| {
        let (code, _) = line[start + opening.len()..].split_once("`)")?;
        let end = start + opening.len() + code.len();
        Reason::from_code(code)?.needs_person().then_some(end)
    });
    codes.next().map(|end| &line[..end])
}

/// An answer that is no longer true, folded away.
fn outdated_answer(request: &RequestState) -> String {
    let command = request.command.as_deref().unwrap_or_default();
    let at = request
        .finished_at
        .map(|at| format!(" of {}", format_utc(at)));
    format!(
        "<details><summary>The answer to /phileas {command}{}, which is no longer true</summary>\n\n{}\n\n</details>",
        at.unwrap_or_default(),
        request.answer.as_deref().unwrap_or_default()
    )
}

fn command_list() -> String {
    let commands = COMMANDS.iter();
    let lines: Vec<String> = commands
        .map(|(words, what)| format!("- `/phileas {words}`: {what}"))
        .collect();
    format!("The commands:\n\n{}", lines.join("\n"))
}

/// Adds work on the thread without a request on it: the turn or session of the pull request, and the turn of the
/// notice.
fn work_of_thread(
    builder: &DecisionBuilder<'_>,
    requests: &[(u64, String)],
    (stable, parts): (&mut String, &mut Parts),
) {
    let newest = requests.first();
    let newest = newest.and_then(|(_, key)| builder.state.requests.get(key));
    let Some(thread) = newest.and_then(|request| request.thread) else {
        return;
    };
    let is_own = |track: &TrackName| {
        let number = track.request_number();
        number.is_some_and(|number| requests.iter().any(|(known, _)| *known == number))
    };
    let notices = &builder.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == thread);
    let noticed = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    let tracks = builder.state.tracks.iter();
    for (name, track) in tracks.filter(|(name, _)| !is_own(name)) {
        for turn in track.turns.values() {
            let is_here =
                turn.pr_number == Some(PullNumber(thread)) || noticed == Some(turn.turn.as_str());
            if let Some(status) = is_here.then(|| turn_status(builder, name, turn)).flatten() {
                stable.push_str(&format!("{}: {}\n", turn.turn, status.stable));
                let place = place_text(Some(&turn.persona_id), name);
                parts.work.push(format!("- {place}: {}", status.text));
                parts.plans.extend(status.plan);
            }
        }
    }
    let owners = pull_owner::pull_owners(&builder.state);
    let owner = owners.get(&PullNumber(thread));
    if let Some(entry) = owner.filter(|entry| parts.work.is_empty() && !is_own(&entry.track_name()))
    {
        let text = open_pull_text(PullNumber(thread), entry);
        stable.push_str(&format!("{text}\n"));
        let place = place_text(Some(&entry.persona_id), &entry.track_name());
        parts.work.push(format!("- {place}: {text}"));
    }
}
