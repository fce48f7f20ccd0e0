use std::time::Duration;

use bytes::Bytes;
use phileas::adapters::github::{App, Credential};
use phileas::runtime::ports::{Disposition, LedgerRead, ReadGitHub as _, WriteGitHub as _};
use phileas_domain::engine::Checks;
use phileas_domain::model::PullNumber;
use phileas_world::github::NewApp;
use phileas_world::github::Verdict;
use phileas_world::github::repository::NewPull;
use serde_json::json;

use super::place::ClientWorld;

/// GitHub's points for the read of a tick where little happens.
const LOOK: u64 = 1;
/// The same where more pull requests changed within a week than that read shows.
const BUSY_LOOK: u64 = 6;
/// How many pull requests may change within a week for a read of one point.
const QUIET_PULLS: u64 = 14;

fn open_pull(place: &ClientWorld, head: &str) -> u64 {
    let mut world = place.world();
    let now = world.now();
    let repo = place.repo;
    let github = world.github_mut();
    let main = github.branch_head(repo, "main").unwrap();
    let change = [("x.md".to_owned(), Some(Bytes::from(head.to_owned())))];
    let commit = github.commit_files(repo, Some(main), &change, "mia", "Change", now);
    github.create_branch(repo, head, commit, "mia", now);
    let new = NewPull {
        title: format!("Change [{head}]"),
        body: "why".to_owned(),
        head: head.to_owned(),
        base: "main".to_owned(),
        draft: false,
        author: "mia".to_owned(),
    };
    github.open_pull(repo, new, now)
}

/// `docs/design/many-repositories.md` computes with these figures.
#[tokio::test]
async fn a_look_costs_one_point_and_six_where_more_is_going_on() {
    let place = ClientWorld::new();
    let client = place.client();
    let look = async || {
        let before = client.usage();
        client.observe_repository().await.unwrap();
        let after = client.usage();
        (
            after.requests - before.requests,
            after.points - before.points,
        )
    };
    assert_eq!(look().await, (1, LOOK));
    for number in 0..31 {
        let mut world = place.world();
        let now = world.now();
        let title = format!("Issue {number}");
        world
            .github_mut()
            .open_issue(place.repo, &title, "", &[], "acme", now);
    }
    assert_eq!(look().await, (2, LOOK + BUSY_LOOK));
    assert_eq!(look().await, (1, BUSY_LOOK), "it is remembered");
}

/// A week's pull requests beyond those of a small look make it a large one.
#[tokio::test]
async fn so_many_pull_requests_in_a_week_are_quiet() {
    let place = ClientWorld::new();
    for number in 0..QUIET_PULLS {
        open_pull(&place, &format!("change-{number}"));
    }
    let client = place.client();
    client.observe_repository().await.unwrap();
    assert_eq!(client.usage().requests, 1);
    open_pull(&place, "one-more");
    client.observe_repository().await.unwrap();
    assert_eq!(client.usage().requests, 3);
}

#[tokio::test]
async fn a_tick_sees_everything_in_one_request() {
    let place = ClientWorld::new();
    let reviewed = open_pull(&place, "one");
    let plain = open_pull(&place, "two");
    let paused = {
        let mut world = place.world();
        let now = world.now();
        let repo = place.repo;
        let github = world.github_mut();
        github.review_pull(repo, reviewed, Verdict::Comment, "hm", "acme", now);
        let main = github.branch_head(repo, "main").unwrap();
        github.set_checks(repo, main, "ci", Some("success"), "acme", now);
        github.open_issue(repo, "Pause", "", &["phileas:pause"], "acme", now)
    };
    let client = place.client();
    let seen = client.observe_repository().await.unwrap();
    assert_eq!(client.usage().requests, 1);
    assert!(client.usage().points >= 1);
    assert_eq!(seen.repository.id.0, place.repo.0);
    assert!(seen.repository.public);
    assert_eq!(seen.repository.default_branch.as_str(), "main");
    assert_eq!(seen.repository.default_checks, Checks::Passed);
    assert_eq!(seen.ledger, LedgerRead::NoBranch);
    assert_eq!(seen.paused_by_label, Some(paused));
    assert_eq!(
        seen.tree.text(".jules/schedules.toml"),
        Some("cycle = [\"curator\"]\n")
    );
    assert_eq!(seen.tree.text(".jules/blocks/rules.md"), Some("Be kind.\n"));
    assert!(
        seen.tree
            .text(".jules/personas/curator/prompt.md.j2")
            .is_some()
    );
    let journal = ".jules/personas/curator/journals/2026-01-04.md";
    let listed = seen.tree.get(journal).unwrap();
    assert_eq!((listed.size, &listed.text), (8, &None));
    let reviewed_ones: Vec<(u64, bool)> = seen
        .pulls
        .values()
        .map(|pull| (pull.number.0, pull.reviewed))
        .collect();
    assert_eq!(reviewed_ones, [(reviewed, true), (plain, false)]);

    let head = seen.repository.default_head.unwrap();
    let paths = [journal.to_owned(), "nowhere.md".to_owned()].into();
    let texts = client.read_texts(&head, &paths).await.unwrap();
    assert_eq!(texts, [(journal.to_owned(), "Tidied.\n".to_owned())].into());
    let numbers = [PullNumber(plain), PullNumber(paused), PullNumber(999)].into();
    let pulls = client.read_pulls(&numbers).await.unwrap();
    assert_eq!(pulls.keys().collect::<Vec<_>>(), [&PullNumber(plain)]);
}

#[tokio::test]
async fn a_hole_in_the_answer_is_never_an_absence() {
    let place = ClientWorld::new();
    {
        let mut world = place.world();
        let now = world.now();
        let state = phileas_world::seed::files(&[(".jules/cycle_state.json", "{\"version\":5}")]);
        let repo = place.repo;
        world
            .github_mut()
            .create_root_branch(repo, "jules", &state, "Ledger", "acme", now);
    }
    place.knobs(&json!({ "graphql-partial": 0.6 }));
    let client = place.client();
    let mut whole = 0;
    for _ in 0..60 {
        match client.observe_repository().await {
            Ok(seen) => {
                whole += 1;
                let LedgerRead::State { text, .. } = seen.ledger else {
                    panic!("{:?}", seen.ledger);
                };
                assert_eq!(text, "{\"version\":5}");
                assert!(!seen.tree.is_empty());
                assert!(seen.repository.default_head.is_some());
            }
            Err(failure) => {
                assert!(
                    matches!(failure.disposition, Disposition::Retry { .. }),
                    "{failure:?}"
                );
            }
        }
    }
    assert!(whole > 20, "{whole}");
}

#[tokio::test]
async fn a_large_state_file_is_read_whole() {
    let place = ClientWorld::new();
    let text = format!("{{\"x\":\"{}\"}}\n", "ä".repeat(400_000));
    {
        let mut world = place.world();
        let now = world.now();
        let state = phileas_world::seed::files(&[(".jules/cycle_state.json", &text)]);
        let repo = place.repo;
        world
            .github_mut()
            .create_root_branch(repo, "jules", &state, "Ledger", "acme", now);
    }
    let client = place.client();
    let seen = client.observe_repository().await.unwrap();
    assert!(matches!(seen.ledger, LedgerRead::State { text: read, .. } if read == text));
    assert_eq!(client.usage().requests, 2);
}

#[tokio::test]
async fn a_renamed_repository_is_found_again() {
    let place = ClientWorld::new();
    let client = place.client();
    client.observe_repository().await.unwrap();
    {
        let mut world = place.world();
        let now = world.now();
        let repo = place.repo;
        world
            .github_mut()
            .rename_repository(repo, "gadget", "acme", now);
    }
    let notice = client
        .open_notice("jules_credential", "t", "b")
        .await
        .unwrap();
    let seen = client.observe_repository().await.unwrap();
    assert_eq!(seen.repository.name.to_string(), "acme/gadget");
    assert_eq!(seen.notices[0].number, notice);
    assert_eq!(client.repository_name().to_string(), "acme/gadget");
}

#[tokio::test]
async fn limits_and_refusals_come_back_as_what_they_are() {
    let place = ClientWorld::new();
    let once = |fault: serde_json::Value| json!([{ "nth": 1, "fault": fault }]);
    place.faults(&once(
        json!({ "kind": "secondary-limit", "retry-after": 61 }),
    ));
    let client = place.client();
    let failure = client.observe_repository().await.unwrap_err();
    let after = Some(Duration::from_secs(61));
    assert_eq!(failure.disposition, Disposition::Retry { after });
    place.faults(&once(json!({ "kind": "primary-limit" })));
    let failure = place.client().observe_repository().await.unwrap_err();
    assert!(
        matches!(failure.disposition, Disposition::Retry { after: Some(_) }),
        "{failure:?}"
    );
    place.faults(&once(json!({ "kind": "status", "status": 401 })));
    let failure = place.client().observe_repository().await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
    place.faults(&once(
        json!({ "kind": "status", "status": 502, "html": true }),
    ));
    place.client().observe_repository().await.unwrap();
}

#[tokio::test]
async fn an_app_asks_with_a_token_of_its_installation() {
    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use phileas_world::github::account::{Access, permissions};
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let body = data_encoding::BASE64.encode(pair.as_der().unwrap().as_ref());
    let label = "PRIVATE KEY";
    let pem = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
    let place = ClientWorld::new();
    {
        let mut world = place.world();
        let now = world.now();
        let repo = place.repo;
        let granted = permissions(&[
            ("contents", Access::Write),
            ("issues", Access::Write),
            ("metadata", Access::Read),
            ("pull_requests", Access::Write),
        ]);
        let github = world.github_mut();
        let app = NewApp {
            id: 77,
            slug: "phileas".to_owned(),
            owner: "acme".to_owned(),
            permissions: granted,
            events: Vec::new(),
            hook: None,
            public_key: None,
        };
        github.add_app(app, now);
        github.install_app(77, "acme", Some(&[repo]), now);
    }
    let client = place.client_as(Credential::App(App::new("77", &pem).unwrap()));
    let seen = client.observe_repository().await.unwrap();
    assert_eq!(seen.ledger, LedgerRead::NoBranch);
    // The installation, its token, the read.
    assert_eq!(client.usage().requests, 3);
    client.observe_repository().await.unwrap();
    assert_eq!(client.usage().requests, 4);
    let other_app = place.client_as(Credential::App(App::new("78", &pem).unwrap()));
    let failure = other_app.observe_repository().await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
}

/// What a writer said last is read, however much others said before, by a bounded number of requests.
#[tokio::test]
async fn the_newest_words_about_a_pull_request_are_read_behind_hundreds_of_others() {
    let place = ClientWorld::new();
    let pull = open_pull(&place, "one");
    {
        let mut world = place.world();
        let now = world.now();
        let github = world.github_mut();
        for n in 0..650 {
            github.comment(place.repo, pull, &format!("Noise {n}."), "outsider", now);
        }
        github.comment(place.repo, pull, "Use the clock.", "mia", now);
    }
    let remarks = place.client().read_remarks(PullNumber(pull)).await.unwrap();
    assert_eq!(
        remarks.len(),
        100 + 200 + 51,
        "the first page, and the last three"
    );
    let mia: Vec<_> = remarks.iter().filter(|one| one.belongs).collect();
    assert_eq!(mia.len(), 1);
    assert_eq!(
        (mia[0].actor.login.as_str(), mia[0].text.as_str()),
        ("mia", "Use the clock.")
    );
    assert!(remarks.iter().all(|one| one.at.is_some()));
}
