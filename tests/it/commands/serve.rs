//! `phileas serve`, as an operator starts it: its check, and where it keeps things.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use phileas::server::admin::dashboard::summary::Summary;

use super::bench::{program, run};
use crate::support::ticks::{quiet_world, tick};
use crate::support::{Folder, Phileas, Served};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// A single call is waited for no shorter than this. What ends earlier, on a busy machine too, has not waited for one.
const A_CALL: Duration = Duration::from_secs(60);

/// It waited for each call that was not answered, minute after minute.
#[test]
fn a_check_ends_in_time_and_tells_a_finding_a_line() {
    // The system takes connections, and nothing ever answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let folder = Folder::empty();
    folder.write("phileas.toml", "[[repository]]\nname = \"acme/widget\"\n");
    let (config, data) = (folder.join("phileas.toml"), folder.join("data"));
    let url = format!("postgres://ada@{address}/phileas?sslmode=disable");
    let mut command = program(&["serve", "--check", "--json", "--listen", "127.0.0.1:0"]);
    command
        .args(["--admin-listen", "127.0.0.1:0", "--database-url", &url])
        .arg("--config")
        .arg(config)
        .arg("--data-dir")
        .arg(data)
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
        .env("GITHUB_TOKEN", "test-token")
        .env("JULES_API_KEY", "test-key")
        .env("GITHUB_API_URL", format!("http://{address}"))
        .env("GITHUB_GRAPHQL_URL", format!("http://{address}/graphql"))
        .env("JULES_API_BASE", format!("http://{address}/v1alpha"));
    let begun = Instant::now();
    let ended = run(command);
    assert!(begun.elapsed() < A_CALL, "{ended:?}");
    assert_eq!(ended.code, 4, "{ended:?}");
    let lines = ended.lines();
    for line in &lines {
        for key in ["grade", "about", "text"] {
            assert!(line[key].is_string(), "{line}");
        }
    }
    let unavailable = |about: &str| {
        let mut found = lines.iter().filter(|line| line["about"] == about);
        found.any(|line| line["grade"] == "unavailable")
    };
    assert!(
        unavailable("inbox") && unavailable("GitHub and Jules"),
        "{ended:?}"
    );
}

/// What does not answer keeps nothing else from being checked.
#[test]
fn a_key_is_checked_where_github_does_not_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let served = Served::start(&quiet_world(&repository, 7, Vec::new()), None);
    let folder = Folder::empty();
    folder.write("phileas.toml", "[[repository]]\nname = \"acme/widget\"\n");
    folder.write("keys/acme", "test-key-of-no-user");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (config, data, keys) = (path("phileas.toml"), path("data"), path("keys"));
    let arguments = ["serve", "--check", "--listen", "127.0.0.1:0"];
    let more = ["--admin-listen", "127.0.0.1:0", "--config", &config];
    let folders = ["--data-dir", &data, "--jules-keys-dir", &keys];
    let ended = Phileas::new(&[&arguments[..], &more, &folders].concat())
        .within(&served)
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
        .env("GITHUB_API_URL", &format!("http://{address}"))
        .env("GITHUB_GRAPHQL_URL", &format!("http://{address}/graphql"))
        .run()
        .expect(3);
    assert!(
        ended
            .out
            .contains("ok: Jules key: Jules accepts it; it is from JULES_API_KEY"),
        "{ended}"
    );
    let file = folder.join("keys/acme");
    let refused = format!("lacks a permission; it is from {}", file.display());
    assert!(ended.out.contains(&refused), "{ended}");
    assert!(
        ended.out.contains("unavailable: GitHub and Jules"),
        "{ended}"
    );
}

/// They went into a folder of whatever folder the service was started in.
#[test]
fn events_are_kept_in_the_data_directory() {
    let folder = Folder::empty();
    let data = folder.join("data");
    let mut command = program(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command
        .args(["--admin-listen", "127.0.0.1:0", "--data-dir"])
        .arg(&data)
        .current_dir(folder.path())
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("listen"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(data.join("events.jsonl.lock").exists());
    assert!(!folder.join(".phileas").exists());
}

/// A service may look after all repositories of an account, and not all have a plan.
#[test]
fn a_repository_without_a_plan_has_no_mistakes() {
    let folder = Folder::empty();
    folder.write("README.md", "# Widget\n");
    let summary = |folder: &Folder| {
        let shared = quiet_world(folder, 7, Vec::new());
        Summary::new(&tick(&shared, "tick")).unwrap()
    };
    let seen = summary(&folder);
    assert!(!seen.has_plan);
    assert_eq!(seen.findings, [""; 0]);
    folder.write(".jules/schedules.toml", "cycle = [\"absent\"]\n");
    let seen = summary(&folder);
    assert!(seen.has_plan);
    assert_eq!(seen.findings_title, "The plan has mistakes");
    assert_eq!(seen.findings.len(), 1, "{:?}", seen.findings);
}
