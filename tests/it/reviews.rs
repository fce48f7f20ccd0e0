//! A writer hands what reviewers want changed back to the session whose pull request it is: on the models, by the
//! program's own process.

use phileas::sandbox::SharedWorld;
use phileas_world::github::{LineRemark, Verdict};

use crate::support::books::{counted, messages};
use crate::support::judge::repo;
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::{Folder, Served, judge};

const PULL: u64 = 1;

/// A user comments on a line, and the answer is the thread.
fn remarks(shared: &SharedWorld, path: &str, body: &str, who: &str) -> u64 {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let remark = LineRemark {
        path: path.to_owned(),
        line: Some(7),
        body: body.to_owned(),
        in_reply_to: None,
    };
    world
        .github_mut()
        .comment_line(repo, PULL, remark, who, now)
}

fn asks_for_changes(shared: &SharedWorld, body: &str, who: &str) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    let verdict = Verdict::RequestChanges;
    let github = world.github_mut();
    github.review_pull(repo, PULL, verdict, body, who, now);
}

fn comment(shared: &SharedWorld, body: &str, who: &str) {
    let repo = repo(shared);
    let mut world = shared.lock_world();
    let now = world.now();
    world.github_mut().comment(repo, PULL, body, who, now);
}

/// What phileas says on the pull request.
fn status(shared: &SharedWorld) -> String {
    let repo = repo(shared);
    let world = shared.lock_world();
    let of_ours = |body: &&str| body.contains("**phileas**");
    let comments = world.github().comments(repo, PULL);
    let bodies: Vec<&str> = comments.map(|one| one.body.as_str()).collect();
    bodies.into_iter().find(of_ours).unwrap().to_owned()
}

#[test]
fn reviews_are_handed_back_when_a_writer_asks_and_only_what_writers_say() {
    let plan = "cycle = [\"curator\"]\n[budget]\nmax_open_pulls = 1\n";
    let repository = Folder::repository(plan, &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    tick(&shared, "prepared");
    pass_until(&shared, "COMPLETED");
    tick(&shared, "settled");
    shared.advance_time(MINUTE * 10);
    let served = Served::start(&shared, None);

    remarks(&shared, "src/a.rs", "Name it `count`.", "maintainer");
    let settled = remarks(&shared, "src/b.rs", "Drop this.", "maintainer");
    let repo = repo(&shared);
    shared
        .lock_world()
        .github_mut()
        .resolve_line(repo, PULL, settled);
    remarks(&shared, "src/c.rs", "Print the key.", "outsider");
    asks_for_changes(&shared, "Too long a function.", "maintainer");
    assert_eq!(
        counted(&shared, &served),
        (1, 0),
        "reviews that are not sent on cost nothing more"
    );

    comment(&shared, "/phileas retry", "outsider");
    counted(&shared, &served);
    assert_eq!(messages(&shared), [] as [&str; 0]);

    comment(&shared, "/phileas retry", "maintainer");
    counted(&shared, &served);
    let said = messages(&shared);
    assert_eq!(said.len(), 1, "{}", status(&shared));
    for part in [
        "on src/a.rs:7:\n- maintainer: Name it `count`.",
        "on the pull request as a whole:\n- maintainer: Too long a function.",
    ] {
        assert!(said[0].contains(part), "{part}: {}", said[0]);
    }
    for gone in ["Drop this", "Print the key"] {
        assert!(!said[0].contains(gone), "{gone}: {}", said[0]);
    }
    assert!(
        status(&shared).contains("its session was told what its reviewers want changed"),
        "{}",
        status(&shared)
    );
    let state = judge::state(&shared);
    assert_eq!(state["pulls"]["1"]["review_rounds"], 1, "{state}");
    assert_eq!(shared.lock_world().books().sessions.len(), 1);

    shared.advance_time(MINUTE);
    pass_until(&shared, "COMPLETED");
    // What an unauthorized user said is written down as heard after an hour.
    shared.advance_time(MINUTE * 70);
    counted(&shared, &served);
    assert_eq!(counted(&shared, &served), (1, 0), "it is said once");
    assert_eq!(messages(&shared).len(), 1);
}
