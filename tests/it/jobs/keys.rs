//! Upstream defect 4, key by key: the defaults of flags hid what the configuration said. Here a flag counts before its
//! variable, that before the file, and the file before what is usual.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use phileas_world::jules::BeatAction;
use serde_json::{Value, json};

use super::stage::{Stage, beat, stage};
use crate::support::{Folder, Phileas, Served};

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn config(folder: &Folder, keys: &Value) -> String {
    folder.write("config.json", &keys.to_string());
    folder.join("config.json").to_str().unwrap().to_owned()
}

/// A file that a program reads or writes, said in each of the three ways. `run`: the program, with further arguments and
/// variables; answers with the place that it took.
fn each_way(
    key: &str,
    flag: &str,
    variable: &str,
    run: impl Fn(&Folder, &[&str], Phileas) -> PathBuf,
) {
    let folder = Folder::empty();
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let config = config(&folder, &json!({key: at("by-file")}));
    let cases: [(&str, &[&str], bool); 3] = [
        ("by-file", &[], false),
        ("by-variable", &[], true),
        ("by-flag", &[flag, &at("by-flag")], true),
    ];
    for (wanted, more, with_variable) in cases {
        let arguments = [&["--config", &config][..], more].concat();
        let program = Phileas::new(&[]);
        let program = if with_variable {
            program.env(variable, &at("by-variable"))
        } else {
            program
        };
        let taken = run(&folder, &arguments, program);
        assert_eq!(taken, folder.join(wanted), "{key}");
    }
}

/// The one of the three places that is there.
fn made(folder: &Folder) -> PathBuf {
    let names = ["by-file", "by-variable", "by-flag"];
    let there: Vec<PathBuf> = names
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.exists())
        .collect();
    assert_eq!(there.len(), 1, "{there:?}");
    fs::remove_file(&there[0]).unwrap();
    there[0].clone()
}

#[test]
fn defect_04_jobs_path() {
    each_way(
        "jobs_path",
        "--jobs",
        "PHILEAS_JOBS_PATH",
        |folder, more, program| {
            let arguments = [&["agent", "jobs", "add", "77"], more].concat();
            program.with(&arguments).run().expect(0);
            made(folder)
        },
    );
}

#[test]
fn defect_04_events_path() {
    each_way(
        "events_path",
        "--events",
        "PHILEAS_EVENTS_PATH",
        |folder, more, program| {
            // No event tells of a job without a key; a line that is no event is moved to a file of its own.
            for name in ["by-file", "by-variable", "by-flag"] {
                let line = format!(
                    "{{\"id\":1,\"event\":\"stuck\",\"job_id\":\"7\",\"message\":\"{name}\"}}\n"
                );
                folder.write(name, &line);
            }
            let arguments = [&["agent", "events", "--json"], more].concat();
            let ended = program.with(&arguments).run().expect(0);
            folder.join(ended.lines()[0]["message"].as_str().unwrap())
        },
    );
}

#[test]
fn defect_04_monitor_state_path() {
    let variable = "PHILEAS_MONITOR_STATE_PATH";
    each_way(
        "monitor_state_path",
        "--state-file",
        variable,
        |folder, more, program| {
            let arguments = [&["monitor", "--once"], more].concat();
            let program = program
                .env("JULES_API_KEY", "test-key")
                .env("PHILEAS_JOBS_PATH", folder.join("jobs").to_str().unwrap())
                .env(
                    "PHILEAS_EVENTS_PATH",
                    folder.join("events").to_str().unwrap(),
                );
            program.with(&arguments).run().expect(0);
            made(folder)
        },
    );
}

#[test]
fn defect_04_watcher_state_path() {
    let variable = "PHILEAS_WATCHER_STATE_PATH";
    each_way(
        "watcher_state_path",
        "--state-file",
        variable,
        |folder, more, program| {
            folder.write("events", "{\"event\":\"stuck\",\"job_id\":\"7\"}\n");
            let arguments = [&["watch", "--once", "--command", "true"], more].concat();
            let program = program.env(
                "PHILEAS_EVENTS_PATH",
                folder.join("events").to_str().unwrap(),
            );
            program.with(&arguments).run().expect(0);
            made(folder)
        },
    );
}

fn hanging() -> Stage {
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
    stage.shared.advance_time(Duration::from_secs(300));
    stage
}

fn with_files(stage: &Stage, keys: &Value) -> String {
    let mut keys = keys.clone();
    keys["jobs_path"] = json!(stage.paths.jobs);
    keys["events_path"] = json!(stage.paths.events);
    keys["monitor_state_path"] = json!(stage.paths.monitor);
    config(&stage.folder, &keys)
}

/// What is said here is the pause of a fast monitor; what it overrides would let it look once in this test's life.
#[test]
fn defect_04_monitor_poll_seconds() {
    let slow = json!({"monitor_poll_seconds": 3600});
    let fast = json!({"monitor_poll_seconds": 0.05});
    let variable = "PHILEAS_MONITOR_POLL_SECONDS";
    let cases: [(&Value, &str, &[&str]); 3] = [
        (&fast, "", &[]),
        (&slow, "0.05", &[]),
        (&slow, "3600", &["--poll", "0.05"]),
    ];
    for (file, by_variable, more) in cases {
        let stage = hanging();
        let served = Served::start(&stage.shared, None);
        let config = with_files(&stage, file);
        let arguments = [&["monitor", "--config", &config], more].concat();
        let mut program = Phileas::new(&arguments).within(&served);
        if !by_variable.is_empty() {
            program = program.env(variable, by_variable);
        }
        let mut child = program.spawn();
        let begun = Instant::now();
        while stage.requests().get("GET /v1alpha/sessions").copied() < Some(3) {
            assert!(begun.elapsed() < PATIENCE, "{file} {by_variable} {more:?}");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// A session that hangs for two days is stuck for a job with a day's patience; when it is read again tells whose patience
/// counted.
#[test]
fn defect_04_stuck_minutes() {
    let patient = json!({"stuck_minutes": 1440});
    let variable = "PHILEAS_STUCK_MINUTES";
    let cases: [(&Value, &str, &[&str]); 3] = [
        (&patient, "", &[]),
        (&json!({"stuck_minutes": 1}), "1440", &[]),
        (
            &json!({"stuck_minutes": 1}),
            "2",
            &["--stuck-minutes", "1440"],
        ),
    ];
    for (file, by_variable, more) in cases {
        let stage = hanging();
        stage.shared.advance_time(Duration::from_hours(48));
        let served = Served::start(&stage.shared, None);
        let config = with_files(&stage, file);
        let arguments = [&["monitor", "--once", "--json", "--config", &config], more].concat();
        let mut program = Phileas::new(&arguments).within(&served);
        if !by_variable.is_empty() {
            program = program.env(variable, by_variable);
        }
        let told = program.run().expect(0).lines();
        assert_eq!(told[0]["event"], "stuck");
        let memory: Value =
            serde_json::from_str(&fs::read_to_string(&stage.paths.monitor).unwrap()).unwrap();
        let job = told[0]["job_id"].as_str().unwrap();
        let known = &memory[job];
        let at = |key: &str| -> jiff::Timestamp { known[key].as_str().unwrap().parse().unwrap() };
        // It is read again after as long as it takes to be stuck.
        let again = at("read_again_at").duration_since(at("status_since"));
        assert_eq!(again.as_mins(), 1440, "{known}");
    }
}

#[test]
fn defect_04_api_base() {
    let stage = hanging();
    stage.shared.advance_time(Duration::from_mins(30));
    let served = Served::start(&stage.shared, None);
    let right = format!("http://{}/v1alpha", served.jules);
    let wrong = "http://127.0.0.1:1/v1alpha";
    let cases: [(&str, &str, &[&str]); 3] = [
        (&right, "", &[]),
        (wrong, &right, &[]),
        (wrong, wrong, &["--api-base", &right]),
    ];
    for (file, by_variable, more) in cases {
        for path in [&stage.paths.monitor, &stage.paths.events] {
            let _absent = fs::remove_file(path);
        }
        let config = with_files(&stage, &json!({"api_base": file}));
        let arguments = [&["monitor", "--once", "--config", &config], more].concat();
        let mut program =
            Phileas::new(&arguments).env("JULES_API_KEY", phileas::sandbox::world_setup::JULES_KEY);
        if !by_variable.is_empty() {
            program = program.env("JULES_API_BASE", by_variable);
        }
        let out = program.run().expect(0).out;
        assert!(
            out.contains("stuck"),
            "{file} {by_variable} {more:?}: {out}"
        );
    }
}

#[test]
fn defect_04_zai_command() {
    let folder = Folder::empty();
    folder.write("events", "{\"event\":\"stuck\",\"job_id\":\"7\"}\n");
    let touch = |name: &str| format!("touch {}", folder.join(name).to_str().unwrap());
    let words: Vec<String> = touch("by-file").split(' ').map(str::to_owned).collect();
    let config = config(&folder, &json!({"zai_command": words}));
    let events = folder.join("events");
    for (wanted, command) in [("by-file", None), ("by-flag", Some(touch("by-flag")))] {
        let state = folder.join(&format!("state of {wanted}"));
        let mut arguments = vec!["watch", "--once", "--config", &config, "--state-file"];
        arguments.push(state.to_str().unwrap());
        if let Some(command) = &command {
            arguments.extend(["--command", command]);
        }
        Phileas::new(&arguments)
            .env("PHILEAS_EVENTS_PATH", events.to_str().unwrap())
            .run()
            .expect(0);
        assert_eq!(made(&folder), folder.join(wanted));
    }
}

/// The server of the seed was started by its client; here the tools are called without one, and the key is kept.
#[test]
fn defect_04_mcp_command() {
    let folder = Folder::empty();
    let config = config(&folder, &json!({"mcp_command": ["python", "server.py"]}));
    let ended = Phileas::new(&["agent", "jobs", "list", "--config", &config])
        .run()
        .expect(0);
    assert!(!ended.err.contains("nothing reads this key"), "{ended}");
}
