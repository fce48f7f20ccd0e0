//! `phileas simulate --repo`.

use super::bench::{bench, run};
use crate::support::Folder;

#[test]
fn sessions_that_were_stopped_hold_no_place_in_a_forecast() {
    let bench = bench();
    bench.tick();
    bench.run(&["tick", "--persona", "tester"]).done();
    let stopped = bench
        .run(&["pause", "--cancel-sessions", "--json"])
        .done()
        .lines();
    let archived = stopped.iter().filter(|line| line["archived"] == true);
    assert_eq!(archived.count(), 2, "{stopped:?}");
    bench.run(&["resume"]).done();
    let forecast = bench.run(&["simulate", "--json"]).done().lines();
    let summary = &forecast.last().unwrap()["summary"];
    assert!(
        summary["most_at_once"].as_u64() <= summary["max_active"].as_u64(),
        "{summary}"
    );
}

/// `GITHUB_REPOSITORY` names a repository, too.
#[test]
fn the_plan_on_github_is_not_taken_for_that_of_the_folder() {
    let bench = bench();
    let folder = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let within = |arguments: &[&str]| {
        let mut command = bench.program(arguments);
        command.current_dir(folder.path());
        run(command)
    };
    let named = "reads the plan of this folder";
    let shown = within(&["simulate"]).done();
    assert!(shown.err.contains(named), "{shown:?}");
    let shown = within(&["simulate", "."]).done();
    assert!(!shown.err.contains(named), "{shown:?}");
}
