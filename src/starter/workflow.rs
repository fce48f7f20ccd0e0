//! The workflow that runs phileas.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use phileas_domain::model::RepositoryName;

use super::home::HOME;
use super::repository_files::RepositoryFiles;
use super::seal::{Seal, seal_of};

/// Where workflows are.
pub const WORKFLOWS_FOLDER: &str = ".github/workflows";
/// Where this one is.
pub const WORKFLOW_PATH: &str = ".github/workflows/phileas.yml";
/// How many workflows a tick waits for; GitHub names no limit.
pub const MAX_CHECKS: usize = 20;
/// The commit that this program was released from; a release is built with it.
const RELEASE_COMMIT: Option<&str> = option_env!("PHILEAS_RELEASE_COMMIT");
const COMMIT_DIGITS: usize = 40;
/// Stands for the commit in a workflow that a person has to complete.
pub const COMMIT_BLANK: &str = "COMMIT";

/// The action at one commit, which cannot be moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    action: String,
    /// `None`: a person fills it in.
    commit: Option<String>,
    /// The version that the commit is, where it is known.
    version: Option<&'static str>,
}

/// Why a text is no pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an action at a commit; write it as {HOME}@<40 hexadecimal digits>")]
pub struct PinError(String);

impl Pin {
    /// The action of the release that this program is; `None` where it was built otherwise.
    #[must_use]
    pub fn of_this_release() -> Option<Self> {
        let pin: Self = format!("{HOME}@{}", RELEASE_COMMIT?).parse().ok()?;
        Some(Self {
            version: Some(env!("CARGO_PKG_VERSION")),
            ..pin
        })
    }

    /// The action without a commit, for a program that was not built from a release.
    #[must_use]
    pub fn to_fill_in() -> Self {
        Self {
            action: HOME.to_owned(),
            commit: None,
            version: None,
        }
    }

    /// The input that builds the action's commit. Only a release has a binary to fetch.
    fn build_line(&self) -> &'static str {
        match self.version {
            Some(_) => "",
            None => {
                "          build-from-source: true # remove it where the commit has a release: a build takes minutes of each run\n"
            }
        }
    }

    /// How long a run may take; a build takes most of it.
    fn timeout_line(&self) -> &'static str {
        match self.version {
            Some(_) => "timeout-minutes: 15",
            None => "timeout-minutes: 45",
        }
    }

    /// What to say of a workflow that runs phileas at another commit.
    pub(super) fn pin_hint(&self, workflow: &str) -> Option<String> {
        let Some(commit) = &self.commit else {
            return blank_hint(workflow);
        };
        let plain = workflow.to_ascii_lowercase();
        let runs_phileas = plain.contains("/phileas@");
        (runs_phileas && !plain.contains(commit)).then(|| {
            let pin = format!("{}@{commit}", self.action);
            let way = match seal_of(workflow) {
                Seal::Unchanged => {
                    format!("`phileas upgrade --action {pin}` puts this one in its place")
                }
                Seal::Changed => format!(
                    "`phileas upgrade --action {pin}` writes this one, or names a conflict to solve first"
                ),
                Seal::None => "change it in its `uses:` line if you like".to_owned(),
            };
            format!("it runs another commit than {pin}; {way}")
        })
    }
}

impl FromStr for Pin {
    type Err = PinError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || PinError(text.to_owned());
        let (action, commit) = text.trim().split_once('@').ok_or_else(wrong)?;
        let whole =
            commit.len() == COMMIT_DIGITS && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !whole {
            return Err(wrong());
        }
        Ok(Self {
            action: action
                .parse::<RepositoryName>()
                .map_err(|_| wrong())?
                .to_string(),
            version: RELEASE_COMMIT
                .is_some_and(|release| release.eq_ignore_ascii_case(commit))
                .then_some(env!("CARGO_PKG_VERSION")),
            commit: Some(commit.to_ascii_lowercase()),
        })
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(commit) = &self.commit else {
            return write!(
                f,
                "{}@{COMMIT_BLANK} # fill in: the {COMMIT_DIGITS} digits of a commit of {HOME}",
                self.action
            );
        };
        write!(f, "{}@{commit}", self.action)?;
        match self.version {
            Some(version) => write!(f, " # v{version}"),
            None => Ok(()),
        }
    }
}

/// How to complete a workflow that names no commit yet; `None` for every other workflow.
#[must_use]
pub fn blank_hint(workflow: &str) -> Option<String> {
    let blank = format!("/phileas@{COMMIT_BLANK} ");
    workflow.contains(&blank).then(|| {
        format!(
            "fill in the commit of {HOME} that it runs: this phileas was not built from a release"
        )
    })
}

/// The minute of the hour at which a repository's clock runs. GitHub drops runs when many start at once, as they do at
/// the full hour and at every fifth minute, so it is none of these, and differs from repository to repository.
#[must_use]
pub fn cron_minute(repository: &RepositoryName) -> u8 {
    let name = repository.to_string().to_ascii_lowercase();
    let digest = Sha256::digest(name.as_bytes());
    let free: Vec<u8> = (1..60).filter(|minute| minute % 5 != 0).collect();
    let chance = u64::from_be_bytes(std::array::from_fn(|at| digest[at]));
    let most = u64::try_from(free.len()).unwrap_or(u64::MAX);
    let index = usize::try_from(chance % most).unwrap_or_default();
    free[index]
}

/// The workflow without its seal.
pub(super) fn text(found: &RepositoryFiles, pin: &Pin) -> String {
    let branch = quote_yaml(&found.default_branch);
    let checks: Vec<String> = found
        .workflows
        .values()
        .filter_map(|text| runs_on_push(text))
        .take(MAX_CHECKS)
        .map(|name| quote_yaml(&name))
        .collect();
    // A tick looks again when the checks of the default branch have ended.
    let after_checks = if checks.is_empty() {
        String::new()
    } else {
        format!(
            "  workflow_run:\n    workflows: [{}]\n    types: [completed]\n    branches: [{branch}]\n",
            checks.join(", ")
        )
    };
    include_str!("workflow.yml")
        .replace("  # @workflow_run\n", &after_checks)
        .replace("@minute", &cron_minute(&found.repository).to_string())
        .replace("\"@branch\"", &branch)
        .replace("\"@action\"", &pin.to_string())
        .replace("timeout-minutes: 15", pin.timeout_line())
        .replace("          # @build\n", pin.build_line())
}

/// A workflow whose steps that run phileas name the commit of `pin`. `None`: nothing is to be replaced.
///
/// The pin of a release replaces none of a fork, which is where people run what they changed.
#[must_use]
pub(super) fn with_pin(workflow: &str, pin: &Pin) -> Option<String> {
    let pinned: String = workflow
        .split_inclusive('\n')
        .map(|line| match before_action(line, pin) {
            Some(before) => {
                let end = &line[line.trim_end_matches(['\r', '\n']).len()..];
                format!("{before}{pin}{end}")
            }
            None => line.to_owned(),
        })
        .collect();
    (pinned != workflow).then_some(pinned)
}

/// What stands before the action in a line that runs phileas at another commit than that of `pin`.
fn before_action<'a>(line: &'a str, pin: &Pin) -> Option<&'a str> {
    let key = line.trim_start().trim_start_matches("- ").trim_start();
    let value = key.strip_prefix("uses:")?.trim_start();
    let (action, commit) = value.trim_start_matches(['"', '\'']).split_once('@')?;
    let is_same_action = action.eq_ignore_ascii_case(&pin.action);
    let has_commit = |wanted: &String| commit.to_ascii_lowercase().starts_with(wanted);
    if is_same_action && pin.commit.as_ref().is_some_and(has_commit) {
        return None;
    }
    let is_meant = is_same_action || (pin.version.is_none() && action.ends_with("/phileas"));
    is_meant.then(|| &line[..line.len() - value.len()])
}

/// A workflow, where it can be read.
fn parse_workflow(text: &str) -> Option<Value> {
    match phileas_domain::yaml_too_deep(text) {
        Some(_) => None,
        None => serde_yaml::from_str(text).ok(),
    }
}

/// The name of a workflow that runs on pushes, as `workflow_run` knows it; `None` for every other one.
#[must_use]
pub fn runs_on_push(text: &str) -> Option<String> {
    let workflow = parse_workflow(text)?;
    let name = workflow.get("name")?.as_str()?.trim();
    let pushed = workflow_triggers(&workflow)
        .iter()
        .any(|event| event == "push");
    let ours = text.contains(&format!("{HOME}@"));
    (pushed && !ours && !name.is_empty()).then(|| name.to_owned())
}

/// What a workflow that is there already may lack.
#[must_use]
pub fn workflow_hints(text: &str) -> Vec<String> {
    let Some(workflow) = parse_workflow(text) else {
        return vec!["it cannot be read as YAML".to_owned()];
    };
    let events = workflow_triggers(&workflow);
    let mut hints = Vec::new();
    if !text.contains("/phileas@") {
        hints.push(format!("it does not run the action {HOME}"));
    }
    for event in ["pull_request", "pull_request_target"] {
        if events.iter().any(|one| one == event) {
            hints.push(format!(
                "take out the trigger `{event}`: it runs what a pull request brings, beside the key"
            ));
        }
    }
    let usual = [
        "schedule",
        "push",
        "issues",
        "issue_comment",
        "workflow_dispatch",
    ];
    let missing: Vec<_> = usual
        .into_iter()
        .filter(|usual| events.iter().all(|event| event != usual))
        .map(|event| format!("`{event}`"))
        .collect();
    if !missing.is_empty() {
        hints.push(format!("it has no trigger {}", missing.join(", ")));
    }
    if workflow.get("concurrency").is_none() {
        hints.push(
            "with `concurrency: { group: phileas, queue: max }` its runs wait for each other"
                .to_owned(),
        );
    }
    hints
}

/// The events that a workflow runs on. YAML 1.1 takes the key `on` for `true`.
fn workflow_triggers(workflow: &Value) -> Vec<String> {
    let on = workflow.get("on").or_else(|| workflow.get("true"));
    match on {
        Some(Value::String(event)) => vec![event.clone()],
        Some(Value::Array(events)) => events
            .iter()
            .filter_map(|event| event.as_str().map(str::to_owned))
            .collect(),
        Some(Value::Object(events)) => events.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

/// A text as YAML takes it for nothing else. JSON's way to write one is YAML's, too.
fn quote_yaml(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use phileas_domain::model::Tree;

    use super::*;

    #[test]
    fn the_minute_is_a_quiet_one_and_differs() {
        let minutes: BTreeSet<u8> = (0..200)
            .map(|n| cron_minute(&format!("acme/widget-{n}").parse().unwrap()))
            .collect();
        assert!(minutes.len() > 30, "{minutes:?}");
        assert!(minutes.iter().all(|minute| minute % 5 != 0 && *minute < 60));
        let one = cron_minute(&"Acme/Widget".parse().unwrap());
        assert_eq!(one, cron_minute(&"acme/widget".parse().unwrap()));
    }

    #[test]
    fn incident_tj_actions_only_whole_commits_are_pins() {
        let commit = "0123456789abcdef0123456789ABCDEF01234567";
        let pin: Pin = format!("me/phileas@{commit}").parse().unwrap();
        assert_eq!(
            pin.to_string(),
            format!("me/phileas@{}", commit.to_lowercase())
        );
        for wrong in [
            "",
            "me/phileas",
            "me/phileas@v1",
            &format!("phileas@{commit}"),
            &format!("a/b@{commit}0"),
        ] {
            assert!(wrong.parse::<Pin>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_commit_without_a_release_is_built_and_a_release_is_fetched() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let pin: Pin = format!("{HOME}@{commit}").parse().unwrap();
        let release = Pin {
            version: Some("0.1.0"),
            ..pin.clone()
        };
        let step = |pin: &Pin| {
            let found = RepositoryFiles {
                repository: "acme/widget".parse().unwrap(),
                default_branch: "main".to_owned(),
                tree: Tree::new(),
                workflows: BTreeMap::new(),
                untracked: BTreeSet::new(),
            };
            let workflow: Value = serde_yaml::from_str(&text(&found, pin)).unwrap();
            let job = &workflow["jobs"]["tick"];
            let with = &job["steps"][0]["with"];
            (
                with["build-from-source"].as_bool().unwrap_or_default(),
                job["timeout-minutes"].as_u64(),
            )
        };
        assert_eq!(step(&pin), (true, Some(45)));
        assert_eq!(step(&Pin::to_fill_in()), (true, Some(45)));
        assert_eq!(step(&release), (false, Some(15)));
    }

    #[test]
    fn checks_are_known_by_their_push() {
        assert_eq!(runs_on_push("name: ci\non: push\n").as_deref(), Some("ci"));
        assert_eq!(
            runs_on_push("name: ci\non: [pull_request, push]\n").as_deref(),
            Some("ci")
        );
        assert_eq!(
            runs_on_push("name: \"c: i\"\non:\n  push:\n").as_deref(),
            Some("c: i")
        );
        for other in [
            "name: x\non: schedule\n",
            "on: push\n",
            "name: ci\non: push\n# phileas/phileas@v1\n",
            ": :",
        ] {
            assert_eq!(runs_on_push(other), None, "{other}");
        }
    }

    #[test]
    fn hints_name_what_is_dangerous_and_what_is_missing() {
        let hints = workflow_hints("on: [pull_request, push]\njobs: {}\n").join("\n");
        for word in [
            "phileas/phileas",
            "take out",
            "`schedule`, `issues`",
            "queue: max",
        ] {
            assert!(hints.contains(word), "{word}: {hints}");
        }
    }
}
