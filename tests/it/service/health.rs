//! `phileas service health`, as an orchestrator asks.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use phileas::adapters::inbox::sqlite::DATABASE;
use rusqlite::Connection;
use tempfile::tempdir;

use super::client::{Post, ask, get, until_ready_is, until_said};
use super::served::{Service, deliveries};
use crate::support::Phileas;

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a condition of another process.
const LOOK: Duration = Duration::from_millis(20);

#[test]
fn a_running_service_is_well_and_an_ended_one_is_not() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let public = service.public.to_string();
    let everywhere = format!("0.0.0.0:{}", service.public.port());
    let admin = service.admin.to_string();
    for listen in [&public, &everywhere, &admin] {
        for more in [&[][..], &["--ready"]] {
            let words = [&["service", "health", "--listen", listen], more].concat();
            until_says(&words, 0, "");
        }
    }
    let ended = Phileas::new(&["service", "health"])
        .env("PHILEAS_LISTEN", &public)
        .run()
        .expect(0);
    assert_eq!(ended.out, format!("well: http://{public}/healthz\n"));

    let config = data.path().join("phileas.toml");
    fs::write(&config, format!("listen = \"{public}\"\n")).unwrap();
    let by_file = ["service", "health", "--config", config.to_str().unwrap()];
    Phileas::new(&by_file).run().expect(0);

    assert_eq!(service.terminate().code(), Some(0));
    let ended = Phileas::new(&by_file).run().expect(1);
    assert!(ended.err.contains("does not answer"), "{ended}");
    assert!(ended.err.contains(&public), "{ended}");
}

/// A service that cannot store deliveries refuses them, and logs it once, not for each.
#[test]
fn a_service_that_cannot_store_is_not_ready() {
    const REFUSED: usize = 20;
    let data = tempdir().unwrap();
    let log = data.path().join("log");
    let stderr = File::create(&log).unwrap();
    let service = Service::start_with(data.path(), &[], |program| program.logging_to(stderr));
    until_ready_is(service.public, 200);
    let raw = Connection::open(data.path().join(DATABASE)).unwrap();
    raw.execute_batch(
        "CREATE TRIGGER broken BEFORE INSERT ON delivery BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END",
    )
    .unwrap();
    for n in 0..REFUSED {
        let reply = ask(
            service.public,
            &Post::about(&format!("lost-{n}"), 7).bytes(),
        );
        assert_eq!(reply.status, 503);
    }
    until_ready_is(service.public, 503);
    assert_eq!(
        get(service.public, "/readyz").body,
        "not ready\n",
        "the reason is not public"
    );
    let body = until_reason_is(&service, "the disk is broken");
    assert!(body.starts_with("not ready: "), "{body}");
    assert_eq!(body.lines().count(), 1, "{body}");
    // People who look at a page learn it, too.
    for path in ["/", "/deliveries", "/repositories/7", "/repositories/8"] {
        until_said(service.admin, path, |reply| {
            let alert = reply.body.split_once("The service needs attention");
            alert.is_some_and(|(_, text)| text.contains("the disk is broken"))
        });
    }
    let [admin, public] = [service.admin, service.public].map(|listener| listener.to_string());
    let health = ["service", "health", "--ready", "--listen"];
    let said = format!("/readyz is {}", body.trim_end());
    until_says(&[&health[..], &[&admin]].concat(), 1, &said);
    let said = until_says(&[&health[..], &[&public]].concat(), 1, "answers 503");
    assert!(said.contains("admin listener"), "{said}");
    raw.execute_batch("DROP TRIGGER broken").unwrap();
    let reply = ask(service.public, &Post::about("good", 7).bytes());
    assert_eq!(reply.status, 202);
    until_ready_is(service.public, 200);
    until_said(service.admin, "/", |reply| {
        !reply.body.contains("The service needs attention")
    });
    assert_eq!(service.terminate().code(), Some(0));
    let said = fs::read_to_string(&log).unwrap();
    let times = said.matches("the disk is broken").count();
    assert!(
        (1..=2).contains(&times),
        "by the inbox and by /readyz: {said}"
    );
}

/// What SQLite stores in a file that was deleted is lost, and it reports no error.
#[test]
fn an_inbox_whose_files_are_gone_takes_no_deliveries() {
    type Removal = (&'static str, fn(&Path));
    let removals: [Removal; 5] = [
        ("the directory is deleted", |data| {
            fs::remove_dir_all(data).unwrap()
        }),
        ("the directory is moved", |data| {
            fs::rename(data, data.with_extension("away")).unwrap();
        }),
        ("another directory is in its place", |data| {
            fs::rename(data, data.with_extension("away")).unwrap();
            fs::create_dir(data).unwrap();
        }),
        ("the file is deleted", |data| {
            fs::remove_file(data.join(DATABASE)).unwrap()
        }),
        ("the file is replaced", |data| {
            let file = data.join(DATABASE);
            let copy = data.join("copy");
            fs::copy(&file, &copy).unwrap();
            fs::rename(&copy, &file).unwrap();
        }),
    ];
    for (name, remove) in removals {
        let folder = tempdir().unwrap();
        let data = folder.path().join("data");
        let log = folder.path().join("log");
        let stderr = File::create(&log).unwrap();
        let service = Service::start_with(&data, &[], |program| program.logging_to(stderr));
        let first = ask(service.public, &Post::about("first", 7).bytes());
        assert_eq!(first.status, 202, "{name}");
        remove(&data);
        // No delivery before the first that comes is needed to notice it.
        for n in 0..3 {
            let reply = ask(
                service.public,
                &Post::about(&format!("lost-{n}"), 7).bytes(),
            );
            assert_eq!(reply.status, 503, "{name}");
        }
        until_ready_is(service.public, 503);
        let body = until_reason_is(&service, data.to_str().unwrap());
        assert!(body.contains("restart"), "{name}: {body}");
        let page = get(service.admin, "/").body;
        assert!(
            page.contains("The service needs attention"),
            "{name}: {page}"
        );
        let metrics = get(service.admin, "/metrics").body;
        assert!(
            metrics.contains("\nphileas_inbox_writable 0\n"),
            "{name}: {metrics}"
        );
        let said = fs::read_to_string(&log).unwrap();
        assert!(said.contains("while the service uses it"), "{name}: {said}");
    }
}

/// Nothing is sent meanwhile that would show it, and what was moved away is used again once it is back.
#[test]
fn an_idle_service_notices_that_its_directory_is_gone() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("data");
    let service = Service::start(&data);
    until_ready_is(service.public, 200);
    fs::rename(&data, folder.path().join("away")).unwrap();
    until_reason_is(&service, data.to_str().unwrap());
    fs::rename(folder.path().join("away"), &data).unwrap();
    let reply = ask(service.public, &Post::about("back", 7).bytes());
    assert_eq!(reply.status, 202);
    until_ready_is(service.public, 200);
    let metrics = get(service.admin, "/metrics").body;
    assert!(
        metrics.contains("\nphileas_inbox_writable 1\n"),
        "{metrics}"
    );
    assert_eq!(deliveries(&data).len(), 1);
    assert_eq!(service.terminate().code(), Some(0));
}

/// Waits until the service says on its admin listener that it is not ready for this reason, and answers with the line. On a
/// busy machine it may say first that the inbox has not replied in time.
#[track_caller]
fn until_reason_is(service: &Service, words: &str) -> String {
    until_said(service.admin, "/readyz", |reply| {
        reply.status == 503 && reply.body.contains(words)
    })
    .body
}

/// Runs the command until it says this on its standard error, and answers with all of that. For the same reason.
#[track_caller]
fn until_says(words: &[&str], code: i32, said: &str) -> String {
    let begun = Instant::now();
    loop {
        let ended = Phileas::new(words).run();
        if ended.status.code() == Some(code) && ended.err.contains(said) {
            return ended.err;
        }
        assert!(begun.elapsed() < PATIENCE, "{said}: {ended}");
        std::thread::sleep(LOOK);
    }
}

#[test]
fn a_service_that_says_no_is_not_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 1024];
        let read = stream.read(&mut head).unwrap();
        let no = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(no).unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    let ended = Phileas::new(&["service", "health", "--ready", "--listen", &address])
        .run()
        .expect(1);
    // What it says is nothing that we know.
    assert!(ended.err.contains("answers 503"), "{ended}");
    let asked = asked.join().unwrap();
    assert!(asked.starts_with("GET /readyz HTTP/1.1\r\n"), "{asked}");
}

#[test]
fn a_wrong_address_is_usage() {
    for listen in ["127.0.0.1:0", "nowhere"] {
        let ended = Phileas::new(&["service", "health", "--listen", listen])
            .run()
            .expect(2);
        assert!(ended.err.contains(listen), "{ended}");
    }
}
