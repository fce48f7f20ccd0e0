//! `phileas action`: one run of the GitHub Action. This file reads and writes; [`crate::action`] builds the texts.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use phileas_domain::Diagnostic;
use phileas_domain::engine::{RunRequest, Verdict};
use phileas_domain::model::{PersonaId, RepositoryName, TrackName};
use phileas_domain::plan::EntryPoint;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::tick;
use crate::action::command::{self, Annotation, Level};
use crate::action::event::{self, Event, EventVerdict, Trigger};
use crate::action::main_line::MainLine;
use crate::action::outputs::{Outputs, json_document};
use crate::action::summary::{self, Page};
use crate::adapters::files::{read_limited, refuse_link};
use crate::cli::arguments::ActionArguments;
use crate::cli::context::clients::{Connection, run_settings};
use crate::cli::context::env_var::env_value;
use crate::cli::context::github_server::github_server;
use crate::cli::context::{credential_help, credentials, run_identity};
use crate::cli::deadline::{Deadline, RESUMED};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::{Tense, failed_json, line_json, summary_json};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::Screen;
use crate::runtime::TickReport;

/// The largest payload that is read, in bytes. Webhooks have at most 25 MB.
const MAX_EVENT_BYTES: u64 = 30 << 20;
/// The most accounts whose permission is checked: an actor and a triggering actor, of this run and of the run before
/// it.
const MAX_PEOPLE: usize = 4;
/// The code of a request that is refused because of its author.
const REFUSED_ACTOR: &str = "refused.actor_permission";
/// The code of a run in a fork without a key.
const FORK_WITHOUT_KEY: &str = "skipped.fork_without_key";

/// The files and names that the runner gives a step.
struct Runner {
    repository: RepositoryName,
    event: String,
    server: String,
    outputs: Option<PathBuf>,
    summary: Option<PathBuf>,
    /// Ends multi-line values and stopped commands. Only this run knows it.
    stop_token: String,
}

/// The result of a run, before it is written.
struct RunResult {
    exit: Exit,
    outputs: Outputs,
    page: String,
    annotations: Vec<Annotation>,
}

pub(crate) async fn run(
    arguments: &ActionArguments,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let runner = Runner::from_environment(arguments)?;
    let ended = match dry_run_of_input() {
        Ok(dry_run) => match run_event(&runner, dry_run, deadline, screen).await {
            Ok(ended) => ended,
            Err(stopped) => failed_run(stopped, dry_run),
        },
        Err(stopped) => failed_run(stopped, true),
    };
    for one in command::limit_annotations(ended.annotations) {
        screen.print_line(&one.to_string())?;
    }
    append_file(
        runner.outputs.as_ref(),
        &ended.outputs.output_file_text(&runner.stop_token),
    )?;
    append_file(runner.summary.as_ref(), &ended.page)?;
    Ok(ended.exit)
}

/// The value of the input `dry-run`. A word that is neither yes nor no is an error.
fn dry_run_of_input() -> Result<bool, CliError> {
    let value = env_value("INPUT_DRY_RUN").unwrap_or_default();
    event::parse_yes_or_no(&value)
        .ok_or_else(|| CliError::usage(event::yes_or_no_error("dry-run", value.trim())))
}

async fn run_event(
    runner: &Runner,
    dry_run: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<RunResult, CliError> {
    let payload = read_payload()?;
    let workflow = workflow_file(&runner.repository);
    let judged = event::judge_event(&Event {
        name: &runner.event,
        payload: &payload,
        workflow: workflow.as_deref(),
    });
    let woken = match judged {
        EventVerdict::Ours(woken) => woken,
        EventVerdict::NotOurs(skip) => {
            return Ok(skipped_run(skip.reason.code(), &skip.detail, dry_run));
        }
    };
    if let Some(wrong) = woken.wrong_input {
        return Err(CliError::usage(wrong));
    }
    let ask = read_request(&woken)?;
    let key = credentials::jules_key_from_file()?;
    if key.is_none() && !credentials::has_jules_key() {
        if event::is_fork(&payload) {
            let said = "this repository is a fork, and forks have no secrets; nothing is done here";
            return Ok(skipped_run(FORK_WITHOUT_KEY, said, dry_run));
        }
        return Err(CliError::credential(
            "there is no Jules key; make one at jules.google.com/settings#api, keep it as the secret JULES_API_KEY of \
             this repository or of the job's environment, and hand it on: jules-api-key: ${{ secrets.JULES_API_KEY }}",
        ));
    }
    if let Some(key) = &key {
        mask_secret(key.expose_secret(), screen)?;
    }
    let connection = Connection::from_environment(&runner.repository)?;
    let minted = async { Ok(connection.github.minted_token().await?) };
    if let Some(token) = Deadline::run_within(deadline, RESUMED, minted).await? {
        mask_secret(token.expose_secret(), screen)?;
    }
    // Other people may have written what is logged from here on.
    screen.print_line(&command::stop_commands(&runner.stop_token))?;
    let dry_run = dry_run || woken.dry_run;
    let ticked = run_tick(runner, &connection, &woken, ask, dry_run, deadline, screen);
    let ended = Deadline::run_within(deadline, RESUMED, ticked).await;
    screen.print_line(&command::resume_commands(&runner.stop_token))?;
    ended
}

/// Runs one tick and logs it as text as well. A request is executed only if every account that caused the run may
/// write.
async fn run_tick(
    runner: &Runner,
    connection: &Connection,
    woken: &Trigger,
    ask: RunRequest,
    dry_run: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<RunResult, CliError> {
    if ask != RunRequest::Due
        && let Some(said) = refused_actors(connection, woken).await?
    {
        let mut ended = skipped_run(REFUSED_ACTOR, &said, dry_run);
        "refused".clone_into(&mut ended.outputs.decision);
        return Ok(ended);
    }
    let tense = if dry_run {
        Tense::Forecast
    } else {
        Tense::Done
    };
    let report = if dry_run {
        let (mut report, sight) = connection.explain(ask.clone()).await?;
        report.seen = Some(Box::new(sight.snapshot));
        report
    } else {
        let settings = run_settings(ask.clone())?;
        connection.run_tick(&settings, deadline).await?
    };
    let cost = connection.client_cost();
    tick::print_report(screen, &runner.repository, &report, cost, tense, false)?;
    if report.stopped {
        return Err(Deadline::deadline_error(deadline));
    }
    let exit = tick::tick_result(&report, &ask)?;
    let main = MainLine::from_report(&report, &ask);
    let page = summary::tick_page(&Page {
        repository: &runner.repository,
        server: &runner.server,
        event: &runner.event,
        report: &report,
        main,
        dry_run,
        requests: (cost.github_requests, cost.jules_requests),
    });
    let all = report_json(&runner.repository, &report, cost, tense);
    Ok(RunResult {
        exit,
        outputs: Outputs::from_tick(
            &report,
            &main,
            &runner.repository,
            &runner.server,
            all,
            dry_run,
        ),
        page,
        annotations: report_annotations(&report, &ask, &main, exit),
    })
}

/// What the run was asked for: by the step's inputs, or by those of `workflow_dispatch`.
fn read_request(woken: &Trigger) -> Result<RunRequest, CliError> {
    let (persona, track) = (env_value("INPUT_PERSONA"), env_value("INPUT_TRACK"));
    let entry = env_value("INPUT_ENTRY_POINT");
    let (persona, track, entry) = match (&persona, &track, &entry) {
        (None, None, None) => (&woken.persona, &woken.track, &woken.entry_point),
        _ => (&persona, &track, &entry),
    };
    match (persona, track, entry) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
            Err(CliError::usage(
                "the run is asked for more than one of persona, track and entry point; give one of them",
            ))
        }
        (Some(persona), None, None) => Ok(RunRequest::Persona(PersonaId::new(tick::persona_id(
            persona,
        )))),
        (None, Some(track), None) => Ok(RunRequest::Track(TrackName::from(track.trim()))),
        (None, None, Some(word)) => match EntryPoint::of(word.trim()) {
            Some(entry) => Ok(RunRequest::Enter(entry)),
            None => Err(CliError::usage(format!(
                "no pass begins at `{}`; the entry points are {}",
                word.trim().escape_debug(),
                EntryPoint::word_list()
            ))),
        },
        (None, None, None) => Ok(RunRequest::Due),
    }
}

/// Why the accounts that caused this run may not ask for anything. A schedule has no actor: GitHub names the account
/// that edited the schedule last, which may have left since.
async fn refused_actors(
    connection: &Connection,
    woken: &Trigger,
) -> Result<Option<String>, CliError> {
    if woken.is_scheduled {
        return Ok(None);
    }
    let of_run = ["GITHUB_ACTOR", "GITHUB_TRIGGERING_ACTOR"].map(env_value);
    let mut people: Vec<String> = of_run.into_iter().flatten().collect();
    if people.is_empty() {
        return Ok(Some(
            "the run names no account that caused it (GITHUB_ACTOR is empty), so nothing that it asks for is started; the \
             runner sets that variable, and a workflow must not empty it"
                .to_owned(),
        ));
    }
    people.extend(woken.people.iter().cloned());
    people.sort();
    people.dedup();
    for login in people.iter().take(MAX_PEOPLE) {
        if !connection.github.may_write(login).await? {
            return Ok(Some(format!(
                "{login} may not write to this repository, so phileas starts nothing of what this run requests"
            )));
        }
    }
    Ok(None)
}

/// The whole report as JSON, for what the other outputs do not hold.
fn report_json(
    repository: &RepositoryName,
    report: &TickReport,
    cost: crate::cli::terminal::decision_line::Cost,
    tense: Tense,
) -> String {
    let lines = report
        .all_lines()
        .map(|(at, line)| line_json(*at, repository, line, tense));
    let diagnostics: Vec<Value> = report
        .plan_diagnostics
        .iter()
        .map(diagnostic_json)
        .collect();
    let failed: Vec<Value> = report
        .failed
        .iter()
        .map(|one| failed_json(repository, one)["failed"].clone())
        .collect();
    let mut summary = summary_json(report, cost, tense);
    let rest = vec![
        ("diagnostics", json!(diagnostics)),
        ("failed", json!(failed)),
        ("issues_opened", json!(report.opened)),
        ("issues_closed", json!(report.closed)),
        ("summary", summary["summary"].take()),
    ];
    json_document(lines.collect(), rest)
}

/// Mistakes in the plan, what people must see, and why a run failed.
fn report_annotations(
    report: &TickReport,
    ask: &RunRequest,
    main: &MainLine<'_>,
    exit: Exit,
) -> Vec<Annotation> {
    let mut all: Vec<Annotation> = report
        .plan_diagnostics
        .iter()
        .map(Annotation::from_diagnostic)
        .collect();
    for (_, line) in report.all_lines() {
        let who = line.track.as_ref().map(|track| format!(" {track}"));
        let said = format!("{} ({})", line.detail, line.reason.code());
        let level = match line.verdict {
            Verdict::Held => Level::Warning,
            // Other people get the answer where they made their request.
            Verdict::Refused if tick::is_refused(line, ask) => Level::Warning,
            Verdict::Paused => Level::Notice,
            _ => continue,
        };
        let title = format!(
            "phileas{}: {}",
            who.unwrap_or_default(),
            line.verdict.as_str()
        );
        all.push(Annotation::new(level, title, said));
    }
    for one in &report.failed {
        let said = format!("{} for {}: {}", one.what, one.about, one.detail);
        all.push(Annotation::new(
            Level::Warning,
            "phileas: did not work",
            said,
        ));
    }
    match (exit, main) {
        (Exit::Done, MainLine::NoPlan) => all.push(Annotation::new(
            Level::Notice,
            "phileas",
            "there is no plan yet: write .jules/schedules.toml on the default branch",
        )),
        (Exit::Done, MainLine::Line(_)) => {}
        (_, main) => {
            let why = match main {
                MainLine::Line(line) => format!("{} ({})", line.detail, line.reason.code()),
                MainLine::NoPlan => "there is no plan that can be read".to_owned(),
            };
            let help = match exit {
                Exit::Credential => format!("; {}", credential_help::jules_key_help()),
                Exit::Findings if report.plan_diagnostics.iter().any(Diagnostic::is_error) => {
                    "; the plan or a prompt has mistakes, each is named where it stands".to_owned()
                }
                _ => String::new(),
            };
            all.push(Annotation::new(Level::Error, "phileas", why + &help));
        }
    }
    all
}

fn skipped_run(reason: &str, detail: &str, dry_run: bool) -> RunResult {
    RunResult {
        exit: Exit::Done,
        outputs: Outputs::without_tick("skipped", reason, detail, dry_run),
        page: summary::single_line_page("nothing done", detail, reason),
        annotations: vec![Annotation::new(
            Level::Notice,
            "phileas: nothing done",
            format!("{detail} ({reason})"),
        )],
    }
}

/// The result of a run that failed: one annotation says why.
fn failed_run(stopped: CliError, dry_run: bool) -> RunResult {
    let reason = match stopped.exit {
        Exit::Done | Exit::Findings | Exit::Fault => "failed.fault",
        Exit::Usage => "failed.usage",
        Exit::Credential => "failed.credential",
        Exit::Unavailable => "failed.unavailable",
        Exit::Corrupt => "failed.state",
    };
    RunResult {
        exit: stopped.exit,
        outputs: Outputs::without_tick("failed", reason, &stopped.message, dry_run),
        page: summary::single_line_page("failed", &stopped.message, reason),
        annotations: vec![Annotation::new(Level::Error, "phileas", stopped.message)],
    }
}

fn mask_secret(secret: &str, screen: &mut Screen<impl Write>) -> Result<(), CliError> {
    for line in command::mask_commands(secret) {
        screen.print_line(&line)?;
    }
    Ok(())
}

impl Runner {
    fn from_environment(arguments: &ActionArguments) -> Result<Self, CliError> {
        let event = env_value("GITHUB_EVENT_NAME").ok_or_else(|| {
            CliError::usage(
                "GITHUB_EVENT_NAME is not set: this command is run by the action in a workflow; elsewhere it is `phileas tick`",
            )
        })?;
        Ok(Self {
            repository: arguments.repo.clone(),
            event,
            server: github_server(),
            outputs: env_value("GITHUB_OUTPUT").map(PathBuf::from),
            summary: env_value("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            stop_token: format!(
                "phileas-{}",
                run_identity::hex_text(&run_identity::random_bytes()?)
            ),
        })
    }
}

/// The payload of the event; null if the runner gives none.
fn read_payload() -> Result<Value, CliError> {
    let Some(path) = env_value("GITHUB_EVENT_PATH") else {
        return Ok(Value::Null);
    };
    let wrong = |why: String| CliError::usage(format!("GITHUB_EVENT_PATH: {path}: {why}"));
    let file = File::open(&path).map_err(|error| wrong(error.to_string()))?;
    let bytes = read_limited(file, MAX_EVENT_BYTES)
        .map_err(|error| wrong(error.to_string()))?
        .ok_or_else(|| wrong(format!("it is larger than {MAX_EVENT_BYTES} bytes")))?;
    let bare = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    serde_json::from_slice(bare).map_err(|error| wrong(error.to_string()))
}

/// The path of the workflow file, from `owner/name/.github/workflows/phileas.yml@refs/heads/main`.
fn workflow_file(repository: &RepositoryName) -> Option<String> {
    let reference = env_value("GITHUB_WORKFLOW_REF")?;
    let (path, _) = reference.split_once('@')?;
    let path = path.strip_prefix(&format!("{repository}/"))?;
    Some(path.to_owned())
}

fn append_file(path: Option<&PathBuf>, text: &str) -> Result<(), CliError> {
    let Some(path) = path else {
        return Ok(());
    };
    let wrong = |error: std::io::Error| CliError::fault(format!("{}: {error}", path.display()));
    refuse_link(path).map_err(wrong)?;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)
}
