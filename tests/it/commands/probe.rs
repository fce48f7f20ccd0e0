//! The example `probe`: its answers are held against the knobs of the world that it asked.

#[path = "../../../examples/probe/questions/mod.rs"]
mod questions;

use std::collections::BTreeMap;

use phileas::sandbox::world_setup;
use phileas_world::Knobs;
use phileas_world::knobs::{StaleText, TitleKept, VerbReply};

use super::bench::{Bench, alone, bench, bench_with};
use questions::{Finding, Services, ask_all, fault_plan_toml};

fn knobs(bench: &Bench, write: bool) -> (Knobs, BTreeMap<&'static str, Finding>) {
    let (github, jules) = bench.addresses();
    let services = Services {
        repository: world_setup::repository_name(),
        graphql: format!("{github}/graphql"),
        github,
        github_token: world_setup::GITHUB_TOKEN.to_owned(),
        jules,
        jules_key: world_setup::JULES_KEY.to_owned(),
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let findings = runtime.block_on(ask_all(services, write)).unwrap();
    for secret in [world_setup::GITHUB_TOKEN, world_setup::JULES_KEY] {
        let shown = format!("{findings:?}").contains(secret);
        assert!(!shown, "{secret} is shown");
    }
    let text = fault_plan_toml(&findings).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    let mut knobs = Knobs::documented();
    knobs
        .set(&serde_json::to_value(&file["knobs"]).unwrap())
        .unwrap();
    // The file is one that the sandbox takes and lives through.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.toml");
    std::fs::write(&path, text).unwrap();
    alone(&[
        "sandbox",
        "--headless",
        "--until",
        "3h",
        "--faults",
        path.to_str().unwrap(),
    ])
    .done();
    let named = findings.into_iter().map(|finding| (finding.id, finding));
    (knobs, named.collect())
}

fn worked(bench: &Bench) {
    bench.until(|state| state.history.len() >= 3);
    bench.pass(30);
}

#[test]
fn reading_answers_what_the_services_do_and_writes_nothing() {
    let bench = bench();
    worked(&bench);
    let writes = |bench: &Bench| {
        let books = bench.shared.lock_world().complete_books();
        (books.github_writes.len(), books.sessions.len())
    };
    let before = writes(&bench);
    let (found, findings) = knobs(&bench, false);
    assert_eq!(writes(&bench), before);
    let real = bench.shared.lock_world().knobs().clone();
    assert_eq!(found.listing_order, real.listing_order);
    assert_eq!(found.page_size_rejected, real.page_size_rejected);
    assert_eq!(found.activity_filter, real.activity_filter);
    assert_eq!(found.primary_limit, real.primary_limit);
    assert_eq!(found.pull_author, real.pull_author);
    assert_eq!(found.branch_form, real.branch_form);
    let refusals = findings["refusals"].answer.as_deref().unwrap();
    assert!(
        refusals.starts_with("id 404 NOT_FOUND, parameter 400"),
        "{refusals}"
    );
    assert!(findings["source"].answer.is_some());
}

#[test]
fn the_worst_answers_are_found_out_too() {
    let bench = bench_with(|setup| {
        let knobs = &mut setup.knobs;
        knobs.listing_without_prompt = true;
        knobs.page_size_rejected = true;
        knobs.activity_filter = false;
        knobs.bad_key_is_400 = true;
        knobs.source_case_changed = true;
        knobs.session_name_bare = true;
        knobs.activity_id_in_name_only = true;
        knobs.draft_pulls = true;
        knobs.primary_limit = 4_321;
    });
    worked(&bench);
    let (found, _) = knobs(&bench, false);
    let real = bench.shared.lock_world().knobs().clone();
    let picked = |knobs: &Knobs| {
        (
            knobs.listing_without_prompt,
            knobs.page_size_rejected,
            knobs.activity_filter,
            knobs.bad_key_is_400,
            knobs.source_case_changed,
            knobs.session_name_bare,
            knobs.activity_id_in_name_only,
            knobs.draft_pulls,
            knobs.primary_limit,
        )
    };
    assert_eq!(picked(&found), picked(&real));
}

#[test]
fn writing_answers_the_rest() {
    let bench = bench_with(|setup| {
        let knobs = &mut setup.knobs;
        knobs.title = TitleKept::Truncated;
        knobs.message_reply = VerbReply::EmptyBody;
        knobs.approve_reply = VerbReply::Session;
        knobs.archive_reply = VerbReply::EmptyObject;
        knobs.stale_text = StaleText::IsAtButExpected;
        knobs.stale_type_missing = 1.0;
        knobs.environment_echoed = true;
    });
    bench.tick();
    let head = bench.head();
    let (found, findings) = knobs(&bench, true);
    let real = bench.shared.lock_world().knobs().clone();
    assert_eq!(found.title, real.title);
    assert_eq!(found.message_reply, real.message_reply);
    assert_eq!(found.approve_reply, real.approve_reply);
    assert_eq!(found.archive_reply, real.archive_reply);
    assert_eq!(found.stale_text, real.stale_text);
    assert_eq!(found.stale_type_missing, 1.0);
    assert!(found.environment_echoed);
    assert_eq!(
        (
            found.listing_lag_seconds,
            found.fresh_activities_404_seconds
        ),
        (0, 0)
    );
    assert_eq!(bench.head(), head, "the ledger is left alone");
    let patch = findings["patch-ref"].answer.as_deref().unwrap();
    assert!(patch.starts_with("200 to the same commit, 422"), "{patch}");
    let environment = findings["environment"].answer.as_deref();
    assert_eq!(environment, Some("it does"));
    let books = bench.shared.lock_world().complete_books();
    let probe = books
        .sessions
        .iter()
        .find(|session| session.prompt.contains("phileas-probe"))
        .unwrap();
    let acts: Vec<_> = probe.acts.iter().map(|act| act.what.as_str()).collect();
    assert_eq!(
        acts,
        ["approve", "message", "archive", "unarchive", "delete"]
    );
}
