//! The same seed gives the same days; a dry run writes nothing.

use phileas_world::Face;

use crate::support::judge;
use crate::support::ticks::{MINUTE, pass_until, quiet_world, tick};
use crate::support::whole_days::headless;
use crate::support::{Folder, Phileas, Served};

/// What a run printed, and every file that it exported but git's own objects, which follow from the others.
fn run(seed: &str, more: &[&str]) -> (String, String, String) {
    let spent = headless(&[&["--until", "12h", "--seed", seed], more].concat());
    let read = |path: &str| std::fs::read_to_string(spent.export.join("out").join(path)).unwrap();
    (spent.ended.out, read("world.json"), read("git/packed-refs"))
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for more in [&[][..], &["--chaos"]] {
        let (out, world, refs) = run("11", more);
        let (out_again, world_again, refs_again) = run("11", more);
        assert!(out == out_again, "{more:?}: the output differs");
        assert!(world == world_again, "{more:?}: world.json differs");
        assert_eq!(refs, refs_again, "{more:?}");
        let (out_other, world_other, refs_other) = run("12", more);
        assert!(
            out != out_other && world != world_other && refs != refs_other,
            "{more:?}: the seed changes nothing"
        );
    }
}

/// Whatever a tick would do, a dry one only looks.
#[test]
fn a_dry_run_makes_no_write() {
    let repository = Folder::repository(
        "cycle = [\"curator\", \"refactor\"]\n",
        &["curator", "refactor"],
    );
    let unborn = quiet_world(&repository, 7, Vec::new());
    let due = quiet_world(&repository, 7, Vec::new());
    tick(&due, "prepared");
    pass_until(&due, "COMPLETED");
    let running = quiet_world(&repository, 7, Vec::new());
    tick(&running, "prepared");
    running.advance_time(MINUTE);
    for (name, shared) in [("unborn", unborn), ("due", due), ("running", running)] {
        let before = shared.lock_world().complete_books();
        shared.lock_world().books_mut().reset_requests();
        let served = Served::start(&shared, None);
        for command in ["tick", "explain"] {
            let arguments = [command, "--repo", "acme/widget", "--json"];
            let dry: &[&str] = if command == "tick" {
                &["--dry-run"]
            } else {
                &[]
            };
            let ended = Phileas::new(&[&arguments, dry].concat())
                .within(&served)
                .run()
                .expect(0);
            assert_eq!(ended.summary()["commits"], 0, "{name}: {ended}");
        }
        let after = shared.lock_world().complete_books();
        assert!(!after.requests.is_empty(), "{name}: it looks");
        for request in &after.requests {
            let reads = match request.face {
                // Reading is a POST in GraphQL; the fields tell.
                Face::Github if request.route == "/graphql" => {
                    let mut fields = request.fields.iter();
                    fields.all(|field| !field.starts_with("create"))
                }
                Face::Github => request.method == "GET",
                Face::Jules => request.method == "GET",
            };
            assert!(reads, "{name}: {request:?}");
        }
        assert_eq!(before.github_writes, after.github_writes, "{name}");
        assert_eq!(before.sessions, after.sessions, "{name}");
        let ledger = judge::file_on(&shared, "jules", ".jules/cycle_state.json");
        assert_eq!(ledger.is_none(), name == "unborn");
    }
}
