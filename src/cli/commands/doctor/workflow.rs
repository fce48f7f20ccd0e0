//! The workflow that calls phileas: its file, whether GitHub runs it, how it ended, and what it takes of the minutes.

mod file;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::plan::{Cron, Driver, Plan};

use super::finding::{Findings, Group};
use super::place::Place;
use crate::adapters::github::{Client, Workflow, WorkflowRun};
use file::{FOLDER, MAX_FILES};

pub(super) use file::{File, of_folder};

/// Minutes a month that GitHub gives to private repositories of free accounts.
/// <https://docs.github.com/en/billing/concepts/product-billing/github-actions>
const FREE_MINUTES: usize = 2_000;
/// The month of the figure, in days.
const MONTH_DAYS: i64 = 30;
/// No more slots of a cron expression are counted in it: every minute of it.
const MAX_SLOTS: usize = 31 * 24 * 60;
/// What a run costs at least, and where no run tells otherwise: GitHub rounds each job up.
const RUN_MINUTES: usize = 1;

/// The workflow files of a branch that call phileas.
pub(super) async fn of_branch(
    client: &Client,
    branch: &str,
    findings: &mut Findings,
) -> Option<Vec<File>> {
    findings.group = Group::Workflow;
    let names = match client.file_names(branch, FOLDER).await {
        Ok(names) => names,
        Err(failure) => {
            findings.unread("workflow.files", "the workflow files", &failure);
            return None;
        }
    };
    let mut files = Vec::new();
    for name in names
        .iter()
        .filter(|name| file::is_workflow(name))
        .take(MAX_FILES)
    {
        let path = format!("{FOLDER}/{name}");
        match client.file_at(branch, &path).await {
            Ok(text) => files.extend(text.and_then(|text| File::read(&path, &text))),
            Err(failure) => findings.unread("workflow.files", &path, &failure),
        }
    }
    Some(files)
}

/// What makes the workflow.
const WRITE_IT: &str = "phileas init, in a clone (or --repo OWNER/NAME --pull-request without one), writes it and changes nothing that is there";

/// What the files themselves say.
pub(super) fn check_files(files: &[File], plan: Option<&Plan>, findings: &mut Findings) {
    findings.group = Group::Workflow;
    let driver = plan.map_or(Driver::Any, |plan| plan.gate.driver);
    if files.is_empty() {
        match driver {
            Driver::Server => findings.good("workflow.present", "no workflow, and the plan says `driver = \"server\"`"),
            Driver::Action => findings.error(
                "workflow.present",
                "the plan says `driver = \"action\"`, and no workflow calls phileas: nothing will ever start",
                WRITE_IT,
            ),
            Driver::Any => findings.hint(
                "workflow.present",
                "no workflow calls phileas; something else must: a service, or a cron of yours",
                WRITE_IT,
            ),
        }
        return;
    }
    for file in files {
        let path = &file.path;
        let mut well = true;
        if file.triggers.contains("pull_request") {
            well = false;
            findings.error(
                "workflow.pull-request",
                format!("{path} runs on `pull_request`: an agent's branch brings its own version of it, beside the key"),
                format!("{path}: remove `pull_request` from `on`"),
            );
        }
        if file.triggers.contains("pull_request_target") {
            well = false;
            findings.hint(
                "workflow.pull-request",
                format!("{path} runs on `pull_request_target`, which phileas has no use for"),
                format!("{path}: remove it from `on`"),
            );
        }
        if !file.triggers.contains("schedule") {
            well = false;
            findings.error(
                "workflow.schedule",
                format!("{path} has no `schedule`: nothing starts by the clock, and lost events stay lost"),
                format!("{path}: add `on.schedule: [{{ cron: \"17 * * * *\" }}]`"),
            );
        }
        for cron in &file.crons {
            match Cron::parse(cron, "UTC") {
                Ok(_) if cron.split_whitespace().next() == Some("0") => {
                    well = false;
                    findings.hint(
                        "workflow.minute",
                        format!(
                            "{path}: `{cron}` is at minute 0, when GitHub delays and drops runs"
                        ),
                        format!("{path}: take another minute, such as 17"),
                    );
                }
                Ok(_) => {}
                Err(error) => {
                    well = false;
                    findings.error(
                        "workflow.schedule",
                        format!("{path}: `{cron}`: {error}"),
                        error.mend(),
                    );
                }
            }
        }
        let missing: Vec<&str> = ["issues", "issue_comment", "push", "workflow_dispatch"]
            .into_iter()
            .filter(|event| !file.triggers.contains(*event))
            .collect();
        if !missing.is_empty() {
            well = false;
            findings.hint(
                "workflow.triggers",
                format!(
                    "{path} is not called by {}: what people ask for waits for the clock",
                    missing.join(", ")
                ),
                format!("{path}: add them to `on`, as docs/guide/action.md has them"),
            );
        }
        if file.cancels {
            well = false;
            findings.error(
                "workflow.cancels",
                format!("{path} says `cancel-in-progress: true`, which ends a run between starting a session and noting it"),
                format!("{path}: remove it"),
            );
        }
        if well {
            findings.good(
                "workflow.triggers",
                format!("{path} is called by the right events"),
            );
        }
        if driver == Driver::Server {
            findings.hint(
                "workflow.driver",
                format!("{path} calls phileas, and the plan says `driver = \"server\"`: its runs only observe"),
                "remove the workflow, or the key `driver`",
            );
        }
    }
}

/// Whether GitHub runs them, and how that went.
pub(super) async fn check_runs(
    client: &Client,
    files: &[File],
    private: bool,
    fix: bool,
    now: Timestamp,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Workflow;
    if files.is_empty() {
        return;
    }
    let known = match client.workflows().await {
        Ok(known) => known,
        Err(failure) => {
            findings.unread("workflow.state", "workflows (`actions: read`)", &failure);
            if private {
                minutes(files, RUN_MINUTES, now, findings);
            }
            return;
        }
    };
    let mut spent = RUN_MINUTES;
    for file in files {
        let Some(workflow) = known.iter().find(|one| one.path == file.path) else {
            findings.hint(
                "workflow.state",
                format!("GitHub does not list {} among its workflows", file.path),
                format!(
                    "{}/{}/actions: see what it says of the file",
                    place.github, place.repository
                ),
            );
            continue;
        };
        state(client, workflow, fix, place, findings).await;
        match client.workflow_runs(workflow.id).await {
            Ok(runs) => {
                spent = spent.max(minutes_of(&runs));
                ended(&runs, &file.path, findings);
            }
            Err(failure) => findings.unread("workflow.runs", "the runs of the workflow", &failure),
        }
    }
    if private {
        minutes(files, spent, now, findings);
    }
}

async fn state(
    client: &Client,
    workflow: &Workflow,
    fix: bool,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    let path = &workflow.path;
    let mend = format!(
        "gh workflow enable {} --repo {}",
        path.rsplit('/').next().unwrap_or(path),
        place.repository
    );
    match workflow.state.as_str() {
        "active" => findings.good("workflow.state", format!("GitHub runs {path}")),
        "disabled_inactivity" => {
            let text =
                format!("GitHub has disabled {path}, because nothing happened here for 60 days");
            if !fix {
                return findings.error("workflow.inactivity", text, mend);
            }
            match client.enable_workflow(workflow.id).await {
                Ok(()) => findings.fixed(
                    "workflow.inactivity",
                    format!("{path} was disabled by inactivity, and runs again"),
                ),
                Err(failure) => findings.error(
                    "workflow.inactivity",
                    format!("{text}; it could not be mended here: {}", failure.detail),
                    mend,
                ),
            }
        }
        other => findings.error(
            "workflow.state",
            format!("{path} does not run: its state is `{other}`"),
            mend,
        ),
    }
}

/// How the newest runs ended.
fn ended(runs: &[WorkflowRun], path: &str, findings: &mut Findings) {
    let ends: Vec<(&WorkflowRun, &str)> = runs
        .iter()
        .filter_map(|run| Some((run, run.conclusion.as_deref()?)))
        .filter(|(_, end)| !matches!(*end, "skipped" | "cancelled" | "neutral"))
        .collect();
    let failed = ends.iter().take_while(|(_, end)| *end != "success").count();
    let Some((newest, end)) = ends.first() else {
        return findings.hint(
            "workflow.runs",
            format!("{path} has not run yet"),
            "open the page of Actions and run it once by hand",
        );
    };
    match failed {
        0 => findings.good(
            "workflow.runs",
            format!("the last of {} runs of {path} went well", ends.len()),
        ),
        1 => findings.hint(
            "workflow.runs",
            format!("the last run of {path} ended as `{end}`"),
            newest.html_url.clone(),
        ),
        several => findings.error(
            "workflow.runs",
            format!("the last {several} runs of {path} failed (`{end}`)"),
            newest.html_url.clone(),
        ),
    }
}

/// What a run takes, on the average of those that ended, each rounded up.
fn minutes_of(runs: &[WorkflowRun]) -> usize {
    let ended = runs.iter().filter(|run| run.conclusion.is_some());
    let each: Vec<i64> = ended
        .map(|run| {
            let begun = run.run_started_at.unwrap_or(run.created_at);
            (run.updated_at.duration_since(begun).as_secs().max(1) + 59) / 60
        })
        .collect();
    let count = i64::try_from(each.len()).unwrap_or(i64::MAX).max(1);
    let mean = (each.iter().sum::<i64>() + count - 1) / count;
    usize::try_from(mean)
        .unwrap_or(RUN_MINUTES)
        .max(RUN_MINUTES)
}

fn minutes(files: &[File], each: usize, now: Timestamp, findings: &mut Findings) {
    let until = now
        .checked_add(SignedDuration::from_hours(24 * MONTH_DAYS))
        .unwrap_or(Timestamp::MAX);
    let crons = files.iter().flat_map(|file| &file.crons);
    let runs: usize = crons
        .filter_map(|cron| Cron::parse(cron, "UTC").ok())
        .map(|cron| cron.slots_in(now, until, MAX_SLOTS).len())
        .sum();
    let total = runs * each;
    let text = format!(
        "{runs} runs by the clock in {MONTH_DAYS} days, {each} min each: {total} of the {FREE_MINUTES} min a month that GitHub gives to private repositories of free accounts"
    );
    if total > FREE_MINUTES {
        findings.hint(
            "workflow.minutes",
            text,
            "call it less often, such as `17 * * * *`, or run `phileas serve`",
        );
    } else {
        findings.good("workflow.minutes", text);
    }
}
