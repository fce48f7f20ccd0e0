//! The workflow that calls phileas: its file, whether GitHub runs it, the results, and the minutes it uses.

mod file;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::plan::{Cron, Driver, Plan};

use super::finding::{Findings, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{Client, Workflow, WorkflowRun};
use crate::starter::HOME;
use file::{MAX_FILES, WORKFLOWS_FOLDER};

pub(super) use file::{WorkflowFile, read_folder_workflows};

/// Minutes a month that GitHub gives to private repositories of free accounts.
/// <https://docs.github.com/en/billing/concepts/product-billing/github-actions>
const FREE_MINUTES: usize = 2_000;
/// The length of a month for this figure, in days.
const MONTH_DAYS: i64 = 30;
/// The most slots of a cron expression that are counted: every minute of the month.
const MAX_SLOTS: usize = 31 * 24 * 60;
/// The minutes of a run that fetches phileas, while no run is known. GitHub rounds each job up.
const RUN_MINUTES: usize = 1;
/// The minutes of a run that builds phileas from source on two cores, while no run is known: `scripts/bench first`.
const BUILD_MINUTES: usize = 7;

/// Reads the workflow files of a branch that call phileas.
pub(super) async fn read_branch_workflows(
    client: &Client,
    branch: &str,
    findings: &mut Findings,
) -> Option<Vec<WorkflowFile>> {
    findings.group = Group::Workflow;
    let names = match client.file_names(branch, WORKFLOWS_FOLDER).await {
        Ok(names) => names,
        Err(failure) => {
            findings.add_unread("workflow.files", "the workflow files", &failure);
            return None;
        }
    };
    let mut files = Vec::new();
    for name in names
        .iter()
        .filter(|name| file::is_workflow_name(name))
        .take(MAX_FILES)
    {
        let path = format!("{WORKFLOWS_FOLDER}/{name}");
        match client.file_at(branch, &path).await {
            Ok(text) => {
                files.extend(text.and_then(|text| WorkflowFile::parse_workflow(&path, &text)))
            }
            Err(failure) => findings.add_unread("workflow.files", &path, &failure),
        }
    }
    Some(files)
}

/// How to write the workflow.
const WORKFLOW_HELP: &str = "phileas init, in a clone (or --repo OWNER/NAME --pull-request without one), writes it and changes nothing that is there";

/// Checks the text of the files.
pub(super) fn check_files(files: &[WorkflowFile], plan: Option<&Plan>, findings: &mut Findings) {
    findings.group = Group::Workflow;
    let driver = plan.map_or(Driver::Any, |plan| plan.gate.driver);
    if files.is_empty() {
        report_missing(driver, findings);
    }
    for file in files {
        let path = &file.path;
        check_action(file, findings);
        let checks = [
            check_pull_triggers(file, findings),
            check_schedule(file, findings),
            check_events(file, findings),
            check_concurrency(file, findings),
        ];
        if checks.into_iter().all(|is_right| is_right) {
            findings.add_good(
                "workflow.triggers",
                format!("{path} is called by the right events"),
            );
        }
        if driver == Driver::Server {
            findings.add_hint(
                "workflow.driver",
                format!("{path} calls phileas, and the plan says `driver = \"server\"`: its runs only observe"),
                "remove the workflow, or the key `driver`",
            );
        }
    }
}

/// Reports that no workflow calls phileas.
fn report_missing(driver: Driver, findings: &mut Findings) {
    match driver {
        Driver::Server => findings.add_good(
            "workflow.present",
            "no workflow, and the plan says `driver = \"server\"`",
        ),
        Driver::Action => findings.add_error(
            "workflow.present",
            "the plan says `driver = \"action\"`, and no workflow calls phileas: nothing will ever start",
            WORKFLOW_HELP,
        ),
        Driver::Any => findings.add_hint(
            "workflow.present",
            "no workflow calls phileas; something else must: a service, or a cron of yours",
            WORKFLOW_HELP,
        ),
    }
}

/// Checks that the workflow names a commit of the action.
fn check_action(file: &WorkflowFile, findings: &mut Findings) {
    let Some(action) = &file.unfilled else {
        return;
    };
    findings.add_error(
        "workflow.action",
        format!(
            "{}:{}:{}: `uses: {}` names no commit, so GitHub cannot start a run",
            file.path, action.line, action.column, action.uses
        ),
        format!("phileas upgrade --action {HOME}@<40 digits>, then commit and push"),
    );
}

/// Whether no event of a pull request triggers the workflow.
fn check_pull_triggers(file: &WorkflowFile, findings: &mut Findings) -> bool {
    let path = &file.path;
    let (head, base) = ("pull_request", "pull_request_target");
    if file.triggers.contains(head) {
        findings.add_error(
            "workflow.pull-request",
            format!("{path} runs on `pull_request`: an agent's branch brings its own version of it, beside the key"),
            format!("{path}: remove `pull_request` from `on`"),
        );
    }
    if file.triggers.contains(base) {
        findings.add_hint(
            "workflow.pull-request",
            format!("{path} runs on `pull_request_target`, which phileas has no use for"),
            format!("{path}: remove it from `on`"),
        );
    }
    !file.triggers.contains(head) && !file.triggers.contains(base)
}

/// Whether the workflow has a schedule with good cron expressions.
fn check_schedule(file: &WorkflowFile, findings: &mut Findings) -> bool {
    let path = &file.path;
    let mut is_right = true;
    if !file.triggers.contains("schedule") {
        is_right = false;
        findings.add_error(
            "workflow.schedule",
            format!(
                "{path} has no `schedule`: nothing starts on a schedule, and lost events stay lost"
            ),
            format!("{path}: add `on.schedule: [{{ cron: \"17 * * * *\" }}]`"),
        );
    }
    for cron in &file.crons {
        match Cron::parse(cron, "UTC") {
            Ok(_) if cron.split_whitespace().next() == Some("0") => {
                is_right = false;
                findings.add_hint(
                    "workflow.minute",
                    format!("{path}: `{cron}` is at minute 0, when GitHub delays and drops runs"),
                    format!("{path}: take another minute, such as 17"),
                );
            }
            Ok(_) => {}
            Err(error) => {
                is_right = false;
                findings.add_error(
                    "workflow.schedule",
                    format!("{path}: `{cron}`: {error}"),
                    error.help(),
                );
            }
        }
    }
    is_right
}

/// Whether the events of requests and pushes trigger the workflow.
fn check_events(file: &WorkflowFile, findings: &mut Findings) -> bool {
    let path = &file.path;
    let missing: Vec<&str> = ["issues", "issue_comment", "push", "workflow_dispatch"]
        .into_iter()
        .filter(|event| !file.triggers.contains(*event))
        .collect();
    if !missing.is_empty() {
        findings.add_hint(
            "workflow.triggers",
            format!(
                "{path} is not called by {}: requests of people wait for the schedule",
                missing.join(", ")
            ),
            format!("{path}: add them to `on`, as docs/guide/action.md has them"),
        );
    }
    missing.is_empty()
}

/// Whether a newer run leaves an older one alone.
fn check_concurrency(file: &WorkflowFile, findings: &mut Findings) -> bool {
    let path = &file.path;
    if file.cancels {
        findings.add_error(
            "workflow.cancels",
            format!("{path} says `cancel-in-progress: true`, which ends a run between starting a session and noting it"),
            format!("{path}: remove it"),
        );
    }
    !file.cancels
}

/// Checks whether GitHub runs them, and the results.
pub(super) async fn check_runs(
    client: &Client,
    files: &[WorkflowFile],
    private: bool,
    fix: bool,
    now: Timestamp,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Workflow;
    if files.is_empty() {
        return;
    }
    let known = match client.list_workflows().await {
        Ok(known) => Some(known),
        Err(failure) => {
            findings.add_unread("workflow.state", "workflows (`actions: read`)", &failure);
            None
        }
    };
    let mut minutes = MonthlyMinutes::default();
    for file in files {
        let runs = match &known {
            Some(known) => check_file_runs(client, file, known, fix, place, findings).await,
            None => Vec::new(),
        };
        minutes.add_workflow(file, average_minutes(&runs), now);
    }
    if private {
        minutes.report(findings);
    }
}

/// Checks whether GitHub runs one of them. Returns its newest runs.
async fn check_file_runs(
    client: &Client,
    file: &WorkflowFile,
    known: &[Workflow],
    fix: bool,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) -> Vec<WorkflowRun> {
    let Some(workflow) = known.iter().find(|one| one.path == file.path) else {
        findings.add_hint(
            "workflow.state",
            format!("GitHub does not list {} among its workflows", file.path),
            format!(
                "{}/{}/actions: see what it says of the file",
                place.github, place.repository
            ),
        );
        return Vec::new();
    };
    check_workflow_state(client, workflow, fix, place, findings).await;
    match client.workflow_runs(workflow.id).await {
        Ok(runs) => {
            check_results(&runs, &file.path, findings);
            runs
        }
        Err(failure) => {
            findings.add_unread("workflow.runs", "the runs of the workflow", &failure);
            Vec::new()
        }
    }
}

async fn check_workflow_state(
    client: &Client,
    workflow: &Workflow,
    fix: bool,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let path = &workflow.path;
    let help = format!(
        "gh workflow enable {} --repo {}",
        path.rsplit('/').next().unwrap_or(path),
        place.repository
    );
    match workflow.state.as_str() {
        "active" => findings.add_good("workflow.state", format!("GitHub runs {path}")),
        "disabled_inactivity" => {
            let text =
                format!("GitHub has disabled {path}, because nothing happened here for 60 days");
            if !fix {
                return findings.add_error("workflow.inactivity", text, help);
            }
            match client.enable_workflow(workflow.id).await {
                Ok(()) => findings.add_fixed(
                    "workflow.inactivity",
                    format!("{path} was disabled by inactivity, and runs again"),
                ),
                Err(failure) => findings.add_error(
                    "workflow.inactivity",
                    format!("{text}; this run could not fix it: {}", failure.detail),
                    help,
                ),
            }
        }
        other => findings.add_error(
            "workflow.state",
            format!("{path} does not run: its state is `{other}`"),
            help,
        ),
    }
}

/// Reports the results of the newest runs.
fn check_results(runs: &[WorkflowRun], path: &str, findings: &mut Findings) {
    let ends: Vec<(&WorkflowRun, &str)> = runs
        .iter()
        .filter_map(|run| Some((run, run.conclusion.as_deref()?)))
        .filter(|(_, end)| !matches!(*end, "skipped" | "cancelled" | "neutral"))
        .collect();
    let failed = ends.iter().take_while(|(_, end)| *end != "success").count();
    let Some((newest, end)) = ends.first() else {
        return findings.add_hint(
            "workflow.runs",
            format!("{path} has not run yet"),
            "open the page of Actions and run it once by hand",
        );
    };
    match failed {
        0 => findings.add_good(
            "workflow.runs",
            format!("the last of {} runs of {path} went well", ends.len()),
        ),
        1 => findings.add_hint(
            "workflow.runs",
            format!("the last run of {path} ended as `{end}`"),
            newest.html_url.clone(),
        ),
        several => findings.add_error(
            "workflow.runs",
            format!("the last {several} runs of {path} failed (`{end}`)"),
            newest.html_url.clone(),
        ),
    }
}

/// The average minutes of the finished runs, each rounded up. `None`: none has finished.
fn average_minutes(runs: &[WorkflowRun]) -> Option<usize> {
    let ended = runs.iter().filter(|run| run.conclusion.is_some());
    let each: Vec<i64> = ended
        .map(|run| {
            let begun = run.run_started_at.unwrap_or(run.created_at);
            (run.updated_at.duration_since(begun).as_secs().max(1) + 59) / 60
        })
        .collect();
    let count = i64::try_from(each.len()).ok().filter(|count| *count > 0)?;
    let mean = (each.iter().sum::<i64>() + count - 1) / count;
    usize::try_from(mean).ok()
}

/// What the scheduled runs of a month take of the minutes that GitHub gives to a private repository.
#[derive(Debug, Default)]
struct MonthlyMinutes {
    runs: usize,
    /// The shortest and the longest average of a workflow.
    each: Option<(usize, usize)>,
    total: usize,
    /// A workflow that builds phileas in each run.
    builder: Option<String>,
    /// Whether there is one that does not.
    some_fetch: bool,
}

impl MonthlyMinutes {
    /// Adds a workflow whose runs took so long on average; `None`: none has finished yet.
    fn add_workflow(&mut self, file: &WorkflowFile, average: Option<usize>, now: Timestamp) {
        let until = now
            .checked_add(SignedDuration::from_hours(24 * MONTH_DAYS))
            .unwrap_or(Timestamp::MAX);
        let runs: usize = file
            .crons
            .iter()
            .filter_map(|cron| Cron::parse(cron, "UTC").ok())
            .map(|cron| cron.slots_in(now, until, MAX_SLOTS).len())
            .sum();
        if runs == 0 {
            return;
        }
        let expected = if file.builds {
            BUILD_MINUTES
        } else {
            RUN_MINUTES
        };
        let each = average.unwrap_or(expected).max(RUN_MINUTES);
        self.runs += runs;
        let (shortest, longest) = self.each.unwrap_or((each, each));
        self.each = Some((shortest.min(each), longest.max(each)));
        self.total += runs * each;
        if file.builds {
            self.builder.get_or_insert_with(|| file.path.clone());
        } else {
            self.some_fetch = true;
        }
    }

    fn report(&self, findings: &mut Findings) {
        let (runs, total) = (self.runs, self.total);
        let each = match self.each.unwrap_or_default() {
            (shortest, longest) if shortest == longest => format!("{longest} min each"),
            (shortest, longest) => format!("{shortest} to {longest} min each"),
        };
        let build = match (&self.builder, self.some_fetch) {
            (Some(_), false) => ", because each run builds phileas from source",
            (Some(_), true) => ", because some build phileas from source",
            (None, _) => "",
        };
        let text = format!(
            "{runs} scheduled runs in {MONTH_DAYS} days, {each}{build}: {total} of the {FREE_MINUTES} min a month that GitHub gives to private repositories of free accounts"
        );
        if total <= FREE_MINUTES {
            return findings.add_good("workflow.minutes", text);
        }
        let help = match &self.builder {
            Some(path) => format!(
                "run `phileas serve`; once the commit has a release, remove `build-from-source` from {path}"
            ),
            None => "call it less often, such as `17 * * * *`, or run `phileas serve`".to_owned(),
        };
        findings.add_hint("workflow.minutes", text, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes_of(with: &str, average: Option<usize>) -> MonthlyMinutes {
        let mut minutes = MonthlyMinutes::default();
        add_hourly(&mut minutes, with, average);
        minutes
    }

    fn add_hourly(minutes: &mut MonthlyMinutes, with: &str, average: Option<usize>) {
        let text = format!(
            "on:\n  schedule:\n    - cron: '17 * * * *'\njobs:\n  a:\n    steps:\n      - uses: o/phileas@v1\n{with}"
        );
        let file = WorkflowFile::parse_workflow("x.yml", &text).unwrap();
        minutes.add_workflow(&file, average, Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn runs_that_build_phileas_take_the_minutes_of_a_build() {
        let build = "        with:\n          build-from-source: true\n";
        assert_eq!(minutes_of("", None).total, 720);
        assert_eq!(minutes_of(build, None).total, 720 * BUILD_MINUTES);
        assert_eq!(minutes_of(build, Some(9)).total, 720 * 9, "as measured");
        let mut findings = Findings::default();
        minutes_of(build, None).report(&mut findings);
        let said = format!("{findings:?}");
        assert!(said.contains("builds phileas from source"), "{said}");
        assert!(said.contains("remove `build-from-source`"), "{said}");
    }

    /// Each of two workflows has a length of its own.
    #[test]
    fn the_minutes_of_two_workflows_are_not_those_of_the_longer_one() {
        let mut minutes = minutes_of("", Some(2));
        let build = "        with:\n          build-from-source: true\n";
        add_hourly(&mut minutes, build, Some(9));
        let mut findings = Findings::default();
        minutes.report(&mut findings);
        let said = format!("{findings:?}");
        let figures = "1440 scheduled runs in 30 days, 2 to 9 min each, because some build phileas from source: 7920 of";
        assert!(said.contains(figures), "{said}");
    }

    #[test]
    fn the_guide_names_the_minutes_of_a_build() {
        let guide = include_str!("../../../../docs/guide/action.md");
        let figure = format!("takes about {BUILD_MINUTES} minutes");
        assert!(guide.contains(&figure), "{figure}");
    }
}
