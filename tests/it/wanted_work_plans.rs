//! Plans that repeat earlier work are turned down: on the models, by the program's own process, with an agent that has
//! the popular ideas again and again.

use phileas::sandbox::SharedWorld;
use phileas_world::books::Session;
use phileas_world::jules::{Ideas, WebAct};

use crate::support::books::messages;
use crate::support::judge::repo;
use crate::support::ticks::{MINUTE, pass_until, quiet_setup, use_workflow_token};
use crate::support::{Folder, Phileas, Served, judge};

const PLAN: &str =
    "cycle = [\"curator\", \"tester\"]\n[budget]\ndaily_sessions = 2\n[novelty]\nplan = true\n";

/// An agent whose first idea is nearly always the most popular one, whatever its prompt lists.
fn world(plan: &str, heeds_plan: f64) -> (Folder, SharedWorld) {
    let repository = Folder::repository(plan, &["curator", "tester"]);
    let mut setup = quiet_setup(&repository, 7, Vec::new());
    setup.jules.ideas = Some(Ideas {
        exponent: 8.0,
        heeds_prompt: 0.0,
        heeds_plan,
        ..Ideas::default()
    });
    let shared = SharedWorld::new(setup.build_world().unwrap().0);
    use_workflow_token(&shared);
    (repository, shared)
}

/// Runs of the program, three minutes apart. The last one's number of requests.
fn play(shared: &SharedWorld, count: usize) -> usize {
    let mut requests = 0;
    for _ in 0..count {
        shared.advance_time(MINUTE * 3);
        shared.lock_world().books_mut().reset_requests();
        let served = Served::start(shared, None);
        Phileas::tick(&served).run().expect(0);
        let world = shared.lock_world();
        requests = world.books().requests.len();
    }
    requests
}

fn sessions(shared: &SharedWorld) -> Vec<Session> {
    shared.lock_world().books().sessions.clone()
}

/// How often something was done to a session through the API.
fn count_acts(session: &Session, what: &str) -> usize {
    let acts = session.acts.iter();
    acts.filter(|act| act.what == what && !act.in_web_app)
        .count()
}

fn outcomes(shared: &SharedWorld) -> Vec<String> {
    let state = judge::state(shared);
    let entries = judge::history(&state).into_iter();
    entries
        .map(|entry| entry["outcome"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_plan_that_repeats_open_work_is_turned_down_once_and_another_idea_is_approved_and_merged() {
    let (_repository, shared) = world(PLAN, 1.0);
    play(&shared, 15);
    let [first, second] = &sessions(&shared)[..] else {
        panic!("{:?}", sessions(&shared));
    };
    assert_eq!((first.ideas.len(), second.ideas.len()), (1, 2));
    assert_eq!(second.ideas[0], first.ideas[0]);
    assert_ne!(second.ideas[1], first.ideas[0]);
    let messages = messages(&shared);
    let [message] = &messages[..] else {
        panic!("{messages:?}");
    };
    assert!(
        message.starts_with(
            "phileas does not approve this plan: it does the same as pull request #1, which is open."
        ),
        "{message}"
    );
    assert_eq!(
        (count_acts(first, "approve"), count_acts(second, "approve")),
        (1, 1)
    );
    let repo = repo(&shared);
    {
        let mut world = shared.lock_world();
        let title = world.github().pull(repo, 2).unwrap().title.clone();
        assert_eq!(title, second.ideas[1]);
        let now = world.now();
        for number in [1, 2] {
            world
                .github_mut()
                .merge_pull(repo, number, "maintainer", now)
                .unwrap();
        }
    }
    play(&shared, 4);
    assert_eq!(outcomes(&shared), ["merged", "merged"]);
    assert_eq!(play(&shared, 1), 1, "an idle tick is one request");
}

#[test]
fn a_second_plan_that_repeats_work_ends_the_turn_as_repeated() {
    let (_repository, shared) = world(PLAN, 0.0);
    play(&shared, 15);
    let sessions = sessions(&shared);
    let second = &sessions[1];
    assert_eq!(
        second.ideas,
        [&*sessions[0].ideas[0], &*sessions[0].ideas[0]]
    );
    assert_eq!(messages(&shared).len(), 1);
    assert_eq!(count_acts(second, "approve"), 0);
    assert!(second.archived && second.pull.is_none(), "{second:?}");
    assert_eq!(outcomes(&shared), ["pr_open", "repeated"]);
    let state = judge::state(&shared);
    let note = judge::history(&state)[1]["note"].as_str().unwrap();
    assert_eq!(
        note,
        "its plan does the same as pull request #1, which is open, also after it was asked for another task"
    );
}

#[test]
fn explain_says_why_a_plan_is_not_approved() {
    let (_repository, shared) = world(PLAN, 1.0);
    let mut count = 0;
    while messages(&shared).is_empty() {
        play(&shared, 1);
        count += 1;
        assert!(count < 15, "{:?}", sessions(&shared));
    }
    let served = Served::start(&shared, None);
    let explained = Phileas::new(&["explain", "--repo", "acme/widget"])
        .within(&served)
        .run()
        .expect(0);
    let why =
        "its plan does the same as pull request #1, which is open; it was asked for another task";
    assert!(
        explained.out.contains("waiting.plan_repeats") && explained.out.contains(why),
        "{explained}"
    );
}

#[test]
fn a_person_who_approves_the_plan_first_comes_first() {
    let (_repository, shared) = world(PLAN, 1.0);
    let mut count = 0;
    while sessions(&shared).len() < 2 {
        play(&shared, 1);
        count += 1;
        assert!(count < 15, "{:?}", sessions(&shared));
    }
    pass_until(&shared, "AWAITING_PLAN_APPROVAL");
    {
        let mut world = shared.lock_world();
        let (now, knobs) = (world.now(), world.knobs().clone());
        let id = world.books().sessions[1].id.clone();
        let jules = world.jules_mut();
        assert!(jules.in_web_app(&id, WebAct::ApprovePlan, now, &knobs));
    }
    play(&shared, 8);
    let sessions = sessions(&shared);
    assert_eq!(messages(&shared), [""; 0]);
    assert_eq!(count_acts(&sessions[1], "approve"), 0);
    assert_eq!(sessions[1].ideas.len(), 1);
    assert_eq!(sessions[1].pull, Some(2));
}

#[test]
fn without_the_key_no_plan_waits() {
    let (_repository, shared) = world(&PLAN.replace("plan = true", "plan = false"), 1.0);
    play(&shared, 12);
    let sessions = sessions(&shared);
    assert_eq!(sessions.len(), 2);
    for session in &sessions {
        assert_eq!(count_acts(session, "approve"), 0);
        assert!(session.pull.is_some());
    }
}
