//! Tests sprints: each pass of one track is a sprint, and documents of agents are read only for a persona that is about
//! to start.

use phileas_domain::engine::Effect;

use crate::support::scenario::{Answering, Scenario};

const TWO: &str = "cycle = [\"a\", \"b\"]\n[budget]\ndaily_sessions = 100\nkey_daily = 100\nmax_open_pulls = 50\n";

fn with_sprints() -> Scenario {
    Scenario::new(&format!("{TWO}[sprints]\n"), &["a", "b"])
}

/// One turn, from its start to its pull request.
fn turn(scenario: &mut Scenario) {
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.push();
}

/// The prompt of the newest created session.
fn prompt(scenario: &Scenario) -> &str {
    let prompts = scenario
        .effects
        .iter()
        .rev()
        .filter_map(|effect| match effect {
            Effect::CreateSession(create) => Some(create.prompt.as_str()),
            _ => None,
        });
    prompts.into_iter().next().unwrap()
}

#[test]
fn without_the_table_there_are_none() {
    let mut scenario = Scenario::new(TWO, &["a", "b"]);
    scenario.files.insert(
        ".jules/sprints/sprint-1/a-plan.md".to_owned(),
        "Mine.".to_owned(),
    );
    for _ in 0..5 {
        turn(&mut scenario);
    }
    assert_eq!(scenario.state().sprint, None);
    assert!(
        !prompt(&scenario).contains("sprint"),
        "{}",
        prompt(&scenario)
    );
}

#[test]
fn each_pass_of_the_track_is_one() {
    let mut scenario = with_sprints();
    let mut told = Vec::new();
    for _ in 0..6 {
        turn(&mut scenario);
        told.push(scenario.state().sprint.unwrap());
        let word = format!("This is sprint {}.", told.last().unwrap());
        assert!(prompt(&scenario).contains(&word), "{}", prompt(&scenario));
    }
    assert_eq!(told, [1, 1, 2, 2, 3, 3]);
    let sprints: Vec<_> = scenario
        .headlines
        .iter()
        .filter(|headline| headline.contains("sprint "))
        .collect();
    assert_eq!(sprints.len(), 3, "{:?}", scenario.headlines);
}

#[test]
fn another_track_moves_no_sprint() {
    let plan = "[tracks]\nmain = [\"a\", \"b\"]\nside = [\"c\"]\n[sprints]\ntrack = \"main\"\n[budget]\nmax_active = 9\nkey_active = 9\ndaily_sessions = 100\nkey_daily = 100\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c"]);
    scenario.ask = phileas_domain::engine::RunRequest::Track("side".into());
    for _ in 0..4 {
        turn(&mut scenario);
    }
    assert_eq!(scenario.state().tracks["side"].passes, 3);
    assert_eq!(scenario.state().sprint, Some(1));
}

#[test]
fn a_process_that_dies_at_the_wrap_moves_it_once() {
    let mut scenario = with_sprints();
    turn(&mut scenario);
    turn(&mut scenario);
    scenario.answering = Answering::Dies;
    scenario.tick();
    assert_eq!(scenario.state().sprint, Some(2));
    scenario.answering = Answering::Session;
    // The intent expires, and the turn's session is created again.
    for _ in 0..6 {
        scenario.minutes(10);
        scenario.tick();
    }
    assert_eq!(
        scenario.personas_run().last().map(String::as_str),
        Some("a")
    );
    assert_eq!(scenario.state().tracks["default"].passes, 1);
    assert_eq!(scenario.state().sprint, Some(2));
    scenario.opens_pull();
    scenario.push();
    turn(&mut scenario);
    assert_eq!(scenario.state().sprint, Some(2));
    turn(&mut scenario);
    assert_eq!(scenario.state().sprint, Some(3));
}

#[test]
fn sprint_files_and_tasks_of_a_starting_persona_are_read_for_the_start_alone() {
    let mut scenario = with_sprints();
    for (path, text) in [
        (".jules/sprints/sprint-1/b-plan.md", "The plan of b."),
        (".jules/sprints/sprint-2/b-plan.md", "A later plan."),
        (".jules/tasks/todo/1.md", "---\npersona: a\n---\nFor a."),
        (".jules/tasks/todo/2.md", "---\npersona: b\n---\nFor b."),
        (".jules/tasks/done/3.md", "---\npersona: a\n---\nDone."),
    ] {
        scenario.files.insert(path.to_owned(), text.to_owned());
    }
    scenario.tick();
    let told = prompt(&scenario);
    assert!(
        told.contains("The plan of b.") && !told.contains("A later plan."),
        "{told}"
    );
    assert!(
        told.contains("For a.") && !told.contains("For b.") && !told.contains("Done."),
        "{told}"
    );
    let folders = [
        ".jules/sprints/sprint-1",
        ".jules/tasks/in_progress",
        ".jules/tasks/todo",
    ];
    let read: Vec<Vec<&str>> = scenario
        .folders_read
        .iter()
        .map(|read| read.iter().map(String::as_str).collect())
        .collect();
    assert_eq!(read, [folders.to_vec()]);
    // While the session runs there is nothing to quote them in.
    for _ in 0..3 {
        scenario.minutes(5);
        scenario.tick();
    }
    assert_eq!(scenario.folders_read.len(), 1);
}

#[test]
fn a_repository_without_sprints_is_not_read_for_them() {
    let mut scenario = with_sprints();
    for _ in 0..3 {
        turn(&mut scenario);
    }
    assert_eq!(scenario.folders_read.len(), 0);
}

/// Seed 004's own system kept the number in a file, and the plan of its repository has no `[sprints]`.
#[test]
fn without_the_table_the_number_in_the_file_counts() {
    for (written, told) in [
        ("7\n", Some(7)),
        ("\u{feff}7\r\n", Some(7)),
        ("seven\n", None),
        ("0\n", None),
        ("", None),
    ] {
        let mut scenario = Scenario::new(TWO, &["a", "b"]);
        for (path, text) in [("current.txt", written), ("sprint-7/a-plan.md", "Mine.\n")] {
            scenario
                .files
                .insert(format!(".jules/sprints/{path}"), text.to_owned());
        }
        scenario.tick();
        let prompt = prompt(&scenario);
        let says = prompt.contains("This is sprint 7.") && prompt.contains("Mine.");
        assert_eq!(says, told.is_some(), "{written:?}: {prompt}");
        assert_eq!(scenario.state().sprint, None, "the file has it");
    }
    // Where passes are sprints, the ledger has the number.
    let mut scenario = with_sprints();
    scenario
        .files
        .insert(".jules/sprints/current.txt".to_owned(), "7\n".to_owned());
    scenario.tick();
    assert!(prompt(&scenario).contains("This is sprint 1."));
}
