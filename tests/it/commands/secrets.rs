//! Secrets in files: what the service reads, every command reads.

use phileas::sandbox::world_setup;

use phileas_world::github::account::{Access, permissions};

use phileas_world::github::NewApp;

use super::bench::{bench, run};
use crate::fleet::stage::key;
use crate::support::Folder;

/// The commands that ask GitHub or Jules.
const COMMANDS: [&[&str]; 7] = [
    &["doctor"],
    &["status"],
    &["tick", "--dry-run"],
    &["state", "show"],
    &["labels", "sync", "--dry-run"],
    &["track", "list"],
    &["session", "list"],
];

/// Only the service read these files; every other command said that there is no credential.
#[test]
fn every_command_reads_its_secrets_from_files() {
    let bench = bench();
    bench.tick();
    let (pem, _) = key();
    {
        let mut world = bench.shared.lock_world();
        let now = world.now();
        let granted = permissions(&[
            ("contents", Access::Write),
            ("issues", Access::Write),
            ("metadata", Access::Read),
            ("checks", Access::Read),
            ("statuses", Access::Read),
            ("pull_requests", Access::Write),
        ]);
        let app = NewApp {
            id: 77,
            slug: "phileas".to_owned(),
            owner: world_setup::OWNER.to_owned(),
            permissions: granted,
            events: Vec::new(),
            hook: None,
            public_key: None,
        };
        let github = world.github_mut();
        github.add_app(app, now);
        github.install_app(77, world_setup::OWNER, Some(&[bench.repo]), now);
    }
    let folder = Folder::empty();
    folder.write("token", &format!("\u{feff}{}\n", world_setup::GITHUB_TOKEN));
    folder.write("key.pem", &pem.replace('\n', "\\n"));
    folder.write("jules", &format!("{}\n", world_setup::JULES_KEY));
    for command in COMMANDS {
        for app in [false, true] {
            let mut program = bench.program(command);
            program
                .env_remove("GITHUB_TOKEN")
                .env_remove("JULES_API_KEY")
                .env("JULES_API_KEY_FILE", folder.join("jules"));
            if app {
                program
                    .env("GITHUB_APP_ID", "77")
                    .env("GITHUB_APP_PRIVATE_KEY_FILE", folder.join("key.pem"));
            } else {
                program.env("GITHUB_TOKEN_FILE", folder.join("token"));
            }
            let ended = run(program);
            assert_ne!(ended.code, 3, "{command:?}: {ended:?}");
            assert_ne!(ended.code, 2, "{command:?}: {ended:?}");
        }
    }
    let mut program = bench.program(&["status"]);
    program
        .env_remove("GITHUB_TOKEN")
        .env("GITHUB_TOKEN_FILE", folder.join("nowhere"));
    run(program).refused(3, "GITHUB_TOKEN_FILE");
}

#[test]
fn a_job_is_added_by_the_address_of_its_page() {
    let folder = Folder::empty();
    let jobs = folder.join("jobs.jsonl");
    let jobs = jobs.to_str().unwrap();
    let page = "https://jules.google.com/session/15481661885092594092?pli=1";
    super::bench::alone(&["agent", "jobs", "add", page, "--jobs", jobs]).done();
    let listed = super::bench::alone(&["agent", "jobs", "list", "--json", "--jobs", jobs]).done();
    assert!(
        listed.out.contains("\"15481661885092594092\""),
        "{listed:?}"
    );
    for other in ["https://github.com/acme/widget/pull/7", "abc"] {
        super::bench::alone(&["agent", "jobs", "add", other, "--jobs", jobs])
            .refused(2, "jules.google.com");
    }
}
