//! Tests which roles of a layer take part, and their initial files.

use phileas_domain::engine::{Reason, RunRequest};
use phileas_domain::exchange::FileContent;
use phileas_domain::plan::EntryPoint;

use crate::layers::hand_over::{ITEM, created, ends, event, item, scenario, slots, there};
use crate::support::scenario::Scenario;

/// A scenario with these observers, in a public or private repository, at the observers' turn.
fn observing(roles: &str, public: bool) -> Scenario {
    let mut scenario = scenario();
    let roster =
        format!("version = 1\n[workflow]\nenabled = false\n[observers]\nroles = [{roles}]\n");
    scenario.files.insert(".jlo/config.toml".to_owned(), roster);
    scenario.public = public;
    scenario.tick();
    ends(
        &mut scenario,
        "narrator",
        vec![crate::layers::hand_over::changes()],
    );
    scenario.tick();
    scenario
}

/// Work items of these ids wait for implementers, which are requested.
fn implementing(mut scenario: Scenario, ids: &[&str]) -> Scenario {
    for id in ids {
        let found = id.replace("item", "even");
        let FileContent::Text(text) = item(&found, false).content else {
            panic!("a text")
        };
        let path = ITEM.replace("retry", id);
        let text = text.replace("item01", id);
        scenario.exchange.insert_text(path, &text);
    }
    scenario.ask = RunRequest::Enter(EntryPoint::Requirements);
    scenario.tick();
    scenario
}

/// Each piece of work ends as a pull request that a person has to review.
#[test]
fn no_more_work_is_begun_than_people_have_room_to_review() {
    let mut scenario = scenario();
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("[budget]", "[budget]\nmax_open_pulls = 2");
    let scenario = implementing(scenario, &["item01", "item02", "item03"]);
    let begun = ["implementer/item01", "implementer/item02"];
    assert_eq!(slots(&scenario), begun, "{:#?}", scenario.lines);
    let turns = scenario.state().tracks["layers"].turns.keys();
    let announced: Vec<_> = turns.map(|slot| slot.as_str()).collect();
    assert_eq!(announced, begun);
}

#[test]
fn work_whose_pull_request_is_open_is_not_begun_again_and_blocks_no_other() {
    let mut scenario = implementing(scenario(), &["item01"]);
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
    scenario.opens_pull();
    scenario.tick();
    assert!(slots(&scenario).is_empty(), "{:#?}", scenario.lines);
    let scenario = implementing(scenario, &["item02"]);
    assert_eq!(
        slots(&scenario),
        ["implementer/item02"],
        "{:#?}",
        scenario.lines
    );
}

#[test]
fn a_role_that_knows_secrets_works_in_public_only_where_it_is_allowed_by_name() {
    let plain = "\"errors\", \"security\"";
    let allowed = "\"errors\", { name = \"security\", sensitive = true }";
    for (roles, public, works) in [
        (plain, false, true),
        (plain, true, false),
        (allowed, true, true),
    ] {
        let scenario = observing(roles, public);
        let is_there = slots(&scenario).contains(&"observers/security".to_owned());
        assert_eq!(is_there, works, "{roles} {public}: {:#?}", scenario.lines);
        assert!(slots(&scenario).contains(&"observers/errors".to_owned()));
        let said = scenario.all_reasons().contains(&Reason::PersonaSensitive);
        assert_eq!(said, !works, "{:#?}", scenario.lines);
    }
}

/// It was announced with siblings, and had no session yet when the repository became public.
#[test]
fn a_repository_that_becomes_public_keeps_a_sensitive_session_from_starting() {
    let mut scenario = scenario();
    let roster = "version = 1\n[workflow]\nenabled = false\n[observers]\nroles = [\"errors\", \"security\"]\n";
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), roster.to_owned());
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("max_active = 6", "max_active = 1");
    scenario.tick();
    ends(
        &mut scenario,
        "narrator",
        vec![crate::layers::hand_over::changes()],
    );
    scenario.tick();
    assert_eq!(slots(&scenario), ["observers/errors"]);
    scenario.public = true;
    ends(&mut scenario, "observers/errors", Vec::new());
    for _ in 0..3 {
        scenario.tick();
        assert!(!slots(&scenario).contains(&"observers/security".to_owned()));
        scenario.minutes(20);
    }
    let state = scenario.state();
    assert!(
        state.tracks["layers"].turns.is_empty(),
        "no session waits for it: {:#?}",
        scenario.lines
    );
}

/// What a role remembers lies on the ledger from its first session on, by the schema that its prompt shows.
#[test]
fn a_role_that_has_no_memory_begins_with_one() {
    let scenario = observing("\"errors\"", false);
    assert_eq!(
        there(&scenario, ".jules/workstations"),
        ["errors/perspective.yml"]
    );
    let text = scenario
        .exchange
        .text(".jules/workstations/errors/perspective.yml")
        .unwrap();
    assert!(
        text.contains("observer: \"errors\"") && text.contains("schema_version: 2"),
        "{text}"
    );
    let prompt = &created(&scenario)[0].prompt;
    assert!(prompt.contains("your memory begins empty"), "{prompt}");
    assert!(
        prompt.contains("What you write at the end: .jules/workstations/errors/perspective.yml")
    );
}

/// A workstream has its own roster, or uses the files of roles. Its observers' events stay in it.
#[test]
fn each_workstream_has_its_own_observers() {
    let role = |layer: &str, stream: &str| {
        let profile = "profile:\n  focus: It looks at names.\n  analysis_points: [Names]\n";
        format!("layer: {layer}\nworkstream: {stream}\n{profile}")
    };
    let roster = |roles: &str, enabled: bool| {
        format!("version = 1\nenabled = {enabled}\n[observers]\nroles = [{roles}]\n")
    };
    let plan = "[budget]\nmax_active = 6\ndaily_sessions = 60\n[tracks.eyes]\nsteps = [\"layer:observers\"]\n\
                start = \"0 1 * * *\"\n";
    let mut scenario = Scenario::new(plan, &[]);
    let streams = ".jules/workstreams";
    let files = [
        (
            format!("{streams}/core/scheduled.toml"),
            roster("\"errors\", \"tests\"", true),
        ),
        (
            format!("{streams}/rest/scheduled.toml"),
            roster("\"docs\"", false),
        ),
        (
            ".jules/roles/observers/names/role.yml".to_owned(),
            role("observers", "web"),
        ),
        (
            ".jules/roles/observers/errors/role.yml".to_owned(),
            role("observers", "core"),
        ),
        (
            ".jules/roles/deciders/judge/role.yml".to_owned(),
            role("deciders", "web"),
        ),
    ];
    scenario.files.extend(files);
    scenario.tick();
    scenario
        .exchange
        .insert_text(format!("{streams}/web/events/pending/.gitkeep"), "");
    scenario.hours(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        [
            "observers/core/errors",
            "observers/core/tests",
            "observers/web/names",
        ],
        "{:#?}",
        scenario.lines
    );
    // No role is on two lists, or in another layer's list.
    let mut lines = scenario.lines.iter();
    assert!(
        lines.all(|line| line.reason != Reason::PersonaInvalid),
        "{:#?}",
        scenario.lines
    );
    let mut found = event("names");
    let of_web = format!("{streams}/web/events/pending");
    found.path = format!("{of_web}/names-finding.yml");
    ends(&mut scenario, "observers/web/names", vec![found]);
    scenario.tick();
    assert_eq!(
        there(&scenario, &of_web),
        [".gitkeep", "names-finding.yml"],
        "{:#?}",
        scenario.lines
    );
}
