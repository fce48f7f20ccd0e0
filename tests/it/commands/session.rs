//! `phileas session`.

use phileas_domain::state::{Outcome, State};
use phileas_world::Knobs;
use phileas_world::jules::{Ending, Matcher, Scenario, WebSession};

use super::bench::{Bench, bench, bench_with};

fn live(state: &State) -> Option<(String, String)> {
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    turns
        .filter_map(|turn| Some((turn.session_id.as_ref()?.to_string(), turn.turn.to_string())))
        .next()
}

/// A session that a person started in the web app.
fn start_elsewhere(bench: &Bench, title: &str, repository: &str) -> String {
    start_elsewhere_with(bench, title, repository, false)
}

fn start_elsewhere_with(bench: &Bench, title: &str, repository: &str, approval: bool) -> String {
    let mut world = bench.shared.lock_world();
    let (now, knobs) = (world.now(), world.knobs().clone());
    let (owner, name) = repository.split_once('/').unwrap();
    let web = WebSession {
        prompt: "Add a line to the notes.".to_owned(),
        title: title.to_owned(),
        repository: Some((owner.to_owned(), name.to_owned(), "main".to_owned())),
        require_plan_approval: approval,
        auto_create_pull: true,
    };
    world
        .jules_mut()
        .start_in_web_app("maintainer", web, now, &knobs)
        .unwrap()
}

fn acts(bench: &Bench, id: &str) -> Vec<(String, String)> {
    let books = bench.shared.lock_world().complete_books();
    let session = books.sessions.iter().find(|session| session.id == id);
    let acts = session.unwrap().acts.iter();
    acts.map(|act| (act.what.clone(), act.text.clone()))
        .collect()
}

#[test]
fn sessions_are_listed_and_shown_with_their_turn() {
    let bench = bench();
    let state = bench.until(|state| live(state).is_some());
    let (id, turn) = live(&state).unwrap();
    let foreign = start_elsewhere(&bench, "Notes\u{1b}[31m", "acme/widget");
    bench.pass(3);
    let lines = bench.run(&["session", "list", "--json"]).done().lines();
    assert_eq!(lines.len(), 2);
    let of = |id: &str| lines.iter().find(|line| line["session_id"] == id).unwrap();
    assert_eq!(of(&id)["turn"], turn.as_str());
    assert_eq!(of(&id)["live"], true);
    assert_eq!(of(&foreign)["turn"], serde_json::Value::Null);
    let table = bench.run(&["session", "list"]).done();
    assert!(table.out.contains("not ours"), "{table:?}");
    assert!(!table.out.contains('\u{1b}'), "nothing steers the terminal");

    let shown = bench.run(&["session", "show", &id, "--json"]).done().json();
    assert_eq!(shown["turn"], turn.as_str());
    assert!(shown["activities"].is_array(), "{shown}");
    let page = format!("https://jules.google.com/session/{id}");
    let text = bench.run(&["session", "show", &page]).done();
    assert!(text.out.contains(&turn), "{text:?}");
    let by_turn = bench
        .run(&["session", "show", &turn, "--json"])
        .done()
        .json();
    assert_eq!(by_turn["session_id"], id.as_str());
    bench
        .run(&["session", "show", "12345678901234567890"])
        .refused(2, "knows no session");
    bench
        .run(&["session", "show", &format!("../../{id}")])
        .refused(2, "is not a session's id");
    bench
        .run(&["session", "show", "request:1"])
        .refused(2, "request:1 has no session");
}

/// A key serves many repositories, and a listing that hides prompts does not say which of its sessions were this one's
/// before a rename. A session of another repository is neither shown nor taken into a ledger.
#[test]
fn sessions_of_another_repository_are_left_alone() {
    let bench = bench();
    let whole = bench.until(|state| state.history.len() >= 2);
    let title = "curator: default [phileas:222222222222.1]";
    let other = start_elsewhere(&bench, title, "acme/other");
    bench.pass(3);
    *bench.shared.lock_world().knobs_mut() = Knobs {
        listing_without_prompt: true,
        ..Knobs::documented()
    };
    let listed = bench
        .run(&["session", "list", "--archived", "--json"])
        .done();
    assert!(!listed.out.contains(&other), "{listed:?}");
    assert!(listed.lines().len() >= whole.history.len());
    bench.delete_ledger();
    let rebuilt = bench.run(&["state", "rebuild", "--json"]).done();
    assert!(!rebuilt.out.contains(&other), "{rebuilt:?}");
}

#[test]
fn a_person_approves_and_speaks() {
    let bench = bench();
    let state = bench.until(|state| live(state).is_some());
    let (id, turn) = live(&state).unwrap();
    bench
        .run(&["session", "approve", &id])
        .refused(1, "has no plan that waits for approval");
    assert!(acts(&bench, &id).is_empty());
    bench
        .run(&["session", "message", &id, "Keep it small."])
        .done();
    let acts = acts(&bench, &id);
    let (what, text) = &acts[0];
    assert_eq!(what, "message");
    assert!(
        text.starts_with(&format!(
            "Keep it small.\n\nphileas-message: {turn}.1/person-"
        )),
        "{text}"
    );
    bench
        .run(&["session", "message", &id, " "])
        .refused(2, "empty");
}

#[test]
fn a_plan_is_approved_once() {
    let bench = bench();
    bench.tick();
    let id = start_elsewhere_with(&bench, "Notes", "acme/widget", true);
    bench.pass(30);
    let ran = bench.run(&["session", "approve", &id]).done();
    assert!(ran.out.contains("its plan is approved"), "{ran:?}");
    bench.pass(1);
    let ran = bench.run(&["session", "approve", &id]).done();
    assert!(ran.out.contains("approved before"), "{ran:?}");
    let approvals = acts(&bench, &id);
    assert_eq!(
        approvals
            .iter()
            .filter(|(what, _)| what == "approve")
            .count(),
        1
    );
}

#[test]
fn a_cancelled_turn_ends_and_can_be_requested_again() {
    let bench = bench();
    let state = bench.until(|state| live(state).is_some());
    let (id, turn) = live(&state).unwrap();
    let persona = state.history[&0].persona_id.clone();
    let created = bench.shared.lock_world().complete_books().sessions.len();
    let cancel = bench.run(&["session", "cancel", &turn]).done();
    assert!(!cancel.out.contains("PHILEAS_PAUSED"), "{cancel:?}");
    let now = bench.shared.lock_world().complete_books().sessions.len();
    assert_eq!(created, now, "cancelling starts nothing");
    let state = bench.state();
    assert_eq!(state.history[&0].outcome, Some(Outcome::Cancelled));
    assert_eq!(acts(&bench, &id).last().unwrap().0, "archive");
    let ran = bench.run(&["session", "cancel", &id]).done();
    assert!(ran.out.contains("over already, as cancelled"), "{ran:?}");
    for named in [&id, &turn] {
        bench
            .run(&["session", "message", named, "Go on."])
            .refused(1, "is archived, and its turn is over as cancelled");
    }
    assert_eq!(acts(&bench, &id).last().unwrap().0, "archive");
    bench
        .run(&["session", "cancel", "absent"])
        .refused(2, "neither a session nor a turn");

    // While all is paused, it is refused, and nothing says that it was requested.
    bench.run(&["pause"]).done();
    let ran = bench
        .run(&["session", "retry", &id])
        .refused(1, "refused: ");
    assert!(!ran.out.contains("requested again"), "{ran:?}");
    bench.run(&["resume"]).done();
    let ran = bench.run(&["session", "retry", &id, "--json"]).done();
    assert_eq!(ran.lines()[0]["done"], "requested again");
    let state = bench.until(|state| state.tracks.contains_key("request:1"));
    let entry = state
        .history
        .values()
        .find(|entry| entry.track_name().as_str() == "request:1");
    assert_eq!(entry.unwrap().persona_id, persona);
}

/// Changes the plan of the default branch.
fn push_plan(bench: &Bench, plan: &str) {
    let mut world = bench.shared.lock_world();
    let now = world.now();
    let github = world.github_mut();
    let files = [(
        ".jules/schedules.toml".to_owned(),
        Some(plan.to_owned().into()),
    )];
    let head = github.branch_head(bench.repo, "main");
    let commit = github.commit_files(bench.repo, head, &files, "maintainer", "Plan", now);
    github.move_branch(bench.repo, "main", commit, "maintainer", now);
}

/// The line of the pause quotes the mistake, so it stands nowhere else.
#[test]
fn a_mistake_that_holds_everything_is_told_once() {
    let bench = bench();
    bench.tick();
    push_plan(
        &bench,
        "cycle = [\"curator\"]\n[budget]\nmax_active = \"two\"\n",
    );
    for command in ["explain", "tick"] {
        let ran = bench.run(&[command]).refused(1, "");
        assert!(ran.out.contains("paused.plan_invalid"), "{ran:?}");
        assert_eq!(ran.out.matches("schedules.toml:3:").count(), 1, "{ran:?}");
    }
}

/// What the command is for is done; the mistake is that of another file.
#[test]
fn a_mistake_in_the_plan_is_a_warning_of_a_command_that_is_done() {
    let bench = bench();
    let state = bench.until(|state| live(state).is_some());
    let (id, _) = live(&state).unwrap();
    let plan = include_str!("../../../src/sandbox/newcomer/schedules.toml");
    let plan = plan.replace("mode = \"label\"", "mode = \"labels\"");
    assert!(plan.contains("labels"), "{plan}");
    push_plan(&bench, &plan);
    for command in ["cancel", "retry"] {
        let ran = bench.run(&["session", command, &id]).done();
        assert!(
            ran.out.contains("until then it counts as `prompt`"),
            "{ran:?}"
        );
        assert!(ran.err.contains("warning: this is done, but"), "{ran:?}");
    }
    assert_eq!(bench.run(&["tick"]).code, 1);
}

#[test]
fn a_session_at_work_is_not_retried_and_a_held_turn_goes_on() {
    let bench = bench();
    let state = bench.until(|state| live(state).is_some());
    let (id, turn) = live(&state).unwrap();
    bench
        .run(&["session", "retry", &id])
        .refused(1, "is at work");

    // Two sessions of it showed up late, so the list does not prove that the third attempt has none: a person decides.
    let mut held = state.clone();
    let (_, slot, _) = state.live_turn(&turn).unwrap();
    let track = held.tracks.get_mut("default").unwrap();
    let live = track.turns.get_mut(slot).unwrap();
    live.session_id = None;
    live.history_key = None;
    let intent = live.intent.as_mut().unwrap();
    intent.created_at = "2026-01-04T00:00:00Z".parse().unwrap();
    intent.not_after = intent.created_at;
    live.attempt = 3;
    live.late_finds = 2;
    live.warned_at = Some("2026-01-05T00:00:00Z".parse().unwrap());
    held.history.get_mut(&0).unwrap().outcome = Some(Outcome::Failed);
    bench.write_ledger(&phileas_domain::state::codec::save(&held));
    let ran = bench.run(&["explain", "--json"]).done();
    assert!(ran.out.contains("held.ambiguous"), "{ran:?}");
    let ran = bench.run(&["session", "retry", &turn, "--json"]).done();
    assert_eq!(ran.lines()[0]["done"], "resumed");
    let state = bench.state();
    let turn = state.tracks["default"].turns.values().next().unwrap();
    assert_eq!((turn.late_finds, turn.attempt), (0, 4));
    assert!(turn.session_id.is_some(), "{turn:?}");
}

#[test]
fn a_foreign_session_is_imported_and_followed() {
    let bench = bench_with(|setup| {
        setup.jules.scenarios.push(Scenario {
            when: Matcher {
                title: Some(phileas_world::jules::Pattern::new("^Notes$").unwrap()),
                ..Matcher::default()
            },
            ending: Some(Ending::Changes),
            ..Scenario::default()
        });
    });
    bench.tick();
    let id = start_elsewhere(&bench, "Notes", "acme/widget");
    bench
        .run(&["session", "import", &id, "--persona", "curater"])
        .refused(2, "did you mean `curator`?");
    let ran = bench
        .run(&["session", "import", &id, "--persona", "auditor", "--json"])
        .done();
    assert_eq!(ran.json()["track"], "request:1");
    bench
        .run(&["session", "import", &id, "--persona", "auditor"])
        .refused(1, "in the ledger already");
    let state = bench.until(|state| {
        state
            .entry_of_session(&id.as_str().into())
            .is_some_and(|(_, entry)| entry.outcome == Some(Outcome::PrOpen))
    });
    let (_, entry) = state.entry_of_session(&id.as_str().into()).unwrap();
    assert!(entry.pr_number.is_some());
    assert!(state.tracks["request:1"].turns.is_empty());

    let ours = state.history.values().find(|entry| entry.turn.is_some());
    let known = ours.unwrap().session_id.clone().unwrap().to_string();
    bench
        .run(&["session", "import", &known, "--persona", "auditor"])
        .refused(1, "in the ledger already");
}

#[test]
fn sessions_of_other_repositories_are_left_alone() {
    let bench = bench();
    bench.tick();
    let id = start_elsewhere(&bench, "Secret plans", "acme/other");
    for arguments in [
        &["session", "show", &id][..],
        &["session", "approve", &id],
        &["session", "message", &id, "hello"],
        &["session", "import", &id, "--persona", "auditor"],
    ] {
        let ran = bench
            .run(arguments)
            .refused(2, "does not work on acme/widget");
        assert!(!format!("{ran:?}").contains("Secret plans"), "{ran:?}");
    }
    assert!(acts(&bench, &id).is_empty());
}
