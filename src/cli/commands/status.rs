//! `phileas status`: shows the status of each track, the budget, and the outcomes.

mod model;
mod text;

use std::collections::BTreeMap;
use std::io::Write;

use jiff::SignedDuration;
use phileas_domain::engine::{Listing, ListingNeed, RepositoryView, RunRequest, Snapshot, Yield};
use serde_json::{Value, json};

use super::tick;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::credential_help::jules_key_help;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::{Tense, line_json};
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::{Disposition, Failure, ReadJules as _};
use model::Status;

/// The use of the key is counted over this time.
const DAY: SignedDuration = SignedDuration::from_hours(24);

pub(crate) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let (report, sight) = connection.explain(RunRequest::Due).await?;
    let mut snapshot = sight.snapshot;
    let refused = read_key_use(&connection, &mut snapshot).await;
    // All lines: the ledger still has the turns that the next tick would end.
    let view = RepositoryView::new(&snapshot, report.all_lines().map(|(_, line)| line));
    let status = Status {
        view,
        key_at_least: snapshot.listing().is_some_and(|listing| !listing.archived),
        notices: snapshot.notices,
        report,
    };
    if arguments.json {
        screen.print_line(&status_json(&connection, &status).to_string())?;
    } else {
        text::print_status(&connection.repository, &status, screen)?;
    }
    let exit = tick::tick_result(&status.report, &RunRequest::Due)?;
    let Some(failure) = refused else {
        return Ok(exit);
    };
    output::print_error(&format!(
        "error: Jules refuses the key: {failure}; {}",
        jules_key_help()
    ))?;
    // A mistake in the plan or a corrupt state counts before it.
    Ok(match exit {
        Exit::Done => Exit::Credential,
        _ => exit,
    })
}

/// Reads Jules' listing for the use of the key. A decision asks Jules only if it must, but people want to see it.
/// Returns Jules' refusal of the key.
async fn read_key_use(connection: &Connection, snapshot: &mut Snapshot) -> Option<Failure> {
    if snapshot.sessions != Listing::NotTaken {
        return None;
    }
    let since = snapshot
        .now
        .checked_sub(DAY)
        .unwrap_or(jiff::Timestamp::MIN);
    match connection
        .jules
        .list_sessions(
            &snapshot.repository,
            &ListingNeed::Since(since),
            snapshot.now,
        )
        .await
    {
        Ok(sessions) => snapshot.sessions = Listing::Taken(sessions),
        Err(failure) if failure.disposition == Disposition::Denied => return Some(failure),
        Err(failure) => tracing::warn!("what the Jules key has in use is not known: {failure}"),
    }
    None
}

fn status_json(connection: &Connection, status: &Status) -> Value {
    let (report, view) = (&status.report, &status.view);
    let paused: BTreeMap<_, _> = view.paused_tracks().collect();
    let lines: Vec<Value> = report
        .all_lines()
        .map(|(at, line)| {
            let mut document = line_json(*at, &connection.repository, line, Tense::Forecast);
            let track = line.track.as_ref();
            document["track_paused"] = json!(track.and_then(|track| paused.get(track)));
            document
        })
        .collect();
    let figures = view.entries.map(|_| figures_json(view));
    let figures = figures.unwrap_or_default();
    json!({
        "repo": connection.repository.to_string(),
        "at": report.now.to_string(),
        "tracks": lines,
        "yield": {
            "entries": view.entries,
            "all": figures["all"],
            "personas": figures["personas"],
            "prompts": figures["prompts"],
        },
        "budget": budget_json(status),
        "notices": status.notices.iter()
            .map(|notice| json!({ "number": notice.number, "key": notice.key, "title": notice.title }))
            .collect::<Vec<_>>(),
        "next_due": report.wake_at.map(|at| at.to_string()),
    })
}

/// What became of all work, of each persona's, and of each version of a prompt that has changed.
pub(crate) fn figures_json(view: &RepositoryView) -> Value {
    let personas: serde_json::Map<String, Value> = view
        .yields
        .iter()
        .map(|(persona, figures)| (persona.to_string(), yield_json(figures)))
        .collect();
    let prompts = view.prompt_yields.iter().map(|one| {
        json!({
            "persona": one.persona.to_string(),
            "prompt": one.prompt,
            "yield": yield_json(&one.figures),
        })
    });
    json!({
        "all": yield_json(&view.total),
        "personas": personas,
        "prompts": prompts.collect::<Vec<_>>(),
    })
}

pub(crate) fn yield_json(figures: &Yield) -> Value {
    json!({
        "sessions": figures.sessions,
        "pulls": figures.pulls,
        "at_work": figures.at_work,
        "merged": figures.merged,
        "merged_per_session": figures.merged_per_session(),
        "zero_touch": figures.zero_touch,
        "reverted": figures.reverted,
        "rejected": figures.rejected,
        "refused": figures.refused.iter()
            .map(|(reason, count)| (reason.as_str(), *count))
            .collect::<BTreeMap<_, _>>(),
        "repeated": figures.repeated,
        "no_op": figures.no_op,
        "superseded": figures.superseded,
        "ignored": figures.ignored,
        "open": figures.open,
        "completed": figures.completed,
        "no_output": figures.no_output,
        "failed": figures.failed,
        "stuck": figures.stuck,
        "cancelled": figures.cancelled,
        "other": figures.other,
        "median_to_merge_secs": figures.median_to_merge.map(|span| span.as_secs()),
        "median_to_review_secs": figures.median_to_review.map(|span| span.as_secs()),
        "resting_until": figures.resting_until.map(|until| until.to_string()),
        "resting_for": figures.resting_for,
    })
}

fn budget_json(status: &Status) -> Value {
    let figures = &status.view.budget;
    let limits = figures.limits;
    let of = |used: Option<u32>, limit: Option<u32>| json!({ "used": used, "limit": limit });
    let ours = |used: u32, limit: Option<u32>| of(status.view.entries.map(|_| used), limit);
    json!({
        "day": ours(figures.day, limits.map(|limits| limits.day)),
        "day_requested": status.view.entries.map(|_| figures.day_requested),
        "live": ours(figures.live, limits.map(|limits| limits.live)),
        "backlog": ours(figures.backlog, limits.map(|limits| limits.backlog)),
        "unreviewed": figures.unreviewed.iter().map(|pull| pull.number.0).collect::<Vec<_>>(),
        "key_day": {
            "used": figures.key_day,
            "limit": limits.map(|limits| limits.key_day),
            "at_least": status.key_at_least,
        },
        "key_live": of(figures.key_live, limits.map(|limits| limits.key_live)),
        "key_reserved_for_people": limits.map(|limits| limits.reserved),
        "paused_until": figures.paused_until.map(|until| until.to_string()),
    })
}
