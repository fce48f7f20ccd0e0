//! Tests each gate of a merge, with its allowed counterpart.

use phileas_domain::engine::{
    Checks, MergeMethod, MergeStatus, Mergeable, Opinion, PullState, Reason, ReviewDemand,
};

use super::{GREEN, PULL, facts, is_merged, merge_count, opinion, refused, reviewed};
use crate::support::scenario::Scenario;

/// Many approvals by unauthorized users, and the last by a writer.
fn approvals(count: usize) -> Vec<Opinion> {
    let outsiders = (1..count).map(|number| opinion(&format!("outsider-{number}"), true));
    outsiders.chain([opinion("eve", true)]).collect()
}

/// The first check that ends well is not the last one that begins.
#[test]
fn green_is_not_yet_green_right_after_a_commit() {
    for (age, merged) in [(1, false), (2, true)] {
        let mut scenario = reviewed(GREEN);
        facts(&mut scenario).committed_at = Some(scenario.now);
        scenario.minutes(age);
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        assert_eq!(
            scenario.pulls[&PULL].state == PullState::Merged,
            merged,
            "{age}"
        );
        assert_eq!(
            scenario.all_reasons().contains(&Reason::ChecksRunning),
            !merged
        );
    }
}

#[test]
fn r18_one_condition_that_fails_is_enough() {
    type Change = fn(&mut Scenario);
    let cases: [(&str, Change, Reason); 22] = [
        (
            "red",
            |scenario| facts(scenario).checks = Checks::Failed,
            Reason::ChecksNotGreen,
        ),
        (
            "seen red",
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Failed,
            Reason::ChecksNotGreen,
        ),
        (
            "draft",
            |scenario| facts(scenario).draft = true,
            Reason::NotMergeable,
        ),
        (
            "base",
            |scenario| facts(scenario).base = "next".into(),
            Reason::NotMergeable,
        ),
        (
            "fork",
            |scenario| facts(scenario).same_repository = false,
            Reason::Fork,
        ),
        (
            "pushed",
            |scenario| facts(scenario).head = "01".into(),
            Reason::ContentChanged,
        ),
        (
            "conflict",
            |scenario| facts(scenario).status = MergeStatus::Conflicting,
            Reason::NotMergeable,
        ),
        (
            "seen behind",
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Behind,
            Reason::NotMergeable,
        ),
        (
            "blocked",
            |scenario| facts(scenario).status = MergeStatus::Blocked,
            Reason::NotMergeable,
        ),
        (
            "no way",
            |scenario| facts(scenario).method = None,
            Reason::NotMergeable,
        ),
        (
            "closed",
            |scenario| facts(scenario).state = PullState::Closed,
            Reason::SubjectClosed,
        ),
        (
            "gone",
            |scenario| {
                scenario.facts.remove(&PULL);
            },
            Reason::SubjectClosed,
        ),
        (
            "no user approves",
            |scenario| facts(scenario).opinions = Some(Vec::new()),
            Reason::ReviewMissing,
        ),
        (
            "an older commit was approved",
            |scenario| {
                let older = Opinion {
                    commit: Some("99".into()),
                    ..opinion("eve", true)
                };
                facts(scenario).opinions = Some(vec![older]);
            },
            Reason::ReviewMissing,
        ),
        (
            "an unauthorized user approves",
            |scenario| facts(scenario).opinions = Some(vec![opinion("outsider", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a bot approves",
            |scenario| facts(scenario).opinions = Some(vec![opinion("eve[bot]", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a writer asks for changes",
            |scenario| {
                let both = vec![opinion("eve", true), opinion("ada", false)];
                facts(scenario).opinions = Some(both);
            },
            Reason::ReviewMissing,
        ),
        (
            "the branch asks for more",
            |scenario| facts(scenario).demand = ReviewDemand::Missing,
            Reason::ReviewMissing,
        ),
        (
            "too many reviews",
            |scenario| facts(scenario).opinions = None,
            Reason::ReviewMissing,
        ),
        (
            "more reviewers than are looked at",
            |scenario| facts(scenario).opinions = Some(approvals(21)),
            Reason::ReviewMissing,
        ),
        (
            "a workflow",
            |scenario| {
                let files = ["src/main.rs", ".github/workflows/ci.yml"];
                facts(scenario).files = Some(files.map(str::to_owned).to_vec());
            },
            Reason::ProtectedPath,
        ),
        (
            "too many files",
            |scenario| facts(scenario).files = None,
            Reason::ProtectedPath,
        ),
    ];
    for (name, change, reason) in cases {
        let mut scenario = reviewed(GREEN);
        scenario.label(PULL.0, "merge", "ada");
        change(&mut scenario);
        scenario.tick();
        // What may only not have arrived is waited for.
        if reason == Reason::ReviewMissing || name == "blocked" {
            assert!(!is_merged(&scenario), "{name}");
            assert!(
                scenario.reasons("request:1").contains(&Reason::MergeNotYet),
                "{name}"
            );
            scenario.minutes(15);
            scenario.tick();
        }
        refused(&mut scenario, reason, name);
    }
    let own = "[gate]\nprotected_paths = [\"src/**\"]\n";
    let mut scenario = reviewed(&format!("{GREEN}{own}"));
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    refused(&mut scenario, Reason::ProtectedPath, "a path of the plan");
}

/// The allowed counterparts of the cases above.
#[test]
fn r18_apparent_obstacles_do_not_block_a_merge() {
    type Change = fn(&mut Scenario);
    let cases: [(&str, Change); 9] = [
        (
            "the first read shows an older commit, which was red",
            |scenario| {
                let pull = scenario.pulls.get_mut(&PULL).unwrap();
                pull.head_oid = "99".into();
                pull.checks = Checks::Failed;
            },
        ),
        ("an unauthorized user asks for changes", |scenario| {
            let both = vec![opinion("outsider", false), opinion("eve", true)];
            facts(scenario).opinions = Some(both);
        }),
        ("a bot asks for changes", |scenario| {
            let both = vec![opinion("x[bot]", false), opinion("eve", true)];
            facts(scenario).opinions = Some(both);
        }),
        ("a deleted user approved, too", |scenario| {
            let gone = Opinion {
                actor: None,
                ..opinion("x", true)
            };
            facts(scenario).opinions = Some(vec![gone, opinion("eve", true)]);
        }),
        ("who asks approves", |scenario| {
            facts(scenario).opinions = Some(vec![opinion("ada", true)]);
        }),
        ("as many reviewers as are looked at", |scenario| {
            facts(scenario).opinions = Some(approvals(20));
        }),
        ("a journal", |scenario| {
            let journal = ".jules/personas/a/journals/1.md".to_owned();
            facts(scenario).files = Some(vec![journal]);
        }),
        ("a merge commit", |scenario| {
            facts(scenario).method = Some(MergeMethod::Merge)
        }),
        ("GitHub knew nothing at first", |scenario| {
            scenario.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Unknown;
        }),
    ];
    for (name, change) in cases {
        let mut scenario = reviewed(GREEN);
        scenario.label(PULL.0, "merge", "ada");
        change(&mut scenario);
        scenario.tick();
        assert!(is_merged(&scenario), "{name}: {:?}", scenario.lines);
    }
}

#[test]
fn r18_merging_is_off_unless_the_plan_says_green() {
    let off = GREEN.replace("green", "off");
    let unsaid = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    for plan in [&off, unsaid] {
        let mut scenario = reviewed(plan);
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        refused(&mut scenario, Reason::MergeOff, plan);
        let status = scenario.status(PULL.0);
        assert!(
            status.contains("write that under `[defaults]` or in its track, and ask again"),
            "{status}"
        );
    }
    let step = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut scenario = reviewed(step);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(is_merged(&scenario));
}

#[test]
fn r18_it_waits_for_checks_for_hold_and_for_github_and_goes_on_by_itself() {
    type Change = fn(&mut Scenario);
    let cases: [(Change, Change, Reason); 5] = [
        (
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending,
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Passed,
            Reason::ChecksRunning,
        ),
        (
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::None,
            |scenario| scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Passed,
            Reason::ChecksRunning,
        ),
        (
            |scenario| {
                scenario.label(PULL.0, "hold", "ada");
            },
            |scenario| scenario.unlabel(PULL.0, "phileas:hold"),
            Reason::SubjectHeld,
        ),
        (
            |scenario| {
                facts(scenario).labels.insert("hold".to_owned());
            },
            |scenario| facts(scenario).labels.clear(),
            Reason::SubjectHeld,
        ),
        (
            |scenario| facts(scenario).status = MergeStatus::Unknown,
            |scenario| facts(scenario).status = MergeStatus::Yes,
            Reason::MergeableUnknown,
        ),
    ];
    for (stop, go, reason) in cases {
        let mut scenario = reviewed(GREEN);
        stop(&mut scenario);
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        assert!(
            !is_merged(&scenario) && merge_count(&scenario) == 0,
            "{reason}"
        );
        assert!(scenario.reasons("request:1").contains(&reason), "{reason}");
        assert!(scenario.status(PULL.0).contains(reason.code()), "{reason}");
        assert!(!scenario.bears(PULL.0).contains("merge"), "{reason}");
        go(&mut scenario);
        scenario.minutes(6);
        scenario.tick();
        assert!(is_merged(&scenario), "{reason}: {:?}", scenario.lines);
    }
}

/// While the first read forbids it, nothing more is read.
#[test]
fn waiting_for_checks_costs_no_further_look() {
    let mut scenario = reviewed(GREEN);
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    let asked_about = scenario.permission_reads;
    for _ in 0..4 {
        scenario.minutes(20);
        scenario.tick();
        assert_eq!(scenario.reasons("request:1"), [Reason::ChecksRunning]);
    }
    assert_eq!(
        (scenario.last_looks, scenario.permission_reads),
        (0, asked_about)
    );
    scenario.hours(24 * 7);
    scenario.tick();
    refused(&mut scenario, Reason::RequestOld, "a week");
}

#[test]
fn a_commit_without_checks_is_refused_when_none_has_begun_for_a_while() {
    let mut scenario = reviewed(GREEN);
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::None;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    scenario.minutes(15);
    scenario.tick();
    refused(&mut scenario, Reason::ChecksNotGreen, "no checks");
}

#[test]
fn r28_nothing_is_merged_while_everything_is_paused() {
    let mut scenario = reviewed(GREEN);
    scenario.paused_by_variable = Some("1".to_owned());
    scenario.label(PULL.0, "merge", "ada");
    for _ in 0..3 {
        scenario.tick();
        assert!(!is_merged(&scenario));
        assert!(
            scenario
                .reasons("request:1")
                .contains(&Reason::PausedVariable)
        );
        scenario.minutes(20);
    }
    scenario.paused_by_variable = None;
    scenario.tick();
    assert!(is_merged(&scenario));

    let mut scenario = reviewed(GREEN);
    let mut state = scenario.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    track.paused = Some(phileas_domain::state::Pause::default());
    scenario.set_state(state);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(!is_merged(&scenario));
    assert!(scenario.reasons("request:1").contains(&Reason::PausedTrack));
}

#[test]
fn an_observer_merges_nothing_and_reads_nothing_for_it() {
    let mut scenario = reviewed(GREEN);
    let observe = GREEN.replace("[defaults]", "[defaults]\nmode = \"observe\"");
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), observe);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(!is_merged(&scenario));
    assert_eq!((merge_count(&scenario), scenario.last_looks), (0, 0));
}

#[test]
fn a_track_that_is_only_observed_is_not_merged() {
    let plan = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut scenario = reviewed(plan);
    let observed = plan.replace("steps =", "mode = \"observe\"\nsteps =");
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), observed);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    refused(&mut scenario, Reason::MergeOff, "observed");
    let status = scenario.status(PULL.0);
    assert!(status.contains("`mode` is \"observe\" for it"), "{status}");
}

/// What steers other programs than GitHub's own is a person's as well.
#[test]
fn r18_what_steers_editors_agents_and_other_ci_is_protected() {
    for path in [
        ".circleci/config.yml",
        ".gitlab-ci.yml",
        "ci/Jenkinsfile",
        ".claude/settings.json",
        ".cursor/rules/a.mdc",
        ".devcontainer/devcontainer.json",
        ".husky/pre-commit",
        "web/.npmrc",
        ".cargo/config.toml",
        "bun.lockb",
        "ios/Podfile.lock",
        "gradle.lockfile",
        "packages.lock.json",
    ] {
        let mut scenario = reviewed(GREEN);
        facts(&mut scenario).files = Some(vec![path.to_owned()]);
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        refused(&mut scenario, Reason::ProtectedPath, path);
    }
}
