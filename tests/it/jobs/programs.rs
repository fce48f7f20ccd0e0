//! The programs as people start them, with the seed's own configuration.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use phileas_world::jules::BeatAction;
use serde_json::{Value, json};

use super::stage::{POLL, Stage, beat, stage};
use crate::support::{Folder, Phileas, Served};

/// Section 5 of the seed, with its paths in a folder of the test's own.
fn seed(folder: &Folder, more: &Value) -> String {
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let mut config = json!({
        "jobs_path": at("zai_jobs.jsonl"),
        "events_path": at("zai_events.jsonl"),
        "monitor_state_path": at(".zai_monitor_state.json"),
        "watcher_state_path": at(".zai_watcher_state.json"),
        "monitor_poll_seconds": 45,
        "watcher_poll_seconds": 1,
        "stuck_minutes": 20,
        "api_base": "https://jules.googleapis.com/v1",
        "mcp_command": ["python", "zai-jules-manager/mcp-server/jules_mcp_server.py"],
    });
    let (config_map, more) = (config.as_object_mut().unwrap(), more.as_object().unwrap());
    config_map.extend(more.clone());
    folder.write("config.json", &config.to_string());
    at("config.json")
}

/// A program that writes what it is given into files.
fn recorder(folder: &Folder) -> String {
    let path = folder.join("record");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$JULES_EVENT\" >> '{0}/variable'\ncat >> '{0}/input'\nprintf '%s|' \"$@\" >> '{0}/arguments'\n",
        folder.text()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn asking() -> Stage {
    let beats = vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
    ];
    stage(vec![("asks", beats)], Vec::new())
}

#[test]
fn the_seed_works_from_its_configuration_to_the_woken_agent() {
    let stage = asking();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let job = runtime.block_on(stage.start_session("asks", false));
    let served = Served::start(&stage.shared, None);
    stage.shared.advance_time(POLL * 5);
    let config = seed(
        &stage.folder,
        &json!({"zai_command": [recorder(&stage.folder), "handle-event", "a b; $(exit 3)"]}),
    );
    let monitor = || {
        Phileas::new(&["monitor", "--once"])
            .within(&served)
            .env("ZAI_JULES_CONFIG", &config)
            .run()
            .expect(0)
    };
    let first = monitor();
    assert!(
        first.out.contains("question") && first.out.contains(job.as_str()),
        "{first}"
    );
    assert_eq!(monitor().out, "", "once for each cause");
    let state: Value =
        serde_json::from_str(&fs::read_to_string(&stage.paths.monitor).unwrap()).unwrap();
    assert_eq!(state[job.as_str()]["last_status"], "AWAITING_USER_FEEDBACK");
    for _ in 0..2 {
        Phileas::new(&["watch", "--once", "--config", &config])
            .run()
            .expect(0);
    }
    let read = |name: &str| fs::read_to_string(stage.folder.join(name)).unwrap();
    assert_eq!(read("variable"), read("input"));
    assert_eq!(read("variable").lines().count(), 1);
    // Upstream defect 5e: the command went through a shell.
    assert_eq!(read("arguments"), "handle-event|a b; $(exit 3)|");
    let event: Value = serde_json::from_str(&read("variable")).unwrap();
    assert_eq!(event["message"], "Tabs or spaces?");
    assert_eq!(event["job_id"], job.as_str());
    let brief = Phileas::new(&["handle-event", "--config", &config])
        .within(&served)
        .env("JULES_EVENT", read("variable").trim())
        .run()
        .expect(0);
    assert!(brief.out.contains("> Tabs or spaces?"), "{brief}");
    let listed = Phileas::new(&["agent", "events", "--config", &config, "--json"])
        .run()
        .expect(0);
    assert_eq!(listed.lines().len(), 1);
    let unread =
        Phileas::new(&["agent", "events", "--config", &config, "--unread", "--json"]).run();
    assert!(
        unread.expect(0).out.is_empty(),
        "the watcher has taken note of it"
    );
}

/// Upstream defect 5e: without a shell unless one is asked for.
#[test]
fn defect_05e_a_command_is_no_line_of_a_shell() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    folder.write(
        "zai_events.jsonl",
        "{\"event\":\"stuck\",\"job_id\":\"7\"}\n",
    );
    let command = format!("{} \"a b\" '$HOME' ; x", recorder(&folder));
    Phileas::new(&[
        "watch",
        "--once",
        "--config",
        &config,
        "--command",
        &command,
    ])
    .run()
    .expect(0);
    let arguments = fs::read_to_string(folder.join("arguments")).unwrap();
    assert_eq!(arguments, "a b|$HOME|;|x|");
    folder.write(
        "zai_events.jsonl",
        "{\"event\":\"question\",\"job_id\":\"71\"}\n",
    );
    let command = format!("question={} shell && exit 0", recorder(&folder));
    Phileas::new(&[
        "watch", "--once", "--config", &config, "--shell", "--on", &command,
    ])
    .run()
    .expect(0);
    let arguments = fs::read_to_string(folder.join("arguments")).unwrap();
    assert_eq!(arguments, "a b|$HOME|;|x|shell|");
}

/// Upstream defect 4: the defaults of flags hid the configuration. A flag, then its variable, then the file.
#[test]
fn defect_04_flags_then_variables_then_the_file() {
    let folder = Folder::empty();
    let other = Folder::empty();
    let list = |more: &[&str], variables: &[(&str, &str)]| {
        let config = seed(&folder, &json!({}));
        let arguments = [
            &["agent", "jobs", "list", "--json", "--config", &config],
            more,
        ]
        .concat();
        let program = Phileas::new(&arguments);
        let program = variables
            .iter()
            .fold(program, |program, (name, value)| program.env(name, value));
        let ended = program.run().expect(0);
        ended
            .lines()
            .iter()
            .map(|job| job["job_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    folder.write("zai_jobs.jsonl", "\"1\"\n");
    other.write("two", "\"2\"\n");
    other.write("three", "\"3\"\n");
    let (two, three) = (other.join("two"), other.join("three"));
    let (two, three) = (two.to_str().unwrap(), three.to_str().unwrap());
    assert_eq!(list(&[], &[]), ["1"]);
    assert_eq!(list(&[], &[("PHILEAS_JOBS_PATH", two)]), ["2"]);
    assert_eq!(
        list(&["--jobs", three], &[("PHILEAS_JOBS_PATH", two)]),
        ["3"]
    );
}

/// Upstream defect 4, with what the monitor looks by: the address and the patience of the file count.
#[test]
fn defect_04_the_address_and_the_patience_of_the_file_count() {
    let beats = vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(0.0, BeatAction::Hang),
    ];
    let stage = stage(vec![("hangs", beats)], Vec::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(stage.start_session("hangs", false));
    let served = Served::start(&stage.shared, None);
    stage.shared.advance_time(Duration::from_hours(25));
    let base = format!("http://{}/v1alpha", served.jules);
    let monitor = |config: &str, more: &[&str], code: i32| {
        let arguments = [&["monitor", "--once", "--config", config], more].concat();
        let program =
            Phileas::new(&arguments).env("JULES_API_KEY", phileas::sandbox::world_setup::JULES_KEY);
        program.run().expect(code).out
    };
    let patient = seed(
        &stage.folder,
        &json!({"api_base": base, "stuck_minutes": 1440}),
    );
    assert!(monitor(&patient, &[], 0).contains("stuck"));
    fs::remove_file(&stage.paths.monitor).unwrap();
    fs::remove_file(&stage.paths.events).unwrap();
    let elsewhere = seed(
        &stage.folder,
        &json!({"api_base": "http://127.0.0.1:1/v1alpha"}),
    );
    assert_eq!(monitor(&elsewhere, &[], 4), "");
    assert!(
        monitor(&elsewhere, &["--api-base", &base], 4).is_empty(),
        "it waits after a failure"
    );
    fs::remove_file(&stage.paths.monitor).unwrap();
    assert!(monitor(&elsewhere, &["--api-base", &base], 0).contains("stuck"));
}

/// Upstream defect 16: without a key requests were sent without one.
#[test]
fn defect_16_without_a_key_nothing_is_sent() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    let ended = Phileas::new(&["monitor", "--once", "--config", &config])
        .run()
        .expect(3);
    assert!(ended.err.contains("JULES_API_KEY"), "{ended}");
}

#[test]
fn the_address_that_never_was_is_put_right_with_a_warning() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    let ended = Phileas::new(&["monitor", "--once", "--config", &config])
        .env("JULES_API_KEY", "test-key")
        .run()
        .expect(0);
    assert!(ended.err.contains("/v1, which does not exist"), "{ended}");
}

#[test]
fn what_is_remembered_is_kept_aside_when_it_cannot_be_read() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    folder.write(".zai_monitor_state.json", "{ half");
    let ended = Phileas::new(&["monitor", "--once", "--config", &config])
        .env("JULES_API_KEY", "test-key")
        .run()
        .expect(0);
    assert!(ended.err.contains(".zai_monitor_state.json:1:"), "{ended}");
    assert_eq!(
        fs::read_to_string(folder.join(".zai_monitor_state.json.unreadable")).unwrap(),
        "{ half"
    );
}

#[test]
fn figures_are_written_for_dashboards() {
    let stage = asking();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(stage.start_session("asks", false));
    let served = Served::start(&stage.shared, None);
    stage.shared.advance_time(POLL * 5);
    let config = seed(&stage.folder, &json!({}));
    let figures = stage.folder.join("phileas.prom");
    Phileas::new(&[
        "monitor",
        "--once",
        "--config",
        &config,
        "--metrics-file",
        figures.to_str().unwrap(),
    ])
    .within(&served)
    .run()
    .expect(0);
    let text = fs::read_to_string(figures).unwrap();
    assert!(
        text.contains("phileas_jobs{state=\"AWAITING_USER_FEEDBACK\"} 1"),
        "{text}"
    );
    assert!(
        text.contains("phileas_job_events_total{event=\"question\"} 1"),
        "{text}"
    );
}

/// Asks a process to end, and expects that it does so with success.
fn end(mut child: Child) {
    let id = child.id().to_string();
    let asked = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(asked.success());
    assert!(child.wait().unwrap().success());
}

/// The system tells of the new line: with an hour between two looks nothing else could.
#[test]
fn a_watcher_wakes_when_the_file_changes() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({"zai_command": [recorder(&folder)]}));
    let child = Phileas::new(&["watch", "--config", &config, "--poll", "3600"]).spawn();
    let woken = |line: &str| {
        let known = fs::read_to_string(folder.join("variable")).unwrap_or_default();
        known.contains(line)
    };
    let deadline = Instant::now() + Duration::from_secs(120);
    for job in ["71", "72"] {
        let line = format!("\"{job}\"");
        let events = folder.join("zai_events.jsonl");
        let mut text = fs::read_to_string(&events).unwrap_or_default();
        text.push_str(&format!("{{\"event\":\"stuck\",\"job_id\":{line}}}\n"));
        fs::write(&events, text).unwrap();
        while !woken(&line) {
            assert!(Instant::now() < deadline, "the watcher slept on");
            std::thread::yield_now();
        }
    }
    end(child);
}

#[test]
fn events_are_followed_as_they_come() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    let mut child =
        Phileas::new(&["agent", "events", "--follow", "--json", "--config", &config]).spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 1..=2 {
        let line = format!("{{\"id\":{id},\"event\":\"stuck\",\"job_id\":\"7\"}}\n");
        let events = folder.join("zai_events.jsonl");
        let text = fs::read_to_string(&events).unwrap_or_default() + &line;
        fs::write(&events, text).unwrap();
        let told: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(told["id"], id);
    }
    end(child);
}

/// A monitor that runs: it looks, goes on, and ends when it is asked to.
#[test]
fn a_monitor_runs_until_it_is_asked_to_end() {
    let stage = asking();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let job = runtime.block_on(stage.start_session("asks", false));
    let served = Served::start(&stage.shared, None);
    let config = seed(&stage.folder, &json!({"monitor_poll_seconds": 0.05}));
    let mut child = Phileas::new(&["monitor", "--json", "--config", &config])
        .within(&served)
        .spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    stage.shared.advance_time(POLL * 5);
    let told: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(told["job_id"], job.as_str());
    // By the machine's clock the session is old, by that of its own world it is not.
    assert_eq!(told["event"], "question");
    end(child);
}

/// Lines that are no jobs, by what others do: another encoding, bytes of no text, a line without end, a torn state.
#[test]
fn a_monitor_that_runs_goes_on_whatever_others_append() {
    let stage = asking();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let job = runtime.block_on(stage.start_session("asks", false));
    let jobs = fs::read(&stage.paths.jobs).unwrap();
    fs::write(&stage.paths.jobs, "").unwrap();
    let served = Served::start(&stage.shared, None);
    let config = seed(&stage.folder, &json!({"monitor_poll_seconds": 0.05}));
    let state = &stage.paths.monitor;
    fs::write(
        state,
        "\u{feff}{\"7\": {\"last_status\": \"QUEUED\"}}\n{\"8\"",
    )
    .unwrap();
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut child = Phileas::new(&["monitor", "--json", "--config", &config])
        .within(&served)
        .logging_to(log.reopen().unwrap())
        .spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let has_looked = || fs::read_to_string(state).is_ok_and(|text| text.contains("$monitor"));
    let deadline = Instant::now() + Duration::from_secs(120);
    while !has_looked() {
        assert!(Instant::now() < deadline, "the monitor never looked");
        std::thread::yield_now();
    }
    let utf16: Vec<u8> = "{\"job_id\": \"9\"}\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let mut bytes = b"\xef\xbb\xbf\xff no text\n[torn\n".to_vec();
    bytes.extend_from_slice(&utf16);
    bytes.extend(std::iter::repeat_n(b'x', 20 << 20));
    bytes.extend_from_slice(b"\n\0\0\0\0\n");
    bytes.extend_from_slice(&jobs);
    fs::write(state, [0; 64]).unwrap();
    fs::write(stage.folder.join("zai_events.jsonl"), b"\xff\xfe\n").unwrap();
    fs::write(&stage.paths.jobs, &bytes).unwrap();
    stage.shared.advance_time(POLL * 5);
    let told: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(
        (&told["job_id"], &told["event"]),
        (&json!(job.as_str()), &json!("question"))
    );
    end(child);
    let log = fs::read_to_string(log.path()).unwrap();
    for line in [1, 2, 3, 4, 5] {
        assert!(
            log.contains(&format!("zai_jobs.jsonl:{line}:")),
            "{line}: {log}"
        );
    }
    assert!(log.contains(".zai_monitor_state.json"), "{log}");
}

/// An event of another writer with the whole answer of Jules in it was cut, and then no event.
#[test]
fn an_event_of_three_megabytes_is_handed_on() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({"zai_command": [recorder(&folder)]}));
    let large = json!({"event": "completed", "job_id": "7", "status": "COMPLETED",
        "payload": {"prompt": "x".repeat(3 << 20)}});
    let text = format!("{large}\n\u{feff}{{\"event\": \"stuck\", \"job_id\": \"8\"}}\n");
    folder.write("zai_events.jsonl", &text);
    Phileas::new(&["watch", "--once", "--config", &config])
        .run()
        .expect(0);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let whole: Vec<Value> = read("input")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(whole.len(), 2);
    assert_eq!(whole[0]["payload"], large["payload"]);
    let carried: Value = serde_json::from_str(read("variable").lines().next().unwrap()).unwrap();
    assert_eq!(
        (&carried["event"], &carried["job_id"]),
        (&large["event"], &large["job_id"])
    );
    let brief = Phileas::new(&[
        "handle-event",
        "--config",
        &config,
        "--no-look",
        "--no-checks",
    ])
    .env("JULES_EVENT", read("variable").lines().nth(1).unwrap())
    .run()
    .expect(0);
    assert!(brief.out.contains('8'), "{brief}");
}

/// Only an error may concern the whole monitor.
#[test]
fn an_event_of_no_job_or_of_no_kind_is_refused() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({}));
    let handle = |event: &str| {
        let arguments = ["handle-event", "--config", &config, "--event", event];
        Phileas::new(&arguments).run()
    };
    for kind in ["question", "completed", "stuck", "plan_review"] {
        for event in [
            json!({ "event": kind }),
            json!({ "event": kind, "job_id": ["7"] }),
        ] {
            let ended = handle(&event.to_string()).expect(2);
            assert!(ended.err.contains("no valid `job_id`"), "{ended}");
        }
    }
    handle(&json!({ "event": "error", "job_id": null }).to_string()).expect(0);
    let ended = handle(&json!({ "event": "nope", "job_id": "7" }).to_string()).expect(2);
    let known = "--event: `nope` is not a kind of event; there are question, completed, error, stuck and plan_review";
    assert!(ended.err.contains(known), "{ended}");
}

#[test]
fn what_a_watcher_cannot_hand_on_is_named_with_its_line() {
    let folder = Folder::empty();
    let config = seed(&folder, &json!({"zai_command": [recorder(&folder)]}));
    let good = "{\"event\": \"stuck\", \"job_id\": \"7\"}\n";
    let far = "{\"event\": \"stuck\", \"id\": 18446744073709551615}\n";
    let mut bytes = format!("{good}7\n{far}").into_bytes();
    bytes.extend_from_slice(b"\xff\xff\n");
    bytes.extend_from_slice(good.as_bytes());
    fs::write(folder.join("zai_events.jsonl"), bytes).unwrap();
    fs::write(
        folder.join(".zai_watcher_state.json"),
        "\u{feff}{\"offset\": \"x\"}",
    )
    .unwrap();
    let ended = Phileas::new(&["watch", "--once", "--config", &config])
        .run()
        .expect(0);
    let handed_on = fs::read_to_string(folder.join("input")).unwrap();
    assert_eq!(handed_on.lines().count(), 3, "{ended}");
    for line in [
        "zai_events.jsonl:2:",
        "zai_events.jsonl:4:",
        ".zai_watcher_state.json:1:",
    ] {
        assert!(ended.err.contains(line), "{line}: {ended}");
    }
    let dead = fs::read_to_string(folder.join("zai_events.jsonl.dead.jsonl")).unwrap();
    let dead: Vec<Value> = dead
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&dead[0]["number"], &dead[1]["number"]),
        (&json!(2), &json!(4))
    );
}
