//! The dashboard of a running service: what needs a person, and what can be done about a repository.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::rig::{PATIENCE, Rig};
use crate::service::client::get;

/// Between two looks at a page.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until a page says something, and answers with the page.
#[track_caller]
fn until(admin: SocketAddr, path: &str, text: &str) -> String {
    let begun = Instant::now();
    loop {
        let page = get(admin, path).body;
        if page.contains(text) {
            return page;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{path} never says {text}: {page}"
        );
        std::thread::sleep(LOOK);
    }
}

/// Sends a form; answers with the head of the answer.
fn post(admin: SocketAddr, path: &str, form: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    let length = form.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\ncontent-type: \
         application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split("\r\n\r\n").next().unwrap().to_owned()
}

/// The field that the forms of a page carry.
fn csrf(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
    format!("csrf={}", rest.split('"').next().unwrap())
}

/// What the ledger says of a pause.
fn paused(rig: &Rig) -> Value {
    let world = rig.ground.world.lock_world();
    let github = world.github();
    let repo = rig.ground.repositories[0];
    let head = github.branch_head(repo, "jules").unwrap();
    let text = github.read_file(repo, head, ".jules/cycle_state.json");
    let state: Value = serde_json::from_slice(&text.unwrap()).unwrap();
    state["paused"].clone()
}

#[test]
fn a_repository_is_paused_and_let_go_on_from_its_page() {
    let rig = Rig::new(&[("acme", 1)]);
    let process = rig.start();
    rig.wait_until("the first session", |sessions| sessions.len() == 1);
    let page = format!("/repositories/{}", rig.ground.repositories[0].0);
    let form = csrf(&until(process.admin, &page, ">Pause</button>"));

    let forged = post(process.admin, &format!("{page}/pause"), "");
    assert!(forged.starts_with("HTTP/1.1 403"), "{forged}");
    let unknown = post(process.admin, "/repositories/999999999/pause", &form);
    assert!(unknown.starts_with("HTTP/1.1 404"), "{unknown}");
    assert_eq!(paused(&rig), Value::Null);

    let done = post(process.admin, &format!("{page}/pause"), &form);
    assert!(
        done.contains(&format!("location: {page}?done=pause\r\n")),
        "{done}"
    );
    assert_eq!(paused(&rig)["by"], "the dashboard of the service");
    let shown = until(
        process.admin,
        &page,
        "Paused by the dashboard of the service",
    );
    assert!(!shown.contains(">Pause</button>"), "{shown}");
    let again = post(process.admin, &format!("{page}/pause"), &form);
    assert!(again.contains("?done=pause-known\r\n"), "{again}");

    let over = post(process.admin, &format!("{page}/unpause"), &form);
    assert!(over.contains("?done=unpause\r\n"), "{over}");
    assert_eq!(paused(&rig), Value::Null);
    until(process.admin, &page, ">Pause</button>");
    let audit = std::fs::read_to_string(rig.data.path().join("audit.jsonl")).unwrap();
    let lines = audit
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let actions: Vec<String> = lines
        .filter(|line: &Value| line["who"] == "loopback")
        .map(|line| {
            format!(
                "{} {}",
                line["what"].as_str().unwrap(),
                line["result"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        actions,
        [
            "pause unknown",
            "pause done",
            "pause nothing changed",
            "unpause done"
        ]
    );
}

/// A key that Jules refuses is on each page, and on the repository's page with the title of its issue.
#[test]
fn a_refused_key_is_seen_on_every_page() {
    let rig = Rig::new(&[("acme", 1)]);
    std::fs::write(rig.ground.keys.path().join("acme"), "an-unknown-key").unwrap();
    let process = rig.start();
    let page = format!("/repositories/{}", rig.ground.repositories[0].0);
    for path in ["/", "/deliveries", &page, "/repositories/1"] {
        let shown = until(process.admin, path, "Jules refuses the key of acme/r0.");
        assert!(
            shown.contains("The service needs attention"),
            "{path}: {shown}"
        );
        assert!(
            shown.contains(&format!("href=\"{page}\"")),
            "{path}: {shown}"
        );
    }
    // The issue that the first look has opened is seen by the next one.
    let form = csrf(&get(process.admin, &page).body);
    post(process.admin, &format!("{page}/check"), &form);
    let shown = until(process.admin, &page, "Needs you");
    let (_, list) = shown.split_once("Needs you").unwrap();
    let (list, _) = list.split_once("</section>").unwrap();
    assert!(list.contains("/acme/r0/issues/"), "{list}");
    assert!(list.contains(">Jules refuses the key</a>"), "{list}");
    assert!(!list.contains("jules_credential"), "{list}");
}
