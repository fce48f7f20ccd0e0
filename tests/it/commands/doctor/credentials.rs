//! Credentials: tokens, Apps and Jules keys.

use phileas_world::github::NewApp;
use phileas_world::github::Role;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::hook::Target;

use super::patient::{CLASSIC, FINE, JOB, findings, found_in, healthy, table};
use super::unread::answers;
use crate::fleet::stage::key;
use crate::support::Folder;

#[test]
fn credentials() {
    table(&[
        (
            |p| p.set_variable("GITHUB_TOKEN", ""),
            "credential.missing",
            "credential",
            "no GitHub credential",
            3,
        ),
        (
            |p| p.set_variable("GITHUB_TOKEN", "ghp_wrong"),
            "credential.refused",
            "credential",
            "refuses",
            3,
        ),
        (
            |p| p.set_variable("GITHUB_REPOSITORY", "acme/other"),
            "credential.unseen",
            "credential",
            "acme/other",
            3,
        ),
        (
            |p| p.world(|github, _, _| github.add_classic_token(CLASSIC, "maintainer", &["gist"])),
            "credential.unseen",
            "credential",
            "does not see",
            3,
        ),
        (
            |p| {
                p.world(|github, repo, _| {
                    github.set_private(repo, false);
                    github.add_classic_token(CLASSIC, "maintainer", &["gist"]);
                })
            },
            "credential.scopes",
            "credential",
            "`public_repo`",
            3,
        ),
        (
            |p| {
                p.world(|github, _, _| {
                    github.add_classic_token(CLASSIC, "maintainer", &["repo", "delete_repo"])
                })
            },
            "credential.scopes",
            "hint",
            "delete_repo",
            0,
        ),
        (
            |p| p.world(|github, repo, _| github.set_archived(repo, true)),
            "credential.archived",
            "error",
            "nothing can be written",
            1,
        ),
        (
            |p| p.world(|github, repo, _| github.set_role(repo, "maintainer", Role::Read)),
            "credential.push",
            "credential",
            "may not push",
            3,
        ),
    ]);
}

#[test]
fn tokens_whose_rights_only_a_try_tells() {
    let all = [
        ("contents", Access::Write),
        ("pull_requests", Access::Write),
    ];
    let fine = |more: &[(&str, Access)]| {
        let mut patient = healthy();
        let rights = permissions(&[&all[..], more].concat());
        patient.world(|github, _, _| github.add_fine_grained_token(FINE, "maintainer", rights));
        patient.set_variable("GITHUB_TOKEN", FINE);
        patient
    };
    let (issues, checks) = (("issues", Access::Write), ("checks", Access::Read));
    let statuses = ("statuses", Access::Read);
    found_in(
        &fine(&[checks, statuses]),
        ("credential.refused", "credential", "FORBIDDEN", 3),
    );
    let mut narrow = healthy();
    let rights = permissions(&[issues, checks, statuses]);
    narrow.world(|github, _, _| github.add_fine_grained_token(FINE, "maintainer", rights));
    narrow.set_variable("GITHUB_TOKEN", FINE);
    found_in(
        &narrow,
        ("credential.rights", "credential", "`contents`", 3),
    );
    found_in(
        &fine(&[issues, statuses]),
        ("credential.rights", "hint", "`checks`", 0),
    );
    let whole = fine(&[issues, checks, statuses]);
    found_in(
        &whole,
        (
            "credential.writes",
            "unknown",
            "only a write would show it",
            0,
        ),
    );
    found_in(&whole, ("deliveries.hook", "unknown", "webhooks", 0));
    found_in(&whole, ("workflow.state", "unknown", "actions", 0));

    let mut job = healthy();
    let rights = permissions(&[&all[..], &[issues, checks, statuses]].concat());
    job.world(|github, repo, _| github.add_actions_token(JOB, repo, rights));
    job.set_variable("GITHUB_TOKEN", JOB);
    job.set_variable("GITHUB_ACTIONS", "true");
    let ran = job.run(&["--json"]).done();
    let kind = &findings(&ran)[0];
    assert!(
        kind["text"].as_str().unwrap().contains("the job's own"),
        "{kind}"
    );
}

/// The kind of a token follows from its prefix. What cannot be known of it is reported as unknown.
#[test]
fn kinds_of_tokens() {
    let rights = permissions(&[
        ("contents", Access::Write),
        ("issues", Access::Write),
        ("pull_requests", Access::Write),
        ("checks", Access::Read),
        ("statuses", Access::Read),
    ]);
    for (token, kind) in [
        (CLASSIC, "a classic personal access token"),
        (FINE, "a fine-grained personal access token"),
        (
            "ghu_0123456789abcdefghijABCDEFGHIJ012345",
            "on behalf of a person",
        ),
        (JOB, "of an App's installation"),
        (
            "sandbox-github-token",
            "the token in GITHUB_TOKEN is of an unknown kind",
        ),
    ] {
        let mut patient = healthy();
        patient.world(|github, repo, _| match token {
            CLASSIC => {}
            FINE => github.add_fine_grained_token(FINE, "maintainer", rights.clone()),
            JOB => github.add_actions_token(JOB, repo, rights.clone()),
            other => github.add_person_token(other, "maintainer"),
        });
        patient.world(|github, repo, _| github.set_private(repo, false));
        patient.set_variable("GITHUB_TOKEN", token);
        let found = findings(&patient.run(&["--json"]).done());
        assert_eq!(found[0]["id"], "credential.kind", "{found:#?}");
        let text = found[0]["text"].as_str().unwrap();
        assert!(text.contains(kind), "{text}");
        let is_known = !kind.ends_with("of an unknown kind");
        let grade = if is_known { "ok" } else { "unknown" };
        assert_eq!(found[0]["grade"], grade, "{text}");
        // GitHub reports scopes of classic tokens only, so it is unknown whether the others may write.
        let unknown = found.iter().find(|one| one["id"] == "credential.writes");
        assert_eq!(unknown.is_none(), token == CLASSIC, "{found:#?}");
        if let Some(unknown) = unknown {
            let text = unknown["text"].as_str().unwrap();
            assert!(
                text.contains("Anyone may read a public repository"),
                "{text}"
            );
        }
    }
}

/// Without a name of a repository only the key and a folder are looked at.
#[test]
fn no_repository_is_named() {
    let mut patient = healthy();
    patient.set_variable("GITHUB_REPOSITORY", "");
    let (empty, planned) = (
        Folder::empty(),
        Folder::repository("cycle = [\"curator\"]\n", &["curator"]),
    );
    let dangling = Folder::empty();
    let config = std::path::Path::new(dangling.text()).join(".jlo/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("absent", config).unwrap();
    let ran = patient.run(&["--json", dangling.text()]);
    assert!(findings(&ran).iter().any(|one| one["id"] == "plan.mistake"));
    let looked = |folder: &Folder| patient.run(&["--json", folder.text()]).done();
    for (folder, word) in [
        (&empty, "contains no plan"),
        (&planned, "may have another one"),
    ] {
        let ran = looked(folder);
        let found = findings(&ran);
        let of = |id: &str| found.iter().find(|one| one["id"] == id);
        assert_eq!(of("credential.repository").unwrap()["grade"], "hint");
        assert_eq!(of("jules.key").unwrap()["grade"], "ok");
        let plan = of("plan.folder").unwrap();
        assert_eq!(plan["grade"], "unknown");
        assert!(plan["text"].as_str().unwrap().contains(word), "{plan}");
        assert_eq!(
            of("plan.mistake").is_some(),
            word == "may have another one",
            "{ran:?}"
        );
    }
}

#[test]
fn apps() {
    let (pem, public) = key();
    let app = |rights: &[(&str, Access)], installed: bool| {
        let mut patient = healthy();
        patient.world(|github, repo, now| {
            let app = NewApp {
                id: 77,
                slug: "phileas-app".to_owned(),
                owner: "acme".to_owned(),
                permissions: permissions(rights),
                events: vec!["push".to_owned(), "issues".to_owned()],
                hook: Some(Target {
                    url: "http://sandbox.invalid/webhook".to_owned(),
                    secret: None,
                    content_type: "json".to_owned(),
                }),
                public_key: Some(public.clone()),
            };
            github.add_app(app, now);
            if installed {
                github.install_app(77, "acme", Some(&[repo]), now);
            }
        });
        patient.set_variable("GITHUB_TOKEN", "");
        patient.set_variable("GITHUB_APP_ID", "77");
        patient.set_variable("GITHUB_APP_PRIVATE_KEY", pem.clone());
        patient
    };
    let all = [
        ("contents", Access::Write),
        ("issues", Access::Write),
        ("pull_requests", Access::Write),
        ("checks", Access::Read),
        ("statuses", Access::Read),
        ("metadata", Access::Read),
    ];
    let sound = app(&all, true);
    found_in(
        &app(&all[..2], true),
        ("credential.app", "credential", "pull_requests: write", 3),
    );
    found_in(
        &app(&all, false),
        ("credential.app", "credential", "not installed on acme", 3),
    );
    let failing = app(&all, true);
    failing.delivered(500);
    found_in(
        &failing,
        ("deliveries.failing", "error", "the App's webhook", 1),
    );
    let unread = app(&all, true);
    let refusing = answers("/app/hook/deliveries", 403);
    let mut world = unread.bench.shared.lock_world();
    world.faults_mut().replace_plan(refusing);
    drop(world);
    found_in(
        &unread,
        (
            "deliveries.app",
            "unknown",
            "may not read the deliveries",
            0,
        ),
    );
    let ran = sound.run(&["--json"]).done();
    let events = findings(&ran);
    let events = events
        .iter()
        .find(|one| one["text"].as_str().unwrap().contains("check_suite"));
    assert_eq!(events.unwrap()["grade"], "hint", "{ran:?}");
}

#[test]
fn jules() {
    table(&[
        (
            |p| p.set_variable("JULES_API_KEY", ""),
            "jules.key",
            "credential",
            "",
            3,
        ),
        (
            |p| p.set_variable("JULES_API_KEY", "wrong"),
            "jules.key",
            "credential",
            "refuses",
            3,
        ),
        (
            |p| p.set_variable("JULES_API_BASE", "http://127.0.0.1:1/v1alpha"),
            "jules.unavailable",
            "unavailable",
            "cannot be asked",
            4,
        ),
        (
            |p| {
                let mut world = p.bench.shared.lock_world();
                let now = world.now();
                world
                    .github_mut()
                    .rename_repository(p.bench.repo, "gadget", "maintainer", now);
                drop(world);
                p.set_variable("GITHUB_REPOSITORY", "acme/gadget");
            },
            "jules.source",
            "credential",
            "acme/gadget",
            3,
        ),
    ]);
}

/// Jules answers comments of the person whose key started a session, and an App's are no person's.
#[test]
fn a_token_of_a_person_comes_with_the_advice_on_reactive_mode() {
    let advises = |patient: &super::patient::Patient| {
        let ran = patient.run(&["--json"]);
        let found = findings(&ran);
        let kind = found.iter().find(|one| one["id"] == "credential.kind");
        let text = kind.unwrap()["text"].as_str().unwrap();
        text.contains("switch on Reactive Mode in Jules' settings")
    };
    assert!(advises(&healthy()));
    let mut job = healthy();
    job.set_variable("GITHUB_TOKEN", JOB);
    job.set_variable("GITHUB_ACTIONS", "true");
    assert!(!advises(&job));
}
