//! `phileas action`: one run of the GitHub Action. What is read and written here; what is said, in [`crate::action`].

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write};
use std::path::PathBuf;

use phileas_domain::Diagnostic;
use phileas_domain::engine::{RunRequest, Verdict};
use phileas_domain::model::{PersonaId, RepositoryName, TrackName};
use phileas_domain::plan::EntryPoint;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::tick;
use crate::action::command::{self, Annotation, Level};
use crate::action::event::{self, Event, Judgement, Woken};
use crate::action::outputs::{Outputs, document};
use crate::action::summary::{self, Page};
use crate::action::telling::Told;
use crate::adapters::files::refuse_link;
use crate::cli::arguments::ActionArguments;
use crate::cli::context::clients::Connection;
use crate::cli::context::env_var::variable;
use crate::cli::context::{credential_help, credentials, run_identity};
use crate::cli::deadline::Deadline;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::{Tense, failed_json, line_json, summary_json};
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::Screen;
use crate::runtime::{self, Tick, TickReport};

/// The largest payload that is read, in bytes. Webhooks have 25 MB at most.
const MAX_EVENT: u64 = 30 << 20;
/// The most people whose permission is asked for: of this run and of the one before it, an actor and a triggering actor.
const MAX_PEOPLE: usize = 4;
/// GitHub's pages.
const SERVER: &str = "https://github.com";
/// The code of a wish that is not heeded for who wished it.
const REFUSED_ACTOR: &str = "refused.actor_permission";
/// The code of a run in a fork that has no key.
const FORK_WITHOUT_KEY: &str = "skipped.fork_without_key";

/// The files and names that the runner gives a step.
struct Runner {
    repository: RepositoryName,
    event: String,
    server: String,
    outputs: Option<PathBuf>,
    summary: Option<PathBuf>,
    /// Ends values and silences; nobody else knows it.
    word: String,
}

/// What a run came to, before anybody is told.
struct Ended {
    exit: Exit,
    outputs: Outputs,
    page: String,
    annotations: Vec<Annotation>,
}

pub(crate) async fn run(
    arguments: &ActionArguments,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let runner = Runner::of_environment(arguments)?;
    let ended = match dry_run_of_input() {
        Ok(dry_run) => match work(&runner, dry_run, deadline, screen).await {
            Ok(ended) => ended,
            Err(stopped) => failed(stopped, dry_run),
        },
        Err(stopped) => failed(stopped, true),
    };
    for one in command::at_most(ended.annotations) {
        screen.line(&one.to_string())?;
    }
    append(runner.outputs.as_ref(), &ended.outputs.file(&runner.word))?;
    append(runner.summary.as_ref(), &ended.page)?;
    Ok(ended.exit)
}

/// What the input `dry-run` says. A word that is neither yes nor no starts nothing.
fn dry_run_of_input() -> Result<bool, Stopped> {
    let value = variable("INPUT_DRY_RUN").unwrap_or_default();
    event::yes_or_no(&value)
        .ok_or_else(|| Stopped::usage(event::not_yes_or_no("dry-run", value.trim())))
}

async fn work(
    runner: &Runner,
    dry_run: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Ended, Stopped> {
    let payload = payload()?;
    let workflow = own_file(&runner.repository);
    let judged = event::judge(&Event {
        name: &runner.event,
        payload: &payload,
        workflow: workflow.as_deref(),
    });
    let woken = match judged {
        Judgement::Ours(woken) => woken,
        Judgement::NotOurs(skip) => {
            return Ok(skipped(skip.reason.code(), &skip.detail, dry_run));
        }
    };
    if let Some(wrong) = woken.wrong_input {
        return Err(Stopped::usage(wrong));
    }
    let ask = ask(&woken)?;
    let key = credentials::jules_key_of_file()?;
    if key.is_none() && !credentials::has_jules_key() {
        if event::is_fork(&payload) {
            let said = "this repository is a fork, and forks have no secrets; nothing is done here";
            return Ok(skipped(FORK_WITHOUT_KEY, said, dry_run));
        }
        return Err(Stopped::credential(
            "there is no Jules key; make one at jules.google.com/settings#api, keep it as the secret JULES_API_KEY of \
             this repository or of the job's environment, and hand it on: jules-api-key: ${{ secrets.JULES_API_KEY }}",
        ));
    }
    if let Some(key) = &key {
        hide(key.expose_secret(), screen)?;
    }
    let connection = Connection::from_environment(&runner.repository)?;
    let minted = async { Ok(connection.github.minted_token().await?) };
    if let Some(token) = Deadline::within(deadline, minted).await? {
        hide(token.expose_secret(), screen)?;
    }
    // What is logged from here on, others may have written.
    screen.line(&command::ignore(&runner.word))?;
    let dry_run = dry_run || woken.dry_run;
    let ticked = ticked(runner, &connection, &woken, ask, dry_run, deadline, screen);
    let ended = Deadline::within(deadline, ticked).await;
    screen.line(&command::obey(&runner.word))?;
    ended
}

/// One tick, told in words of a log as well. A wish is heeded only when everybody who caused the run may write.
async fn ticked(
    runner: &Runner,
    connection: &Connection,
    woken: &Woken,
    ask: RunRequest,
    dry_run: bool,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Ended, Stopped> {
    if ask != RunRequest::Due
        && let Some(said) = refused_people(connection, woken).await?
    {
        let mut ended = skipped(REFUSED_ACTOR, &said, dry_run);
        "refused".clone_into(&mut ended.outputs.decision);
        return Ok(ended);
    }
    let settings = connection.settings(ask)?;
    let tense = if dry_run {
        Tense::Forecast
    } else {
        Tense::Deed
    };
    let report = if dry_run {
        let (mut report, sight) = runtime::explain(
            &connection.github,
            &connection.jules,
            &connection.stopwatch,
            &settings,
        )
        .await?;
        report.seen = Some(Box::new(sight.snapshot));
        report
    } else {
        let tick = Tick {
            github: &connection.github,
            jules: &connection.jules,
            stopwatch: &connection.stopwatch,
        };
        let stop = || Deadline::is_near(deadline);
        tick.run_until(&settings, &stop).await?
    };
    let cost = connection.cost();
    tick::print(screen, &runner.repository, &report, cost, tense, false)?;
    if report.stopped {
        return Err(Deadline::stopped(deadline));
    }
    let exit = tick::ended(&report, &settings.ask)?;
    let told = Told::of(&report, &settings.ask);
    let page = summary::of_tick(&Page {
        repository: &runner.repository,
        server: &runner.server,
        event: &runner.event,
        report: &report,
        told,
        dry_run,
        requests: (cost.github_requests, cost.jules_requests),
    });
    let all = json_of(&runner.repository, &report, cost, tense);
    Ok(Ended {
        exit,
        outputs: Outputs::of_tick(
            &report,
            &told,
            &runner.repository,
            &runner.server,
            all,
            dry_run,
        ),
        page,
        annotations: annotations(&report, &settings.ask, &told, exit),
    })
}

/// What the run was asked for: by the step's inputs, or by those of `workflow_dispatch`.
fn ask(woken: &Woken) -> Result<RunRequest, Stopped> {
    let (persona, track) = (variable("INPUT_PERSONA"), variable("INPUT_TRACK"));
    let entry = variable("INPUT_ENTRY_POINT");
    let (persona, track, entry) = match (&persona, &track, &entry) {
        (None, None, None) => (&woken.persona, &woken.track, &woken.entry_point),
        _ => (&persona, &track, &entry),
    };
    match (persona, track, entry) {
        (Some(persona), ..) => Ok(RunRequest::Persona(PersonaId::new(tick::id_of(persona)))),
        (None, Some(track), _) => Ok(RunRequest::Track(TrackName::from(track.trim()))),
        (None, None, Some(word)) => match EntryPoint::of(word.trim()) {
            Some(entry) => Ok(RunRequest::Enter(entry)),
            None => Err(Stopped::usage(format!(
                "no pass begins at `{}`; the entry points are {}",
                word.trim().escape_debug(),
                EntryPoint::words()
            ))),
        },
        (None, None, None) => Ok(RunRequest::Due),
    }
}

/// Why the people who caused this run may not ask for anything. A schedule has no actor: as the actor of its runs GitHub
/// names the account that edited the schedule last, which may have left since.
async fn refused_people(connection: &Connection, woken: &Woken) -> Result<Option<String>, Stopped> {
    if woken.by_clock {
        return Ok(None);
    }
    let of_run = ["GITHUB_ACTOR", "GITHUB_TRIGGERING_ACTOR"].map(variable);
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

/// Everything that the outputs cannot hold one by one.
fn json_of(
    repository: &RepositoryName,
    report: &TickReport,
    cost: crate::cli::terminal::decision_line::Cost,
    tense: Tense,
) -> String {
    let lines = report
        .all()
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
    document(lines.collect(), rest)
}

/// Mistakes of the plan where they stand; what people must see; and why a run is red.
fn annotations(
    report: &TickReport,
    ask: &RunRequest,
    told: &Told<'_>,
    exit: Exit,
) -> Vec<Annotation> {
    let mut all: Vec<Annotation> = report
        .plan_diagnostics
        .iter()
        .map(Annotation::of_plan)
        .collect();
    for (_, line) in report.all() {
        let who = line.track.as_ref().map(|track| format!(" {track}"));
        let said = format!("{} ({})", line.detail, line.reason.code());
        let level = match line.verdict {
            Verdict::Held => Level::Warning,
            // Other people are answered where they made their request.
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
    match (exit, told) {
        (Exit::Done, Told::NoPlan) => all.push(Annotation::new(
            Level::Notice,
            "phileas",
            "there is no plan yet: write .jules/schedules.toml on the default branch",
        )),
        (Exit::Done, Told::Line(_)) => {}
        (_, told) => {
            let why = match told {
                Told::Line(line) => format!("{} ({})", line.detail, line.reason.code()),
                Told::NoPlan => "there is no plan that can be read".to_owned(),
            };
            let mend = match exit {
                Exit::Credential => format!("; {}", credential_help::mend_of_jules_key()),
                Exit::Usage if !report.plan_diagnostics.is_empty() => {
                    "; the plan has mistakes, each is named where it stands".to_owned()
                }
                Exit::Findings if report.plan_diagnostics.iter().any(Diagnostic::is_error) => {
                    "; a prompt has mistakes, each is named where it stands".to_owned()
                }
                _ => String::new(),
            };
            all.push(Annotation::new(Level::Error, "phileas", why + &mend));
        }
    }
    all
}

fn skipped(reason: &str, detail: &str, dry_run: bool) -> Ended {
    Ended {
        exit: Exit::Done,
        outputs: Outputs::without_tick("skipped", reason, detail, dry_run),
        page: summary::of_one("nothing done", detail, reason),
        annotations: vec![Annotation::new(
            Level::Notice,
            "phileas: nothing done",
            format!("{detail} ({reason})"),
        )],
    }
}

/// A run that could not do its work: one annotation says why.
fn failed(stopped: Stopped, dry_run: bool) -> Ended {
    let reason = match stopped.exit {
        Exit::Done | Exit::Findings => "failed.fault",
        Exit::Usage => "failed.usage",
        Exit::Credential => "failed.credential",
        Exit::Unavailable => "failed.unavailable",
        Exit::Corrupt => "failed.state",
    };
    Ended {
        exit: stopped.exit,
        outputs: Outputs::without_tick("failed", reason, &stopped.message, dry_run),
        page: summary::of_one("failed", &stopped.message, reason),
        annotations: vec![Annotation::new(Level::Error, "phileas", stopped.message)],
    }
}

fn hide(secret: &str, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    for line in command::masks(secret) {
        screen.line(&line)?;
    }
    Ok(())
}

impl Runner {
    fn of_environment(arguments: &ActionArguments) -> Result<Self, Stopped> {
        let event = variable("GITHUB_EVENT_NAME").ok_or_else(|| {
            Stopped::usage(
                "GITHUB_EVENT_NAME is not set: this command is run by the action in a workflow; elsewhere it is `phileas tick`",
            )
        })?;
        Ok(Self {
            repository: arguments.repo.clone(),
            event,
            server: variable("GITHUB_SERVER_URL").unwrap_or_else(|| SERVER.to_owned()),
            outputs: variable("GITHUB_OUTPUT").map(PathBuf::from),
            summary: variable("GITHUB_STEP_SUMMARY").map(PathBuf::from),
            word: format!("phileas-{}", run_identity::hex(&run_identity::entropy()?)),
        })
    }
}

/// The payload of the event; null where the runner gives none.
fn payload() -> Result<Value, Stopped> {
    let Some(path) = variable("GITHUB_EVENT_PATH") else {
        return Ok(Value::Null);
    };
    let wrong = |why: String| Stopped::usage(format!("GITHUB_EVENT_PATH: {path}: {why}"));
    let file = File::open(&path).map_err(|error| wrong(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(MAX_EVENT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > MAX_EVENT {
        return Err(wrong(format!("it is larger than {MAX_EVENT} bytes")));
    }
    let bare = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    serde_json::from_slice(bare).map_err(|error| wrong(error.to_string()))
}

/// The workflow's own file, from `owner/name/.github/workflows/phileas.yml@refs/heads/main`.
fn own_file(repository: &RepositoryName) -> Option<String> {
    let reference = variable("GITHUB_WORKFLOW_REF")?;
    let (path, _) = reference.split_once('@')?;
    let path = path.strip_prefix(&format!("{repository}/"))?;
    Some(path.to_owned())
}

fn append(path: Option<&PathBuf>, text: &str) -> Result<(), Stopped> {
    let Some(path) = path else {
        return Ok(());
    };
    let wrong = |error: std::io::Error| Stopped::fault(format!("{}: {error}", path.display()));
    refuse_link(path).map_err(wrong)?;
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(wrong)?;
    file.write_all(text.as_bytes()).map_err(wrong)
}
