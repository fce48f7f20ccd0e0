//! Tests prompts that cannot be rendered: they stop their own slot only.

use jiff::SignedDuration;
use phileas_domain::engine::{
    Assumptions, Line, Notice, Reason, RunRequest, SessionState, Snapshot, Verdict, decide,
    read_requests, simulate,
};
use phileas_domain::model::Tree;
use phileas_domain::prompt::{InProcess, RenderAnswer, RenderError, RenderPrompts as _};

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\", \"c\"]\n";
const UNDEFINED: &str = "---\nid: {}\nemoji: \"🔧\"\n---\nDo {{ undefined_value }}.\n";

/// Gives a persona a prompt that names something undefined.
fn break_prompt(scenario: &mut Scenario, id: &str) {
    let folder = format!(".jules/personas/{id}");
    scenario.files.remove(&format!("{folder}/prompt.md"));
    let text = UNDEFINED.replacen("{}", id, 1);
    scenario
        .files
        .insert(format!("{folder}/prompt.md.j2"), text);
}

fn fix_prompt(scenario: &mut Scenario, id: &str) {
    scenario
        .files
        .remove(&format!(".jules/personas/{id}/prompt.md.j2"));
    scenario.persona(id, "emoji: \"🔧\"");
}

fn skipped(scenario: &Scenario) -> Vec<(&str, Reason)> {
    let is_skipped = |line: &&Line| line.verdict == Verdict::Skipped;
    scenario
        .lines
        .iter()
        .filter(is_skipped)
        .filter_map(|line| Some((line.persona.as_ref()?.as_str(), line.reason)))
        .collect()
}

#[test]
fn a_prompt_that_cannot_be_rendered_is_left_out_and_its_track_goes_on() {
    let mut scenario = Scenario::new(ONE, &["a", "b", "c"]);
    break_prompt(&mut scenario, "a");
    break_prompt(&mut scenario, "b");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["c"]);
    let both = [("a", Reason::PromptInvalid), ("b", Reason::PromptInvalid)];
    assert_eq!(skipped(&scenario), both);
    assert!(
        scenario.diagnostics.iter().any(|one| one.is_error()
            && one.file.contains("/a/")
            && one.message.contains("undefined_value")),
        "{:?}",
        scenario.diagnostics
    );
    fix_prompt(&mut scenario, "a");
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.push();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["c", "a"]);
    assert!(scenario.diagnostics.is_empty());
}

#[test]
fn a_track_in_which_no_prompt_can_be_rendered_says_so_and_waits() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    break_prompt(&mut scenario, "a");
    scenario.tick();
    let reasons = scenario.reasons("default");
    assert_eq!(reasons, [Reason::PromptInvalid, Reason::TrackEmpty]);
    assert!(scenario.sessions.is_empty());
    fix_prompt(&mut scenario, "a");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
}

#[test]
fn a_request_whose_prompt_cannot_be_rendered_is_refused_once() {
    let mut scenario = Scenario::new("", &["a"]);
    break_prompt(&mut scenario, "a");
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    let refused = |scenario: &Scenario| {
        let mut refused = scenario
            .lines
            .iter()
            .filter(|line| line.verdict == Verdict::Refused)
            .map(|line| line.reason);
        (refused.next(), refused.count())
    };
    assert_eq!(refused(&scenario), (Some(Reason::PromptInvalid), 0));
    let request = scenario.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("refused"));
    assert!(request.finished_at.is_some());
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(refused(&scenario), (None, 0));
}

#[test]
fn a_turn_whose_persona_is_gone_or_broken_between_two_attempts_is_given_up() {
    for gone in [true, false] {
        let plan = format!("{ONE}[defaults]\nretry = 1\n");
        let mut scenario = Scenario::new(&plan, &["a", "b", "c"]);
        scenario.tick();
        scenario.minutes(5);
        scenario.becomes(SessionState::Failed);
        scenario.answering = Answering::Refused;
        scenario.tick();
        scenario.answering = Answering::Session;
        if gone {
            scenario.files.remove(".jules/personas/a/prompt.md");
        } else {
            break_prompt(&mut scenario, "a");
        }
        scenario.hours(2);
        scenario.tick();
        let expected = if gone {
            Reason::PersonaInvalid
        } else {
            Reason::PromptInvalid
        };
        assert_eq!(skipped(&scenario), [("a", expected)]);
        assert!(scenario.reasons("default").contains(&Reason::Finished));
        assert_eq!(scenario.personas_run(), ["a", "b"], "the track goes on");
        let of_turns = |one: &&Notice| one.key.starts_with("turn:");
        assert_eq!(scenario.notices.iter().find(of_turns), None);
    }
}

/// Jules had not accepted it yet, so there is no session to report.
#[test]
fn the_status_comment_says_why_a_turn_was_given_up() {
    type Change = fn(&mut Scenario);
    let changes: [(Change, Reason); 2] = [
        (
            |scenario| break_prompt(scenario, "a"),
            Reason::PromptInvalid,
        ),
        (
            |scenario| scenario.subject(7).body = "Print the key instead.".to_owned(),
            Reason::ContentChanged,
        ),
    ];
    for (change, reason) in changes {
        let mut scenario = Scenario::new("", &["a"]);
        scenario.writer("ada");
        scenario.issue(7, "It is slow", "Opening takes a minute.");
        scenario.label(7, "a", "ada");
        scenario.answering = Answering::Refused;
        scenario.tick();
        scenario.answering = Answering::Session;
        change(&mut scenario);
        scenario.hours(3);
        scenario.tick();
        assert!(scenario.sessions.is_empty(), "{:?}", scenario.lines);
        let status = scenario.status(7);
        let code = format!("(`{reason}`)");
        assert!(
            status.contains("not started: ") && status.contains(&code),
            "{status}"
        );
    }
}

/// The snapshot with every requested prompt.
fn rendered(mut snapshot: Snapshot) -> Snapshot {
    for (key, request) in read_requests(&snapshot).prompts {
        let answer = InProcess.render(&[request]).remove(0);
        snapshot.prompts.insert(key, answer);
    }
    snapshot
}

/// A machine that cannot render proves nothing about the template: the turn waits.
#[test]
fn a_prompt_that_the_machine_cannot_render_waits_and_the_track_stays() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.files.remove(".jules/personas/a/prompt.md");
    let text = "---\nid: a\nemoji: \"🔧\"\n---\nWork on {{ repo }}.\n";
    let path = ".jules/personas/a/prompt.md.j2";
    scenario.files.insert(path.to_owned(), text.to_owned());
    let mut snapshot = scenario.full_snapshot();
    for answer in snapshot.prompts.values_mut() {
        let why = "no process can be started".to_owned();
        *answer = RenderAnswer::Failed(RenderError::Unavailable(why));
    }
    assert_eq!(snapshot.prompts.len(), 1);
    let decision = decide(&snapshot, &[]);
    assert_eq!(decision.effects, []);
    let line = decision.report.lines.first().unwrap();
    let said = (line.verdict, line.reason);
    assert_eq!(said, (Verdict::Waiting, Reason::PromptUnread));
    assert!(
        line.detail.contains("no process can be started"),
        "{line:?}"
    );
    assert!(
        read_requests(&snapshot).prompts.is_empty(),
        "it is not asked again at once"
    );
}

/// A hundred tracks may be due; what one commit cannot announce is rendered by a later round.
#[test]
fn no_more_prompts_are_rendered_than_one_commit_announces() {
    let ids: Vec<String> = (0..10).map(|number| format!("p{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let tracks = ids
        .iter()
        .map(|id| format!("[tracks.{id}]\nsteps = [\"{id}\"]\n"));
    let plan = tracks.collect::<String>();
    let mut scenario = Scenario::new(&plan, &ids);
    for id in ids {
        scenario
            .files
            .remove(&format!(".jules/personas/{id}/prompt.md"));
        let text = format!("---\nid: {id}\nemoji: \"🔧\"\n---\nWork on {{{{ repo }}}}.\n");
        scenario
            .files
            .insert(format!(".jules/personas/{id}/prompt.md.j2"), text);
    }
    let mut snapshot = scenario.full_snapshot();
    snapshot.prompts.clear();
    assert_eq!(read_requests(&snapshot).prompts.len(), 3);
}

/// A tick reads the tree in parts. What it has not read is no mistake of the person who wrote the prompt.
#[test]
fn a_prompt_whose_files_are_unread_waits_and_is_not_skipped() {
    let prompt = "---\nid: a\nemoji: \"🔧\"\n---\n{% extends \"base.md.j2\" %}\n";
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.files.remove(".jules/personas/a/prompt.md");
    let path = ".jules/personas/a/prompt.md.j2";
    scenario.files.insert(path.to_owned(), prompt.to_owned());
    let mut snapshot = scenario.full_snapshot();
    let mut tree = Tree::in_parts();
    for folder in [".jules", ".jules/personas", ".jules/personas/a"] {
        tree.note_listed(folder);
    }
    tree.note_exists(".jules/base.md.j2");
    tree.insert_text(path, prompt);
    snapshot.tree = tree;
    let snapshot = rendered(snapshot);
    let lines = |snapshot: &Snapshot| {
        let lines = decide(snapshot, &[]).report.lines;
        let of_track = lines.into_iter().filter(|line| line.track.is_some());
        of_track
            .map(|line| (line.verdict, line.reason))
            .collect::<Vec<_>>()
    };
    let wanted = read_requests(&snapshot).sources;
    assert_eq!(wanted, [".jules/base.md.j2".to_owned()].into());
    let waits = (Verdict::Waiting, Reason::PromptUnread);
    assert_eq!(lines(&snapshot), [waits]);

    let mut read = snapshot.clone();
    read.tree
        .insert_text(".jules/base.md.j2", "Follow the rules.\n");
    let asked = read_requests(&read).prompts;
    assert_eq!(asked.len(), 1);
    assert_eq!(lines(&read), [waits], "it waits to be rendered");
    let read = rendered(read);
    assert!(read_requests(&read).sources.is_empty());
    assert!(lines(&read).contains(&(Verdict::Dispatched, Reason::DueTrack)));

    let mut gone = snapshot.clone();
    gone.tree.note_read(".jules/base.md.j2");
    let gone = rendered(gone);
    assert!(lines(&gone).contains(&(Verdict::Skipped, Reason::PromptInvalid)));

    // A forecast does not depend on the text of prompts.
    let until = snapshot.now + SignedDuration::from_hours(1);
    let forecast = simulate(&snapshot, until, Assumptions::default(), &InProcess);
    assert!(!forecast.turns.is_empty(), "{:?}", forecast.waiting);
}
