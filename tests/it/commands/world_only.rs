//! `phileas sandbox --world-only`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::Value;

use super::bench::program;
use super::terminal::Terminal;

#[test]
fn people_get_lines_to_paste() {
    let mut terminal = Terminal::with(&["sandbox", "--world-only"]);
    terminal.until("Ctrl-C");
    let shown = terminal.shown.replace("\r\n", "\n");
    for word in [
        "\nexport GITHUB_API_URL=http://",
        " GITHUB_TOKEN=",
        "\nexport JULES_API_BASE=http://",
        " JULES_API_KEY=",
        "\nexport GITHUB_SERVER_URL=http://",
        " PHILEAS_CLOCK_MAY_DIFFER=1",
        "/__world/advance",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    terminal.interrupt();
}

#[test]
#[cfg(unix)]
fn an_input_that_is_no_pipe_ends_nothing() {
    let mut child = program(&["sandbox", "--world-only"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let address = first["github"]
        .as_str()
        .unwrap()
        .strip_prefix("http://")
        .unwrap();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(address).unwrap();
        let head =
            format!("GET /__world/now HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    }
    assert!(child.try_wait().unwrap().is_none(), "it still runs");
    let told = std::process::Command::new("kill")
        .arg(child.id().to_string())
        .status();
    assert!(told.unwrap().success());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_wrong_with_a_plan_is_said_beside_the_addresses() {
    let folder = crate::support::Folder::repository("cycle = [\"curator\"\n", &["curator"]);
    let mut child = program(&["sandbox", "--world-only", "--repo", folder.text()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains(".jules/schedules.toml:1"), "{said}");
    let places: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(places["github"].is_string(), "{places}");
    assert!(ended.status.success());
}

#[test]
fn the_models_say_where_they_are_and_end_with_their_input() {
    let mut child = program(&["sandbox", "--world-only"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let (github, jules) = (&first["github"], &first["jules"]);
    assert!(jules.as_str().unwrap().ends_with("/v1alpha"), "{first}");
    assert_eq!(first["repository"], "acme/widget");
    let address = github.as_str().unwrap().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let token = first["token"].as_str().unwrap();
    write!(
        stream,
        "GET /repos/acme/widget HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nuser-agent: test\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    // Links lead to the served address, not to the real service.
    assert!(reply.contains(address), "{reply}");
    assert!(!reply.contains("api.github.com"), "{reply}");

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}
