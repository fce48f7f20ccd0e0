//! What must hold before a pull request is merged: each gate by itself, with its allowed twin.

use phileas_domain::engine::{
    Checks, MergeMethod, MergeStands, Mergeable, Opinion, PullState, Reason, ReviewDemand,
};

use super::{GREEN, PULL, asked, facts, is_merged, opinion, refused, reviewed};
use crate::desk::Desk;

/// As many approvals by strangers, the last of them by somebody who may write.
fn approvals(count: usize) -> Vec<Opinion> {
    let strangers = (1..count).map(|number| opinion(&format!("stranger-{number}"), true));
    strangers.chain([opinion("eve", true)]).collect()
}

/// The first check that ends well is not the last one that begins.
#[test]
fn green_is_not_yet_green_right_after_a_commit() {
    for (age, merged) in [(1, false), (2, true)] {
        let mut desk = reviewed(GREEN);
        facts(&mut desk).committed_at = Some(desk.now);
        desk.minutes(age);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        assert_eq!(
            desk.pulls[&PULL].state == PullState::Merged,
            merged,
            "{age}"
        );
        assert_eq!(desk.all_reasons().contains(&Reason::ChecksRunning), !merged);
    }
}

#[test]
fn r18_one_condition_that_fails_is_enough() {
    type Change = fn(&mut Desk);
    let cases: [(&str, Change, Reason); 22] = [
        (
            "red",
            |desk| facts(desk).checks = Checks::Red,
            Reason::ChecksNotGreen,
        ),
        (
            "seen red",
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Red,
            Reason::ChecksNotGreen,
        ),
        (
            "draft",
            |desk| facts(desk).draft = true,
            Reason::NotMergeable,
        ),
        (
            "base",
            |desk| facts(desk).base = "next".into(),
            Reason::NotMergeable,
        ),
        (
            "fork",
            |desk| facts(desk).same_repository = false,
            Reason::Fork,
        ),
        (
            "pushed",
            |desk| facts(desk).head = "01".into(),
            Reason::ContentChanged,
        ),
        (
            "conflict",
            |desk| facts(desk).stands = MergeStands::Conflicting,
            Reason::NotMergeable,
        ),
        (
            "seen behind",
            |desk| desk.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Behind,
            Reason::NotMergeable,
        ),
        (
            "blocked",
            |desk| facts(desk).stands = MergeStands::Blocked,
            Reason::NotMergeable,
        ),
        (
            "no way",
            |desk| facts(desk).method = None,
            Reason::NotMergeable,
        ),
        (
            "closed",
            |desk| facts(desk).state = PullState::Closed,
            Reason::SubjectClosed,
        ),
        (
            "gone",
            |desk| {
                desk.facts.remove(&PULL);
            },
            Reason::SubjectClosed,
        ),
        (
            "nobody approves",
            |desk| facts(desk).opinions = Some(Vec::new()),
            Reason::ReviewMissing,
        ),
        (
            "an older commit was approved",
            |desk| {
                let older = Opinion {
                    commit: Some("99".into()),
                    ..opinion("eve", true)
                };
                facts(desk).opinions = Some(vec![older]);
            },
            Reason::ReviewMissing,
        ),
        (
            "a stranger approves",
            |desk| facts(desk).opinions = Some(vec![opinion("stranger", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a bot approves",
            |desk| facts(desk).opinions = Some(vec![opinion("eve[bot]", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a writer asks for changes",
            |desk| {
                let both = vec![opinion("eve", true), opinion("ada", false)];
                facts(desk).opinions = Some(both);
            },
            Reason::ReviewMissing,
        ),
        (
            "the branch asks for more",
            |desk| facts(desk).demand = ReviewDemand::Missing,
            Reason::ReviewMissing,
        ),
        (
            "too many reviews",
            |desk| facts(desk).opinions = None,
            Reason::ReviewMissing,
        ),
        (
            "more reviewers than are looked at",
            |desk| facts(desk).opinions = Some(approvals(21)),
            Reason::ReviewMissing,
        ),
        (
            "a workflow",
            |desk| {
                let files = ["src/main.rs", ".github/workflows/ci.yml"];
                facts(desk).files = Some(files.map(str::to_owned).to_vec());
            },
            Reason::ProtectedPath,
        ),
        (
            "too many files",
            |desk| facts(desk).files = None,
            Reason::ProtectedPath,
        ),
    ];
    for (name, change, reason) in cases {
        let mut desk = reviewed(GREEN);
        desk.label(PULL.0, "merge", "ada");
        change(&mut desk);
        desk.tick();
        // What may only not have arrived is waited for.
        if reason == Reason::ReviewMissing || name == "blocked" {
            assert!(!is_merged(&desk), "{name}");
            assert!(
                desk.reasons("request:1").contains(&Reason::MergeNotYet),
                "{name}"
            );
            desk.minutes(15);
            desk.tick();
        }
        refused(&mut desk, reason, name);
    }
    let own = "[gate]\nprotected_paths = [\"src/**\"]\n";
    let mut desk = reviewed(&format!("{GREEN}{own}"));
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    refused(&mut desk, Reason::ProtectedPath, "a path of the plan");
}

/// The allowed twins of what looks like one of the above.
#[test]
fn r18_what_only_looks_like_an_obstacle_is_none() {
    type Change = fn(&mut Desk);
    let cases: [(&str, Change); 9] = [
        (
            "the first read shows an older commit, which was red",
            |desk| {
                let pull = desk.pulls.get_mut(&PULL).unwrap();
                pull.head_oid = "99".into();
                pull.checks = Checks::Red;
            },
        ),
        ("a stranger asks for changes", |desk| {
            let both = vec![opinion("stranger", false), opinion("eve", true)];
            facts(desk).opinions = Some(both);
        }),
        ("a bot asks for changes", |desk| {
            let both = vec![opinion("x[bot]", false), opinion("eve", true)];
            facts(desk).opinions = Some(both);
        }),
        ("somebody who is gone approved, too", |desk| {
            let gone = Opinion {
                actor: None,
                ..opinion("x", true)
            };
            facts(desk).opinions = Some(vec![gone, opinion("eve", true)]);
        }),
        ("who asks approves", |desk| {
            facts(desk).opinions = Some(vec![opinion("ada", true)]);
        }),
        ("as many reviewers as are looked at", |desk| {
            facts(desk).opinions = Some(approvals(20));
        }),
        ("a journal", |desk| {
            let journal = ".jules/personas/a/journals/1.md".to_owned();
            facts(desk).files = Some(vec![journal]);
        }),
        ("a merge commit", |desk| {
            facts(desk).method = Some(MergeMethod::Merge)
        }),
        ("GitHub knew nothing at first", |desk| {
            desk.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Unknown;
        }),
    ];
    for (name, change) in cases {
        let mut desk = reviewed(GREEN);
        desk.label(PULL.0, "merge", "ada");
        change(&mut desk);
        desk.tick();
        assert!(is_merged(&desk), "{name}: {:?}", desk.lines);
    }
}

#[test]
fn r18_merging_is_off_unless_the_plan_says_green() {
    let off = GREEN.replace("green", "off");
    let unsaid = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    for plan in [&off, unsaid] {
        let mut desk = reviewed(plan);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        refused(&mut desk, Reason::MergeOff, plan);
    }
    let step = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = reviewed(step);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(is_merged(&desk));
}

#[test]
fn r18_it_waits_for_checks_for_hold_and_for_github_and_goes_on_by_itself() {
    type Change = fn(&mut Desk);
    let cases: [(Change, Change, Reason); 5] = [
        (
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending,
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green,
            Reason::ChecksRunning,
        ),
        (
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::None,
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green,
            Reason::ChecksRunning,
        ),
        (
            |desk| {
                desk.label(PULL.0, "hold", "ada");
            },
            |desk| desk.unlabel(PULL.0, "phileas:hold"),
            Reason::SubjectHeld,
        ),
        (
            |desk| {
                facts(desk).labels.insert("hold".to_owned());
            },
            |desk| facts(desk).labels.clear(),
            Reason::SubjectHeld,
        ),
        (
            |desk| facts(desk).stands = MergeStands::Unknown,
            |desk| facts(desk).stands = MergeStands::Yes,
            Reason::MergeableUnknown,
        ),
    ];
    for (stop, go, reason) in cases {
        let mut desk = reviewed(GREEN);
        stop(&mut desk);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        assert!(!is_merged(&desk) && asked(&desk) == 0, "{reason}");
        assert!(desk.reasons("request:1").contains(&reason), "{reason}");
        assert!(desk.status(PULL.0).contains(reason.code()), "{reason}");
        assert!(!desk.bears(PULL.0).contains("merge"), "{reason}");
        go(&mut desk);
        desk.minutes(6);
        desk.tick();
        assert!(is_merged(&desk), "{reason}: {:?}", desk.lines);
    }
}

/// While the first read says not yet, nothing further is read.
#[test]
fn waiting_for_checks_costs_no_further_look() {
    let mut desk = reviewed(GREEN);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    let asked_about = desk.asked_about;
    for _ in 0..4 {
        desk.minutes(20);
        desk.tick();
        assert_eq!(desk.reasons("request:1"), [Reason::ChecksRunning]);
    }
    assert_eq!((desk.last_looks, desk.asked_about), (0, asked_about));
    desk.hours(24 * 7);
    desk.tick();
    refused(&mut desk, Reason::RequestOld, "a week");
}

#[test]
fn a_commit_without_checks_is_refused_when_none_has_begun_for_a_while() {
    let mut desk = reviewed(GREEN);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::None;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    desk.minutes(15);
    desk.tick();
    refused(&mut desk, Reason::ChecksNotGreen, "no checks");
}

#[test]
fn r28_nothing_is_merged_while_everything_is_paused() {
    let mut desk = reviewed(GREEN);
    desk.paused_by_variable = Some("1".to_owned());
    desk.label(PULL.0, "merge", "ada");
    for _ in 0..3 {
        desk.tick();
        assert!(!is_merged(&desk));
        assert!(desk.reasons("request:1").contains(&Reason::PausedVariable));
        desk.minutes(20);
    }
    desk.paused_by_variable = None;
    desk.tick();
    assert!(is_merged(&desk));

    let mut desk = reviewed(GREEN);
    let mut state = desk.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    track.paused = Some(phileas_domain::state::Pause::default());
    desk.set_state(state);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(!is_merged(&desk));
    assert!(desk.reasons("request:1").contains(&Reason::PausedTrack));
}

#[test]
fn who_only_observes_merges_nothing_and_looks_at_nothing() {
    let mut desk = reviewed(GREEN);
    let observe = GREEN.replace("[defaults]", "[defaults]\nmode = \"observe\"");
    desk.files
        .insert(".jules/schedules.toml".to_owned(), observe);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(!is_merged(&desk));
    assert_eq!((asked(&desk), desk.last_looks), (0, 0));
}

#[test]
fn a_track_that_is_only_observed_is_not_merged() {
    let plan = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = reviewed(plan);
    let observed = plan.replace("steps =", "mode = \"observe\"\nsteps =");
    desk.files
        .insert(".jules/schedules.toml".to_owned(), observed);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    refused(&mut desk, Reason::MergeOff, "observed");
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
        let mut desk = reviewed(GREEN);
        facts(&mut desk).files = Some(vec![path.to_owned()]);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        refused(&mut desk, Reason::ProtectedPath, path);
    }
}
