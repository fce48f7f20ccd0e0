//! Workers and determinism.

use super::*;

#[derive(Debug)]
struct Scribe;

impl Worker for Scribe {
    fn change_files(&mut self, task: &Task<'_>, _: &github::Model) -> Option<FileTexts> {
        task.prompt
            .contains("scribe")
            .then(|| FileTexts::from([("x.yml".to_owned(), Some("id: 1\n".to_owned()))]))
    }
}

#[test]
fn a_worker_may_do_the_work() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.jules.set_worker(Box::new(Scribe));
    let id = bench.create_session("scribe", json!({}));
    bench.wait_for_state(&id, "COMPLETED");
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    assert_eq!(
        bench.github.read_file(bench.repo, head, "x.yml").unwrap(),
        "id: 1\n"
    );
}

#[test]
fn one_session_more_does_not_change_the_others() {
    let play = |more: bool| {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        let first = bench.create_session("a", json!({}));
        if more {
            bench.create_session("b", json!({}));
        }
        bench.pass_time(7200);
        bench.list_activities(&first)
    };
    assert_eq!(play(false), play(true));
}

#[test]
fn worlds_of_one_seed_are_the_same() {
    let play = || {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        bench.knobs = Knobs {
            create_burst: 0,
            fresh_session_404_seconds: 0,
            ..Knobs::worst()
        };
        for n in 0..10 {
            bench.try_create(&format!("t{n}"), json!({}));
            bench.pass_time(600);
        }
        bench.pass_time(86_400);
        serde_json::to_string(&bench.books).unwrap()
    };
    assert_eq!(play(), play());
}

#[test]
fn a_world_with_a_maintainer_repeats_itself_under_the_worst_knobs() {
    let play = || {
        let mut account = Account::new("octocat", KEY);
        account.tier = Tier::Ultra;
        account.installed.push(Installed::new("acme", "widget"));
        let mut world = crate::World::new(crate::WorldConfig {
            knobs: Knobs::worst(),
            review_policy: crate::maintainer::ReviewPolicy::usual(),
            jules: Config {
                accounts: vec![account],
                ..Config::default()
            },
            ..crate::WorldConfig::default()
        });
        world.seed(&Seed::new(
            "acme",
            "widget",
            files(&[("README.md", "# Widget\n")]),
        ));
        for n in 0..40 {
            world.advance_to(world.now() + SignedDuration::from_mins(31));
            let body = json!({"prompt": format!("Task {n}"), "automationMode": "AUTO_CREATE_PR", "requirePlanApproval": n % 4 == 0,
                "sourceContext": {"source": "sources/github/acme/widget", "githubRepoContext": {"startingBranch": "main"}}});
            let create = Request::post("/v1alpha/sessions")
                .header("x-goog-api-key", KEY)
                .body(Bytes::from(body.to_string()));
            world.jules_request(create.unwrap());
        }
        world.advance_to(world.now() + SignedDuration::from_hours(72));
        let books = world.books().clone();
        assert_eq!(books.sessions.len(), 40);
        assert!(
            books
                .reviews
                .iter()
                .any(|review| review.verdict == "merged")
        );
        serde_json::to_string(&books).unwrap()
    };
    assert_eq!(play(), play());
}

#[test]
fn whatever_knob_is_turned_every_session_can_be_found_in_the_end() {
    for name in Knobs::names() {
        let mut bench = Bench::new(vec![]);
        assert!(bench.knobs.set_worst(&name));
        for n in 0..4 {
            bench.try_create(&format!("t{n}"), json!({}));
            bench.pass_time(600);
        }
        bench.pass_time(6 * 3600);
        let created: Vec<String> = bench
            .jules
            .records()
            .map(|record| record.id.clone())
            .collect();
        assert_eq!(created.len(), 4, "{name}");
        let page = bench.get("/v1alpha/sessions?pageSize=100");
        let mut listed: Vec<&str> = page["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|session| session["id"].as_str().unwrap())
            .collect();
        listed.sort_unstable();
        let mut expected: Vec<&str> = created.iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(listed, expected, "{name}");
        for id in &created {
            assert!(!bench.list_activities(id).is_empty(), "{name}");
        }
    }
}

#[test]
fn scenarios_are_in_the_books_after_the_next_advance() {
    let mut account = Account::new("octocat", KEY);
    account.installed.push(Installed::new("acme", "widget"));
    let jules = Config {
        accounts: vec![account],
        asks: 0.0,
        ..Config::default()
    };
    let mut world = crate::World::new(crate::WorldConfig {
        jules,
        ..crate::WorldConfig::default()
    });
    let (now, knobs) = (world.now(), world.knobs().clone());
    let web = WebSession {
        prompt: "look".into(),
        ..WebSession::default()
    };
    let id = world
        .jules_mut()
        .start_in_web_app("octocat", web, now, &knobs)
        .unwrap();
    assert!(
        world
            .jules_mut()
            .in_web_app(&id, WebAct::Say("quickly"), now, &knobs)
    );
    world.advance_to(now);
    let entry = &world.books().sessions[0];
    assert!(entry.foreign);
    assert_eq!(
        (entry.acts[0].text.as_str(), entry.acts[0].in_web_app),
        ("quickly", true)
    );
}

/// The title of a pull request, and the text of its files.
fn opened_idea(bench: &Bench, number: u64) -> (String, String) {
    let pull = bench.github.pull(bench.repo, number).unwrap();
    let base = bench.github.branch_head(bench.repo, "main").unwrap();
    let diff = bench.github.diff(bench.repo, base, pull.head.oid);
    let added: Vec<&str> = diff.lines().filter(|line| line.starts_with("+ ")).collect();
    (pull.title.clone(), added.join("\n"))
}

#[test]
fn an_agent_with_ideas_has_the_popular_ones_again() {
    let mut bench = Bench::new(vec![]);
    bench.jules.config.ideas = Some(Ideas::default());
    let mut opened: Vec<(String, String)> = Vec::new();
    let mut repeats = 0;
    for number in 1..=12 {
        let id = bench.create_session(&format!("t{number}"), json!({}));
        bench.wait_for_state(&id, "COMPLETED");
        let (title, text) = opened_idea(&bench, number);
        let plan = Value::from(bench.list_activities(&id)).to_string();
        assert!(plan.contains(&title), "{title}: {plan}");
        if let Some((_, first)) = opened.iter().find(|(earlier, _)| *earlier == title) {
            let kept = text.lines().filter(|line| first.contains(line)).count();
            let share = kept as f64 / text.lines().count() as f64;
            assert!((0.7..0.9).contains(&share), "{share}\n{first}\n\n{text}");
            repeats += 1;
        }
        opened.push((title, text));
        bench.pass_time(3_600);
    }
    assert!((1..8).contains(&repeats), "{repeats}");
}

#[test]
fn a_plan_that_is_turned_down_makes_way_for_another_idea() {
    let mut bench = Bench::new(vec![]);
    bench.jules.config.ideas = Some(Ideas {
        heeds_plan: 1.0,
        ..Ideas::default()
    });
    let id = bench.create_session("t", json!({"requirePlanApproval": true}));
    bench.wait_for_state(&id, "AWAITING_PLAN_APPROVAL");
    let path = format!("/v1alpha/sessions/{id}:sendMessage");
    assert_eq!(
        bench.post_json(&path, &json!({"prompt": "Another task."})),
        200
    );
    bench.pass_time(3_600);
    let ideas = &bench.books.sessions[0].ideas;
    assert_eq!(ideas.len(), 2, "{ideas:?}");
    assert_ne!(ideas[0], ideas[1]);
}
