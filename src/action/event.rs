//! Which event started the run, and whether phileas acts on it.
//!
//! An event only says that something may be due; a tick reads everything again. So phileas acts on an event when in
//! doubt. This file rules out events that cannot change what is due, and events that must not reach the Jules key. A
//! run for such an event succeeds and says why, because a red mark for a correct run teaches people to ignore red
//! marks.
//!
//! Names and payloads:
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows>

use phileas_domain::model::parse_switch;
use serde_json::Value;

use crate::runtime::ports::LEDGER_BRANCH;

/// The prefix of a command in a comment.
const COMMAND_PREFIX: &str = "/phileas";
/// The login of Jules.
const JULES_LOGIN: &str = "google-labs-jules[bot]";
/// The suffix of an App's login.
const BOT_SUFFIX: &str = "[bot]";

/// The folders of the plan.
const PLAN_FOLDERS: [&str; 2] = [".jules/", ".jlo/"];

/// The event that started a run.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Its name: `schedule`, `push`, …
    pub name: &'a str,
    /// Its payload. Not an object if there is none.
    pub payload: &'a Value,
    /// The path of the workflow file, such as `.github/workflows/phileas.yml`, if it is known.
    pub workflow: Option<&'a str>,
}

/// What the run does about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventVerdict {
    /// It runs a tick.
    Ours(Trigger),
    /// It does nothing, and says this.
    NotOurs(Skip),
}

/// What an accepted event asks for, and which accounts caused it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trigger {
    /// Input of `workflow_dispatch`: the persona to run.
    pub persona: Option<String>,
    /// The track whose next step to run.
    pub track: Option<String>,
    /// Where to begin a pass through the layers.
    pub entry_point: Option<String>,
    /// Whether to write nothing.
    pub dry_run: bool,
    /// Why an input of `workflow_dispatch` cannot be parsed.
    pub wrong_input: Option<String>,
    /// Logins from the payload that caused the event, in addition to those that the runner names. For a chained run:
    /// the actors of the run before.
    pub people: Vec<String>,
    /// Whether the schedule caused it, so that it has no actor.
    pub is_scheduled: bool,
}

/// Why the run does nothing about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// The code.
    pub reason: SkipReason,
    /// One sentence for people.
    pub detail: String,
}

macro_rules! skip_reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why a run does not tick. The codes are stable, like those of a tick's report.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SkipReason {
            $($(#[$doc])* $name,)*
        }

        impl SkipReason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable code.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

skip_reasons! {
    /// Nothing in phileas depends on this event.
    Event = "skipped.event",
    /// An event of a pull request. An agent or an unauthorized user may have written its workflow file.
    PullRequest = "skipped.pull_request",
    /// The repository is a fork.
    Fork = "skipped.fork",
    /// A comment was edited or deleted.
    CommentEdited = "skipped.comment_edited",
    /// A comment without a command, one by Jules, or one by a bot that does not begin with a command.
    NoCommand = "skipped.no_command",
    /// A push to a branch other than the default branch.
    Branch = "skipped.branch",
    /// A run of this same workflow, or one that has not finished.
    Run = "skipped.run",
}

/// Decides whether phileas acts on an event.
#[must_use]
pub fn judge_event(event: &Event<'_>) -> EventVerdict {
    let ours = || Ok(Trigger::default());
    let judged = match event.name {
        "schedule" => Ok(Trigger {
            is_scheduled: true,
            ..Trigger::default()
        }),
        "workflow_dispatch" => Ok(judge_inputs(event.payload)),
        "repository_dispatch" | "issues" => ours(),
        "issue_comment" => judge_comment(event.payload),
        "push" => judge_push(event.payload),
        "workflow_run" => judge_chained_run(event),
        name if name.starts_with("pull_request") => Err(skip_pull_request(event)),
        name => Err(skip_because(
            SkipReason::Event,
            format!("nothing that phileas does depends on `{name}`"),
        )),
    };
    judged.map_or_else(EventVerdict::NotOurs, EventVerdict::Ours)
}

/// Whether the repository is a fork. A fork copies workflows but not secrets.
#[must_use]
pub fn is_fork(payload: &Value) -> bool {
    payload["repository"]["fork"] == true
}

/// Parses a yes-or-no input; `None` if the word is neither. A missing input means no.
#[must_use]
pub fn parse_yes_or_no(word: &str) -> Option<bool> {
    parse_switch(word).ok()
}

/// Why the word of such an input is refused.
#[must_use]
pub fn yes_or_no_error(input: &str, word: &str) -> String {
    format!(
        "the input `{input}` is true or false, not `{}`; nothing was run",
        word.escape_debug()
    )
}

fn judge_inputs(payload: &Value) -> Trigger {
    let inputs = &payload["inputs"];
    let text = |name: &str| {
        let text = inputs[name].as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    // GitHub sends inputs of the type `boolean` as strings.
    let dry_run = match &inputs["dry-run"] {
        Value::Null => Ok(false),
        Value::Bool(value) => Ok(*value),
        Value::String(text) => parse_yes_or_no(text).ok_or_else(|| text.trim().to_owned()),
        other => Err(other.to_string()),
    };
    Trigger {
        persona: text("persona"),
        track: text("track"),
        entry_point: text("entry-point").or_else(|| text("entry_point")),
        wrong_input: dry_run
            .as_ref()
            .err()
            .map(|word| yes_or_no_error("dry-run", word)),
        dry_run: dry_run.unwrap_or(true),
        ..Trigger::default()
    }
}

fn judge_comment(payload: &Value) -> Result<Trigger, Skip> {
    let action = payload["action"].as_str().unwrap_or_default();
    if action != "created" {
        let said = format!("a comment was {action}; only new comments count");
        return Err(skip_because(SkipReason::CommentEdited, said));
    }
    let author = &payload["comment"]["user"];
    let login = author["login"].as_str().unwrap_or_default();
    let text = payload["comment"]["body"].as_str().unwrap_or_default();
    // The plan may allow a bot, which the tick checks. Jules is never allowed. Comments of phileas itself may name a
    // command, but do not begin with one.
    let is_bot = author["type"] == "Bot" || login.ends_with(BOT_SUFFIX);
    if login == JULES_LOGIN || (is_bot && !text.starts_with(COMMAND_PREFIX)) {
        let said = format!("{login} is a bot, and this comment of it is not a command");
        return Err(skip_because(SkipReason::NoCommand, said));
    }
    if text.to_ascii_lowercase().contains(COMMAND_PREFIX) {
        Ok(Trigger::default())
    } else {
        let said = format!("the comment holds no `{COMMAND_PREFIX}` command");
        Err(skip_because(SkipReason::NoCommand, said))
    }
}

fn judge_push(payload: &Value) -> Result<Trigger, Skip> {
    let reference = payload["ref"].as_str().unwrap_or_default();
    let branch = reference.strip_prefix("refs/heads/");
    let default = payload["repository"]["default_branch"].as_str();
    if branch.is_some() && branch == default {
        return Ok(Trigger::default());
    }
    if branch == Some(LEDGER_BRANCH) {
        let said = format!("`{LEDGER_BRANCH}` is the ledger, which phileas writes itself");
        return Err(skip_because(SkipReason::Branch, said));
    }
    if touches_plan(payload) {
        return Ok(Trigger::default());
    }
    let said =
        format!("`{reference}` is not the default branch, and the plan is read from there alone");
    Err(skip_because(SkipReason::Branch, said))
}

/// Whether a push changes files of the plan. GitHub's own runner omits these lists; other runners keep them.
fn touches_plan(payload: &Value) -> bool {
    let commits = payload["commits"].as_array().into_iter().flatten();
    let mut files = commits.flat_map(|commit| {
        ["added", "modified", "removed"]
            .into_iter()
            .filter_map(|list| commit[list].as_array())
            .flatten()
    });
    files.any(|file| {
        let path = file.as_str().unwrap_or_default();
        PLAN_FOLDERS.iter().any(|folder| path.starts_with(folder))
    })
}

fn judge_chained_run(event: &Event<'_>) -> Result<Trigger, Skip> {
    let run = &event.payload["workflow_run"];
    if event.payload["action"] != "completed" {
        let said = "the other run has not ended".to_owned();
        return Err(skip_because(SkipReason::Run, said));
    }
    // GitHub appends the branch: `.github/workflows/phileas.yml@main`.
    let path = run["path"].as_str().and_then(|path| path.split('@').next());
    if path.is_some() && path == event.workflow {
        let said = "this workflow does not follow itself".to_owned();
        return Err(skip_because(SkipReason::Run, said));
    }
    let (here, there) = (
        &event.payload["repository"]["id"],
        &run["head_repository"]["id"],
    );
    // Compare ids, because names change and a fork may have the same name.
    if here.is_number() && there.is_number() && here != there {
        let said = "the other run was for a fork's branch".to_owned();
        return Err(skip_because(SkipReason::Fork, said));
    }
    let people = ["actor", "triggering_actor"]
        .into_iter()
        .filter_map(|who| run[who]["login"].as_str().map(str::to_owned))
        .collect();
    Ok(Trigger {
        people,
        ..Trigger::default()
    })
}

fn skip_pull_request(event: &Event<'_>) -> Skip {
    let pull = &event.payload["pull_request"];
    let (head, base) = (&pull["head"]["repo"]["id"], &pull["base"]["repo"]["id"]);
    if head.is_number() && head != base {
        let said = "a pull request of a fork starts nothing".to_owned();
        return skip_because(SkipReason::Fork, said);
    }
    let said = format!(
        "`{}` runs workflows as the pull request has them, which is no place for the Jules key; take it out of `on:`, \
         the hourly run sees what became of pull requests",
        event.name
    );
    skip_because(SkipReason::PullRequest, said)
}

fn skip_because(reason: SkipReason, detail: String) -> Skip {
    Skip { reason, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn accepted_event(name: &str, payload: &Value) -> Trigger {
        let workflow = Some(".github/workflows/phileas.yml");
        match judge_event(&Event {
            name,
            payload,
            workflow,
        }) {
            EventVerdict::Ours(woken) => woken,
            EventVerdict::NotOurs(skip) => panic!("{name}: {skip:?}"),
        }
    }

    #[track_caller]
    fn skip_reason(name: &str, payload: &Value) -> SkipReason {
        let workflow = Some(".github/workflows/phileas.yml");
        match judge_event(&Event {
            name,
            payload,
            workflow,
        }) {
            EventVerdict::NotOurs(skip) => {
                assert!(!skip.detail.is_empty());
                skip.reason
            }
            EventVerdict::Ours(woken) => panic!("{name}: {woken:?}"),
        }
    }

    #[test]
    fn incident_hackerbot_claw_schedules_and_actions_of_writers_are_accepted() {
        assert!(accepted_event("schedule", &json!({ "schedule": "17 * * * *" })).is_scheduled);
        assert_eq!(accepted_event("schedule", &Value::Null).people, [""; 0]);
        for name in ["issues", "repository_dispatch", "workflow_dispatch"] {
            assert_eq!(
                accepted_event(name, &json!({ "inputs": null })),
                Trigger::default()
            );
        }
        let inputs =
            json!({ "inputs": { "persona": " curator ", "track": "", "dry-run": "true" } });
        let woken = accepted_event("workflow_dispatch", &inputs);
        assert_eq!(woken.persona.as_deref(), Some("curator"));
        assert_eq!((woken.track, woken.dry_run), (None, true));
    }

    #[test]
    fn r30_events_without_effect_are_skipped() {
        for name in ["watch", "holodeck", "", "release", "pull"] {
            assert_eq!(skip_reason(name, &Value::Null), SkipReason::Event, "{name}");
        }
    }

    #[test]
    fn incident_hackerbot_claw_a_pull_request_never_reaches_the_key() {
        let of = |head: u64| json!({ "pull_request": { "head": { "repo": { "id": head } }, "base": { "repo": { "id": 1 } } } });
        for name in ["pull_request", "pull_request_target", "pull_request_review"] {
            assert_eq!(skip_reason(name, &of(1)), SkipReason::PullRequest);
            assert_eq!(skip_reason(name, &of(2)), SkipReason::Fork);
        }
    }

    #[test]
    fn only_new_comments_of_people_with_a_command_are_accepted() {
        let of = |action: &str, login: &str, kind: &str, body: &str| json!({ "action": action, "comment": { "body": body, "user": { "login": login, "type": kind } } });
        accepted_event(
            "issue_comment",
            &of("created", "octo", "User", "please\n/Phileas run curator"),
        );
        // Whether the plan allows a bot is not known here.
        let robot = of("created", "robot[bot]", "Bot", "/phileas run curator");
        accepted_event("issue_comment", &robot);
        for (payload, reason) in [
            (
                of("edited", "octo", "User", "/phileas run"),
                SkipReason::CommentEdited,
            ),
            (
                of("deleted", "octo", "User", "/phileas run"),
                SkipReason::CommentEdited,
            ),
            (
                of("created", "octo", "User", "phileas, run"),
                SkipReason::NoCommand,
            ),
            (
                of("created", "google-labs-jules[bot]", "User", "/phileas run"),
                SkipReason::NoCommand,
            ),
            (
                of("created", "robot", "Bot", "say /phileas run"),
                SkipReason::NoCommand,
            ),
        ] {
            assert_eq!(skip_reason("issue_comment", &payload), reason, "{payload}");
        }
    }

    #[test]
    fn a_push_counts_where_the_plan_is_read() {
        let of = |branch: &str, file: &str| {
            json!({
                "ref": branch, "repository": { "default_branch": "main" }, "commits": [{ "added": [], "modified": [file] }],
            })
        };
        accepted_event("push", &of("refs/heads/main", "src/lib.rs"));
        accepted_event("push", &of("refs/heads/topic", ".jules/schedules.toml"));
        accepted_event("push", &of("refs/heads/topic", ".jlo/config.toml"));
        for branch in ["refs/heads/topic", "refs/tags/main", "refs/heads/jules"] {
            assert_eq!(
                skip_reason("push", &of(branch, "src/lib.rs")),
                SkipReason::Branch
            );
        }
        let ledger = of("refs/heads/jules", ".jules/cycle_state.json");
        assert_eq!(skip_reason("push", &ledger), SkipReason::Branch);
    }

    #[test]
    fn a_chained_run_names_the_actors_of_the_run_before() {
        let of = |action: &str, path: &str, head: u64| {
            json!({
                "action": action, "repository": { "id": 1 },
                "workflow_run": {
                    "path": path, "head_repository": { "id": head }, "actor": { "login": "octo" },
                    "triggering_actor": { "login": "eve" },
                },
            })
        };
        let woken = accepted_event(
            "workflow_run",
            &of("completed", ".github/workflows/ci.yml", 1),
        );
        assert_eq!(woken.people, ["octo", "eve"]);
        let fork = of("completed", ".github/workflows/ci.yml", 2);
        assert_eq!(skip_reason("workflow_run", &fork), SkipReason::Fork);
        let own = of("completed", ".github/workflows/phileas.yml@main", 1);
        assert_eq!(skip_reason("workflow_run", &own), SkipReason::Run);
        let begun = of("requested", ".github/workflows/ci.yml", 1);
        assert_eq!(skip_reason("workflow_run", &begun), SkipReason::Run);
    }
}
