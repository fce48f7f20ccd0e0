//! A template takes what it can, and costs its own persona's turn and nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use phileas::adapters::renderer::{ARGUMENT, ChildRenderer, MEMORY_LIMIT_BYTES, START_LIMIT};
use phileas::runtime::ports::Renderer as _;
use phileas_domain::model::Tree;
use phileas_domain::plan;
use phileas_domain::prompt::{
    self, Assembly, RenderAnswer, RenderError, RenderPrompts as _, RenderRequest, Request,
    SourceFiles,
};

use crate::support::child::PROGRAM;
use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served, hostile, print_line};

/// A request for the prompt of a persona with this text.
fn request(id: &str, text: &str) -> RenderRequest {
    request_with(id, text, &[], 7)
}

fn request_with(id: &str, text: &str, notes: &[String], entropy: u8) -> RenderRequest {
    let path = format!(".jules/personas/{id}/prompt.md.j2");
    let tree = Tree::from_texts([(path, text)]);
    let (personas, found) = plan::read_personas(&tree);
    assert!(found.is_empty(), "{id}: {found:?}");
    let request = Request {
        repository: &"acme/widget".parse().unwrap(),
        persona: &personas[id],
        tree: &tree,
        track: &"default".into(),
        open_pulls: &[],
        sprint: None,
        entropy: &[entropy; 32],
        notes,
        work: &[],
        subject: None,
    };
    RenderRequest::for_persona(&request, &SourceFiles::of_default_branch(&tree))
}

fn honest(number: usize) -> RenderRequest {
    let id = format!("good{number}");
    let text = format!("---\nid: {id}\nemoji: \"⚙\"\n---\nWork on {{{{ repo }}}}, {number}.\n");
    request(&id, &text)
}

fn children() -> ChildRenderer {
    ChildRenderer::new(PathBuf::from(PROGRAM))
}

/// Processes of this one that render prompts.
fn processes() -> Vec<u32> {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let read = |file: &str| std::fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        let called = String::from_utf8_lossy(&read("cmdline")).into_owned();
        parent.map(str::trim) == Some(own.as_str()) && called.contains(ARGUMENT)
    })
    .collect()
}

/// The answers, once the machine has had the time that each may take: where it is busy, two seconds of processor time are
/// waited for in vain, and the next tick tries again.
fn rendered(renderer: &ChildRenderer, requests: &[RenderRequest]) -> Vec<RenderAnswer> {
    let was_busy = |answer: &RenderAnswer| {
        let why = "did not get enough processor time";
        matches!(answer.error(), Some(RenderError::Unavailable(said)) if said.contains(why))
    };
    let tries = std::iter::repeat_with(|| renderer.render(requests)).take(10);
    let mut tries = tries.skip_while(|answers| answers.iter().any(was_busy));
    tries.next().expect("the machine is not busy for ever")
}

/// Half of the templates, so that two tests share the work.
fn each_is_stopped(half: usize) {
    let renderer = children();
    let _kept = renderer.keep_ready();
    let mut wrong = Vec::new();
    let mut slowest = (Duration::ZERO, String::new());
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let all = hostile::personas();
    assert!(all.len() >= 61, "{}", all.len());
    for (number, (id, text)) in all.iter().enumerate() {
        if number % 2 != half {
            continue;
        }
        let begun = Instant::now();
        let answers = rendered(&renderer, &[request(id, text), honest(number)]);
        slowest = slowest.max((begun.elapsed(), text.clone()));
        match &answers[0] {
            RenderAnswer::Failed(RenderError::Invalid(said)) => {
                let path = format!(".jules/personas/{id}/prompt.md.j2");
                if said[0].file != path {
                    wrong.push(format!("{text}: {}", said[0]));
                }
                *reasons.entry(said[0].message.clone()).or_default() += 1;
            }
            other => {
                let shown: String = format!("{other:?}").chars().take(200).collect();
                wrong.push(format!("{text}: {shown}"));
            }
        }
        // The next one is none the worse for it.
        let said = format!("Work on widget, {number}.");
        if !matches!(&answers[1], RenderAnswer::Persona(made) if made.prompt.contains(&said)) {
            wrong.push(format!("after {text}: {:?}", answers[1]));
        }
    }
    print_line(&format!(
        "slowest {:?} of {}; {reasons:#?}",
        slowest.0, slowest.1
    ));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_template_that_makes_much_of_little_is_stopped_with_a_reason() {
    each_is_stopped(0);
}

#[test]
fn every_other_template_that_makes_much_of_little_is_stopped_with_a_reason() {
    each_is_stopped(1);
}

/// One that takes memory, time, stack; a length that no machine has; text without an end.
const KINDS: [(&str, &str, &str); 5] = [
    (
        "memory",
        "{{ [1]|batch(3000000000, \"x\")|list|length }}",
        "64 MiB of memory",
    ),
    (
        "time",
        "{% set n = namespace(a=[\"x\"], b=[\"x\"]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}\
         {% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
        "2 s of processor time",
    ),
    (
        "stack",
        "{% set n = namespace(a=[\"x\"]) %}{% for i in range(4000) %}{% set n.a = [[[[[[[[[[n.a]]]]]]]]]] %}{% endfor %}{{ n.a }}",
        "of stack",
    ),
    ("number", "{{ (\"x\" * 9000000000000000000)|length }}", ""),
    (
        "text",
        "{% set n = namespace(s=\"x\") %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s|length }}",
        "64 MiB of memory",
    ),
];

/// How long the machine may be too busy.
const BUSY: Duration = Duration::from_secs(300);

fn persona(id: &str, template: &str) -> String {
    format!("---\nid: {id}\nemoji: \"⚙\"\n---\nWork.\n{template}\n")
}

/// The program's own tick, from outside: each hostile persona's slot is left out with its reason, and the track goes on to
/// the honest one.
#[test]
fn a_tick_leaves_out_who_takes_too_much_and_goes_on() {
    let cycle = KINDS.map(|(id, _, _)| format!("\"{id}\"")).join(", ");
    let plan = format!("cycle = [{cycle}, \"good\"]\n");
    let repository = Folder::repository(&plan, &[]);
    for (id, template, _) in KINDS {
        let path = format!(".jules/personas/{id}/prompt.md.j2");
        repository.write(&path, &persona(id, template));
    }
    let good = persona("good", "Tidy {{ repo }}.");
    repository.write(".jules/personas/good/prompt.md.j2", &good);
    let shared = quiet_world(&repository, 7, Vec::new());
    let served = Served::start(&shared, None);
    let begun = Instant::now();
    let ended = loop {
        // The exit code says that prompts have mistakes.
        let ended = Phileas::tick(&served).run().expect(1);
        // Where the machine is busy the turn waits for the next tick.
        if !shared.lock_world().books().sessions.is_empty() || begun.elapsed() > BUSY {
            break ended;
        }
    };
    print_line(&format!(
        "a tick past {} hostile templates took {:?}",
        KINDS.len(),
        begun.elapsed()
    ));
    let lines = ended.lines();
    for (id, _, reason) in KINDS {
        let is_it = |line: &&serde_json::Value| {
            line["persona"] == id && line["reason"] == "skipped.prompt_invalid"
        };
        let line = lines.iter().find(is_it);
        let line = line.unwrap_or_else(|| panic!("{id} is left out with a reason: {}", ended.out));
        let said = line["detail"].as_str().unwrap_or_default();
        assert!(said.contains(id) && said.contains(reason), "{id}: {line}");
    }
    let world = shared.lock_world();
    let sessions = &world.books().sessions;
    assert_eq!(sessions.len(), 1, "{}", ended.out);
    assert!(
        sessions[0].prompt.contains("Tidy widget."),
        "{}",
        sessions[0].prompt
    );
}

/// Where an unauthorized user's template is tried first.
#[test]
fn commands_that_render_say_what_took_too_much() {
    let repository = Folder::repository("cycle = [\"memory\"]\n", &[]);
    let (id, template, reason) = KINDS[0];
    let path = format!(".jules/personas/{id}/prompt.md.j2");
    repository.write(&path, &persona(id, template));
    for words in [
        ["validate", repository.text()].as_slice(),
        &["persona", "render", id, repository.text()],
        &["simulate", repository.text()],
    ] {
        let ended = Phileas::new(words).run().expect(1);
        assert!(
            ended.out.contains(&path) && ended.out.contains(reason),
            "{words:?}: {ended:?}"
        );
    }
}

/// Whether a child has no environment and all its limits. One that has ended has them.
fn limits_of(id: u32) -> Result<(), String> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}"));
    let (Ok(environment), Ok(limits)) = (read("environ"), read("limits")) else {
        return Ok(());
    };
    let most = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next())
    };
    let seconds = most("Max cpu time").and_then(|text| text.parse::<u64>().ok());
    let memory = MEMORY_LIMIT_BYTES.to_string();
    let is_limited = most("Max data size") == Some(memory.as_str())
        && most("Max core file size") == Some("0")
        && most("Max file size") == Some("0")
        && most("Max processes") == Some("0")
        && most("Max open files") == Some("3")
        && seconds.is_some_and(|seconds| seconds >= 2);
    if environment.is_empty() && is_limited {
        Ok(())
    } else {
        Err(format!("{id}: environment {environment:?}, {limits}"))
    }
}

#[test]
fn a_child_has_nothing_but_its_task_and_ends_with_its_parents_interest() {
    let renderer = children();
    let kept = renderer.keep_ready();
    let first = renderer.render(&[honest(1)]);
    assert!(matches!(first[0], RenderAnswer::Persona(_)), "{first:?}");
    // Other tests of this process have children, too, under the same limits; one that is just starting gets there.
    let children = processes();
    assert!(!children.is_empty());
    for id in &children {
        let begun = Instant::now();
        while let Err(wrong) = limits_of(*id) {
            assert!(begun.elapsed() < START_LIMIT, "{wrong}");
            std::thread::yield_now();
        }
    }
    drop(kept);
    drop(renderer);
    // The child of this renderer was waited for; those of others may have come meanwhile.
    let gone = children
        .iter()
        .any(|id| !std::fs::exists(format!("/proc/{id}")).unwrap());
    assert!(gone, "{children:?}");
}

#[test]
fn one_child_serves_all_rounds_of_a_guard_and_none_waits_without_one() {
    let renderer = children();
    {
        let _kept = renderer.keep_ready();
        for number in 0..5 {
            let made = renderer.render(&[honest(number), honest(number + 10)]);
            assert!(made.iter().all(|one| one.error().is_none()), "{made:?}");
        }
        assert_eq!(renderer.started_children(), 1);
    }
    let made = renderer.render(&[honest(1)]);
    assert!(made[0].error().is_none(), "{made:?}");
    assert_eq!(renderer.started_children(), 2);
}

/// A prompt that a child died of is remembered with its inputs. The turn's own entropy is none of them.
#[test]
fn a_prompt_with_other_inputs_is_tried_after_a_death() {
    let renderer = children();
    let _kept = renderer.keep_ready();
    let (_, bomb, reason) = KINDS[0];
    let text = persona("odd", &format!("{{% if notes %}}{bomb}{{% endif %}}"));
    let with_note = |entropy| request_with("odd", &text, &["Look at this.".to_owned()], entropy);
    let died = rendered(&renderer, &[with_note(7)]);
    let said = format!("{:?}", died[0]);
    assert!(said.contains(reason), "{said}");
    let started = renderer.started_children();
    assert_eq!(renderer.render(&[with_note(8)]), died, "it is remembered");
    assert_eq!(renderer.started_children(), started);
    let well = rendered(&renderer, &[request_with("odd", &text, &[], 7)]);
    assert!(matches!(well[0], RenderAnswer::Persona(_)), "{well:?}");
}

/// A child keeps some sets of files, and the first one is asked for again and again beside new ones.
#[test]
fn files_that_are_still_drawn_from_stay_with_the_child() {
    let tree = Tree::from_texts([(
        ".jules/layers/narrator/narrator_prompt.j2",
        "{{ include_required(\".jules/exchange/changes.yml\") }}\n",
    )]);
    let files = SourceFiles::of_default_branch(&tree);
    let requests = (0..12).map(|number| {
        let text = format!("number: {number}\n");
        let ledger = Tree::from_texts([(".jules/exchange/changes.yml", text)]);
        let assembly = Assembly {
            layer: "narrator",
            tree: &tree,
            ledger: &ledger,
            variables: &BTreeMap::new(),
            task: None,
            attached: &[],
            turn: "t",
            now: jiff::Timestamp::UNIX_EPOCH,
            entropy: &[7; 32],
        };
        RenderRequest::for_layer(&assembly, &files, &SourceFiles::of_ledger(&ledger))
    });
    let requests: Vec<RenderRequest> = requests.collect();
    let answers = children().render(&requests);
    assert_eq!(answers, prompt::InProcess.render(&requests));
    assert!(
        answers.iter().all(|one| one.error().is_none()),
        "{answers:?}"
    );
}

/// A machine that cannot start a process says nothing about a template.
#[test]
fn without_a_child_the_machine_is_to_blame() {
    for program in [
        "/nonexistent/phileas",
        "/bin/false",
        "/bin/cat",
        "/bin/echo",
    ] {
        let renderer = ChildRenderer::new(PathBuf::from(program));
        let answers = renderer.render(&[honest(1)]);
        let said = answers[0].error();
        assert!(
            matches!(said, Some(RenderError::Unavailable(_))),
            "{program}: {said:?}"
        );
    }
}

/// The program is started without anything that a service has: no `/proc` is needed, no home, no path.
#[test]
fn a_request_is_answered_the_same_as_in_this_process() {
    let renderer = children();
    let all = [
        honest(1),
        request("odd", &persona("odd", "{{ nothing }}")),
        honest(2),
    ];
    assert_eq!(renderer.render(&all), prompt::InProcess.render(&all));
}
