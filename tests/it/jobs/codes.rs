//! How a single look ends when it could not ask: with the code of what kept it, and a word on when it asks again.

use phileas_world::FaultPlan;
use phileas_world::jules::BeatAction;
use serde_json::json;

use super::stage::{POLL, Stage, beat, rule, stage, status};
use crate::support::child::Ended;
use crate::support::{Folder, Phileas, Served};

/// A session that asks something, as a job of the jobs file.
fn asking() -> Stage {
    let beats = vec![
        beat(20.0, BeatAction::Start),
        beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
    ];
    let stage = stage(vec![("asks", beats)], Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(stage.start_session("asks", false));
    stage.shared.advance_time(POLL * 5);
    stage
}

fn once(stage: &Stage, served: &Served, more: &[&str], key: Option<&str>) -> Ended {
    let config = json!({
        "jobs_path": stage.paths.jobs,
        "events_path": stage.paths.events,
        "monitor_state_path": stage.paths.monitor,
    });
    stage.folder.write("config.json", &config.to_string());
    let config = stage.folder.join("config.json");
    let arguments = ["monitor", "--once", "--config", config.to_str().unwrap()];
    let program = Phileas::new(&[&arguments[..], more].concat()).within(served);
    match key {
        Some(key) => program.env("JULES_API_KEY", key).run(),
        None => program.run(),
    }
}

fn request_count(stage: &Stage) -> usize {
    stage.requests().values().sum()
}

#[test]
fn a_key_that_was_fixed_is_tried_at_once_and_a_refused_one_says_so() {
    let stage = asking();
    let served = Served::start(&stage.shared, None);
    let first = once(&stage, &served, &[], Some("another-key")).expect(3);
    assert!(
        first.err.contains("is refused, so 1 job was not checked"),
        "{first}"
    );
    assert!(first.out.contains("error"), "{first}");
    let before = request_count(&stage);
    let again = once(&stage, &served, &[], Some("another-key")).expect(3);
    assert!(
        again.err.contains("was refused and is tried again at 20"),
        "{again}"
    );
    assert_eq!((request_count(&stage), again.out.as_str()), (before, ""));
    // Another bad one is another cause, and costs one request.
    let other = once(&stage, &served, &[], Some("a-third-key")).expect(3);
    assert!(other.out.contains("error"), "{other}");
    assert_eq!(request_count(&stage), before + 1);
    let fixed = once(&stage, &served, &[], None).expect(0);
    assert!(fixed.out.contains("question"), "{fixed}");
    let memory = std::fs::read_to_string(&stage.paths.monitor).unwrap();
    assert!(!memory.contains("refused_key"), "{memory}");
}

#[test]
fn jules_out_of_reach_is_an_outside_system_that_is_unavailable() {
    let stage = asking();
    let served = Served::start(&stage.shared, None);
    for fault in [503, 429] {
        let _absent = std::fs::remove_file(&stage.paths.monitor);
        let plan = FaultPlan {
            rules: vec![rule("*", status(fault))],
        };
        stage.shared.lock_world().faults_mut().replace_plan(plan);
        let first = once(&stage, &served, &[], None).expect(4);
        assert!(first.err.contains("it is asked again at 20"), "{first}");
        let before = request_count(&stage);
        let again = once(&stage, &served, &[], None).expect(4);
        assert!(again.err.contains("is not asked"), "{again}");
        assert_eq!(request_count(&stage), before);
    }
}

#[test]
fn a_job_that_no_key_is_there_for_lacks_a_credential() {
    let stage = asking();
    let served = Served::start(&stage.shared, None);
    stage.folder.write("keys/other", "some-key");
    let keys = stage.folder.join("keys");
    let folder = ["--jules-keys-dir", keys.to_str().unwrap()];
    let ended = once(&stage, &served, &folder, Some("")).expect(3);
    assert!(ended.err.contains("no Jules key for this job"), "{ended}");
}

/// A path that cannot be used is a mistake of the command line, and a configuration is no state file.
#[test]
fn a_wrong_path_is_a_mistake_of_the_command_line() {
    let folder = Folder::empty();
    folder.write("file", "");
    std::fs::write(folder.join("latin-1"), b"{\"a\": \"\xe9\"}").unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (below, folder_itself, latin) = (path("file/jobs.jsonl"), path(""), path("latin-1"));
    for (arguments, word) in [
        (["jobs", "add", "17", "--jobs", &below], "is not a folder"),
        (
            ["jobs", "add", "17", "--jobs", &folder_itself],
            "is a folder, not a file",
        ),
        (
            ["jobs", "list", "--config", &latin, "--all"],
            "the file is not UTF-8",
        ),
        (
            ["events", "--unread", "--json", "--events", &below],
            "is not a folder",
        ),
        (
            ["monitor", "--once", "--json", "--jules-keys-dir", &below],
            "name a folder",
        ),
    ] {
        let ended = Phileas::new(&[&["agent"], &arguments[..]].concat())
            .env("JULES_API_KEY", "some-key")
            .run()
            .expect(2);
        assert!(
            ended.err.contains(folder.text()) && ended.err.contains(word),
            "{ended}"
        );
    }
}

/// A key that cannot be read is not a key that is missing.
#[test]
fn a_key_file_that_cannot_be_read_is_named_by_each_command() {
    let folder = Folder::empty();
    folder.write("keys/good", "some-key");
    folder.write("large/large", &"k".repeat(5_000));
    std::fs::create_dir(folder.join("latin")).unwrap();
    std::fs::write(folder.join("latin/latin"), b"\xe9").unwrap();
    for (keys, words) in [
        ("large", "large/large: "),
        (
            "latin",
            "latin/latin:1:1: error: the file is not UTF-8; save it as UTF-8",
        ),
    ] {
        let keys = folder.join(keys);
        let keys = keys.to_str().unwrap();
        let event = "{\"event\": \"completed\", \"job_id\": \"7\"}";
        for arguments in [
            &["monitor", "--once", "--json", "--jules-keys-dir", keys][..],
            &["handle-event", "--event", event, "--jules-keys-dir", keys],
        ] {
            let ended = Phileas::new(&[&["agent"], arguments].concat())
                .run()
                .expect(2);
            assert!(ended.err.contains(words), "{ended}");
            assert_eq!(ended.err.matches(keys).count(), 1, "{ended}");
        }
    }
}
