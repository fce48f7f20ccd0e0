//! What started the run, and whether it is for us.
//!
//! Events only say that something may be due; a tick reads everything afresh. So in doubt an event is ours, and what is
//! told apart here are events that cannot change what is due, and those that must not reach the Jules key. A run that is
//! not ours ends well and says why: a red mark for something that nobody did wrong teaches people to look away.
//!
//! Names and payloads: <https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows>

use phileas_domain::model::parse_switch;
use serde_json::Value;

use crate::runtime::ports::LEDGER_BRANCH;

/// What begins a command in a comment.
const COMMAND: &str = "/phileas";
/// Jules' own account.
const JULES: &str = "google-labs-jules[bot]";
/// What the login of an App ends in.
const BOT: &str = "[bot]";

/// Folders of the plan.
const PLAN_FOLDERS: [&str; 2] = [".jules/", ".jlo/"];

/// What started a run.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Its name: `schedule`, `push`, …
    pub name: &'a str,
    /// Its payload; anything but an object where there is none.
    pub payload: &'a Value,
    /// The path of the workflow's own file, such as `.github/workflows/phileas.yml`, where it is known.
    pub workflow: Option<&'a str>,
}

/// What is done about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// A tick runs.
    Ours(Woken),
    /// Nothing is done, and this is said.
    NotOurs(Skip),
}

/// What an event that is ours asks for, and who caused it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Woken {
    /// Inputs of `workflow_dispatch`: the persona to run.
    pub persona: Option<String>,
    /// The track to run the next step of.
    pub track: Option<String>,
    /// Where a pass through the layers is to begin.
    pub entry_point: Option<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
    /// Why an input of `workflow_dispatch` cannot be understood.
    pub wrong_input: Option<String>,
    /// Logins from the payload who caused the event beside those whom the runner names: of a chained run, whoever
    /// caused the one before.
    pub people: Vec<String>,
    /// Whether the clock caused it, and nobody at all.
    pub by_clock: bool,
}

/// Why nothing is done about an event.
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
            /// Every reason there is.
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
    /// Nothing of ours depends on this event.
    Event = "skipped.event",
    /// A pull request's event: its workflow file may be an agent's or a stranger's.
    PullRequest = "skipped.pull_request",
    /// It comes from a fork.
    Fork = "skipped.fork",
    /// A comment was edited or deleted.
    CommentEdited = "skipped.comment_edited",
    /// A comment without a command, one of Jules, or one of a bot that does not begin with a command.
    NoCommand = "skipped.no_command",
    /// A push to another branch than the default one.
    Branch = "skipped.branch",
    /// A run of this very workflow, or one that has not ended.
    Run = "skipped.run",
}

/// Whether an event is for us.
#[must_use]
pub fn judge(event: &Event<'_>) -> Judgement {
    let ours = || Ok(Woken::default());
    let judged = match event.name {
        "schedule" => Ok(Woken {
            by_clock: true,
            ..Woken::default()
        }),
        "workflow_dispatch" => Ok(inputs(event.payload)),
        "repository_dispatch" | "issues" => ours(),
        "issue_comment" => comment(event.payload),
        "push" => push(event.payload),
        "workflow_run" => chained(event),
        name if name.starts_with("pull_request") => Err(pull_request(event)),
        name => Err(skip(
            SkipReason::Event,
            format!("nothing that phileas does depends on `{name}`"),
        )),
    };
    judged.map_or_else(Judgement::NotOurs, Judgement::Ours)
}

/// Whether the repository is a fork of another one, where workflows are copied and secrets are not.
#[must_use]
pub fn is_fork(payload: &Value) -> bool {
    payload["repository"]["fork"] == true
}

/// What an input that says yes or no says; `None` where the word is neither. A left out one says no.
#[must_use]
pub fn yes_or_no(word: &str) -> Option<bool> {
    parse_switch(word).ok()
}

/// Why the word of such an input is refused.
#[must_use]
pub fn not_yes_or_no(input: &str, word: &str) -> String {
    format!(
        "the input `{input}` is true or false, not `{}`; nothing was run",
        word.escape_debug()
    )
}

fn inputs(payload: &Value) -> Woken {
    let inputs = &payload["inputs"];
    let text = |name: &str| {
        let text = inputs[name].as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    // GitHub writes inputs of the type `boolean` as texts.
    let dry_run = match &inputs["dry-run"] {
        Value::Null => Ok(false),
        Value::Bool(value) => Ok(*value),
        Value::String(text) => yes_or_no(text).ok_or_else(|| text.trim().to_owned()),
        other => Err(other.to_string()),
    };
    Woken {
        persona: text("persona"),
        track: text("track"),
        entry_point: text("entry-point").or_else(|| text("entry_point")),
        wrong_input: dry_run
            .as_ref()
            .err()
            .map(|word| not_yes_or_no("dry-run", word)),
        dry_run: dry_run.unwrap_or(true),
        ..Woken::default()
    }
}

fn comment(payload: &Value) -> Result<Woken, Skip> {
    let action = payload["action"].as_str().unwrap_or_default();
    if action != "created" {
        let said = format!("a comment was {action}; only new ones are heard");
        return Err(skip(SkipReason::CommentEdited, said));
    }
    let author = &payload["comment"]["user"];
    let login = author["login"].as_str().unwrap_or_default();
    let text = payload["comment"]["body"].as_str().unwrap_or_default();
    // The plan may listen to a bot, and says so where it is read. Jules it never listens to; and what phileas itself
    // writes may name a command, but does not begin with one.
    let is_bot = author["type"] == "Bot" || login.ends_with(BOT);
    if login == JULES || (is_bot && !text.starts_with(COMMAND)) {
        let said = format!("{login} is a bot, and this comment of it is no command");
        return Err(skip(SkipReason::NoCommand, said));
    }
    if text.to_ascii_lowercase().contains(COMMAND) {
        Ok(Woken::default())
    } else {
        let said = format!("the comment holds no `{COMMAND}` command");
        Err(skip(SkipReason::NoCommand, said))
    }
}

fn push(payload: &Value) -> Result<Woken, Skip> {
    let reference = payload["ref"].as_str().unwrap_or_default();
    let branch = reference.strip_prefix("refs/heads/");
    let default = payload["repository"]["default_branch"].as_str();
    if branch.is_some() && branch == default {
        return Ok(Woken::default());
    }
    if branch == Some(LEDGER_BRANCH) {
        let said = format!("`{LEDGER_BRANCH}` is the ledger, which phileas writes itself");
        return Err(skip(SkipReason::Branch, said));
    }
    if touches_plan(payload) {
        return Ok(Woken::default());
    }
    let said =
        format!("`{reference}` is not the default branch, and the plan is read from there alone");
    Err(skip(SkipReason::Branch, said))
}

/// Whether a push names files of the plan. GitHub's own runner leaves these lists out; others keep them.
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

fn chained(event: &Event<'_>) -> Result<Woken, Skip> {
    let run = &event.payload["workflow_run"];
    if event.payload["action"] != "completed" {
        let said = "the other run has not ended".to_owned();
        return Err(skip(SkipReason::Run, said));
    }
    // GitHub adds the branch: `.github/workflows/phileas.yml@main`.
    let path = run["path"].as_str().and_then(|path| path.split('@').next());
    if path.is_some() && path == event.workflow {
        let said = "this workflow does not follow itself".to_owned();
        return Err(skip(SkipReason::Run, said));
    }
    let (here, there) = (
        &event.payload["repository"]["id"],
        &run["head_repository"]["id"],
    );
    // By the number: names change, and a fork may have the same one.
    if here.is_number() && there.is_number() && here != there {
        let said = "the other run was for a fork's branch".to_owned();
        return Err(skip(SkipReason::Fork, said));
    }
    let people = ["actor", "triggering_actor"]
        .into_iter()
        .filter_map(|who| run[who]["login"].as_str().map(str::to_owned))
        .collect();
    Ok(Woken {
        people,
        ..Woken::default()
    })
}

fn pull_request(event: &Event<'_>) -> Skip {
    let pull = &event.payload["pull_request"];
    let (head, base) = (&pull["head"]["repo"]["id"], &pull["base"]["repo"]["id"]);
    if head.is_number() && head != base {
        let said = "a pull request of a fork starts nothing".to_owned();
        return skip(SkipReason::Fork, said);
    }
    let said = format!(
        "`{}` runs workflows as the pull request has them, which is no place for the Jules key; take it out of `on:`, \
         the hourly run sees what became of pull requests",
        event.name
    );
    skip(SkipReason::PullRequest, said)
}

fn skip(reason: SkipReason, detail: String) -> Skip {
    Skip { reason, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn ours(name: &str, payload: &Value) -> Woken {
        let workflow = Some(".github/workflows/phileas.yml");
        match judge(&Event {
            name,
            payload,
            workflow,
        }) {
            Judgement::Ours(woken) => woken,
            Judgement::NotOurs(skip) => panic!("{name}: {skip:?}"),
        }
    }

    #[track_caller]
    fn skipped(name: &str, payload: &Value) -> SkipReason {
        let workflow = Some(".github/workflows/phileas.yml");
        match judge(&Event {
            name,
            payload,
            workflow,
        }) {
            Judgement::NotOurs(skip) => {
                assert!(!skip.detail.is_empty());
                skip.reason
            }
            Judgement::Ours(woken) => panic!("{name}: {woken:?}"),
        }
    }

    #[test]
    fn incident_hackerbot_claw_the_clock_and_deeds_of_writers_are_ours() {
        assert!(ours("schedule", &json!({ "schedule": "17 * * * *" })).by_clock);
        assert_eq!(ours("schedule", &Value::Null).people, [""; 0]);
        for name in ["issues", "repository_dispatch", "workflow_dispatch"] {
            assert_eq!(ours(name, &json!({ "inputs": null })), Woken::default());
        }
        let inputs =
            json!({ "inputs": { "persona": " curator ", "track": "", "dry-run": "true" } });
        let woken = ours("workflow_dispatch", &inputs);
        assert_eq!(woken.persona.as_deref(), Some("curator"));
        assert_eq!((woken.track, woken.dry_run), (None, true));
    }

    #[test]
    fn r30_what_nothing_depends_on_is_passed_over() {
        for name in ["watch", "holodeck", "", "release", "pull"] {
            assert_eq!(skipped(name, &Value::Null), SkipReason::Event, "{name}");
        }
    }

    #[test]
    fn incident_hackerbot_claw_a_pull_request_never_reaches_the_key() {
        let of = |head: u64| json!({ "pull_request": { "head": { "repo": { "id": head } }, "base": { "repo": { "id": 1 } } } });
        for name in ["pull_request", "pull_request_target", "pull_request_review"] {
            assert_eq!(skipped(name, &of(1)), SkipReason::PullRequest);
            assert_eq!(skipped(name, &of(2)), SkipReason::Fork);
        }
    }

    #[test]
    fn only_new_comments_of_people_with_a_command_are_heard() {
        let of = |action: &str, login: &str, kind: &str, body: &str| json!({ "action": action, "comment": { "body": body, "user": { "login": login, "type": kind } } });
        ours(
            "issue_comment",
            &of("created", "octo", "User", "please\n/Phileas run curator"),
        );
        // Whether the plan listens to a bot is not known here.
        let robot = of("created", "robot[bot]", "Bot", "/phileas run curator");
        ours("issue_comment", &robot);
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
            assert_eq!(skipped("issue_comment", &payload), reason, "{payload}");
        }
    }

    #[test]
    fn a_push_counts_where_the_plan_is_read() {
        let of = |branch: &str, file: &str| {
            json!({
                "ref": branch, "repository": { "default_branch": "main" }, "commits": [{ "added": [], "modified": [file] }],
            })
        };
        ours("push", &of("refs/heads/main", "src/lib.rs"));
        ours("push", &of("refs/heads/topic", ".jules/schedules.toml"));
        ours("push", &of("refs/heads/topic", ".jlo/config.toml"));
        for branch in ["refs/heads/topic", "refs/tags/main", "refs/heads/jules"] {
            assert_eq!(
                skipped("push", &of(branch, "src/lib.rs")),
                SkipReason::Branch
            );
        }
        let ledger = of("refs/heads/jules", ".jules/cycle_state.json");
        assert_eq!(skipped("push", &ledger), SkipReason::Branch);
    }

    #[test]
    fn a_chained_run_names_who_caused_the_one_before() {
        let of = |action: &str, path: &str, head: u64| {
            json!({
                "action": action, "repository": { "id": 1 },
                "workflow_run": {
                    "path": path, "head_repository": { "id": head }, "actor": { "login": "octo" },
                    "triggering_actor": { "login": "eve" },
                },
            })
        };
        let woken = ours(
            "workflow_run",
            &of("completed", ".github/workflows/ci.yml", 1),
        );
        assert_eq!(woken.people, ["octo", "eve"]);
        let fork = of("completed", ".github/workflows/ci.yml", 2);
        assert_eq!(skipped("workflow_run", &fork), SkipReason::Fork);
        let own = of("completed", ".github/workflows/phileas.yml@main", 1);
        assert_eq!(skipped("workflow_run", &own), SkipReason::Run);
        let begun = of("requested", ".github/workflows/ci.yml", 1);
        assert_eq!(skipped("workflow_run", &begun), SkipReason::Run);
    }
}
