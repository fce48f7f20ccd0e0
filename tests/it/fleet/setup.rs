//! The set-up page, as a browser meets it: from the console's address to an App that the service can use.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Child;

use jiff::Timestamp;
use phileas_world::github::AppKey;
use phileas_world::{Face, Fault, FaultPlan, FaultRule, Knobs};
use serde_json::Value;
use tempfile::tempdir;

use super::stage::{Ground, Sessions, key};
use crate::support::{Phileas, Served};

/// A page that was answered.
struct Page {
    status: u16,
    head: String,
    body: String,
}

impl Page {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The value of the attribute that follows this text.
    fn after(&self, text: &str) -> String {
        let (_, rest) = self
            .body
            .split_once(text)
            .unwrap_or_else(|| panic!("{text}: {}", self.body));
        let (value, _) = rest.split_once('"').unwrap();
        value
            .replace("&#34;", "\"")
            .replace("&#60;", "<")
            .replace("&#62;", ">")
            .replace("&#39;", "'")
            .replace("&#38;", "&")
    }
}

/// One request of a browser, without following anything.
fn ask(address: SocketAddr, method: &str, path: &str, form: &[(&str, &str)]) -> Page {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Page {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// The path and query of an address on this host.
fn path_of(address: &str, host: SocketAddr) -> String {
    let rest = address.strip_prefix(&format!("http://{host}"));
    rest.unwrap_or_else(|| panic!("{address} is not on {host}"))
        .to_owned()
}

struct Console {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    address: SocketAddr,
    /// Path and query of the page.
    page: String,
}

fn set_up(data: &Path, served: &Served) -> Console {
    let mut child = Phileas::new(&[
        "serve",
        "--setup",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.to_str().unwrap(),
    ])
    .within(served)
    .without("GITHUB_TOKEN")
    .without("JULES_API_KEY")
    .env("GITHUB_SERVER_URL", &format!("http://{}", served.github))
    .spawn();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let (_, address) = line.trim().split_once("http://").unwrap();
    let (host, rest) = address.split_once('/').unwrap();
    Console {
        child,
        out,
        address: host.parse().unwrap(),
        page: format!("/{rest}"),
    }
}

#[test]
fn an_app_is_made_once_and_its_credentials_are_kept_tight() {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let ground = Ground::new(Timestamp::now(), &[("acme", 1)], &sessions);
    let (pem, public) = key();
    ground
        .world
        .lock_world()
        .github_mut()
        .app_keys
        .push(AppKey {
            pem: pem.clone(),
            public,
        });
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let mut console = set_up(data.path(), &served);
    let at = console.address;

    // Without the token there is nothing to see, and nothing can be sent.
    for path in [
        "/setup",
        "/setup?token=",
        "/setup?token=wrong",
        "/setup/done?code=1&state=2",
    ] {
        assert_eq!(ask(at, "GET", path, &[]).status, 404, "{path}");
    }
    let wrong = [("token", "wrong"), ("url", "https://phileas.example.com")];
    assert_eq!(ask(at, "POST", "/setup", &wrong).status, 404);

    let form = ask(at, "GET", &console.page, &[]);
    assert_eq!(form.status, 200);
    let policy = form.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert_eq!(form.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(form.header("cache-control"), Some("no-store"));
    let token = form.after("name=\"token\" value=\"");

    let bad = ask(
        at,
        "POST",
        "/setup",
        &[("token", &token), ("url", "http://phileas.example.com")],
    );
    assert_eq!(bad.status, 400);
    assert!(
        bad.body.contains("https://phileas.example.com"),
        "{}",
        bad.body
    );

    let fields = [
        ("token", token.as_str()),
        ("url", "https://phileas.example.com"),
        ("owner", "acme"),
    ];
    let review = ask(at, "POST", "/setup", &fields);
    assert_eq!(review.status, 200);
    let action = review.after("action=\"");
    let manifest = review.after("name=\"manifest\" value=\"");
    assert!(
        action.contains("/organizations/acme/settings/apps/new?state="),
        "{action}"
    );

    // The browser posts it to GitHub, and GitHub sends it back.
    let github = ask(
        served.github,
        "POST",
        &path_of(&action, served.github),
        &[("manifest", &manifest)],
    );
    assert_eq!(github.status, 302, "{}", github.body);
    let back = path_of(github.header("location").unwrap(), at);

    // Another user's state does not count, and does not spoil ours.
    let (code, _) = back.split_once("&state=").unwrap();
    assert_eq!(
        ask(at, "GET", &format!("{code}&state=wrong"), &[]).status,
        404
    );

    let done = ask(at, "GET", &back, &[]);
    assert_eq!(done.status, 200, "{}", done.body);
    assert!(done.body.contains("/installations/new"), "{}", done.body);
    assert!(!done.body.contains("PRIVATE KEY"));
    assert_eq!(console.child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    console.out.read_to_string(&mut said).unwrap();
    assert!(!said.contains("PRIVATE KEY"), "{said}");

    let path = data.path().join("app.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(kept["private_key"], pem);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(!data.path().join("app.json.part").exists());
    let audit = std::fs::read_to_string(data.path().join("audit.jsonl")).unwrap();
    let entry: Value = serde_json::from_str(audit.trim()).unwrap();
    assert_eq!(
        (&entry["what"], &entry["result"]),
        (&"setup".into(), &"done".into())
    );
    assert!(!audit.contains("PRIVATE KEY"), "{audit}");

    // The same data directory makes no second one.
    let again = Phileas::new(&[
        "serve",
        "--setup",
        "--data-dir",
        data.path().to_str().unwrap(),
    ])
    .run()
    .expect(2);
    assert!(again.err.contains("app.json"), "{again}");

    // And the service is that App: GitHub knows it, and it says what is left to do.
    let check = Phileas::new(&[
        "serve",
        "--check",
        "--data-dir",
        data.path().to_str().unwrap(),
    ])
    .within(&served)
    .without("GITHUB_TOKEN")
    .run()
    .expect(3);
    assert!(check.out.contains("ok: webhook secret"), "{check}");
    assert!(check.out.contains("ok: GitHub App: phileas"), "{check}");
    assert!(
        check.out.contains("https://phileas.example.com/webhook"),
        "{check}"
    );
    assert!(
        check
            .out
            .contains("missing: installations: the App is installed nowhere"),
        "{check}"
    );
}

#[test]
fn a_code_that_github_does_not_know_makes_nothing() {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let ground = Ground::new(Timestamp::now(), &[("acme", 1)], &sessions);
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let mut console = set_up(data.path(), &served);
    let at = console.address;
    let token = ask(at, "GET", &console.page, &[]).after("name=\"token\" value=\"");
    let fields = [
        ("token", token.as_str()),
        ("url", "https://phileas.example.com"),
    ];
    let action = ask(at, "POST", "/setup", &fields).after("action=\"");
    let (_, state) = action.split_once("state=").unwrap();
    let done = format!("/setup/done?code=made-up&state={state}");
    let refused = ask(at, "GET", &done, &[]);
    assert_eq!(refused.status, 400);
    assert!(
        refused.body.contains("does not know this code"),
        "{}",
        refused.body
    );
    // The state was valid once; a user who returns with it learns what may be left on GitHub.
    let stale = ask(at, "GET", &done, &[]);
    assert_eq!(stale.status, 404);
    assert!(stale.body.contains("/settings/apps"), "{}", stale.body);
    assert!(!data.path().join("app.json").exists());
    console.child.kill().unwrap();
    console.child.wait().unwrap();
}

/// From the form to the address that GitHub sends the browser back to.
fn confirm(console: &Console, served: &Served) -> String {
    let token = ask(console.address, "GET", &console.page, &[]).after("name=\"token\" value=\"");
    let fields = [
        ("token", token.as_str()),
        ("url", "https://phileas.example.com/webhook"),
    ];
    let review = ask(console.address, "POST", "/setup", &fields);
    let manifest = review.after("name=\"manifest\" value=\"");
    assert!(!manifest.contains("/webhook/webhook"), "{manifest}");
    let github = ask(
        served.github,
        "POST",
        &path_of(&review.after("action=\""), served.github),
        &[("manifest", &manifest)],
    );
    assert_eq!(github.status, 302, "{}", github.body);
    path_of(github.header("location").unwrap(), console.address)
}

/// A world in which the code cannot be exchanged at first.
fn world_without_exchange(nth: Option<u64>) -> Ground {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let rule = FaultRule {
        face: Some(Face::Github),
        method: Some("POST".to_owned()),
        path: Some("/app-manifests/*".to_owned()),
        body: None,
        nth,
        probability: None,
        from: None,
        until: None,
        fault: Fault::Status {
            status: 503,
            retry_after: None,
            html: true,
            done: false,
        },
    };
    let faults = FaultPlan { rules: vec![rule] };
    let knobs = Knobs::documented();
    let ground = Ground::with(Timestamp::now(), &[("acme", 1)], &sessions, knobs, faults);
    let (pem, public) = key();
    let app_key = AppKey { pem, public };
    ground
        .world
        .lock_world()
        .github_mut()
        .app_keys
        .push(app_key);
    ground
}

/// GitHub tells the App's private key once: neither a moment's absence nor a browser that goes away may lose it.
#[test]
fn a_browser_that_goes_away_cuts_nothing_off() {
    let ground = world_without_exchange(Some(1));
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let mut console = set_up(data.path(), &served);
    let back = confirm(&console, &served);
    {
        let mut stream = TcpStream::connect(console.address).unwrap();
        let head = format!("GET {back} HTTP/1.1\r\nhost: {}\r\n\r\n", console.address);
        stream.write_all(head.as_bytes()).unwrap();
        // The page has it in hand once GitHub was asked.
        let asked = |world: &phileas_world::World| {
            let mut requests = world.books().requests.iter();
            requests.any(|request| request.path.starts_with("/app-manifests/"))
        };
        while !asked(&ground.world.lock_world()) {
            std::thread::yield_now();
        }
    }
    assert_eq!(console.child.wait().unwrap().code(), Some(0));
    assert!(data.path().join("app.json").exists());
}

#[test]
fn a_code_that_is_still_good_can_be_tried_again() {
    let ground = world_without_exchange(None);
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let mut console = set_up(data.path(), &served);
    let back = confirm(&console, &served);
    let refused = ask(console.address, "GET", &back, &[]);
    assert_eq!(refused.status, 502, "{}", refused.body);
    assert!(!data.path().join("app.json").exists());
    ground
        .world
        .lock_world()
        .faults_mut()
        .replace_plan(FaultPlan::default());
    let again = refused.after("href=\"");
    assert_eq!(again, back);
    let done = ask(console.address, "GET", &again, &[]);
    assert_eq!(done.status, 200, "{}", done.body);
    assert_eq!(console.child.wait().unwrap().code(), Some(0));
    assert!(data.path().join("app.json").exists());
}

#[test]
fn no_app_is_made_that_would_be_passed_over() {
    let data = tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let ended = Phileas::new(&["serve", "--setup", "--data-dir", folder])
        .env("GITHUB_TOKEN", "test-token")
        .run()
        .expect(2);
    assert!(ended.err.contains("GITHUB_TOKEN"), "{ended}");
}
