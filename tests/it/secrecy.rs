//! Credentials are given to the program as people give them, and then looked for in everything that it left anywhere: what
//! it printed and logged, files of the runner, the service's pages and data, and every object of the ledger's repository.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use data_encoding::{BASE64, BASE64URL};
use hmac::{Hmac, KeyInit as _, Mac as _};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use phileas::sandbox::world_setup::{self, JULES_KEY, RUNNER};
use phileas::sandbox::{SharedWorld, WorldSetup};
use phileas_world::github::NewApp;
use phileas_world::github::account::{Access, permissions};
use phileas_world::maintainer::ReviewPolicy;
use serde_json::Value;
use sha2::Sha256;

use crate::fleet::stage::key;
use crate::other_programs::{ran, witnesses};
use crate::support::ticks::MINUTE;
use crate::support::{Folder, Phileas, Served};

/// A token of the shape of GitHub's own. It opens nothing but the model.
const TOKEN: &str = "ghp_CanaryZk3x9QpL2mN8vB4tR6yW1sD5fG7hJ0";
/// One that the model does not take.
const WRONG_TOKEN: &str = "ghp_WrongCanary5tR2kP8wQ1xZ7vN4mB9cL6yD3";
/// A key that Jules' model does not take.
const WRONG_KEY: &str = "AIzaWrongCanary8hF2jK5sT1uY7oP3eR6gB9q";
const HOOK_SECRET: &str = "hook+canary/0123456789=abcdefghijklmnop";
const ADMIN_TOKEN: &str = "admin+canary/zyxwvutsrq=9876543210ponml";
/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at what another process does.
const LOOK: Duration = Duration::from_millis(20);
/// What comes before a token was cut off is none the less a secret: so many characters may be missing.
const TRIMMED: usize = 6;

/// All that the program left, each with where.
#[derive(Default)]
struct ProgramOutputs(Vec<(String, String)>);

impl ProgramOutputs {
    fn add(&mut self, place: &str, text: impl Into<String>) {
        self.0.push((place.to_owned(), text.into()));
    }

    /// Every file below a folder.
    fn add_folder(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.add_folder(&path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.add(&path.display().to_string(), text);
            }
        }
    }

    /// What the models were told and keep: every file and object of the repositories, and the books.
    fn add_world(&mut self, shared: &SharedWorld) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        {
            let world = shared.lock_world();
            let repo = world
                .github()
                .repository_by_name(world_setup::OWNER, world_setup::NAME)
                .unwrap();
            phileas_world::export::export_world(&world, repo, &out).unwrap();
            for issue in world.github().issues(repo) {
                self.add("an issue", format!("{} {:?}", issue.title, issue.body));
                for comment in world.github().comments(repo, issue.number) {
                    self.add("a comment", comment.body.clone());
                }
            }
        }
        self.add_export(&out);
    }

    fn add_export(&mut self, out: &Path) {
        self.add_folder(out);
        // Objects are compressed; git tells what is in them.
        let objects = Command::new("git")
            .arg("--git-dir")
            .arg(out.join("git"))
            .args(["cat-file", "--batch-all-objects", "--batch"])
            .output()
            .unwrap();
        assert!(objects.status.success(), "{objects:?}");
        let text = String::from_utf8_lossy(&objects.stdout).into_owned();
        assert!(text.contains("cycle_state.json"), "no ledger is in it");
        self.add("the objects of git", text);
    }

    /// No form of any secret is anywhere.
    #[track_caller]
    fn hold_none_of(&self, secrets: &[(&str, &str)]) {
        assert!(!self.0.is_empty());
        for (name, secret) in secrets {
            for (place, text) in &self.0 {
                if let Some(form) = leaked_form(text, secret) {
                    panic!("{name} stands in {place} as {form}: {text}");
                }
            }
        }
    }
}

/// In which form a secret stands in a text.
fn leaked_form(text: &str, secret: &str) -> Option<String> {
    let trimmed = &secret[TRIMMED..];
    let mut forms = vec![
        trimmed.to_owned(),
        utf8_percent_encode(trimmed, NON_ALPHANUMERIC).to_string(),
        HEXLOWER.encode(trimmed.as_bytes()),
    ];
    // A secret may begin at each of three places within the groups of base64, as behind `x-access-token:`.
    for shift in 0..3 {
        let bytes = [&vec![b'x'; shift], trimmed.as_bytes()].concat();
        let (first, last) = ((shift * 8).div_ceil(6), bytes.len() * 8 / 6);
        forms.extend([BASE64, BASE64URL].map(|by| by.encode(&bytes)[first..last].to_owned()));
    }
    forms.into_iter().find(|form| text.contains(form.as_str()))
}

/// The search itself must find what it is for.
#[test]
fn r15_a_secret_is_found_in_every_form_and_other_words_are_none() {
    for secret in [TOKEN, HOOK_SECRET] {
        let basic = format!("x-access-token:{secret}");
        let mut hex = String::new();
        for byte in secret.bytes() {
            write!(hex, "{byte:02x}").unwrap();
        }
        for shown in [
            secret.to_owned(),
            secret[TRIMMED..].to_owned(),
            utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string(),
            BASE64.encode(basic.as_bytes()),
            BASE64URL.encode(secret.as_bytes()),
            BASE64.encode(format!("ab{secret}cd").as_bytes()),
            hex,
        ] {
            assert!(
                leaked_form(&format!("a {shown} b"), secret).is_some(),
                "{shown}"
            );
        }
    }
    for harmless in ["ghp_ is how they begin", WRONG_TOKEN, "hook+canary", ""] {
        assert_eq!(leaked_form(harmless, TOKEN), None, "{harmless}");
    }
}

fn world() -> (Folder, SharedWorld) {
    let repository = Folder::repository(
        "cycle = [\"curator\", \"tester\"]\n[budget]\nmax_active = 4\n",
        &["curator", "tester"],
    );
    let mut setup = WorldSetup::new(7);
    setup.repo = Some(repository.path().to_owned());
    setup.review_policy = ReviewPolicy::absent();
    setup.start = jiff::Timestamp::now();
    let shared = SharedWorld::new(setup.build_world().unwrap().0);
    {
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        github.add_person_token(TOKEN, RUNNER);
        let repo = github
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
            .unwrap();
        let body = "Opening takes a minute; ghp_ is how tokens begin.";
        let issue = github.open_issue(repo, "It is slow", body, &[], "outsider", now);
        github.add_label(repo, issue, "phileas:tester", "maintainer", now);
        github.comment(repo, issue, "/phileas status", "maintainer", now);
    }
    (repository, shared)
}

/// As people and workflows run it: with everything logged, through a cycle, and with credentials that are refused.
#[test]
fn r15_what_ticks_leave_holds_no_secret() {
    let (_repository, shared) = world();
    let served = Served::start(&shared, None);
    let mut left = ProgramOutputs::default();
    let mut run = |program: Phileas, code: i32, place: &str| {
        let ended = program.env("PHILEAS_LOG", "trace").run().expect(code);
        left.add(place, format!("{}\n{}", ended.out, ended.err));
    };
    for _ in 0..4 {
        let tick = Phileas::tick(&served).env("GITHUB_TOKEN", TOKEN);
        run(tick, 0, "a tick's output");
        shared.advance_time(MINUTE * 20);
    }
    let doctor = Phileas::new(&["doctor", "--repo", "acme/widget"]);
    let doctor = doctor.within(&served).env("GITHUB_TOKEN", TOKEN);
    run(doctor, 0, "what the doctor says");
    let tick = Phileas::tick(&served).env("GITHUB_TOKEN", WRONG_TOKEN);
    run(tick, 3, "what is said of a token that is refused");
    let tick = Phileas::tick(&served).env("GITHUB_TOKEN", TOKEN);
    let tick = tick.env("JULES_API_KEY", WRONG_KEY);
    run(tick, 3, "what is said of a key that is refused");
    let split = format!("{TOKEN}\n{WRONG_TOKEN}");
    let tick = Phileas::tick(&served).env("GITHUB_TOKEN", &split);
    run(tick, 3, "what is said of a token that is none");
    let logged = |word: &str| left.0.iter().any(|(_, text)| text.contains(word));
    assert!(logged("TRACE"), "what is logged at most was not looked at");
    left.add_world(&shared);
    assert!(!shared.lock_world().books().sessions.is_empty());
    left.hold_none_of(&[
        ("the token", TOKEN),
        ("the Jules key", JULES_KEY),
        ("the refused token", WRONG_TOKEN),
        ("the refused key", WRONG_KEY),
    ]);
}

/// A step of a workflow, as an App: its key, and the tokens that it is given for an hour.
#[test]
fn r15_what_the_action_leaves_holds_no_secret() {
    let (_repository, shared) = world();
    let served = Served::start(&shared, None);
    let (pem, public) = key();
    {
        let mut world = shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let repo = github
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
            .unwrap();
        let write = ["contents", "issues", "pull_requests"];
        let mut rights: Vec<_> = write.iter().map(|name| (*name, Access::Write)).collect();
        rights.push(("metadata", Access::Read));
        let app = NewApp {
            id: 77,
            slug: "phileas".to_owned(),
            owner: world_setup::OWNER.to_owned(),
            permissions: permissions(&rights),
            public_key: Some(public),
            ..NewApp::default()
        };
        github.add_app(app, now);
        github.install_app(77, world_setup::OWNER, Some(&[repo]), now);
    }
    let folder = Folder::empty();
    folder.write("event.json", "{\"schedule\": \"17 * * * *\"}");
    let mut left = ProgramOutputs::default();
    let mut masked: BTreeSet<String> = BTreeSet::new();
    for _ in 0..3 {
        let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let ended = Phileas::new(&["action"])
            .within(&served)
            .without("GITHUB_TOKEN")
            .env("GITHUB_REPOSITORY", "acme/widget")
            .env("GITHUB_APP_ID", "77")
            .env("GITHUB_APP_PRIVATE_KEY", &pem)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_NAME", "schedule")
            .env("GITHUB_EVENT_PATH", &file("event.json"))
            .env("GITHUB_OUTPUT", &file("output"))
            .env("GITHUB_STEP_SUMMARY", &file("summary"))
            .env("PHILEAS_LOG", "trace")
            .run()
            .expect(0);
        // These lines the runner keeps to itself, and hides what stands in them from then on.
        let (masks, rest): (Vec<&str>, Vec<&str>) = ended
            .out
            .lines()
            .partition(|line| line.starts_with("::add-mask::"));
        masked.extend(
            masks
                .iter()
                .map(|line| line["::add-mask::".len()..].to_owned()),
        );
        left.add("the step's log", rest.join("\n"));
        left.add("standard error", ended.err);
        shared.advance_time(MINUTE * 20);
    }
    for name in ["output", "summary"] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        left.add(name, text);
    }
    left.add_world(&shared);
    let tokens: Vec<&String> = masked
        .iter()
        .filter(|one| one.starts_with("ghs_"))
        .collect();
    assert!(!tokens.is_empty(), "no installation's token was hidden");
    let mut secrets = vec![("the Jules key", JULES_KEY)];
    secrets.extend(tokens.iter().map(|token| ("the token", token.as_str())));
    let lines = pem.lines().filter(|line| line.len() > 40);
    secrets.extend(lines.map(|line| ("a line of the App's key", line)));
    left.hold_none_of(&secrets);
}

/// The service's process, killed when it is dropped.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended already where the test has ended it.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// A service that takes webhooks, starts a session and shows its pages; it runs no other program meanwhile.
#[test]
fn r14_r15_what_the_service_leaves_holds_no_secret_and_it_runs_nothing() {
    let (_repository, shared) = world();
    let served = Served::start(&shared, None);
    let folder = Folder::empty();
    let id = {
        let world = shared.lock_world();
        let github = world.github();
        github.repository_by_name(world_setup::OWNER, world_setup::NAME)
    };
    let id = id.unwrap();
    folder.write(
        "phileas.toml",
        &format!("[[repository]]\nname = \"acme/widget\"\nid = {id}\n"),
    );
    let (config, data) = (folder.join("phileas.toml"), folder.join("data"));
    let log = std::fs::File::create(folder.join("log")).unwrap();
    let witnesses = witnesses();
    let mut child = Phileas::new(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.to_str().unwrap(),
        "--config",
        config.to_str().unwrap(),
    ])
    .within(&served)
    .env("GITHUB_TOKEN", TOKEN)
    .env("PHILEAS_WEBHOOK_SECRET", HOOK_SECRET)
    .env("PHILEAS_ADMIN_TOKEN", ADMIN_TOKEN)
    .env("PHILEAS_LOG", "trace")
    .env("PATH", witnesses.join("bin").to_str().unwrap())
    .logging_to(log)
    .spawn();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut service = Service(child);
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let mut left = ProgramOutputs::default();
    left.add("standard output", line.clone());
    let places: Value = serde_json::from_str(&line).unwrap();
    let address = |name: &str| -> SocketAddr { places[name].as_str().unwrap().parse().unwrap() };
    let (public, admin) = (address("listen"), address("admin_listen"));
    let body = format!(
        "{{\"action\":\"opened\",\"issue\":{{\"node_id\":\"I_1\"}},\"sender\":{{\"id\":5}},\"repository\":{{\"id\":{id},\"full_name\":\"acme/widget\"}}}}"
    );
    for (secret, status) in [(HOOK_SECRET, "202"), (WRONG_KEY, "401")] {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let signature = HEXLOWER.encode(&mac.finalize().into_bytes());
        let head = format!(
            "POST /webhook HTTP/1.1\r\ncontent-type: application/json\r\nx-github-event: issues\r\nx-github-delivery: canary-{status}\r\n\
             x-hub-signature-256: sha256={signature}\r\ncontent-length: {}\r\n",
            body.len()
        );
        let answer = ask(public, &head, &body);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        left.add("what a webhook is answered", answer);
    }
    let begun = Instant::now();
    while shared.lock_world().books().sessions.is_empty() {
        assert!(begun.elapsed() < PATIENCE, "nothing was started");
        std::thread::sleep(LOOK);
    }
    let right = format!("authorization: Bearer {ADMIN_TOKEN}\r\n");
    let wrong = format!("authorization: Bearer {WRONG_TOKEN}\r\n");
    for path in [
        "/",
        "/metrics",
        "/deliveries",
        "/healthz",
        "/readyz",
        "/nowhere",
    ] {
        for by in [right.as_str(), wrong.as_str(), ""] {
            let answer = ask(admin, &format!("GET {path} HTTP/1.1\r\n{by}"), "");
            left.add(&format!("the page {path}"), answer);
        }
    }
    let shown = |text: &str| left.0.iter().any(|(_, answer)| answer.contains(text));
    assert!(shown("phileas_deliveries_total") && shown("acme/widget"));
    let id = service.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert!(service.0.wait().unwrap().success());
    assert_eq!(ran(&witnesses), None);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    left.add("standard output", rest);
    let audit = std::fs::read_to_string(data.join("audit.jsonl")).unwrap();
    assert!(audit.contains("dispatched"), "{audit}");
    left.add_folder(folder.path());
    left.add_world(&shared);
    left.hold_none_of(&[
        ("the token", TOKEN),
        ("the Jules key", JULES_KEY),
        ("the webhook's secret", HOOK_SECRET),
        ("the admin token", ADMIN_TOKEN),
        ("a wrong secret", WRONG_KEY),
        ("a wrong token", WRONG_TOKEN),
    ]);
}

/// The whole answer, as it came.
fn ask(to: SocketAddr, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("{head}host: {to}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A user who tries the sandbox may have keys in the shell, and may show the export to others.
#[test]
fn r15_the_export_of_a_sandbox_holds_nothing_of_the_environment() {
    let folder = Folder::empty();
    let out = folder.join("out");
    let ended = Phileas::new(&[
        "sandbox",
        "--headless",
        "--json",
        "--until",
        "12h",
        "--export",
        out.to_str().unwrap(),
    ])
    .env("GITHUB_TOKEN", TOKEN)
    .env("JULES_API_KEY", WRONG_KEY)
    .env("PHILEAS_WEBHOOK_SECRET", HOOK_SECRET)
    .env("PHILEAS_ADMIN_TOKEN", ADMIN_TOKEN)
    .env("PHILEAS_LOG", "trace")
    .run()
    .expect(0);
    let mut left = ProgramOutputs::default();
    left.add("the output", format!("{}\n{}", ended.out, ended.err));
    left.add_export(&out);
    left.hold_none_of(&[
        ("the token", TOKEN),
        ("the Jules key", WRONG_KEY),
        ("the webhook's secret", HOOK_SECRET),
        ("the admin token", ADMIN_TOKEN),
    ]);
}
