//! `phileas serve`, as an operator starts it: its check, and where it keeps things.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::bench::{program, run};
use crate::support::Folder;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

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
    assert!(begun.elapsed() < Duration::from_secs(25), "{ended:?}");
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
