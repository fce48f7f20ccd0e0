//! `phileas serve --check`, against the models.

use jiff::Timestamp;
use phileas::sandbox::world_setup::{GITHUB_TOKEN, RUNNER};
use phileas_world::github::Role;
use tempfile::tempdir;

use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::{Phileas, Served};

fn ground() -> Ground {
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    Ground::new(Timestamp::now(), &[("acme", 2)], &sessions)
}

fn check(served: &Served, data: &std::path::Path, more: &[&str]) -> Phileas {
    let mut arguments = vec!["serve", "--check", "--data-dir", data.to_str().unwrap()];
    arguments.extend(more);
    Phileas::new(&arguments)
        .within(served)
        .without("GITHUB_TOKEN")
        .without("JULES_API_KEY")
        .env("PHILEAS_WEBHOOK_SECRET", SECRET)
}

#[test]
fn an_app_that_can_work_is_told_so_and_what_is_missing_is_named() {
    let ground = ground();
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let keys = ground.keys.path().to_str().unwrap();
    let app = |program: Phileas| {
        program
            .env("GITHUB_APP_ID", &APP.to_string())
            .env("GITHUB_APP_PRIVATE_KEY", &ground.pem)
    };
    let good = app(check(&served, data.path(), &["--jules-keys-dir", keys]))
        .run()
        .expect(0);
    assert!(
        good.out
            .contains("repositories: 2 reached, with 1 Jules key"),
        "{good}"
    );
    assert!(good.out.contains("ok: Jules key 1"), "{good}");
    assert!(good.out.contains("that of acme/r0, acme/r1"), "{good}");
    assert!(good.out.contains("ok: data directory"), "{good}");

    // What `serve` would refuse.
    let open = app(check(
        &served,
        data.path(),
        &["--jules-keys-dir", keys, "--admin-listen", "0.0.0.0:0"],
    ));
    let open = open.run().expect(2);
    assert!(open.out.contains("configuration: admin listener"), "{open}");
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let held = held.local_addr().unwrap().to_string();
    let taken = app(check(
        &served,
        data.path(),
        &["--jules-keys-dir", keys, "--listen", &held],
    ));
    let taken = taken.run().expect(0);
    assert!(taken.out.contains("is in use"), "{taken}");

    // No key, and a key that Jules refuses.
    let keyless = app(check(&served, data.path(), &[])).run().expect(3);
    assert!(keyless.out.contains("acme__r0"), "{keyless}");
    let refused = app(check(&served, data.path(), &[]))
        .env("JULES_API_KEY", "test-key-of-no-user")
        .run()
        .expect(3);
    assert!(refused.out.contains("missing: Jules key 1"), "{refused}");
    assert!(!refused.out.contains("test-key-of-no-user"), "{refused}");
    assert!(
        refused
            .out
            .contains("the key is wrong, was revoked, or lacks a permission; it is that of acme/r0, acme/r1, from JULES_API_KEY: "),
        "{refused}"
    );
    let folder = tempdir().unwrap();
    let file = folder.path().join("acme");
    std::fs::write(&file, "test-key-of-no-user").unwrap();
    let more = ["--jules-keys-dir", folder.path().to_str().unwrap()];
    let refused = app(check(&served, data.path(), &more)).run().expect(3);
    let from = format!(", from {}: replace it by another one", file.display());
    assert!(refused.out.contains(&from), "{refused}");

    // Another App's key.
    let (pem, _) = super::stage::key();
    let other_app = check(&served, data.path(), &[])
        .env("GITHUB_APP_ID", &APP.to_string())
        .env("GITHUB_APP_PRIVATE_KEY", &pem)
        .run()
        .expect(3);
    assert!(other_app.out.contains("missing: GitHub App"), "{other_app}");
    assert!(
        other_app
            .out
            .contains("both come from GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY"),
        "{other_app}"
    );

    // No account at all.
    let no_account = check(&served, data.path(), &[]).run().expect(3);
    assert!(no_account.out.contains("serve --setup"), "{no_account}");
    assert!(
        no_account.out.contains("missing: Jules key: there is none"),
        "{no_account}"
    );
    // What cannot be read is told beside what is missing, and the key is asked about all the same.
    let half = check(&served, data.path(), &[])
        .env("GITHUB_APP_ID", &APP.to_string())
        .env("JULES_API_KEY", "test-key-of-no-user")
        .run()
        .expect(3);
    assert!(half.out.contains("GITHUB_APP_ID is set and "), "{half}");
    assert!(half.out.contains("missing: Jules key: "), "{half}");
    assert!(half.out.contains("from JULES_API_KEY"), "{half}");
    let unreadable = app(check(&served, data.path(), &[]))
        .env("JULES_API_KEY_FILE", "/nowhere/at/all")
        .run()
        .expect(3);
    assert!(unreadable.out.contains("/nowhere/at/all"), "{unreadable}");
    assert!(unreadable.out.contains("ok: GitHub App"), "{unreadable}");
    let lost = app(check(&served, data.path(), &[]))
        .env("GITHUB_API_URL", "nowhere")
        .run()
        .expect(2);
    assert!(lost.out.contains("configuration: addresses"), "{lost}");
    assert!(lost.out.contains("ok: data directory"), "{lost}");
    let nowhere = app(check(&served, data.path(), &["--jules-keys-dir", keys]))
        .env("GITHUB_API_URL", "http://127.0.0.1:1")
        .run()
        .expect(4);
    assert!(nowhere.out.contains("unavailable"), "{nowhere}");
    // The Jules key is asked about all the same.
    let one = app(check(&served, data.path(), &[]))
        .env("GITHUB_API_URL", "http://127.0.0.1:1")
        .env("JULES_API_KEY", "test-key-of-no-user")
        .run()
        .expect(3);
    assert!(one.out.contains("missing: Jules key"), "{one}");
    assert!(one.out.contains("from JULES_API_KEY"), "{one}");
}

#[test]
fn a_token_looks_after_what_the_file_names() {
    let ground = ground();
    {
        let mut world = ground.world.lock_world();
        let github = world.github_mut();
        github.add_person_token(GITHUB_TOKEN, RUNNER);
        github.set_role(ground.repositories[0], RUNNER, Role::Write);
        github.set_role(ground.repositories[1], RUNNER, Role::Read);
    }
    let served = Served::start(&ground.world, None);
    let data = tempdir().unwrap();
    let keys = ground.keys.path().to_str().unwrap();
    let file = data.path().join("phileas.toml");
    let run = |text: &str, code: i32| {
        std::fs::write(&file, text).unwrap();
        let more = ["--jules-keys-dir", keys, "--config", file.to_str().unwrap()];
        check(&served, data.path(), &more)
            .env("GITHUB_TOKEN", GITHUB_TOKEN)
            .run()
            .expect(code)
    };
    let good = run("[[repository]]\nname = \"acme/r0\"\n", 0);
    assert!(good.out.contains("repositories: 1 reached,"), "{good}");
    let weak = run("[[repository]]\nname = \"acme/r1\"\n", 3);
    assert!(weak.out.contains("the token may not push"), "{weak}");
    let missing = run("[[repository]]\nname = \"acme/nothing\"\n", 3);
    assert!(missing.out.contains("acme/nothing"), "{missing}");
    let refused = check(&served, data.path(), &["--config", file.to_str().unwrap()])
        .env("GITHUB_TOKEN", "test-token-of-no-user")
        .run()
        .expect(3);
    assert!(refused.out.contains("missing: acme/nothing"), "{refused}");
    assert!(
        refused
            .out
            .contains("GitHub refuses the token of GITHUB_TOKEN; replace it by one that is valid"),
        "{refused}"
    );
    assert!(!refused.out.contains("test-token-of-no-user"), "{refused}");
    assert!(!refused.out.contains("unavailable"), "{refused}");
    let none = run("", 2);
    assert!(none.out.contains("names no repository"), "{none}");
}
