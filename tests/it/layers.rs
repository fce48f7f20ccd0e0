//! The layers over days of the models: an agent that has nothing but its prompt, and a ledger that nobody else writes.

use jiff::{SignedDuration, Timestamp};
use phileas::sandbox::{Scene, Shared};
use phileas_domain::model::Marker;
use phileas_world::books::Session;
use phileas_world::jules::{Scenario, Weights};
use phileas_world::maintainer::Temper;

use crate::support::days::spend;
use crate::support::{Folder, say};

const PLAN: &str = "[budget]\nmax_active = 4\ndaily_sessions = 40\ntier = \"ultra\"\n";
const CONFIG: &str = "version = 1\n[workflow]\ncron = [\"0 1 * * *\"]\n[observers]\nroles = [\"errors\", \"tests\", \"docs\"]\n\
                      [innovators]\nroles = [\"architect\"]\ncron = [\"0 6 * * *\"]\n";
/// A tick comes at the latest so long after a session has ended, where no webhook tells of it.
const TICK: SignedDuration = SignedDuration::from_secs(90);

fn repository() -> Folder {
    let folder = Folder::repository(PLAN, &[]);
    folder.write(".jlo/config.toml", CONFIG);
    folder.write("src/lib.rs", "//! A library.\n");
    folder
}

fn scene(folder: &Folder) -> Scene {
    let mut scene = Scene::new(3);
    scene.repo = Some(folder.path().to_owned());
    scene.temper = Temper::eager();
    scene.jules.asks = 0.0;
    scene.jules.weights = Weights::only_changes();
    scene.jules.scenarios = vec![Scenario::default().taking(5.0)];
    scene
}

/// Whose a session is, by its prompt's last line.
fn slot(session: &Session) -> String {
    Marker::in_prompt(&session.prompt)
        .map(|line| line.slot.to_string())
        .unwrap_or_default()
}

fn layer(session: &Session) -> String {
    slot(session)
        .split('/')
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn ended(session: &Session) -> Timestamp {
    let (at, state) = session.states.last().unwrap();
    assert_eq!(state, "COMPLETED", "{session:?}");
    *at
}

/// The files of a branch, by path.
fn branch(shared: &Shared, name: &str) -> Vec<(String, String)> {
    let world = shared.world();
    let github = world.github();
    let repo = github.repository_by_name("acme", "widget").unwrap();
    let head = github.branch_head(repo, name).unwrap();
    let files = github.list_files(repo, head).into_iter();
    files
        .map(|path| {
            let bytes = github.read_file(repo, head, &path).unwrap();
            (path, String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

fn below(files: &[(String, String)], folder: &str) -> Vec<String> {
    let paths = files.iter().map(|(path, _)| path.clone());
    paths.filter(|path| path.starts_with(folder)).collect()
}

#[test]
fn one_plan_runs_the_whole_chain_to_merged_code_a_tick_a_hop() {
    let folder = repository();
    let shared = spend(scene(&folder), 12, |_| false);
    let sessions = shared.world().books().sessions.clone();
    let layers: Vec<String> = sessions.iter().map(layer).collect();
    let expected = [
        "narrator",
        "observers",
        "observers",
        "observers",
        "decider",
        "planner",
        "implementer",
        "innovators",
    ];
    assert_eq!(
        layers,
        expected,
        "{:#?}",
        sessions.iter().map(slot).collect::<Vec<_>>()
    );

    let main = branch(&shared, "main");
    let code = main.iter().find(|(path, _)| path == "src/lib.rs").unwrap();
    assert!(
        code.1.contains("Done by session"),
        "the work is merged: {}",
        code.1
    );
    let ledger = branch(&shared, "jules");
    assert!(
        below(&ledger, ".jules/exchange/events").is_empty(),
        "{:?}",
        below(&ledger, ".jules")
    );
    assert!(below(&ledger, ".jules/exchange/requirements").is_empty());
    assert!(
        below(&ledger, ".jules/exchange/proposals").is_empty(),
        "they are issues"
    );
    let state = ledger
        .iter()
        .find(|(path, _)| path == ".jules/cycle_state.json")
        .unwrap();
    let notes = state.1.lines().filter(|line| line.contains("\"note\""));
    assert_eq!(notes.collect::<Vec<_>>(), [""; 0], "everything was taken");
    assert_eq!(below(&ledger, ".jules/workstations").len(), 4);
    let books = shared.world().complete_books();
    let issues = books
        .github_writes
        .iter()
        .filter(|write| write.what == "issue.opened");
    assert_eq!(issues.count(), 3, "one issue a proposal");

    // Each hop begins within one tick of the end of the one before.
    let hops = ["narrator", "observers", "decider", "planner", "implementer"];
    for pair in hops.windows(2) {
        let of = |name: &str| {
            sessions
                .iter()
                .filter(move |one| layer(one) == name)
                .collect::<Vec<_>>()
        };
        let last = of(pair[0]).into_iter().map(ended).max().unwrap();
        let next = of(pair[1])
            .into_iter()
            .filter_map(|one| one.created_at)
            .max()
            .unwrap();
        let took = next.duration_since(last);
        say(&format!(
            "{} ended {last}, {} began {took:#} later",
            pair[0], pair[1]
        ));
        assert!(took <= TICK, "{} to {} took {took:#}", pair[0], pair[1]);
    }
}

#[test]
fn without_the_schema_in_the_prompt_the_chain_ends() {
    let folder = repository();
    // The repository's own template counts instead of the catalogue's, and says everything but the format.
    folder.write(
        ".jules/layers/observers/observers_prompt.j2",
        "{{ section(\"Contract of your layer\", include_required(\".jules/layers/observers/contracts.yml\")) }}\n\
         {{ section(\"Your task\", include_required(\".jules/layers/observers/tasks/observe.yml\")) }}\n\
         {{ section(\"What has changed of late\", include_optional(changes_path)) }}\n",
    );
    let shared = spend(scene(&folder), 5, |_| false);
    let sessions = shared.world().books().sessions.clone();
    let layers: Vec<String> = sessions.iter().map(layer).collect();
    assert_eq!(layers, ["narrator", "observers", "observers", "observers"]);
    let ledger = branch(&shared, "jules");
    assert!(
        below(&ledger, ".jules/exchange/events").is_empty(),
        "nobody knows how an event is written"
    );
    assert!(
        below(&ledger, ".jules/exchange/changes.yml").len() == 1,
        "the narrator knew its format"
    );
}
