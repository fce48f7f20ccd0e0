//! `deliveries`, `replay` and `suspended` beside a service, and after it.

use jiff::Timestamp;
use phileas::adapters::inbox::sqlite::SqliteInbox;
use phileas::runtime::inbox::{Fault, Inbox as _, MAX_FAULTS};
use phileas_domain::model::{Holder, RepositoryId};
use tempfile::tempdir;

use super::client::{Line, Post, ask};
use super::served::{Service, deliveries};
use crate::support::Phileas;

#[test]
fn deliveries_are_listed_for_people_and_programs() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    for n in 0..5 {
        ask(
            service.public,
            &Post::about(&format!("guid-{n}"), n).bytes(),
        );
    }
    service.kill();
    let folder = data.path().to_str().unwrap();
    let ended = Phileas::new(&["service", "deliveries", "--data-dir", folder])
        .run()
        .expect(0);
    for n in 0..5 {
        assert!(ended.out.contains(&format!("guid-{n}")), "{ended}");
    }
    assert!(ended.out.contains("issues.labeled"), "{ended}");
    let ended = Phileas::new(&[
        "service",
        "deliveries",
        "--data-dir",
        folder,
        "--limit",
        "2",
        "--json",
    ])
    .run()
    .expect(0);
    let guids: Vec<_> = ended
        .lines()
        .iter()
        .map(|one| one["guid"].clone())
        .collect();
    assert_eq!(guids, ["guid-3", "guid-4"]);

    // The file of settings says where, too.
    let config = data.path().join("phileas.toml");
    std::fs::write(&config, format!("data_dir = \"{folder}\"\n")).unwrap();
    let config = config.to_str().unwrap();
    let ended = Phileas::new(&["service", "deliveries", "--config", config])
        .run()
        .expect(0);
    assert!(ended.out.contains("guid-0"), "{ended}");
    let ended = Phileas::new(&["service", "suspended", "list", "--config", config])
        .run()
        .expect(0);
    assert!(ended.out.contains("no repository is suspended"), "{ended}");
}

/// A table is as wide as its widest row, so that all of it must be in memory: it is not made of a million rows.
#[test]
fn a_table_shows_the_newest_and_json_shows_all() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let mut line = Line::open(service.public).unwrap();
    for n in 0..=200 {
        let post = Post::about(&format!("guid-{n:03}"), 7);
        assert_eq!(line.ask(&post.bytes()).unwrap().unwrap().status, 202);
    }
    let folder = data.path().to_str().unwrap();
    let table = |more: &[&str]| {
        let words = [&["service", "deliveries", "--data-dir", folder], more].concat();
        Phileas::new(&words).run().expect(0).out
    };
    let newest = table(&[]);
    assert!(
        !newest.contains("guid-000") && newest.contains("guid-001"),
        "{newest}"
    );
    assert!(newest.contains("--limit"), "{newest}");
    let all = table(&["--limit", "201"]);
    assert!(
        all.contains("guid-000") && !all.contains("--limit"),
        "{all}"
    );
    assert_eq!(deliveries(data.path()).len(), 201);
}

/// A repository is worked on and suspended by a driver; the commands see it and let it go on while the service runs.
#[tokio::test]
async fn a_suspended_repository_is_shown_replayed_and_resumed() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let folder = data.path().to_str().unwrap().to_owned();
    let program = |words: &[&str]| {
        let mut all = words.to_vec();
        all.extend(["--data-dir", &folder]);
        Phileas::new(&all)
    };
    assert_eq!(
        ask(service.public, &Post::about("first", 7).bytes()).status,
        202
    );
    assert_eq!(
        ask(service.public, &Post::new("ping", "ping", "{}").bytes()).status,
        202
    );
    let none = program(&["service", "suspended", "list"]).run().expect(0);
    assert!(none.out.contains("no repository is suspended"), "{none}");

    let inbox = SqliteInbox::open_beside_service(data.path()).unwrap();
    let holder = Holder::from("driver");
    for _ in 0..MAX_FAULTS {
        let now = inbox
            .next_due()
            .await
            .unwrap()
            .unwrap()
            .max(Timestamp::now());
        let length = jiff::SignedDuration::from_secs(10);
        let leases = inbox
            .claim_leases(&holder, now, length, &[RepositoryId(7)])
            .await
            .unwrap();
        let fault = Fault::Own {
            because: "the ledger says \u{1b}[31mno".to_owned(),
        };
        inbox.fail_lease(&leases[0], now, &fault).await.unwrap();
    }
    let list = program(&["service", "suspended", "list", "--json"])
        .run()
        .expect(0)
        .lines();
    assert_eq!(list[0]["repository_id"], 7);
    assert_eq!(list[0]["repository"], "acme/r7");
    let list = program(&["service", "suspended", "list"]).run().expect(0);
    assert!(list.out.contains("the ledger says [31mno"), "{list}");
    assert_eq!(deliveries(data.path())[0]["outcome"], "failed");

    let replay = program(&["service", "replay", "first"]).run().expect(0);
    assert!(replay.out.contains("acme/r7 is due"), "{replay}");
    assert!(replay.out.contains("suspended resume 7"), "{replay}");
    program(&["service", "replay", "ping"]).run().expect(2);
    program(&["service", "replay", "unknown"]).run().expect(2);
    program(&["service", "replay", "no guid"]).run().expect(2);
    program(&["service", "suspended", "resume", "acme/other"])
        .run()
        .expect(2);
    program(&["service", "suspended", "resume", "ACME/r7"])
        .run()
        .expect(0);
    program(&["service", "suspended", "resume", "7"])
        .run()
        .expect(2);
    let wake = inbox.read_wake(RepositoryId(7)).await.unwrap().unwrap();
    assert_eq!((wake.suspended, wake.attempts), (None, 0));
    assert!(wake.due_at.is_some());
    let replay = program(&["service", "replay", "first", "--json"])
        .run()
        .expect(0)
        .lines();
    assert_eq!(replay[0]["suspended"], false);
    // Who did it stands beside what is done on the dashboard.
    let audit = std::fs::read_to_string(data.path().join("audit.jsonl")).unwrap();
    let actions: Vec<String> = audit
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|entry| {
            assert!(entry["who"].as_str().unwrap().starts_with("cli"), "{entry}");
            let word = |name: &str| entry[name].as_str().unwrap().to_owned();
            format!("{} {}: {}", word("what"), word("about"), word("result"))
        })
        .collect();
    assert_eq!(
        actions,
        [
            "replay first: its repository is suspended",
            "replay ping: it wakes no repository",
            "replay unknown: unknown",
            "resume 7: done",
            "replay first: done",
        ]
    );
    assert_eq!(deliveries(data.path())[0]["outcome"], "pending");
}
