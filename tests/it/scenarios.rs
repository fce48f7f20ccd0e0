//! Scenarios of layers, told in files: each prints what stands beside it, and what it tells is true by the models' books.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phileas_world::books::Session;

use crate::support::whole_days::Books;
use crate::support::{Folder, Phileas};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/layers")
}

/// The names of the files of a kind.
fn names(kind: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let of_kind = paths.filter(|path| path.extension().is_some_and(|one| one == kind));
    let mut names: Vec<String> = of_kind
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// A scenario as the program's process played it.
struct Played {
    out: String,
    books: Books,
    export: Folder,
}

fn play(name: &str) -> Played {
    let export = Folder::empty();
    let to = export.join("out");
    let file = folder().join(format!("{name}.toml"));
    let arguments = [
        "sandbox",
        "--scenario",
        file.to_str().unwrap(),
        "--export",
        to.to_str().unwrap(),
    ];
    let ended = Phileas::new(&arguments).run().expect(0);
    let books = std::fs::read_to_string(to.join("world.json")).unwrap();
    // The last line says where the export is.
    let (out, _) = ended.out.split_once("Everything is in ").unwrap();
    Played {
        out: out.to_owned(),
        books: serde_json::from_str(&books).unwrap(),
        export,
    }
}

impl Played {
    /// The sessions whose slot begins so, in the order of their creation.
    fn of(&self, slot: &str) -> Vec<&Session> {
        let is_it = |session: &&Session| {
            let last = session.prompt.lines().last().unwrap_or_default();
            last.contains(&format!(" slot={slot}"))
        };
        self.books.sessions.iter().filter(is_it).collect()
    }

    /// A file of a branch at the end.
    fn file(&self, branch: &str, path: &str) -> Option<String> {
        let path = self.export.join(&format!("out/branches/{branch}/{path}"));
        std::fs::read_to_string(path).ok()
    }

    fn count(&self, what: &str) -> usize {
        let writes = self.books.github_writes.iter();
        writes.filter(|write| write.what == what).count()
    }
}

#[test]
fn every_scenario_prints_what_stands_beside_it() {
    let all = names("toml");
    assert_eq!(all, names("txt"), "each has its transcript");
    let readme = folder().parent().unwrap().join("README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let listed: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| [`")?.split('`').next())
        .collect();
    let mut listed: Vec<String> = listed.into_iter().map(str::to_owned).collect();
    listed.sort();
    assert_eq!(listed, all, "the README lists each");
    for name in all {
        let shown = std::fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
        let printed = play(&name).out;
        let differs = printed
            .lines()
            .zip(shown.lines())
            .find(|(one, other)| one != other);
        assert!(
            printed == shown,
            "{name}: the first line that differs: {differs:#?}\n\
             phileas sandbox --scenario tests/scenarios/layers/{name}.toml > tests/scenarios/layers/{name}.txt"
        );
    }
}

#[test]
fn rejected_work_comes_back_with_its_reason_and_is_merged() {
    let played = play("rejected");
    let tried = played.of("implementer/");
    assert_eq!(tried.len(), 2);
    let told = |session: &Session| session.prompt.contains("closed without a merge");
    assert!(
        !told(tried[0]) && told(tried[1]),
        "the second one is told why"
    );
    assert_eq!(
        (played.count("pull.closed"), played.count("pull.merged")),
        (1, 1)
    );
    let code = played.file("main", "src/lib.rs").unwrap();
    assert!(
        code.contains(&format!("Done by session {}", tried[1].id)),
        "{code}"
    );
    assert!(!code.contains(&tried[0].id));
}

#[test]
fn work_that_was_rejected_three_times_is_not_taken_any_more() {
    let played = play("suspended");
    assert_eq!(
        played.of("implementer/").len(),
        3,
        "and no fourth one in the last pass"
    );
    assert_eq!(played.count("pull.closed"), 3);
    assert!(played.out.contains("  attempts: 3\n"), "{}", played.out);
}

#[test]
fn failed_sessions_stop_no_other_work() {
    let played = play("failed");
    let states = |slot| -> Vec<String> {
        let ends = played.of(slot).into_iter();
        ends.map(|one| one.states.last().unwrap().1.clone())
            .collect()
    };
    assert_eq!(states("observers/tests "), ["FAILED"]);
    assert_eq!(states("implementer/"), ["FAILED", "COMPLETED"]);
    // The decider was given what the two others found.
    let decider = played.of("decider ")[0];
    let events = decider
        .prompt
        .lines()
        .filter(|line| line.starts_with("# Event "));
    assert_eq!(events.count(), 2);
    assert_eq!(played.count("pull.merged"), 1);
}

#[test]
fn of_an_invalid_change_set_what_is_sound_is_taken() {
    let played = play("invalid");
    let decider = &played.of("decider ")[0].prompt;
    assert!(decider.contains("# Event aaaaaa") && !decider.contains("bbbbbb"));
    let observers = played.of("observers/errors ");
    assert_eq!(observers.len(), 2);
    for word in [
        "may not change it",
        "`sure` is none of the words",
        "src/lib.rs",
    ] {
        assert!(
            observers[1].prompt.contains(word),
            "the next one is told: {word}"
        );
    }
    let code = played.file("main", "src/lib.rs").unwrap();
    assert!(!code.contains("fix it at once"));
    assert_eq!(played.file("jules", ".github/workflows/nightly.yml"), None);
    assert_eq!(played.file("main", ".github/workflows/nightly.yml"), None);
}

#[test]
fn a_stale_picture_writes_over_nothing() {
    let played = play("stale");
    let planners = played.of("planner/item01 ");
    assert_eq!(
        planners.len(),
        2,
        "the newer version gets a planner of its own"
    );
    let newer = "One name for one thing, which is word.";
    assert!(!planners[0].prompt.contains(newer) && planners[1].prompt.contains(newer));
    let path = ".jules/exchange/requirements/one-name.yml";
    let text = played.file("jules", path).unwrap();
    assert!(
        text.contains(newer) && text.contains("requires_deep_analysis: false"),
        "{text}"
    );
    let decided = played.file("jules", ".jules/exchange/events/decided/empty-input.yml");
    assert!(
        decided.is_some(),
        "the work was taken with the event that was still there"
    );
}

/// A session of one workstream is shown nothing of another one; and the lists of issues are those of the folders.
#[test]
fn workstreams_never_mix() {
    let played = play("workstreams");
    let mut of_stream: BTreeMap<&str, usize> = BTreeMap::new();
    for (own, other) in [("core", "docs"), ("docs", "core")] {
        for layer in ["observers", "decider", "implementer"] {
            let slot = format!("{layer}/{own}");
            for session in played.of(&slot) {
                *of_stream.entry(own).or_default() += 1;
                let foreign = format!(".jules/workstreams/{other}");
                assert!(
                    !session.prompt.contains(&foreign),
                    "{slot}: {}",
                    session.prompt
                );
            }
        }
        let decider = &played.of(&format!("decider/{own} "))[0].prompt;
        let events: Vec<&str> = decider
            .lines()
            .filter_map(|line| line.strip_prefix("# Event "))
            .collect();
        assert_eq!(events.len(), 1, "{own}: {events:?}");
        let theirs = &played.of(&format!("decider/{other} "))[0].prompt;
        assert!(
            !theirs.contains(events[0]),
            "{own}'s event is not shown to {other}"
        );
    }
    assert_eq!(of_stream, BTreeMap::from([("core", 3), ("docs", 3)]));
    assert!(
        played.of("observers/elsewhere").is_empty(),
        "no session works elsewhere"
    );
    let why = "names the workstream `elsewhere`, which does not exist";
    assert!(played.out.contains(why), "{}", played.out);
    let index = |stream: &str| {
        let path = format!(".jules/workstreams/{stream}/exchange/issues/index.md");
        played.file("jules", &path).unwrap()
    };
    assert!(
        !index("core").contains(".yml"),
        "what is merged has left: {}",
        index("core")
    );
    assert!(
        index("docs").contains("./bugs/finding-"),
        "{}",
        index("docs")
    );
}

#[test]
fn a_mistake_in_a_scenario_names_the_file_and_the_place() {
    let wrong = Folder::empty();
    wrong.write(
        "s.toml",
        "title = \"a\"\nabout = \"b\"\nlasts = \"1h\"\nclok = 1\n",
    );
    let path = wrong.join("s.toml");
    let path = path.to_str().unwrap();
    let ended = Phileas::new(&["sandbox", "--scenario", path])
        .run()
        .expect(2);
    assert!(
        ended.err.contains("s.toml") && ended.err.contains("clok"),
        "{ended}"
    );
    let act = "title = \"a\"\nabout = \"b\"\nlasts = \"1h\"\n[[acts]]\nat = \"1m\"\nact = \"close\"\nnumber = 7\n";
    wrong.write("s.toml", act);
    let ended = Phileas::new(&["sandbox", "--scenario", path])
        .run()
        .expect(2);
    assert!(
        ended.err.contains("there is no issue or pull request 7"),
        "{ended}"
    );
}
