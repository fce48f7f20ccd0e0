//! A plan that is edited while phileas runs: new times count from their commit on, as GitHub dates it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phileas::sandbox::{SharedWorld, Timeline, WorldSetup, world_setup};
use phileas_world::jules::Weights;
use phileas_world::maintainer::ReviewPolicy;

use crate::support::judge::made;

const PLAN: &str = ".jules/schedules.toml";

fn plan(cron: &str) -> String {
    format!("[schedules]\nauditor = \"{cron}\"\n\n[defaults]\nskip_unchanged = false\n")
}

/// Runs from the 5th to the 7th. At an instant the plan gets other times, by a commit that is dated as said. Answers with
/// the hours at which sessions started.
fn starts(cron: &str, edited_at: &str, committed_at: &str) -> Vec<String> {
    let at = |text: &str| -> Timestamp { text.parse().unwrap() };
    let (edited_at, committed_at) = (at(edited_at), at(committed_at));
    let mut setup = WorldSetup::new(11);
    setup.texts = BTreeMap::from([(PLAN.to_owned(), plan("0 9 * * *"))]);
    setup.review_policy = ReviewPolicy::eager();
    setup.jules.asks = 0.0;
    setup.jules.weights = Weights::only_changes();
    let (world, repo) = setup.build_world().unwrap();
    let shared = SharedWorld::new(world);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let span = edited_at.duration_since(shared.world_time());
        let mut days = Timeline::new(shared.clone(), world_setup::repository_name(), span, 11);
        while days.next().await.is_some() {}
        {
            let mut world = shared.lock_world();
            let github = world.github_mut();
            let head = github.branch_head(repo, "main");
            let files = [(PLAN.to_owned(), Some(plan(cron).into()))];
            let edit = github.commit_files(repo, head, &files, "maintainer", "Plan", committed_at);
            github.move_branch(repo, "main", edit, "maintainer", edited_at);
        }
        days.go_on_until(at("2026-01-07T08:45:00Z"));
        while days.next().await.is_some() {}
    });
    let books = shared.lock_world().complete_books();
    let made = made(&books.sessions);
    let hours = made
        .iter()
        .map(|one| one.at.strftime("%d %H:%M").to_string());
    hours.collect()
}

#[test]
fn an_edited_schedule_fires_for_no_slot_before_its_commit() {
    let half_past_eight = "2026-01-06T08:30:00Z";
    let at_once = starts("0 8 * * *", half_past_eight, half_past_eight);
    assert_eq!(at_once, ["05 09:00", "07 08:00"]);
    // A commit that was made the evening before is pushed only now; each hour's tick has seen the old times.
    let pushed_late = starts("0 7 * * *", half_past_eight, "2026-01-05T20:00:00Z");
    assert_eq!(pushed_late, ["05 09:00", "07 07:00"]);
    // Its slot lies between the last tick before the push and the push.
    let between = starts("15 8 * * *", half_past_eight, "2026-01-05T20:00:00Z");
    assert_eq!(between, ["05 09:00", "07 08:15"]);
    let later = starts("0 10 * * *", half_past_eight, half_past_eight);
    assert_eq!(later, ["05 09:00", "06 10:00"]);
}
