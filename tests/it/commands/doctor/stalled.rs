//! What stands still, and what was not reported.

use jiff::SignedDuration;
use phileas_domain::state::codec;

use super::patient::{Patient, findings, found_in, healthy, not_found_in, table};

#[test]
fn deliveries() {
    table(&[
        (
            |p| p.delivered(500),
            "deliveries.failing",
            "error",
            "the answer was 500",
            1,
        ),
        (
            |p| {
                p.delivered(502);
                p.delivered(202);
            },
            "deliveries.failing",
            "hint",
            "did not arrive",
            0,
        ),
        (
            |p| p.delivered(None),
            "deliveries.failing",
            "error",
            "did not arrive",
            1,
        ),
        (
            |p| p.world(|github, repo, _| github.set_hooks(repo, false, "json")),
            "deliveries.off",
            "hint",
            "is off",
            0,
        ),
        (
            |p| p.world(|github, repo, _| github.set_hooks(repo, true, "form")),
            "deliveries.form",
            "error",
            "`form`",
            1,
        ),
    ]);
    // With the service's address, only its webhook is checked.
    for (public, ours) in [
        ("http://sandbox.invalid", true),
        ("https://elsewhere.example", false),
    ] {
        let mut patient = healthy();
        patient.delivered(500);
        patient.set_variable("PHILEAS_PUBLIC_URL", public);
        if ours {
            let failing = ("deliveries.failing", "error", "sandbox.invalid", 1);
            found_in(&patient, failing);
        } else {
            not_found_in(&patient, "deliveries.failing");
        }
    }
}

#[test]
fn what_stands_still_and_what_waits() {
    fn stopped(patient: &mut Patient) {
        patient.bench.run(&["pause", "--cancel-sessions"]).done();
    }
    table(&[
        (stopped, "status.paused", "hint", "paused by", 0),
        (
            |p| {
                p.bench
                    .run(&["track", "pause", "default", "--reason", "release week"])
                    .done();
            },
            "status.paused",
            "hint",
            "release week",
            0,
        ),
        (
            |p| {
                p.world(|github, repo, now| {
                    let number = github.open_issue(repo, "Stop", "", &[], "maintainer", now);
                    github.add_label(repo, number, "phileas:pause", "maintainer", now);
                })
            },
            "status.paused",
            "hint",
            "by maintainer, by the label",
            0,
        ),
        (
            |p| p.world(|github, repo, now| github.set_variable(repo, "PHILEAS_PAUSED", "1", now)),
            "status.paused",
            "hint",
            "variable PHILEAS_PAUSED",
            0,
        ),
        (
            |p| p.set_variable("PHILEAS_CLOCK_MAY_DIFFER", "maybe"),
            "status.clock",
            "error",
            "PHILEAS_CLOCK_MAY_DIFFER: `maybe` is not a switch",
            1,
        ),
        (
            |p| p.set_variable("PHILEAS_PAUSED", "until Monday"),
            "status.paused",
            "hint",
            "is set here",
            0,
        ),
        (
            |p| p.set_variable("PHILEAS_PAUSED", "yes"),
            "status.paused",
            "hint",
            "is set here",
            0,
        ),
        (
            |p| {
                p.bench.write_ledger("{ broken");
                p.bench.run(&["tick"]);
            },
            "status.notice",
            "hint",
            "wants a person",
            1,
        ),
        (
            |p| p.push("jules", ".jules/.phileas-version", Some("0.0.1\n")),
            "status.version",
            "hint",
            "0.0.1",
            0,
        ),
        (
            |p| p.bench.shared.lock_world().knobs_mut().date_skew_seconds = 600,
            "status.clock",
            "hint",
            "behind GitHub's",
            0,
        ),
        (
            |p| p.bench.shared.lock_world().knobs_mut().date_skew_seconds = -600,
            "status.clock",
            "hint",
            "ahead of GitHub's",
            0,
        ),
    ]);
    // A model has a time of its own, and this machine's clock is not to be set by it.
    let model = healthy();
    model
        .bench
        .shared
        .lock_world()
        .knobs_mut()
        .date_skew_seconds = 600;
    let found = findings(&model.run(&["--json"]).done());
    let clock = found
        .iter()
        .find(|one| one["id"] == "status.clock")
        .unwrap();
    let help = clock["help"].as_str().unwrap();
    assert!(
        help.contains("GITHUB_API_URL") && !help.contains("timedatectl"),
        "{help}"
    );
    for (span, said) in [
        (SignedDuration::from_hours(3), true),
        (SignedDuration::from_hours(-3), false),
    ] {
        let patient = healthy();
        let mut state = patient.bench.state();
        let now = patient.bench.shared.lock_world().now();
        state.budget.paused_until = Some(now + span);
        patient.bench.write_ledger(&codec::save(&state));
        if said {
            found_in(&patient, ("status.spent", "hint", "the key is spent", 0));
        } else {
            not_found_in(&patient, "status.spent");
        }
    }
    let same = healthy();
    same.push(
        "jules",
        ".jules/.phileas-version",
        Some(concat!("v", env!("CARGO_PKG_VERSION"), "\n")),
    );
    let ran = same.run(&["--json"]).done();
    let found = findings(&ran);
    assert!(
        found
            .iter()
            .any(|one| one["id"] == "status.version" && one["grade"] == "ok"),
        "{ran:?}"
    );
}

#[test]
fn what_settings_forbid_is_said() {
    table(&[
        (
            |p| p.world(|github, repo, _| github.set_has_issues(repo, false)),
            "status.issues",
            "hint",
            "issues are switched off",
            0,
        ),
        (
            |p| p.world(|github, repo, _| github.set_pulls_by_collaborators(repo, true)),
            "status.pulls",
            "hint",
            "only collaborators",
            0,
        ),
        (
            |p| {
                p.world(|github, repo, now| {
                    let body = "Look\n\n<!-- phileas:notice:jules_credential -->\n";
                    let labels = ["phileas"];
                    let number = github.open_issue(repo, "A", body, &labels, "maintainer", now);
                    github.set_locked(repo, number, true);
                });
            },
            "status.locked",
            "hint",
            "is locked",
            0,
        ),
    ]);
}
