//! GitHub or Jules take a connection and say nothing, or a byte now and then: a command ends at its deadline.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use phileas::sandbox::world_setup::{GITHUB_TOKEN, JULES_KEY};
use phileas_world::Face;
use phileas_world::http::{Gate, GateDecision};

use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

/// What a command is given.
const DEADLINE: &str = "2s";
/// A single request is given up after this time. A command that ends earlier has not waited for one.
const REQUEST_LIMIT: Duration = Duration::from_secs(70);
/// Between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(100);

/// Takes every connection, and answers so.
fn upstream(answer: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Reads what comes, and says nothing.
fn hang(mut stream: TcpStream) {
    let mut bytes = [0; 4_096];
    while stream.read(&mut bytes).is_ok_and(|read| read > 0) {}
}

/// Takes a request, says that much is to come, and sends a byte of it now and then.
fn drip(mut stream: TcpStream) {
    // An answer that comes before its request is a fault of another kind: the client gives up at once.
    if !stream.read(&mut [0; 4_096]).is_ok_and(|read| read > 0) {
        return;
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
    if stream.write_all(head.as_bytes()).is_ok() {
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(DRIP);
        }
    }
}

#[test]
fn every_command_that_asks_ends_at_its_deadline() {
    let commands = [
        "tick",
        "tick --all",
        "explain",
        "status",
        "doctor",
        "pause",
        "pause --cancel-sessions",
        "resume",
        "session list",
        "track list",
        "state show",
        "sprint status",
        "labels sync",
    ];
    for answer in [hang, drip] {
        let address = upstream(answer);
        // Each waits for its deadline and does nothing meanwhile, so they wait together.
        std::thread::scope(|scope| {
            for command in commands {
                scope.spawn(move || ends_at_its_deadline(command, address));
            }
        });
    }
}

fn ends_at_its_deadline(command: &str, address: SocketAddr) {
    let words: Vec<&str> = command.split(' ').collect();
    let repo = ["--repo", "acme/widget", "--deadline", DEADLINE];
    let begun = Instant::now();
    let ended = asking(Phileas::new(&[&words[..], &repo].concat()), address).run();
    let took = begun.elapsed();
    assert!(took < REQUEST_LIMIT, "{took:?}: {ended}");
    let ended = ended.expect(4);
    // On a busy machine a tick may begin when its deadline is near, and says so in other words.
    assert!(ended.err.contains("deadline of 2s"), "{ended}");
    assert!(ended.err.contains("--deadline"), "{ended}");
    let is_pause = words[0] == "pause";
    assert_eq!(ended.err.contains("NOT paused"), is_pause, "{ended}");
    assert_eq!(ended.err.contains("phileas:pause"), is_pause, "{ended}");
    // One that ended early has other words.
    let is_resumed = ended.err.contains("The next tick resumes");
    assert!(
        is_resumed == (words[0] == "tick") || ended.err.contains("ended early"),
        "{ended}"
    );
}

/// Lets one request wait.
#[derive(Default)]
struct Late(AtomicBool);

/// The deadline of a command whose first request waits, and for how long it does: three quarters of it and some.
const LONG_DEADLINE: (&str, Duration) = ("30s", Duration::from_millis(22_800));

impl Gate for Late {
    fn before_effect(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        if self.0.swap(false, Ordering::SeqCst) {
            std::thread::sleep(LONG_DEADLINE.1);
        }
        GateDecision::Go
    }

    fn before_reply(&self, _: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        GateDecision::Go
    }
}

/// What a person has decided is written down. What follows from it is left to the next tick.
#[test]
fn commands_of_sessions_begin_nothing_new_when_the_deadline_is_near() {
    let repository = Folder::repository("cycle = [\"curator\"]\n", &["curator"]);
    let shared = quiet_world(&repository, 7, Vec::new());
    let late = Arc::new(Late::default());
    let served = Served::start(&shared, Some(Arc::clone(&late) as _));
    Phileas::tick(&served).run().expect(0);
    let sessions = || shared.lock_world().complete_books().sessions.clone();
    let id = sessions()[0].id.clone();
    let session = |word| {
        let all = [
            "session",
            word,
            &id,
            "--repo",
            "acme/widget",
            "--deadline",
            LONG_DEADLINE.0,
        ];
        Phileas::new(&all).within(&served).run()
    };
    late.0.store(true, Ordering::SeqCst);
    let ended = session("cancel").expect(4);
    assert!(ended.err.contains("the tick ended early"), "{ended}");
    assert!(ended.out.contains("cancelled"), "{ended}");
    session("cancel").expect(0);
    late.0.store(true, Ordering::SeqCst);
    let ended = session("retry").expect(4);
    assert!(ended.err.contains("the tick ended early"), "{ended}");
    assert_eq!(sessions().len(), 1, "{ended}");
}

/// The runner gets the reason, and executes workflow commands again.
#[test]
fn a_workflow_is_told_that_the_deadline_was_reached() {
    let folder = Folder::empty();
    folder.write("event.json", "{}");
    folder.write("output", "");
    folder.write("summary", "");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let begun = Instant::now();
    let program = Phileas::new(&["action", "--repo", "acme/widget"])
        .env("PHILEAS_DEADLINE", DEADLINE)
        .env("GITHUB_EVENT_NAME", "schedule")
        .env("GITHUB_EVENT_PATH", &path("event.json"))
        .env("GITHUB_OUTPUT", &path("output"))
        .env("GITHUB_STEP_SUMMARY", &path("summary"));
    let ended = asking(program, upstream(hang)).run().expect(4);
    assert!(begun.elapsed() < REQUEST_LIMIT, "{ended}");
    let stopped = ended
        .out
        .lines()
        .position(|line| line.starts_with("::stop-commands::"));
    let word = ended.out.lines().nth(stopped.unwrap()).unwrap();
    let word = word.trim_start_matches("::stop-commands::");
    assert!(ended.out.contains(&format!("\n::{word}::\n")), "{ended}");
    assert!(ended.out.contains("deadline of 2s"), "{ended}");
    let summary = std::fs::read_to_string(path("summary")).unwrap();
    assert!(!summary.is_empty());
}

fn asking(program: Phileas, upstream: SocketAddr) -> Phileas {
    program
        .env("GITHUB_TOKEN", GITHUB_TOKEN)
        .env("JULES_API_KEY", JULES_KEY)
        .env("GITHUB_API_URL", &format!("http://{upstream}"))
        .env("GITHUB_GRAPHQL_URL", &format!("http://{upstream}/graphql"))
        .env("JULES_API_BASE", &format!("http://{upstream}/v1alpha"))
}
