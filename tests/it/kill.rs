//! A process that dies at any of its requests costs no turn and doubles none.
//!
//! The program's own process is killed with SIGKILL before and after the effect of each of its N requests, for every
//! N, and started again at once and later. Sessions are counted in the books of the models.

use std::sync::Arc;

use phileas::sandbox::{SharedWorld, world_setup};
use phileas_domain::model::Tree;
use phileas_world::github::{CheckOutput, TimelineEvent, TimelineKind, Verdict};
use phileas_world::jules::{Ending, Ideas, Scenario};
use serde_json::Value;

use crate::support::books::messages;
use crate::support::child::Ended;
use crate::support::judge::{self, one_session_a_turn};
use crate::support::killer::{Killer, Moment};
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick, use_workflow_token};
use crate::support::{Folder, Phileas, Served, print_line};

/// Longer than the grace after which an intent without a session is tried again.
const GRACE_MINUTES: u32 = 16;
/// How many ticks a world may take to come to rest.
const MOST_TICKS: usize = 20;

/// A tick that is killed at each of its requests.
struct Play {
    name: &'static str,
    personas: &'static [&'static str],
    /// Who is asked for by a label as well.
    requested: &'static [&'static str],
    /// Stands in the plan, behind the cycle.
    plan: &'static str,
    scenarios: fn() -> Vec<Scenario>,
    /// Brings the world to where the victim begins.
    prepare: fn(&SharedWorld),
    /// Further files of the repository.
    files: &'static [(&'static str, &'static str)],
    /// How many turns there are in the end, where they are not one for each persona.
    turns: Option<usize>,
    /// What must be true of each turn in the end, beside having one session.
    verdict: fn(&SharedWorld, &str),
}

#[test]
fn a_killed_birth_and_first_dispatch_is_made_up_for() {
    kill_at_each_request(&Play {
        name: "birth and first dispatch",
        personas: &["curator"],
        requested: &[],
        plan: "",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |_| {},
        verdict: |shared, context| outcomes(shared, context, &["pr_open"]),
    });
}

#[test]
fn a_killed_settle_and_next_dispatch_is_made_up_for() {
    kill_at_each_request(&Play {
        name: "settle and next dispatch",
        personas: &["curator", "refactor"],
        requested: &[],
        plan: "",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
        },
        verdict: |shared, context| outcomes(shared, context, &["pr_open", "pr_open"]),
    });
}

#[test]
fn a_killed_record_of_work_is_completed_once() {
    kill_at_each_request(&Play {
        name: "record of work",
        personas: &["curator"],
        requested: &[],
        plan: "[budget]\ndaily_sessions = 1\n",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
            tick(shared, "settled");
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            github.close_pull(repo, 1, "maintainer", now);
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["rejected"]);
            let text = judge::file_on(shared, "jules", ".jules/work/hot.json").unwrap();
            let file: Value = serde_json::from_str(&text).unwrap();
            let records = file["records"].as_array().unwrap();
            assert_eq!(records.len(), 1, "{context}: {text}");
            assert_eq!(records[0]["outcome"], "rejected", "{context}");
            let open = &judge::state(shared)["work"]["open"];
            assert_eq!(*open, serde_json::json!([]), "{context}");
        },
    });
}

/// The rest ends in the commit that announces the session, or in one before it.
#[test]
fn a_killed_end_of_a_rest_starts_one_session() {
    kill_at_each_request(&Play {
        name: "end of a rest",
        personas: &["curator"],
        requested: &[],
        plan: "[budget]\ndaily_sessions = 2\n[defaults]\nrest_after = 1\n",
        files: &[],
        turns: Some(2),
        scenarios: || {
            let work = Scenario::default().with_minutes(5.0);
            vec![work.with_file("src/render.rs", "let escaped = 1;\n")]
        },
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
            tick(shared, "recorded");
            let repo = {
                let mut world = shared.lock_world();
                let now = world.now();
                let github = world.github_mut();
                let repo = github
                    .repository_by_name(world_setup::OWNER, world_setup::NAME)
                    .unwrap();
                github.close_pull(repo, 1, "maintainer", now);
                repo
            };
            shared.advance_time(MINUTE);
            tick(shared, "refused");
            let rests_for = &judge::state(shared)["personas"]["curator"]["rests_for"];
            assert_eq!(*rests_for, serde_json::json!(["src/render.rs"]));
            let mut world = shared.lock_world();
            let now = world.now();
            let files = [("src/render.rs".to_owned(), Some("let raw = 1;\n".into()))];
            let github = world.github_mut();
            let head = github.branch_head(repo, "main");
            let commit = github.commit_files(repo, head, &files, "maintainer", "Render", now);
            github.move_branch(repo, "main", commit, "maintainer", now);
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["rejected", "pr_open"]);
            let curator = &judge::state(shared)["personas"]["curator"];
            assert!(curator["rests_for"].is_null(), "{context}: {curator}");
        },
    });
}

#[test]
fn a_killed_label_and_its_comment_are_written_once() {
    kill_at_each_request(&Play {
        name: "label of repeated work",
        personas: &["curator", "tester"],
        requested: &[],
        plan: "[budget]\ndaily_sessions = 2\n[novelty]\nmode = \"label\"\n",
        files: &[],
        turns: None,
        scenarios: || {
            let text: String = (0..12)
                .map(|row| format!("let escaped = {row};\n"))
                .collect();
            vec![
                Scenario::default()
                    .with_minutes(5.0)
                    .with_file("src/render.rs", &text),
            ]
        },
        prepare: |shared| {
            use_workflow_token(shared);
            for _ in 0..2 {
                tick(shared, "prepared");
                pass_until(shared, "COMPLETED");
                shared.advance_time(MINUTE);
            }
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open", "pr_open"]);
            let world = shared.lock_world();
            let github = world.github();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let pull = github.pull(repo, 2).unwrap();
            let labelled = |event: &&TimelineEvent| matches!(event.what, TimelineKind::Labeled(_));
            let count = pull.thread.timeline.iter().filter(labelled).count();
            assert_eq!(count, 1, "{context}");
            assert_eq!(github.comments(repo, 2).count(), 1, "{context}");
        },
    });
}

/// The second session plans what the first one did.
fn repeated_plan(shared: &SharedWorld, heeds_plan: f64) {
    shared.lock_world().jules_mut().set_ideas(Ideas {
        exponent: 8.0,
        heeds_prompt: 0.0,
        heeds_plan,
        ..Ideas::default()
    });
    tick(shared, "prepared");
    pass_until(shared, "AWAITING_PLAN_APPROVAL");
    tick(shared, "prepared");
    pass_until(shared, "COMPLETED");
    shared.advance_time(MINUTE);
    // The second session starts; then the pull request of the first one is recorded.
    for _ in 0..2 {
        tick(shared, "prepared");
    }
    pass_until(shared, "AWAITING_PLAN_APPROVAL");
    assert!(messages(shared).is_empty());
}

#[test]
fn a_killed_message_about_a_repeated_plan_arrives_once() {
    kill_at_each_request(&Play {
        name: "message about a repeated plan",
        personas: &["curator", "tester"],
        requested: &[],
        plan: "[budget]\ndaily_sessions = 2\n[novelty]\nplan = true\n",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| repeated_plan(shared, 1.0),
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open", "pr_open"]);
            assert_eq!(messages(shared).len(), 1, "{context}");
            let ideas = shared.lock_world().books().sessions[1].ideas.clone();
            assert_eq!(ideas.len(), 2, "{context}: {ideas:?}");
        },
    });
}

#[test]
fn a_killed_end_of_a_session_that_plans_repeated_work_again_archives_it() {
    kill_at_each_request(&Play {
        name: "second repeated plan",
        personas: &["curator", "tester"],
        requested: &[],
        plan: "[budget]\ndaily_sessions = 2\n[novelty]\nplan = true\n",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            repeated_plan(shared, 0.0);
            tick(shared, "prepared");
            shared.advance_time(MINUTE);
            pass_until(shared, "AWAITING_PLAN_APPROVAL");
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open", "repeated"]);
            assert_eq!(messages(shared).len(), 1, "{context}");
            let session = shared.lock_world().books().sessions[1].clone();
            assert!(session.archived && session.pull.is_none(), "{context}");
        },
    });
}

#[test]
fn a_killed_answer_is_given_again_and_not_twice() {
    kill_at_each_request(&Play {
        name: "answer to a question",
        personas: &["curator"],
        requested: &[],
        plan: "",
        files: &[],
        turns: None,
        scenarios: || {
            vec![
                Scenario::default()
                    .with_minutes(5.0)
                    .with_question("Which of the two files is right?"),
            ]
        },
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "AWAITING_USER_FEEDBACK");
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open"]);
            assert_eq!(
                messages(shared).len(),
                1,
                "{context}: {:?}",
                messages(shared)
            );
        },
    });
}

#[test]
fn a_killed_reminder_arrives_once_and_its_turn_goes_on() {
    kill_at_each_request(&Play {
        name: "reminder after no output",
        personas: &["curator"],
        requested: &[],
        plan: "",
        files: &[],
        turns: None,
        scenarios: || vec![Scenario::with_ending(Ending::NoChange).with_minutes(5.0)],
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
        },
        verdict: |shared, context| {
            // A reminded session of the model finds something to do.
            assert_eq!(
                messages(shared).len(),
                1,
                "{context}: {:?}",
                messages(shared)
            );
            outcomes(shared, context, &["pr_open"]);
        },
    });
}

#[test]
fn killed_words_about_failed_checks_arrive_once() {
    kill_at_each_request(&Play {
        name: "failed checks",
        personas: &["curator"],
        requested: &[],
        plan: "",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
            tick(shared, "settled");
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let head = github.pull(repo, 1).unwrap().head.oid;
            let output = CheckOutput {
                log: Some("it broke\n".to_owned()),
                ..CheckOutput::default()
            };
            github.fail_job(repo, head, "build", output, now);
            drop(world);
            // Jules has its time to fix it by itself.
            shared.advance_time(MINUTE * 21);
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open"]);
            assert_eq!(
                messages(shared).len(),
                1,
                "{context}: {:?}",
                messages(shared)
            );
        },
    });
}

#[test]
fn a_killed_request_by_label_has_one_session_and_one_comment() {
    kill_at_each_request(&Play {
        name: "request by label",
        personas: &["curator"],
        requested: &["refactor"],
        plan: "",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let issue = github.open_issue(repo, "It is slow", "Very.", &[], "outsider", now);
            github.add_label(repo, issue, "phileas:refactor", "maintainer", now);
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["pr_open", "pr_open"]);
            let world = shared.lock_world();
            let github = world.github();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let issue = github.issues(repo).next().unwrap();
            assert_eq!(issue.labels, [] as [&str; 0], "{context}: its label is off");
            assert_eq!(issue.reactions.len(), 1, "{context}: it was seen");
            let comments: Vec<_> = github.comments(repo, issue.number).collect();
            assert_eq!(comments.len(), 1, "{context}: {comments:?}");
            assert!(
                comments[0].body.contains(" is open since"),
                "{context}: {}",
                comments[0].body
            );
        },
    });
}

#[test]
fn a_killed_merge_by_label_is_merged_once_and_told() {
    kill_at_each_request(&Play {
        name: "merge by label",
        personas: &["curator"],
        requested: &[],
        plan: "[defaults]\nmerge = \"green\"\n[budget]\nmax_open_pulls = 1\ndaily_sessions = 1\n",
        files: &[],
        turns: None,
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
            tick(shared, "settled");
            let mut world = shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let head = github.pull(repo, 1).unwrap().head.oid;
            let by = "github-actions[bot]";
            github.set_checks(repo, head, "build", Some("success"), by, now);
            github.review_pull(repo, 1, Verdict::Approve, "", "maintainer", now);
            github.add_label(repo, 1, "phileas:merge", "maintainer", now);
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["merged"]);
            let world = shared.lock_world();
            let github = world.github();
            let repo = github
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            let merges = world.books().github_writes.iter();
            let merges = merges.filter(|write| write.what == "pull.merged");
            assert_eq!(merges.count(), 1, "{context}");
            let labels = &github.pull(repo, 1).unwrap().labels;
            assert_eq!(labels, &[] as &[&str], "{context}: its label is off");
            let comments: Vec<_> = github.comments(repo, 1).collect();
            assert_eq!(comments.len(), 1, "{context}: {comments:?}");
            assert!(
                comments[0].body.contains("was merged"),
                "{context}: {}",
                comments[0].body
            );
        },
    });
}

/// What an observer wrote is imported in the commit that ends its turn and announces the decider.
#[test]
fn a_killed_import_is_made_once_and_whole() {
    kill_at_each_request(&Play {
        name: "import of a layer and dispatch of the next one",
        personas: &[],
        requested: &[],
        plan: "[tracks.layers]\nsteps = [\"layer:observers\", \"layer:decider\"]\n",
        files: &[
            ("src/lib.rs", "//! A library.\n"),
            (
                ".jlo/config.toml",
                "version = 1\n[observers]\nroles = [\"errors\"]\n",
            ),
        ],
        turns: Some(2),
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["imported", "imported"]);
            imported(shared, context, &["observers/errors", "decider"]);
            let exchange_on_ledger = exchange_on_ledger(shared);
            let events = exchange_on_ledger
                .below(".jules/exchange/events/decided")
                .count();
            let work = exchange_on_ledger
                .below(".jules/exchange/requirements")
                .count();
            assert_eq!((events, work), (1, 1), "{context}: {exchange_on_ledger:?}");
            let found = phileas_domain::exchange::check_exchange(&exchange_on_ledger).diagnostics;
            assert_eq!(found, [], "{context}: nothing is half written");
        },
    });
}

/// That a proposal becomes an issue is written down before the issue is opened.
#[test]
fn killed_proposals_become_one_issue_each() {
    kill_at_each_request(&Play {
        name: "import and publication of proposals",
        personas: &[],
        requested: &[],
        plan: "[tracks.layers]\nsteps = [\"layer:innovators\"]\n",
        files: &[
            ("src/lib.rs", "//! A library.\n"),
            (
                ".jlo/config.toml",
                "version = 1\n[innovators]\nroles = [\"architect\"]\n",
            ),
        ],
        turns: Some(1),
        scenarios: Vec::new,
        prepare: |shared| {
            tick(shared, "prepared");
            pass_until(shared, "COMPLETED");
        },
        verdict: |shared, context| {
            outcomes(shared, context, &["imported"]);
            imported(shared, context, &["innovators/architect"]);
            let opened = {
                let world = shared.lock_world();
                let writes = world.books().github_writes.iter();
                writes.filter(|write| write.what == "issue.opened").count()
            };
            assert_eq!(opened, 3, "{context}: one issue a proposal");
            let exchange_on_ledger = exchange_on_ledger(shared);
            let left = exchange_on_ledger
                .below(".jules/exchange/proposals")
                .count();
            assert_eq!(left, 0, "{context}: {exchange_on_ledger:?}");
        },
    });
}

/// Each layer's work is brought in by exactly one commit, and that commit ends its turn.
#[track_caller]
fn imported(shared: &SharedWorld, context: &str, authors: &[&str]) {
    let world = shared.lock_world();
    let github = world.github();
    let repo = github
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    let head = github.branch_head(repo, "jules").unwrap();
    // What is on the branch counts; a commit that was made and lost its race does not.
    let objects = github.objects(repo).unwrap();
    let subjects: Vec<String> = objects
        .commit_history(head)
        .into_iter()
        .filter_map(|oid| objects.commit(oid))
        .map(|commit| commit.message.lines().next().unwrap_or_default().to_owned())
        .collect();
    for author in authors {
        let import = format!("import {author} ");
        let by: Vec<_> = subjects
            .iter()
            .filter(|one| one.contains(&import))
            .collect();
        assert_eq!(by.len(), 1, "{context}: {author}: {subjects:?}");
        assert!(by[0].contains("settled "), "{context}: {by:?}");
    }
}

/// The exchange as it lies on the branch.
fn exchange_on_ledger(shared: &SharedWorld) -> Tree {
    let world = shared.lock_world();
    let github = world.github();
    let repo = github
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    let head = github.branch_head(repo, "jules").unwrap();
    let mut tree = Tree::new();
    for path in github.list_files(repo, head) {
        let bytes = github.read_file(repo, head, &path).unwrap();
        tree.insert_text(path, &String::from_utf8_lossy(&bytes));
    }
    tree
}

fn kill_at_each_request(play: &Play) {
    let whole = Stage::set(play, None);
    whole.victim().expect(0);
    let requests = whole.killer.requests();
    whole.come_to_rest(play.name);
    whole.judge(play, play.name);
    assert!(
        requests.len() >= 3,
        "{}: a tick of {requests:?} shows nothing",
        play.name
    );
    for at in 1..=requests.len() {
        for moment in [Moment::Before, Moment::After] {
            let context = format!(
                "{}: killed {moment:?} request {at}, {}",
                play.name,
                requests[at - 1]
            );
            let stage = Stage::set(play, Some((at, moment)));
            let before = stage.requests_in_books();
            let ended = stage.victim();
            assert!(ended.was_killed(), "{context}: {ended}");
            let done = at - usize::from(moment == Moment::Before);
            assert_eq!(
                stage.requests_in_books() - before,
                done,
                "{context}: the request has its effect or has it not"
            );
            stage.come_to_rest(&context);
            stage.judge(play, &context);
        }
    }
    print_line(&format!(
        "kill: {}: N = {} requests, {} kills; {}",
        play.name,
        requests.len(),
        2 * requests.len(),
        requests.join(", ")
    ));
}

/// A world, served, with a process that may be killed in it.
struct Stage {
    shared: SharedWorld,
    killer: Arc<Killer>,
    served: Served,
    _repository: Folder,
}

impl Stage {
    fn set(play: &Play, at: Option<(usize, Moment)>) -> Self {
        let cycle = match play.personas {
            [] => String::new(),
            personas => format!("cycle = {personas:?}\n"),
        };
        let repository = Folder::repository(&format!("{cycle}{}", play.plan), play.personas);
        for (path, text) in play.files {
            repository.write(path, text);
        }
        for id in play.requested {
            let prompt = format!("---\nid: {id}\nplan_approval: auto\n---\nDo the work of {id}.\n");
            repository.write(&format!(".jules/personas/{id}/prompt.md"), &prompt);
        }
        let shared = quiet_world(&repository, 7, (play.scenarios)());
        (play.prepare)(&shared);
        let killer = Arc::new(Killer::new(at));
        let served = Served::start(&shared, Some(Arc::clone(&killer) as _));
        Self {
            shared,
            killer,
            served,
            _repository: repository,
        }
    }

    fn victim(&self) -> Ended {
        Phileas::tick(&self.served)
            .held_by(&self.killer.victim)
            .run()
    }

    fn requests_in_books(&self) -> usize {
        self.shared.lock_world().books().requests.len()
    }

    /// Starts the program again, at once and then every quarter of an hour, until it has nothing left to do.
    fn come_to_rest(&self, context: &str) {
        Phileas::tick(&self.served).run().expect(0);
        for _ in 0..MOST_TICKS {
            self.shared.advance_time(MINUTE * GRACE_MINUTES);
            let ended = Phileas::tick(&self.served).run().expect(0);
            if ended.did_nothing() && judge::live_turns(&judge::state(&self.shared)) == 0 {
                return;
            }
        }
        panic!(
            "{context}: after {MOST_TICKS} ticks there is still work: {}",
            judge::state(&self.shared)
        );
    }

    fn judge(&self, play: &Play, context: &str) {
        let sessions = self.shared.lock_world().books().sessions.clone();
        let turns = one_session_a_turn(&sessions, &judge::state(&self.shared), context);
        let wanted = play.personas.len() + play.requested.len();
        assert_eq!(
            turns,
            play.turns.unwrap_or(wanted),
            "{context}: each persona has had its turn"
        );
        assert_eq!(
            sessions.len(),
            turns,
            "{context}: sessions without a marker"
        );
        (play.verdict)(&self.shared, context);
    }
}

#[track_caller]
fn outcomes(shared: &SharedWorld, context: &str, wanted: &[&str]) {
    let state = judge::state(shared);
    let found: Vec<&Value> = judge::history(&state)
        .into_iter()
        .map(|entry| &entry["outcome"])
        .collect();
    assert_eq!(found, wanted, "{context}");
}
