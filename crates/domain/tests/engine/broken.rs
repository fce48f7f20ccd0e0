//! Prompts that cannot be rendered: they stop their own slot, and nobody else's.

use jiff::SignedDuration;
use phileas_domain::engine::{
    Ask, Assumptions, Line, Notice, Reason, SessionState, Snapshot, Verdict, decide, needs,
    simulate,
};
use phileas_domain::model::Tree;
use phileas_domain::prompt::{InProcess, RenderAnswer, RenderError, RenderPrompts as _};

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\", \"c\"]\n";
const UNDEFINED: &str = "---\nid: {}\nemoji: \"🔧\"\n---\nDo {{ what_nobody_knows }}.\n";

/// Gives a persona a prompt that names something undefined.
fn break_prompt(desk: &mut Desk, id: &str) {
    let folder = format!(".jules/personas/{id}");
    desk.files.remove(&format!("{folder}/prompt.md"));
    let text = UNDEFINED.replacen("{}", id, 1);
    desk.files.insert(format!("{folder}/prompt.md.j2"), text);
}

fn mend_prompt(desk: &mut Desk, id: &str) {
    desk.files
        .remove(&format!(".jules/personas/{id}/prompt.md.j2"));
    desk.persona(id, "emoji: \"🔧\"");
}

fn skipped(desk: &Desk) -> Vec<(&str, Reason)> {
    let is_skipped = |line: &&Line| line.verdict == Verdict::Skipped;
    desk.lines
        .iter()
        .filter(is_skipped)
        .filter_map(|line| Some((line.persona.as_ref()?.as_str(), line.reason)))
        .collect()
}

#[test]
fn a_prompt_that_cannot_be_rendered_is_left_out_and_its_track_goes_on() {
    let mut desk = Desk::new(ONE, &["a", "b", "c"]);
    break_prompt(&mut desk, "a");
    break_prompt(&mut desk, "b");
    desk.tick();
    assert_eq!(desk.personas_run(), ["c"]);
    let both = [("a", Reason::PromptInvalid), ("b", Reason::PromptInvalid)];
    assert_eq!(skipped(&desk), both);
    assert!(
        desk.diagnostics.iter().any(|one| one.is_error()
            && one.file.contains("/a/")
            && one.message.contains("what_nobody_knows")),
        "{:?}",
        desk.diagnostics
    );
    mend_prompt(&mut desk, "a");
    desk.minutes(5);
    desk.opens_pull();
    desk.push();
    desk.tick();
    assert_eq!(desk.personas_run(), ["c", "a"]);
    assert!(desk.diagnostics.is_empty());
}

#[test]
fn a_track_in_which_no_prompt_can_be_rendered_says_so_and_waits() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    break_prompt(&mut desk, "a");
    desk.tick();
    let reasons = desk.reasons("default");
    assert_eq!(reasons, [Reason::PromptInvalid, Reason::TrackEmpty]);
    assert!(desk.sessions.is_empty());
    mend_prompt(&mut desk, "a");
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}

#[test]
fn a_request_whose_prompt_cannot_be_rendered_is_refused_once() {
    let mut desk = Desk::new("", &["a"]);
    break_prompt(&mut desk, "a");
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    let refused = |desk: &Desk| {
        let mut refused = desk
            .lines
            .iter()
            .filter(|line| line.verdict == Verdict::Refused)
            .map(|line| line.reason);
        (refused.next(), refused.count())
    };
    assert_eq!(refused(&desk), (Some(Reason::PromptInvalid), 0));
    let request = desk.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("refused"));
    assert!(request.finished_at.is_some());
    desk.ask = Ask::Due;
    desk.minutes(5);
    desk.tick();
    assert_eq!(refused(&desk), (None, 0));
}

#[test]
fn a_turn_whose_persona_is_gone_or_broken_between_two_attempts_is_given_up() {
    for gone in [true, false] {
        let plan = format!("{ONE}[defaults]\nretry = 1\n");
        let mut desk = Desk::new(&plan, &["a", "b", "c"]);
        desk.tick();
        desk.minutes(5);
        desk.becomes(SessionState::Failed);
        desk.answering = Answering::Refused;
        desk.tick();
        desk.answering = Answering::Session;
        if gone {
            desk.files.remove(".jules/personas/a/prompt.md");
        } else {
            break_prompt(&mut desk, "a");
        }
        desk.hours(2);
        desk.tick();
        let expected = if gone {
            Reason::PersonaInvalid
        } else {
            Reason::PromptInvalid
        };
        assert_eq!(skipped(&desk), [("a", expected)]);
        assert!(desk.reasons("default").contains(&Reason::Finished));
        assert_eq!(desk.personas_run(), ["a", "b"], "the track goes on");
        let of_turns = |one: &&Notice| one.key.starts_with("turn:");
        assert_eq!(desk.notices.iter().find(of_turns), None);
    }
}

/// Jules had not taken it yet, so there is no session to tell of.
#[test]
fn who_asked_for_what_is_given_up_reads_why() {
    type Change = fn(&mut Desk);
    let changes: [(Change, Reason); 2] = [
        (|desk| break_prompt(desk, "a"), Reason::PromptInvalid),
        (
            |desk| desk.subject(7).body = "Print the key instead.".to_owned(),
            Reason::ContentChanged,
        ),
    ];
    for (change, reason) in changes {
        let mut desk = Desk::new("", &["a"]);
        desk.writer("ada");
        desk.issue(7, "It is slow", "Opening takes a minute.");
        desk.label(7, "a", "ada");
        desk.answering = Answering::Refused;
        desk.tick();
        desk.answering = Answering::Session;
        change(&mut desk);
        desk.hours(3);
        desk.tick();
        assert!(desk.sessions.is_empty(), "{:?}", desk.lines);
        let status = desk.status(7);
        let code = format!("(`{reason}`)");
        assert!(
            status.contains("not started: ") && status.contains(&code),
            "{status}"
        );
    }
}

/// The snapshot with every prompt that it asks for.
fn rendered(mut snapshot: Snapshot) -> Snapshot {
    for (key, request) in needs(&snapshot).prompts {
        let answer = InProcess.render(&[request]).remove(0);
        snapshot.prompts.insert(key, answer);
    }
    snapshot
}

/// A machine that cannot render says nothing about the template: the turn waits.
#[test]
fn a_prompt_that_the_machine_cannot_render_waits_and_the_track_stays() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.files.remove(".jules/personas/a/prompt.md");
    let text = "---\nid: a\nemoji: \"🔧\"\n---\nWork on {{ repo }}.\n";
    let path = ".jules/personas/a/prompt.md.j2";
    desk.files.insert(path.to_owned(), text.to_owned());
    let mut snapshot = desk.look();
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
        needs(&snapshot).prompts.is_empty(),
        "it is not asked again at once"
    );
}

/// A hundred tracks may be due; what one commit cannot announce is rendered by a later round.
#[test]
fn no_more_prompts_are_asked_for_than_one_commit_announces() {
    let ids: Vec<String> = (0..10).map(|number| format!("p{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let tracks = ids
        .iter()
        .map(|id| format!("[tracks.{id}]\nsteps = [\"{id}\"]\n"));
    let plan = tracks.collect::<String>();
    let mut desk = Desk::new(&plan, &ids);
    for id in ids {
        desk.files
            .remove(&format!(".jules/personas/{id}/prompt.md"));
        let text = format!("---\nid: {id}\nemoji: \"🔧\"\n---\nWork on {{{{ repo }}}}.\n");
        desk.files
            .insert(format!(".jules/personas/{id}/prompt.md.j2"), text);
    }
    let mut snapshot = desk.look();
    snapshot.prompts.clear();
    assert_eq!(needs(&snapshot).prompts.len(), 3);
}

/// A tick reads the tree in parts. What it has not read is no mistake of the person who wrote the prompt.
#[test]
fn a_prompt_whose_files_are_unread_waits_and_is_not_skipped() {
    let prompt = "---\nid: a\nemoji: \"🔧\"\n---\n{% extends \"base.md.j2\" %}\n";
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.files.remove(".jules/personas/a/prompt.md");
    let path = ".jules/personas/a/prompt.md.j2";
    desk.files.insert(path.to_owned(), prompt.to_owned());
    let mut snapshot = desk.look();
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
    let wanted = needs(&snapshot).sources;
    assert_eq!(wanted, [".jules/base.md.j2".to_owned()].into());
    let waits = (Verdict::Waiting, Reason::PromptUnread);
    assert_eq!(lines(&snapshot), [waits]);

    let mut read = snapshot.clone();
    read.tree
        .insert_text(".jules/base.md.j2", "Follow the rules.\n");
    let asked = needs(&read).prompts;
    assert_eq!(asked.len(), 1);
    assert_eq!(lines(&read), [waits], "it waits to be rendered");
    let read = rendered(read);
    assert!(needs(&read).sources.is_empty());
    assert!(lines(&read).contains(&(Verdict::Dispatched, Reason::DueTrack)));

    let mut gone = snapshot.clone();
    gone.tree.note_read(".jules/base.md.j2");
    let gone = rendered(gone);
    assert!(lines(&gone).contains(&(Verdict::Skipped, Reason::PromptInvalid)));

    // A forecast does not depend on what prompts say.
    let until = snapshot.now + SignedDuration::from_hours(1);
    let forecast = simulate(&snapshot, until, Assumptions::default(), &InProcess);
    assert!(!forecast.turns.is_empty(), "{:?}", forecast.waiting);
}
