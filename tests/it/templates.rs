//! The folders that prompts are made from: what `validate` and `persona render` see on disk, a tick sees on GitHub.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phileas::sandbox::SharedWorld;
use phileas_domain::model::Marker;

use crate::support::books::counted;
use crate::support::ticks::{MINUTE, quiet_setup, quiet_world, tick};
use crate::support::{Folder, Phileas, Served};

/// A repository of the shape of seed 004's, with templates in each folder that prompts may draw from.
fn fixture() -> Folder {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/templates");
    let folder = Folder::empty();
    folder.write("README.md", "# Widget\n");
    let mut folders = vec![root.clone()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            folder.write(path.strip_prefix(&root).unwrap().to_str().unwrap(), &text);
        }
    }
    // Prompts name no earlier work, so that all runs of a persona have one prompt.
    let plan = std::fs::read_to_string(folder.join(".jules/schedules.toml")).unwrap();
    let plan = format!("{plan}\n[novelty]\nmode = \"off\"\n");
    folder.write(".jules/schedules.toml", &plan);
    folder
}

/// What `persona render` prints for a folder: the prompt without its marker.
fn rendered(folder: &Folder, id: &str) -> String {
    let arguments = [
        "persona",
        "render",
        id,
        folder.text(),
        "--repo",
        "acme/widget",
        "--json",
    ];
    let ended = Phileas::new(&arguments).run().expect(0);
    let document: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    document["prompt"].as_str().unwrap().trim_end().to_owned()
}

/// The prompts of the sessions so far, without their markers, by persona.
fn prompts(shared: &SharedWorld) -> BTreeMap<String, String> {
    let world = shared.lock_world();
    let sessions = world.books().sessions.iter();
    sessions
        .map(|session| {
            let line = Marker::from_prompt(&session.prompt).unwrap();
            let (text, _) = session.prompt.rsplit_once("phileas-turn: ").unwrap();
            (line.persona.to_string(), text.trim_end().to_owned())
        })
        .collect()
}

#[test]
fn every_persona_that_renders_is_started_by_ticks() {
    let folder = fixture();
    Phileas::new(&["validate", folder.text()]).run().expect(0);
    let ids: BTreeSet<String> = std::fs::read_dir(folder.join(".jules/personas"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("prompt.md.j2").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert_eq!(ids.len(), 8);
    let shared = quiet_world(&folder, 7, Vec::new());
    for turn in 0..ids.len() {
        tick(&shared, &format!("turn:{turn}"));
        shared.advance_time(MINUTE * 10);
    }
    let prompts = prompts(&shared);
    assert_eq!(prompts.keys().cloned().collect::<BTreeSet<_>>(), ids);
    for id in ids {
        assert_eq!(prompts[&id], rendered(&folder, &id), "{id}");
    }
    let world = shared.lock_world();
    let sessions = world.books().sessions.iter();
    let titles: Vec<String> = sessions.filter_map(|one| one.title.clone()).collect();
    assert!(
        titles
            .iter()
            .any(|title| title.starts_with("🕸 weaver joins branches")),
        "{titles:?}"
    );
}

/// Where a template may lie, and how a prompt names it.
const PLACES: [(&str, &str); 14] = [
    (".jules/x.md.j2", "{% extends 'x.md.j2' %}"),
    (".jules/x.txt", "{{ include_required('.jules/x.txt') }}"),
    (".jules/deep/er/x.j2", "{% include 'deep/er/x.j2' %}"),
    (".jules/templates/x.md.j2", "{% extends 'x.md.j2' %}"),
    (
        ".jules/templates/a/b/c/d/e/f/x.j2",
        "{% include 'a/b/c/d/e/f/x.j2' %}",
    ),
    (".jules/jules/templates/x.md.j2", "{% extends 'x.md.j2' %}"),
    (".jules/personas/x.md.j2", "{% extends 'x.md.j2' %}"),
    (".jules/personas/me/x.md.j2", "{% extends 'x.md.j2' %}"),
    (
        ".jules/personas/me/a/b/x.md.j2",
        "{% include './a/b/x.md.j2' %}",
    ),
    (
        ".jules/personas/other/a/x.j2",
        "{% include '.jules/personas/other/a/x.j2' %}",
    ),
    (".jules/blocks/a/x.j2", "{% include 'blocks/a/x.j2' %}"),
    (".jules/partials/a/x.j2", "{% include 'partials/a/x.j2' %}"),
    (".jules/layers/x.j2", "{% include '.jules/layers/x.j2' %}"),
    (".jlo/x.md", "{% include '.jlo/x.md' %}"),
];

/// Where a partial or a block may lie, and its name.
const NAMED: [(&str, &str); 9] = [
    (".jules/partials/x.md.j2", "x"),
    (".jules/blocks/x.md", "x_block"),
    (".jules/templates/partials/x.j2", "x"),
    (".jules/templates/blocks/x.md.j2", "x_block"),
    (".jules/jules/templates/partials/x.md.j2", "x"),
    (".jules/personas/partials/x.md.j2", "x"),
    (".jules/personas/blocks/x.md.j2", "x_block"),
    (".jules/personas/me/partials/x.md.j2", "x"),
    (".jules/personas/me/blocks/x.md.j2", "x_block"),
];

/// A prompt is the same by a tick as on disk, wherever the file lies that it draws from.
#[test]
fn a_tick_sees_each_folder_that_a_prompt_may_draw_from() {
    let named = NAMED.map(|(path, name)| (path, format!("{{{{ {name} }}}}")));
    let places = PLACES.map(|(path, body)| (path, body.to_owned()));
    for (path, body) in places.into_iter().chain(named) {
        let folder = Folder::repository("cycle = [\"me\"]\n", &[]);
        let prompt = format!("---\nid: me\nemoji: \"⚙\"\n---\n{body}\n");
        folder.write(".jules/personas/me/prompt.md.j2", &prompt);
        folder.write(path, "What stands in the other file.\n");
        let shared = quiet_world(&folder, 7, Vec::new());
        let report = tick(&shared, "tick");
        let prompts = prompts(&shared);
        let made = prompts.get("me");
        let made = made.unwrap_or_else(|| panic!("{path}: {:?}", report.waiting));
        assert_eq!(*made, "What stands in the other file.", "{path}");
        assert_eq!(*made, rendered(&folder, "me"), "{path}");
    }
}

/// Each template names the next one, and none of them lies where a tick looks by itself.
#[test]
fn a_chain_of_templates_is_read_to_its_end() {
    const LENGTH: usize = 11;
    let folder = Folder::repository("cycle = [\"me\"]\n", &[]);
    let prompt = "---\nid: me\nemoji: \"⚙\"\n---\n{% include '.jlo/1.j2' %}\n";
    folder.write(".jules/personas/me/prompt.md.j2", prompt);
    for step in 1..LENGTH {
        let text = format!("{step}\n{{% include '.jlo/{}.j2' %}}\n", step + 1);
        folder.write(&format!(".jlo/{step}.j2"), &text);
    }
    folder.write(&format!(".jlo/{LENGTH}.j2"), "the end\n");
    Phileas::new(&["validate", folder.text()]).run().expect(0);
    let shared = quiet_world(&folder, 7, Vec::new());
    tick(&shared, "tick");
    assert_eq!(prompts(&shared)["me"], rendered(&folder, "me"));
}

/// A persona whose prompt is `body`, and below a folder a chain of so many templates in which each extends the next one.
fn chained(body: &str, chains: &[(&str, usize, &str)]) -> Folder {
    let folder = Folder::repository("cycle = [\"me\"]\n", &[]);
    let prompt = format!("---\nid: me\nemoji: \"⚙\"\n---\n{body}\n");
    folder.write(".jules/personas/me/prompt.md.j2", &prompt);
    for (place, length, end) in chains {
        for step in 1..*length {
            let text = format!("{{% extends '{place}/{}.j2' %}}\n", step + 1);
            folder.write(&format!("{place}/{step}.j2"), &text);
        }
        folder.write(&format!("{place}/{length}.j2"), end);
    }
    folder
}

#[test]
fn a_chain_of_parents_is_read_to_the_limit_and_a_longer_one_is_named() {
    let folder = chained("{% extends '.jlo/1.j2' %}", &[(".jlo", 16, "the end\n")]);
    let shared = quiet_world(&folder, 7, Vec::new());
    let report = tick(&shared, "tick");
    let made = prompts(&shared);
    let made = made
        .get("me")
        .unwrap_or_else(|| panic!("{:?}", report.waiting));
    assert_eq!(*made, rendered(&folder, "me"));

    for length in [17, 40] {
        let folder = chained(
            "{% extends '.jlo/1.j2' %}",
            &[(".jlo", length, "the end\n")],
        );
        let on_disk = Phileas::new(&["validate", folder.text()]).run().expect(1);
        let shared = quiet_world(&folder, 7, Vec::new());
        let report = tick(&shared, "tick");
        let [mistake] = &report.plan_diagnostics[..] else {
            panic!("{:?}\n{:?}", report.plan_diagnostics, report.waiting);
        };
        let mistake = mistake.to_string();
        assert!(on_disk.out.contains(&mistake), "{mistake}: {on_disk}");
        for part in [
            "`.jlo/17.j2` is template 17 of a chain in which each one names the next, more than 16",
            "used by `.jules/personas/me/prompt.md.j2`",
        ] {
            assert!(mistake.contains(part), "{mistake}");
        }
    }
}

/// Each partial may begin a chain of its own.
#[test]
fn chains_below_partials_are_read_to_their_ends() {
    let folder = chained(
        "{{ one }}",
        &[
            (".jlo/one", 16, "{{ two }}\n"),
            (".jlo/two", 16, "{{ three }}\n"),
            (".jlo/three", 16, "the end\n"),
        ],
    );
    for name in ["one", "two", "three"] {
        folder.write(
            &format!(".jules/partials/{name}.md.j2"),
            &format!("{{% extends '.jlo/{name}/1.j2' %}}\n"),
        );
    }
    Phileas::new(&["validate", folder.text()]).run().expect(0);
    let shared = quiet_world(&folder, 7, Vec::new());
    let report = tick(&shared, "tick");
    let made = prompts(&shared);
    let made = made
        .get("me")
        .unwrap_or_else(|| panic!("{:?}", report.waiting));
    assert_eq!(*made, "the end");
}

/// A prompt that names very many files would be read for ever.
#[test]
fn a_prompt_that_names_too_many_files_is_a_mistake() {
    let body =
        "Read:{% for n in range(5000) %}{{ include_optional('.jules/' ~ n ~ '.md') }}{% endfor %}";
    let folder = chained(body, &[]);
    let on_disk = Phileas::new(&["validate", folder.text()]).run().expect(1);
    assert!(
        on_disk.out.contains("names more than 400 files"),
        "{on_disk}"
    );
    let shared = quiet_world(&folder, 7, Vec::new());
    let report = tick(&shared, "tick");
    let mistakes = &report.plan_diagnostics;
    assert!(
        mistakes
            .iter()
            .any(|one| one.message.contains("names more than 400 files")),
        "{mistakes:?}\n{:?}",
        report.waiting
    );
}

/// What is missing is told as on disk, with the place.
#[test]
fn a_missing_template_is_a_mistake_and_not_a_wait() {
    for (body, told) in [
        ("{% extends 'base.md.j2' %}", "base.md.j2"),
        ("{{ include_required('.jules/no.md') }}", "there is no file"),
    ] {
        let folder = Folder::repository("cycle = [\"me\"]\n", &[]);
        let prompt = format!("---\nid: me\nemoji: \"⚙\"\n---\n{body}\n");
        folder.write(".jules/personas/me/prompt.md.j2", &prompt);
        let on_disk = Phileas::new(&["validate", folder.text()]).run().expect(1);
        assert!(on_disk.out.contains(told), "{on_disk}");
        let shared = quiet_world(&folder, 7, Vec::new());
        let report = tick(&shared, "tick");
        let [mistake] = &report.plan_diagnostics[..] else {
            panic!("{body}: {:?}", report.plan_diagnostics);
        };
        assert!(
            on_disk.out.contains(&mistake.to_string()),
            "{mistake}: {on_disk}"
        );
    }
}

/// Templates are read when a prompt is made of them, and at no other time.
#[test]
fn templates_cost_one_request_where_a_prompt_is_made() {
    let folder = fixture();
    let plan = "cycle = [\"curator\"]\n[budget]\nmax_active = 1\n";
    folder.write(".jules/schedules.toml", plan);
    let shared = quiet_world(&folder, 7, Vec::new());
    let served = Served::start(&shared, None);
    let (dispatching, _) = counted(&shared, &served);
    assert_eq!(prompts(&shared).len(), 1);
    let (idle, _) = counted(&shared, &served);
    assert_eq!(idle, 1);

    let plain = Folder::repository(plan, &["curator"]);
    let shared = quiet_world(&plain, 7, Vec::new());
    let served = Served::start(&shared, None);
    let (without, _) = counted(&shared, &served);
    assert_eq!(
        dispatching - without,
        2,
        "{dispatching}: the prompt's own, and those that they name"
    );
}

/// No session gets a prompt from a tick that only observes, so that none is made of files that must be read for it.
#[test]
fn templates_cost_nothing_where_a_tick_only_observes() {
    let observing = "cycle = [\"curator\"]\n[defaults]\nmode = \"observe\"\n";
    let elsewhere = "cycle = [\"curator\"]\n[gate]\ndriver = \"server\"\n";
    for plan in [observing, elsewhere] {
        let folder = fixture();
        folder.write(".jules/schedules.toml", plan);
        let plain = Folder::repository(plan, &["curator"]);
        let requests = [folder, plain].map(|folder| {
            let shared = quiet_world(&folder, 7, Vec::new());
            let served = Served::start(&shared, None);
            let first = counted(&shared, &served).0;
            let ended = Phileas::tick(&served).run().expect(0);
            let is_due = |line: &str| line.contains("\"persona\":\"curator\"");
            let due = ended.out.lines().find(|line| is_due(line)).unwrap();
            assert!(!due.contains("waiting.prompt_unread"), "{due}");
            assert_eq!(counted(&shared, &served).0, first);
            first
        });
        assert_eq!(requests[0], requests[1], "{plan}");
    }
}

/// The prompts of layers draw from the same folders.
#[test]
fn a_layers_template_draws_from_the_whole_default_branch() {
    let folder = Folder::repository("", &[]);
    folder.write(
        ".jlo/config.toml",
        "version = 1\n[workflow]\ncron = [\"0 1 * * *\"]\n[observers]\nroles = [\"qa\"]\n",
    );
    folder.write(
        ".jules/layers/narrator/narrator_prompt.j2",
        "{{ section(\"Guide\", include_required(\".jules/docs/guide.md\")) }}\n{% include \".jlo/common.j2\" %}\n\
         {% if file_exists(\".jules/docs/more.md\") %}There is more.{% endif %}\n",
    );
    folder.write(".jules/docs/guide.md", "Names are nouns.\n");
    folder.write(".jules/docs/more.md", "More.\n");
    folder.write(".jlo/common.j2", "What all layers share.\n");
    let shared = quiet_world(&folder, 7, Vec::new());
    tick(&shared, "before");
    shared.advance_time(MINUTE * 90);
    let report = tick(&shared, "tick");
    let world = shared.lock_world();
    let sessions = &world.books().sessions;
    assert_eq!(sessions.len(), 1, "{:?}", report.waiting);
    for text in [
        "Names are nouns.",
        "What all layers share.",
        "There is more.",
    ] {
        assert!(sessions[0].prompt.contains(text), "{}", sessions[0].prompt);
    }
}

/// Why observations of a role were rejected lies with the role in an older form, on the ledger or on the default branch.
#[test]
fn a_layers_template_draws_from_the_feedback_that_lies_with_the_roles() {
    const PATHS: [&str; 2] = [
        ".jules/roles/observers/qa/feedbacks/a.yml",
        ".jules/layers/observers/roles/qa/feedbacks/a.yml",
    ];
    for path in PATHS {
        for is_merged in [false, true] {
            let folder = Folder::repository("", &[]);
            folder.write(
                ".jlo/config.toml",
                "version = 1\n[workflow]\ncron = [\"0 1 * * *\"]\n[observers]\nroles = [\"qa\"]\n",
            );
            let template =
                format!("{{{{ section(\"Rejected\", include_required(\"{path}\")) }}}}\n");
            folder.write(".jules/layers/narrator/narrator_prompt.j2", &template);
            let ledger = Folder::empty();
            let place = if is_merged { &folder } else { &ledger };
            place.write(path, "topic: generated code\n");
            let arguments = ["prompt", "render", "narrator", folder.text()];
            let arguments = [&arguments[..], &["--ledger", ledger.text()]].concat();
            let on_disk = Phileas::new(&arguments).run().expect(0);
            assert!(on_disk.out.contains("topic: generated code"), "{on_disk}");
            let mut setup = quiet_setup(&folder, 7, Vec::new());
            setup.ledger = Some(ledger.path().to_owned());
            let shared = SharedWorld::new(setup.build_world().unwrap().0);
            tick(&shared, "before");
            shared.advance_time(MINUTE * 90);
            let report = tick(&shared, "tick");
            let world = shared.lock_world();
            let sessions = &world.books().sessions;
            assert_eq!(sessions.len(), 1, "{path}: {:?}", report.waiting);
            let prompt = &sessions[0].prompt;
            assert!(prompt.contains("topic: generated code"), "{prompt}");
        }
    }
}

/// Seven of eight go on as if the eighth had never been in the plan.
#[test]
fn a_persona_that_was_renamed_away_is_off() {
    for (from, to) in [
        ("a/prompt.md", "a/prompt.md.disabled"),
        ("a/prompt.md", "a/prompt.md.j2.bak"),
        ("a/prompt.md", "a.off/prompt.md"),
        ("a/prompt.md", "_a/prompt.md"),
    ] {
        let plan =
            "cycle = [\"a\", \"personas/a/prompt.md\", \"b\"]\n[schedules]\na = \"0 9 * * *\"\n";
        let folder = Folder::repository(plan, &["a", "b"]);
        let path = |name: &str| folder.join(&format!(".jules/personas/{name}"));
        std::fs::create_dir_all(path(to).parent().unwrap()).unwrap();
        std::fs::rename(path(from), path(to)).unwrap();
        let ended = Phileas::new(&["validate", folder.text()]).run().expect(0);
        assert!(ended.out.contains("switched off"), "{to}: {ended}");
        assert!(!ended.out.contains(": error:"), "{to}: {ended}");
        let shared = quiet_world(&folder, 7, Vec::new());
        let report = tick(&shared, "tick");
        assert_eq!(
            prompts(&shared).into_keys().collect::<Vec<_>>(),
            ["b"],
            "{to}"
        );
        assert!(
            report.plan_diagnostics.iter().all(|one| !one.is_error()),
            "{:?}",
            report.plan_diagnostics
        );
    }
}

/// A template in which a merge was committed unfinished makes no prompt with both sides in it.
#[test]
fn merge_markers_in_a_template_are_called_so() {
    let conflict = "One.\n<<<<<<< HEAD\nTwo.\n=======\nThree.\n>>>>>>> main\n";
    for (path, body) in [
        (".jules/base.md.j2", "{% extends 'base.md.j2' %}"),
        (".jules/partials/x.md.j2", "{{ x }}"),
        (
            ".jules/guide.md",
            "{{ include_required('.jules/guide.md') }}",
        ),
    ] {
        let folder = Folder::repository("cycle = [\"me\"]\n", &[]);
        let prompt = format!("---\nid: me\nemoji: \"⚙\"\n---\n{body}\n");
        folder.write(".jules/personas/me/prompt.md.j2", &prompt);
        folder.write(path, conflict);
        let ended = Phileas::new(&["validate", folder.text()]).run().expect(1);
        let told = format!("`{path}`, line 2: merge markers");
        assert!(ended.out.contains(&told), "{ended}");
    }
    // What agents write is data, whatever stands in it.
    let folder = Folder::repository("cycle = [\"me\"]\n", &["me"]);
    folder.write(".jules/personas/me/journals/2026-01-01-x.md", conflict);
    Phileas::new(&["validate", folder.text()]).run().expect(0);
}
