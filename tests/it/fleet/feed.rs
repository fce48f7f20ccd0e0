//! `phileas serve` as a user's agent sees it: events of turns stand in the events file beside those of jobs, each
//! once, whichever process is killed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::jobs::Event;
use phileas_world::jules::{Beat, BeatAction, Ending, Scenario};
use serde_json::{Value, json};

use super::rig::{LOOK, PATIENCE, Process, Rig};
use super::soak::figures;
use super::stage::Ground;
use crate::support::child::Ended;
use crate::support::{Phileas, print_line};

/// How a repository's one turn goes, and what an agent is woken for. The number is the repository's.
const WAKES: [(&str, &[&str]); 8] = [
    ("asks until a person must answer", &["question"]),
    ("waits with a plan", &["plan_review"]),
    ("falls silent", &["stuck"]),
    ("fails", &["error"]),
    ("opens a pull request", &["completed"]),
    ("ends with nothing", &["completed"]),
    // The standard answer settles it, so no agent is woken for the question.
    ("asks once", &["completed"]),
    // phileas tries once more, and no agent is woken for the first failure.
    ("fails at first", &["completed"]),
];

/// The n-th session of a repository.
fn session(repository: usize, nth: u32, beats: Vec<(f64, BeatAction)>) -> Scenario {
    let mut scenario = Scenario::default().for_nth(nth);
    scenario.when.source = Some(format!("sources/github/acme/r{repository}"));
    let beats = beats
        .into_iter()
        .map(|(minutes, action)| Beat {
            after: 60.0 * minutes,
            action,
        })
        .collect();
    scenario.beats = Some(beats);
    scenario
}

fn scenarios() -> Vec<Scenario> {
    let begun = |more: Vec<(f64, BeatAction)>| {
        let mut beats = vec![(0.3, BeatAction::Start), (0.7, BeatAction::Plan)];
        beats.extend(more);
        beats
    };
    let ask = |text: &str| (1.0, BeatAction::Ask(text.to_owned()));
    let pull = || {
        vec![
            (1.0, BeatAction::EditSomehow),
            (0.2, BeatAction::Push),
            (0.0, BeatAction::Complete { outputs: true }),
        ]
    };
    let mut asks_once = vec![ask("Tabs or spaces?")];
    asks_once.extend(pull());
    let nothing = vec![
        (1.0, BeatAction::Say("Everything is tidy.".to_owned())),
        (0.0, BeatAction::Complete { outputs: false }),
    ];
    let mut all = vec![
        session(
            0,
            1,
            begun(vec![
                ask("Tabs or spaces?"),
                ask("But which width?"),
                ask("Really?"),
            ]),
        ),
        session(1, 1, begun(pull())),
        session(2, 1, begun(vec![(0.0, BeatAction::Hang)])),
        session(
            3,
            1,
            begun(vec![(1.0, BeatAction::Fail("No room.".to_owned()))]),
        ),
        session(4, 1, begun(pull())),
        session(5, 1, begun(nothing)),
        session(6, 1, begun(asks_once)),
        session(
            7,
            1,
            begun(vec![(1.0, BeatAction::Fail("No luck.".to_owned()))]),
        ),
        session(7, 2, begun(pull())),
    ];
    all.push(Scenario::with_ending(Ending::NoChange));
    all
}

fn plan(repository: usize) -> String {
    let more = match repository {
        1 => "max_nudges = 1\nplan_approval = \"never\"\n",
        // A turn that ends without output is not reported twice.
        5 => "max_nudges = 0\n",
        7 => "max_nudges = 1\nretry = 1\n",
        _ => "max_nudges = 1\n",
    };
    format!(
        "cycle = [\"p0\"]\n[defaults]\n{more}[budget]\nmax_active = 1\ndaily_sessions = 100\nmax_open_pulls = 100\n\
         tier = \"ultra\"\n"
    )
}

fn read(rig: &Rig) -> Vec<Event> {
    let text = std::fs::read_to_string(rig.events()).unwrap_or_default();
    text.lines()
        .map(|line| Event::parse(line).unwrap())
        .collect()
}

/// Kinds of events by repository.
fn kinds_by_repository(rig: &Rig) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in read(rig) {
        let repo = event.payload.unwrap().repo.unwrap();
        told.entry(repo).or_default().push(event.event);
    }
    told
}

fn wanted() -> BTreeMap<String, Vec<String>> {
    let kinds = |kinds: &[&str]| kinds.iter().map(ToString::to_string).collect();
    (0..)
        .zip(WAKES)
        .map(|(n, (_, wakes))| (format!("acme/r{n}"), kinds(wakes)))
        .collect()
}

/// Lets time pass, and tells the service of something in each repository.
fn pass_and_post(rig: &Rig, process: &Process) {
    rig.pass(SignedDuration::from_mins(2));
    rig.stir();
    rig.post(process.public);
}

/// Waits until the service has looked at all that it was told of. Otherwise hours might pass for a busy machine between two
/// looks, and an agent would hear of a session that was not answered for so long.
fn until_it_rests(process: &Process) {
    let begun = Instant::now();
    loop {
        let figures = figures(process);
        if ["due", "leased"].map(|name| figures[&format!("phileas_inbox_{name}")]) == [0; 2] {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{figures:?}");
        std::thread::sleep(LOOK * 20);
    }
}

/// Kills the service at whatever it is, and starts another one. A repository whose ticks die with the process time and again
/// would be suspended, as it should be: so each tick that was cut off comes to its end before the next kill.
fn kill_and_start(rig: &Rig, process: Process) -> Process {
    // How far it gets until then depends on the machine, and it may be as far as it likes.
    std::thread::sleep(Duration::from_millis(150));
    process.kill();
    let process = rig.start();
    until_it_rests(&process);
    process
}

/// Asks the program as an agent would.
fn ask(rig: &Rig, arguments: &[&str]) -> Vec<Value> {
    run(rig, arguments).lines()
}

fn run(rig: &Rig, arguments: &[&str]) -> Ended {
    let program = Phileas::new(arguments)
        .env("PHILEAS_EVENTS_PATH", rig.events().to_str().unwrap())
        .env(
            "PHILEAS_JOBS_PATH",
            rig.data.path().join("jobs.jsonl").to_str().unwrap(),
        )
        .env("JULES_API_KEY", "key-of-acme")
        .env(
            "JULES_API_BASE",
            &format!("http://{}/v1alpha", rig.served.jules),
        );
    program.run().expect(0)
}

#[test]
fn an_agent_hears_of_turns_once_for_each_cause() {
    let start = Timestamp::now();
    let rig = Rig::of(Ground::scripted(
        start,
        &[("acme", WAKES.len())],
        scenarios(),
        plan,
    ));
    let mut process = rig.start();
    let begun = Instant::now();
    let mut rounds = 0;
    let mut kills = 0;
    while kinds_by_repository(&rig) != wanted() {
        let (now, wanted) = (kinds_by_repository(&rig), wanted());
        assert!(begun.elapsed() < PATIENCE, "{now:#?}");
        for (repository, kinds) in &now {
            assert!(
                wanted[repository].starts_with(kinds),
                "{repository}: {kinds:?}; wanted {:?}",
                wanted[repository]
            );
        }
        pass_and_post(&rig, &process);
        rounds += 1;
        if rounds % 4 == 0 {
            process = kill_and_start(&rig, process);
            kills += 1;
        } else {
            until_it_rests(&process);
        }
    }
    // The session that asks is an agent's job as well, and a monitor looks at it.
    let events = read(&rig);
    let asked = events.iter().find(|event| event.event == "question");
    let job = asked.unwrap().job_id.clone().unwrap();
    run(
        &rig,
        &["agent", "jobs", "add", job.as_str(), "--repo", "acme/r0"],
    );
    let state = rig.data.path().join("monitor.json");
    let monitor = ["monitor", "--once", "--state-file", state.to_str().unwrap()];
    for _ in 0..5 {
        pass_and_post(&rig, &process);
        ask(&rig, &[&monitor[..], &["--json"]].concat());
        process = kill_and_start(&rig, process);
    }
    assert_eq!(kinds_by_repository(&rig), wanted(), "nothing is told twice");
    process.kill();

    let events = read(&rig);
    let ids: BTreeSet<u64> = events.iter().map(|event| event.id.unwrap().0).collect();
    assert_eq!(ids, (1..=WAKES.len() as u64).collect());
    let of = |repository: usize| {
        let name = format!("acme/r{repository}");
        let mut all = events.iter();
        let found = all.find(|event| event.payload.as_ref().unwrap().repo.as_ref() == Some(&name));
        found.unwrap().clone()
    };
    assert_eq!(of(0).message_text(), Some("But which width?"));
    let plan = of(1).payload.unwrap();
    assert!(plan.plan_id.is_some() && !plan.steps.is_empty(), "{plan:?}");
    assert_eq!(of(3).message_text(), Some("No room."));
    let payload = of(4).payload.unwrap();
    assert_eq!(payload.outcome.as_deref(), Some("pull_request"));
    assert!(payload.pull.unwrap().contains("/acme/r4/pull/"));
    assert_eq!(
        (payload.track.as_deref(), payload.persona.as_deref()),
        (Some("default"), Some("p0"))
    );
    assert!(payload.turn.is_some());
    assert_eq!(of(5).message_text(), Some("Everything is tidy."));
    assert_eq!(
        of(7).payload.unwrap().outcome.as_deref(),
        Some("pull_request")
    );

    // Each way to read events shows them: the list, the tools, and what is acknowledged.
    assert_eq!(ask(&rig, &["agent", "events", "--json"]).len(), WAKES.len());
    let call = |tool: &str, arguments: &Value| {
        let arguments = arguments.to_string();
        let answer = ask(&rig, &["mcp", "call", tool, &arguments]);
        answer.into_iter().next().unwrap()
    };
    let listed = call("jules_list_events", &json!({"job_id": job.as_str()}));
    let event = &listed["events"][0];
    assert_eq!(
        (&event["event"], &event["persona"]),
        (&json!("question"), &json!("p0"))
    );
    let waited = call("jules_wait_for_event", &json!({"timeout_s": 1}));
    assert_eq!(waited["events"].as_array().unwrap().len(), WAKES.len());
    call("jules_ack_event", &json!({"event_id": event["event_id"]}));
    let listed = call("jules_list_events", &json!({}));
    assert_eq!(listed["events"].as_array().unwrap().len(), WAKES.len() - 1);
    let record = rig.data.path().join("record");
    let command = format!("tee -a {}", record.to_str().unwrap());
    let watcher = rig.data.path().join("watcher.json");
    let watch = [
        "watch",
        "--once",
        "--state-file",
        watcher.to_str().unwrap(),
        "--command",
        &command,
    ];
    Phileas::new(&watch)
        .env("PHILEAS_EVENTS_PATH", rig.events().to_str().unwrap())
        .run()
        .expect(0);
    let woken = std::fs::read_to_string(record).unwrap();
    let count = woken.lines().count();
    assert_eq!(
        count,
        WAKES.len() - 1,
        "all but the one that is dealt with: {woken}"
    );
    print_line(&format!(
        "{} turns, {rounds} rounds of two minutes, {kills} kills: each cause once",
        WAKES.len()
    ));
}

/// A service that has been at work for long is given a repository that has a past: that is no news, what comes of it is.
#[test]
fn the_past_of_a_repository_that_comes_later_is_no_news() {
    let start = Timestamp::now();
    let ends = |nth| {
        let beats = vec![
            (0.3, BeatAction::Start),
            (0.7, BeatAction::Plan),
            (1.0, BeatAction::EditSomehow),
            (0.2, BeatAction::Push),
            (0.0, BeatAction::Complete { outputs: true }),
        ];
        session(0, nth, beats)
    };
    let plan = |_| {
        "cycle = [\"p0\", \"p1\", \"p2\"]\n[budget]\nmax_active = 1\ndaily_sessions = 3\nmax_open_pulls = 100\n\
         tier = \"ultra\"\n"
            .to_owned()
    };
    let scenarios = (1..=3).map(ends).collect();
    let rig = Rig::of(Ground::scripted(start, &[("acme", 1)], scenarios, plan));
    let count = |data: &std::path::Path| {
        let text = std::fs::read_to_string(data.join("events.jsonl")).unwrap_or_default();
        text.lines().count()
    };
    let until = |process: &Process, what: &str, done: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < PATIENCE, "{what}");
            pass_and_post(&rig, process);
            until_it_rests(process);
        }
    };
    // Another agent had it first.
    let first = tempfile::tempdir().unwrap();
    let process = rig.launch(first.path(), &[], &[]);
    until(&process, "the first turn ends", &|| count(first.path()) > 0);
    process.kill();
    rig.pass(SignedDuration::from_mins(30));

    let since = start
        .checked_sub(SignedDuration::from_hours(24 * 30))
        .unwrap();
    let memory = json!({"since": since.to_string(), "repositories": {}});
    let path = rig.data.path().join("feed.json");
    std::fs::write(&path, memory.to_string()).unwrap();
    let process = rig.start();
    let is_known = || {
        let text = std::fs::read_to_string(&path).unwrap();
        let memory: Value = serde_json::from_str(&text).unwrap();
        !memory["repositories"].as_object().unwrap().is_empty()
    };
    until(&process, "it is seen, and that is written down", &is_known);
    until(&process, "another turn ends", &|| {
        count(rig.data.path()) > 0
    });
    process.kill();
    let past = std::fs::read_to_string(first.path().join("events.jsonl")).unwrap();
    let past: BTreeSet<_> = past
        .lines()
        .map(|line| Event::parse(line).unwrap().job_id)
        .collect();
    let told = read(&rig);
    assert!(
        told.iter().all(|event| !past.contains(&event.job_id)),
        "{past:?} is told again: {told:?}"
    );
}

/// Every action can be turned off.
#[test]
fn a_service_may_keep_its_turns_to_itself() {
    let data = tempfile::tempdir().unwrap();
    let events = data.path().join("events.jsonl");
    let arguments = [
        "serve",
        "--no-events",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data.path().to_str().unwrap(),
    ];
    let mut child = Phileas::new(&arguments)
        .env("PHILEAS_WEBHOOK_SECRET", super::stage::SECRET)
        .env("PHILEAS_EVENTS_PATH", events.to_str().unwrap())
        .spawn();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    assert!(line.contains("listen"), "{line}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!data.path().join("feed.json").exists() && !events.exists());
}
