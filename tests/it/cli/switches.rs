//! Variables that switch something on or off: all take the same words.

use phileas::sandbox::world_setup::JULES_KEY;

use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

const WORDS: [(&str, bool); 12] = [
    ("1", true),
    ("true", true),
    ("TRUE", true),
    ("yes", true),
    ("on", true),
    ("0", false),
    ("false", false),
    ("False", false),
    ("no", false),
    ("off", false),
    ("", false),
    (" ", false),
];

/// A tool that writes is offered or it is not.
#[test]
fn mcp_read_only_takes_every_word() {
    let folder = Folder::empty();
    for (word, is_on) in WORDS {
        let ended = Phileas::new(&["mcp", "call", "jules_merge_pr", "{}"])
            .env("PHILEAS_MCP_READ_ONLY", word)
            .env("JULES_API_KEY", JULES_KEY)
            .env(
                "PHILEAS_JOBS_PATH",
                folder.join("jobs.jsonl").to_str().unwrap(),
            )
            .run();
        let is_refused = format!("{}{}", ended.out, ended.err).contains("read-only");
        assert_eq!(is_refused, is_on, "{word:?}: {ended}");
    }
}

/// The models have a time of their own, which is no fault of this machine.
#[test]
fn a_clock_that_may_differ_is_not_warned_of() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let served = Served::start(&quiet_world(&repository, 7, Vec::new()), None);
    for (word, is_on) in WORDS {
        let ended = Phileas::new(&["explain", "--repo", "acme/widget"])
            .within(&served)
            .env("PHILEAS_CLOCK_MAY_DIFFER", word)
            .run()
            .expect(0);
        let is_warned = ended.err.contains("clock differs from GitHub's");
        assert_eq!(is_warned, !is_on, "{word:?}: {ended}");
    }
    let ended = Phileas::new(&["explain", "--repo", "acme/widget"])
        .within(&served)
        .env("PHILEAS_CLOCK_MAY_DIFFER", "maybe")
        .run()
        .expect(2);
    let said = "PHILEAS_CLOCK_MAY_DIFFER: `maybe` is not a switch; write 1, true, yes or on";
    assert!(ended.err.contains(said), "{ended}");
}

#[test]
fn a_service_takes_every_word() {
    let data = Folder::empty();
    for variable in ["PHILEAS_MCP", "PHILEAS_NO_EVENTS", "PHILEAS_MCP_READ_ONLY"] {
        for (word, _) in WORDS {
            let words = if variable == "PHILEAS_MCP_READ_ONLY" {
                vec!["mcp", "--help"]
            } else {
                vec!["serve", "--check", "--data-dir", data.text()]
            };
            let ended = Phileas::new(&words).env(variable, word).run();
            assert!(
                !ended.err.contains("invalid value"),
                "{variable}={word:?}: {ended}"
            );
        }
        let words = if variable == "PHILEAS_MCP_READ_ONLY" {
            vec!["mcp", "call", "jules_get_job", "{}"]
        } else {
            vec!["serve", "--check", "--data-dir", data.text()]
        };
        let ended = Phileas::new(&words).env(variable, "maybe").run().expect(2);
        assert!(ended.err.contains("true, yes or on"), "{variable}: {ended}");
    }
}
