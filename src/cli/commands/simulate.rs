//! `phileas simulate`: a forecast of the plan's coming days.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    self, Assumptions, BudgetLimits, Checks, Delay, Forecast, Line, Listing, ListingNeed,
    PlanCommit, Reason, Repository, Snapshot, plan_limits,
};
use phileas_domain::model::{Oid, RepositoryId, RepositoryName, TrackName, Tree};
use phileas_domain::plan::{Approval, Plan, SCHEDULES_PATH, StepKind, Track};
use serde_json::json;

use super::validate;
use crate::adapters::{files, renderer};
use crate::cli::arguments::Simulate;
use crate::cli::context::clients::Connection;
use crate::cli::context::clock::local_now;
use crate::cli::context::placeholder_name::placeholder_name;
use crate::cli::context::repository_root::repository_root;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::{Tense, line_text};
use crate::cli::terminal::diagnostics::{self, diagnostic_json};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::ReadJules as _;

pub(crate) async fn run(
    arguments: &Simulate,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let snapshot = match (&arguments.dir, &arguments.repo) {
        (Some(dir), _) => snapshot_of_folder(dir)?,
        (None, Some(repository)) => {
            // GITHUB_REPOSITORY names it as well, which people forget.
            if repository_root(".".into()).join(SCHEDULES_PATH).exists() {
                output::print_error(&format!(
                    "this is the plan of {repository} on GitHub; `phileas simulate .` reads the plan of this folder"
                ))?;
            }
            let connection = Connection::from_environment(repository)?;
            let mut sight = connection.observe().await?;
            let now = sight.snapshot.now;
            if let Ok(sessions) = connection
                .jules
                .list_sessions(&sight.snapshot.repository, &ListingNeed::Everything, now)
                .await
            {
                sight.snapshot.sessions = Listing::Taken(sessions);
            }
            sight.snapshot
        }
        (None, None) => snapshot_of_folder(&repository_root(".".into()))?,
    };
    print_forecast(snapshot, arguments, screen).map(|(exit, _)| exit)
}

/// Computes and prints a forecast. Returns it as well.
fn print_forecast(
    mut snapshot: Snapshot,
    arguments: &Simulate,
    screen: &mut Screen<impl Write>,
) -> Result<(Exit, Forecast), CliError> {
    if let Some(from) = arguments.from {
        snapshot.now = from;
    }
    let from = snapshot.now;
    let until = from
        .checked_add(SignedDuration::from_hours(24 * i64::from(arguments.days)))
        .map_err(|error| CliError::usage(error.to_string()))?;
    let assumptions = Assumptions {
        session: arguments.session,
        review: arguments.review,
    };
    let renderer = renderer::shared_renderer();
    let forecast = engine::simulate(&snapshot, until, assumptions, &*renderer);
    // A plan with mistakes gets a forecast, too, and its mistakes are printed.
    let (_, found) = validate::check_tree(&snapshot.tree);
    if arguments.json {
        for one in &found {
            screen.print_line(&json!({ "diagnostic": diagnostic_json(one) }).to_string())?;
        }
    } else {
        diagnostics::print_diagnostics(&found, false, screen)?;
    }
    if arguments.json {
        print_json(screen, &snapshot, &forecast)?;
    } else {
        print_text(screen, &snapshot, &forecast, (from, until), assumptions)?;
    }
    let exit = match found.iter().any(phileas_domain::Diagnostic::is_error) {
        true => Exit::Findings,
        false => Exit::Done,
    };
    Ok((exit, forecast))
}

/// The plan of a folder in a repository that has never run it.
fn snapshot_of_folder(dir: &std::path::Path) -> Result<Snapshot, CliError> {
    let tree = files::read_tree(dir)?;
    Ok(snapshot_of_tree(tree, placeholder_name()?, local_now()))
}

/// When the first session of a plan starts in a repository that has never run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstSession {
    /// With the first tick.
    AtOnce,
    /// With the first tick after this time.
    From(Timestamp),
    /// Not within a week by itself.
    Never,
    /// It cannot be computed.
    Unknown,
}

/// The first week of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeekForecast {
    /// [`Exit::Findings`] if the plan has mistakes.
    pub(crate) exit: Exit,
    /// When its first session starts.
    pub(crate) first: FirstSession,
}

/// Prints the first week of a plan in a repository that has never run it, and the plan's mistakes.
pub(crate) fn print_week(
    tree: Tree,
    name: &RepositoryName,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<WeekForecast, CliError> {
    let arguments = Simulate::first_week(json);
    let now = local_now();
    let (exit, forecast) = print_forecast(
        snapshot_of_tree(tree, name.clone(), now),
        &arguments,
        screen,
    )?;
    let first = forecast.turns.iter().map(|turn| turn.at).min();
    let first = match first {
        Some(at) if at > now && forecast.without_layers => FirstSession::Unknown,
        Some(at) if at > now => FirstSession::From(at),
        Some(_) => FirstSession::AtOnce,
        None if forecast.without_layers => FirstSession::Unknown,
        None => FirstSession::Never,
    };
    Ok(WeekForecast { exit, first })
}

/// A plan in a repository that has never run it.
pub(crate) fn snapshot_of_tree(tree: Tree, name: RepositoryName, now: Timestamp) -> Snapshot {
    let repository = Repository {
        id: RepositoryId(1),
        name,
        public: false,
        archived: false,
        default_branch: "main".into(),
        default_head: Some(Oid::new("0".repeat(40))),
        default_checks: Checks::Passed,
    };
    Snapshot {
        holder: "simulate".into(),
        plan_commit: PlanCommit::Unknown,
        ..Snapshot::unread(now, repository, tree)
    }
}

fn print_json(
    screen: &mut Screen<impl Write>,
    snapshot: &Snapshot,
    forecast: &Forecast,
) -> Result<(), CliError> {
    for turn in &forecast.turns {
        let line = json!({
            "at": turn.at.to_string(),
            "track": turn.track.as_str(),
            "seq": turn.seq,
            "persona": turn.persona.as_str(),
            "held_since": turn.held.as_ref().map(|held| held.since.to_string()),
            "held_by": turn.held.as_ref().map(|held| reason_codes(&held.by)),
        });
        screen.print_line(&line.to_string())?;
    }
    let limits = plan_limits(snapshot);
    let summary = json!({ "summary": {
        "turns": forecast.turns.len(),
        "most_in_a_day": forecast.most_in_a_day,
        "most_at_once": forecast.most_at_once,
        "turns_of": turns_by_track(forecast),
        "daily_sessions": limits.map(|limits| limits.day),
        "track_share": limits.map(|_| snapshot.plan.budget.track_share.number()),
        "max_active": limits.map(|limits| limits.live),
        "key_daily": limits.map(|limits| limits.key_day),
        "key_active": limits.map(|limits| limits.key_live),
        "cut": forecast.cut,
        "without_layers": forecast.without_layers,
        "assumed": (!forecast.without_layers && !layered_tracks(&snapshot.plan).is_empty()).then(|| assumption_text(snapshot)),
    }});
    screen.print_line(&summary.to_string())?;
    Ok(())
}

fn print_text(
    screen: &mut Screen<impl Write>,
    snapshot: &Snapshot,
    forecast: &Forecast,
    (from, until): (Timestamp, Timestamp),
    assumptions: Assumptions,
) -> Result<(), CliError> {
    let name = &snapshot.plan.defaults.timezone;
    let zone = TimeZoneDatabase::bundled()
        .get(name)
        .unwrap_or(TimeZone::UTC);
    let local = |at: Timestamp| at.to_zoned(zone.clone());
    let minute = |at: Timestamp| local(at).strftime("%Y-%m-%d %H:%M").to_string();
    screen.print_line(&format!(
        "{} to {} {name}, if a session takes {:#} and its pull request {:#} to its merge:",
        minute(from),
        minute(until),
        assumptions.session,
        assumptions.review
    ))?;
    let mut day = String::new();
    for turn in &forecast.turns {
        let today = local(turn.at).strftime("%a %Y-%m-%d").to_string();
        if today != day {
            screen.print_line(&today)?;
            day = today;
        }
        let emoji = snapshot
            .plan
            .personas
            .get(&turn.persona)
            .map(|one| one.emoji.as_str())
            .unwrap_or_default();
        let held = turn
            .held
            .as_ref()
            .map(|held| held_text(held, from, &day, &zone));
        let line = format!(
            "  {}  {:<24} {emoji} {:<14} {}",
            local(turn.at).strftime("%H:%M"),
            format!("{}#{}", turn.track, turn.seq),
            turn.persona.as_str(),
            held.unwrap_or_default()
        );
        screen.print_line(line.trim_end())?;
    }
    for line in share_lines(snapshot, forecast) {
        screen.print_line(&line)?;
    }
    let colour = screen.colour;
    let layered = layered_tracks(&snapshot.plan);
    if !layered.is_empty() {
        let names: Vec<String> = layered.iter().map(|name| format!("`{name}`")).collect();
        let names = names.join(", ");
        screen.print_line(&if forecast.without_layers {
            format!("Not in it: the sessions of layers in {names}; the findings of workstreams cannot be known.")
        } else {
            format!("Assumed of {names}: {}", assumption_text(snapshot))
        })?;
    }
    if forecast.turns.is_empty() {
        let foreseen = |line: &&Line| {
            !forecast.without_layers
                || line
                    .track
                    .as_ref()
                    .is_none_or(|name| !layered.contains(&name))
        };
        for line in forecast.waiting.iter().filter(foreseen) {
            screen.print_line(&line_text(line, colour, Tense::Done))?;
        }
    }
    if forecast.cut {
        screen
            .print_line("the forecast was cut: the plan wakes too often to look this far ahead")?;
    }
    screen.print_line(&total_line(snapshot, forecast))?;
    Ok(())
}

/// The most sessions of a forecast in a day and at once, beside the limits of the plan and of the Jules key.
pub(crate) fn cost_text(forecast: &Forecast, limits: &BudgetLimits) -> String {
    let kept = match limits.reserved {
        0 => String::new(),
        kept => format!(", {kept} of them kept for people"),
    };
    format!(
        "at most {} a day (budget {}, Jules key {}{kept}), {} at once (budget {}, Jules key {})",
        forecast.most_in_a_day,
        limits.day,
        limits.key_day,
        forecast.most_at_once,
        limits.live,
        limits.key_live
    )
}

/// How many sessions there are, beside the limits.
fn total_line(snapshot: &Snapshot, forecast: &Forecast) -> String {
    let sessions = pluralize(forecast.turns.len(), "session");
    match plan_limits(snapshot) {
        Some(limits) => format!("{sessions}; {}", cost_text(forecast, &limits)),
        None => format!(
            "{sessions}: the plan has a mistake that may concern everything, so nothing starts"
        ),
    }
}

/// How many sessions each track and schedule gets.
fn turns_by_track(forecast: &Forecast) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for turn in &forecast.turns {
        *counts.entry(turn.track.as_str()).or_default() += 1;
    }
    counts
}

/// The shares of tracks and schedules, if there are several.
fn share_lines(snapshot: &Snapshot, forecast: &Forecast) -> Vec<String> {
    let counts = turns_by_track(forecast);
    if counts.len() < 2 {
        return Vec::new();
    }
    let all = forecast.turns.len().max(1);
    let mut before = 0;
    // Rounding the sums instead of the parts makes the parts add up to 100.
    let mut line = |name: &str, count: usize| {
        let percent = |sum: usize| (sum * 200 + all) / (2 * all);
        let part = percent(before + count) - percent(before);
        before += count;
        format!("  {name:<24} {count:>4} of {all}, {part:>3} %")
    };
    let is_schedule = |name: &&str| TrackName::from(*name).schedule_persona().is_some();
    let (schedules, tracks): (Vec<_>, Vec<_>) =
        counts.into_iter().partition(|(name, _)| is_schedule(name));
    let kept = snapshot.plan.budget.reserved_for_tracks();
    let mut lines = vec![format!(
        "Who gets what (`track_share` leaves {kept} of {} sessions a day to tracks with work):",
        snapshot.plan.budget.daily_sessions
    )];
    lines.extend(tracks.iter().map(|(name, count)| line(name, *count)));
    if !schedules.is_empty() {
        let together = schedules.iter().map(|(_, count)| count).sum();
        let name = format!("schedules ({})", schedules.len());
        lines.push(line(&name, together));
    }
    lines
}

/// Why a turn starts later than it could, for the line below a day.
fn held_text(held: &Delay, from: Timestamp, day: &str, zone: &TimeZone) -> String {
    let since = held.since.to_zoned(zone.clone());
    let due = since.strftime("%a %Y-%m-%d").to_string();
    let due = match () {
        // It may have been due earlier.
        () if held.since <= from => String::new(),
        () if due == day => format!("due {}, ", since.strftime("%H:%M")),
        () => format!("due {due} {}, ", since.strftime("%H:%M")),
    };
    let by: Vec<&str> = held.by.iter().map(|reason| hold_text(*reason)).collect();
    format!("{due}held by {}", by.join(", then "))
}

/// What holds a turn, by its name in the plan.
fn hold_text(reason: Reason) -> &'static str {
    match reason {
        Reason::ActorHour => "`requests_per_actor_hour`",
        Reason::BudgetActive => "`max_active`",
        Reason::BudgetDaily => "`daily_sessions`",
        Reason::BudgetShare => "`track_share`",
        Reason::JulesQuota => "the Jules key's limits",
        Reason::DefaultChecksFailed => "red checks of the default branch",
        Reason::PersonaBusy => "the same work elsewhere",
        Reason::PersonaResting => "the persona's rest",
        Reason::PersonaRefused => "a refused session",
        Reason::ReviewBacklog => "`max_open_pulls`",
        Reason::SessionRunning => "its own earlier session",
        Reason::PrOpen => "its own open pull request",
        Reason::Unchanged => "an unchanged default branch (`skip_unchanged`)",
        other => other.code(),
    }
}

fn reason_codes(reasons: &[Reason]) -> Vec<&'static str> {
    reasons.iter().map(|reason| reason.code()).collect()
}

/// The assumptions about layers, whose findings cannot be known.
fn assumption_text(snapshot: &Snapshot) -> String {
    let approval = match snapshot.plan.roster.approval {
        Approval::Auto => "its pull request is merged",
        Approval::Human => {
            "no maintainer lets it through (`approval = \"human\"`), so no implementer starts"
        }
    };
    format!(
        "the exchange is empty at first, each observer finds one thing, the decider makes one work item of all that waits, it \
         needs no planner, and {approval}; what they really find decides how many sessions there are."
    )
}

/// The tracks with layers.
fn layered_tracks(plan: &Plan) -> Vec<&TrackName> {
    let has_layers = |track: &Track| {
        let mut steps = track.steps.iter();
        steps.any(|step| matches!(step.kind, StepKind::Layer(_)))
    };
    let tracks = plan.tracks.iter();
    let tracks = tracks.filter(|(_, track)| has_layers(track));
    tracks.map(|(name, _)| name).collect()
}
