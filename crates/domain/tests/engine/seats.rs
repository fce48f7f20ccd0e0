//! Who of a layer takes part, and what it begins with.

use phileas_domain::engine::{Ask, Reason};
use phileas_domain::exchange::Content;
use phileas_domain::plan::EntryPoint;

use crate::desk::Desk;
use crate::hand_over::{ITEM, created, desk, ends, event, item, slots, there};

/// A desk whose observers are these, in a repository that everybody can read or not; at the observers' turn.
fn observing(roles: &str, public: bool) -> Desk {
    let mut desk = desk();
    let roster =
        format!("version = 1\n[workflow]\nenabled = false\n[observers]\nroles = [{roles}]\n");
    desk.files.insert(".jlo/config.toml".to_owned(), roster);
    desk.public = public;
    desk.tick();
    ends(&mut desk, "narrator", vec![crate::hand_over::changes()]);
    desk.tick();
    desk
}

/// Work items of these ids wait for implementers, who are asked for.
fn implementing(mut desk: Desk, ids: &[&str]) -> Desk {
    for id in ids {
        let found = id.replace("item", "even");
        let Content::Text(text) = item(&found, false).content else {
            panic!("a text")
        };
        let path = ITEM.replace("retry", id);
        let text = text.replace("item01", id);
        desk.exchange.insert_text(path, &text);
    }
    desk.ask = Ask::Enter(EntryPoint::Requirements);
    desk.tick();
    desk
}

/// Each piece of work ends as a pull request that a person has to review.
#[test]
fn no_more_work_is_begun_than_people_have_room_to_review() {
    let mut desk = desk();
    let plan = desk.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("[budget]", "[budget]\nmax_open_pulls = 2");
    let desk = implementing(desk, &["item01", "item02", "item03"]);
    let begun = ["implementer/item01", "implementer/item02"];
    assert_eq!(slots(&desk), begun, "{:#?}", desk.lines);
    let turns = desk.state().tracks["layers"].turns.keys();
    let announced: Vec<_> = turns.map(|slot| slot.as_str()).collect();
    assert_eq!(announced, begun);
}

#[test]
fn work_whose_pull_request_is_open_is_not_begun_again_and_keeps_no_other_from_it() {
    let mut desk = implementing(desk(), &["item01"]);
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
    desk.opens_pull();
    desk.tick();
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    let desk = implementing(desk, &["item02"]);
    assert_eq!(slots(&desk), ["implementer/item02"], "{:#?}", desk.lines);
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
        let desk = observing(roles, public);
        let is_there = slots(&desk).contains(&"observers/security".to_owned());
        assert_eq!(is_there, works, "{roles} {public}: {:#?}", desk.lines);
        assert!(slots(&desk).contains(&"observers/errors".to_owned()));
        let said = desk.all_reasons().contains(&Reason::PersonaSensitive);
        assert_eq!(said, !works, "{:#?}", desk.lines);
    }
}

/// It was announced beside others, and had no session yet when everybody was let in.
#[test]
fn a_repository_that_becomes_public_keeps_a_sensitive_session_from_starting() {
    let mut desk = desk();
    let roster = "version = 1\n[workflow]\nenabled = false\n[observers]\nroles = [\"errors\", \"security\"]\n";
    desk.files
        .insert(".jlo/config.toml".to_owned(), roster.to_owned());
    let plan = desk.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace("max_active = 6", "max_active = 1");
    desk.tick();
    ends(&mut desk, "narrator", vec![crate::hand_over::changes()]);
    desk.tick();
    assert_eq!(slots(&desk), ["observers/errors"]);
    desk.public = true;
    ends(&mut desk, "observers/errors", Vec::new());
    for _ in 0..3 {
        desk.tick();
        assert!(!slots(&desk).contains(&"observers/security".to_owned()));
        desk.minutes(20);
    }
    let state = desk.state();
    assert!(
        state.tracks["layers"].turns.is_empty(),
        "nobody waits for it: {:#?}",
        desk.lines
    );
}

/// What a role remembers lies on the ledger from its first session on, by the schema that its prompt shows.
#[test]
fn a_role_that_has_no_memory_begins_with_one() {
    let desk = observing("\"errors\"", false);
    assert_eq!(
        there(&desk, ".jules/workstations"),
        ["errors/perspective.yml"]
    );
    let text = desk
        .exchange
        .text(".jules/workstations/errors/perspective.yml")
        .unwrap();
    assert!(
        text.contains("observer: \"errors\"") && text.contains("schema_version: 2"),
        "{text}"
    );
    let prompt = &created(&desk)[0].prompt;
    assert!(prompt.contains("your memory begins empty"), "{prompt}");
    assert!(
        prompt.contains("What you write at the end: .jules/workstations/errors/perspective.yml")
    );
}

/// A workstream says so for itself, or leaves it to the files of roles. What its observers find stays in it.
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
    let mut desk = Desk::new(plan, &[]);
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
    desk.files.extend(files);
    desk.tick();
    desk.exchange
        .insert_text(format!("{streams}/web/events/pending/.gitkeep"), "");
    desk.hours(1);
    desk.tick();
    assert_eq!(
        slots(&desk),
        [
            "observers/core/errors",
            "observers/core/tests",
            "observers/web/names",
        ],
        "{:#?}",
        desk.lines
    );
    // Nobody is on two lists, and nobody stands where another layer is asked for.
    let mut lines = desk.lines.iter();
    assert!(
        lines.all(|line| line.reason != Reason::PersonaInvalid),
        "{:#?}",
        desk.lines
    );
    let mut found = event("names");
    let of_web = format!("{streams}/web/events/pending");
    found.path = format!("{of_web}/names-finding.yml");
    ends(&mut desk, "observers/web/names", vec![found]);
    desk.tick();
    assert_eq!(
        there(&desk, &of_web),
        [".gitkeep", "names-finding.yml"],
        "{:#?}",
        desk.lines
    );
}
