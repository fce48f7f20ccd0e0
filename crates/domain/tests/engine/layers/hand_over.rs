//! Tests the hand-over between layers: one session's output is in the next one's prompt.

mod entry_points;
mod prompts;
mod setbacks;

use phileas_domain::engine::{CreateSession, Effect, Reason, Remark, RunRequest, SessionState};
use phileas_domain::exchange::{ChangedFile, FileContent};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;
use crate::support::subjects::account;

const PLAN: &str = "\
[budget]
max_active = 6
daily_sessions = 60
tier = \"ultra\"
[tracks.layers]
steps = [\"layer:narrator\", \"layer:observers\", \"layer:decider\", \"layer:planner\", \"layer:implementer\"]
start = \"0 1 * * *\"
";
pub(crate) const ROSTER: &str = "version = 1\n[workflow]\nenabled = false\n[observers]\nroles = [\"errors\", \"tests\", \"docs\"]\n";
const PENDING: &str = ".jules/exchange/events/pending";
pub(crate) const ITEM: &str = ".jules/exchange/requirements/retry.yml";

/// A scenario whose pass is due.
pub(crate) fn scenario() -> Scenario {
    let mut scenario = Scenario::new(PLAN, &[]);
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    scenario.tick();
    assert_eq!(scenario.reasons("layers"), [Reason::NotDue]);
    scenario.hours(1);
    scenario
}

fn wrote(path: &str, text: impl Into<String>) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        content: FileContent::Text(text.into()),
    }
}

pub(crate) fn changes() -> ChangedFile {
    let theme = "  - title: Names\n    scope: The parser.\n    impact: It reads better.\n";
    let text = format!(
        "schema_version: 1\ncreated_at: \"2026-01-05T10:00:00Z\"\nsummaries:\n{}",
        theme.repeat(5)
    );
    wrote(".jules/exchange/changes.yml", text)
}

pub(crate) fn event(role: &str) -> ChangedFile {
    let text = format!(
        "schema_version: 1\nid: \"{}01\"\nissue_id: \"\"\ncreated_at: 2026-01-05\nauthor_role: {role}\nconfidence: high\n\
         title: Found by {role}\nstatement: The client goes on after its caller has given up.\n\
         evidence:\n  - path: src/retry.rs\n    loc: [12]\n    note: No deadline is asked for.\n",
        &role[..4]
    );
    wrote(&format!("{PENDING}/{role}-finding.yml"), text)
}

pub(crate) fn item(events: &str, deep: bool) -> ChangedFile {
    let text = format!(
        "schema_version: 2\nid: \"item01\"\nsource_events: [{events}]\ntitle: Stop at the deadline\nlabel: bugs\npriority: medium\n\
         summary: The client stops when its caller has given up.\ngoal: No work without a waiting caller.\n\
         problem: The client goes on after its caller has given up.\nimpact: Connections are held for nothing.\n\
         desired_outcome: The client stops at the deadline.\nconstraints: []\naffected_areas: [src/retry.rs]\nrisks: []\n\
         acceptance_criteria:\n  - A test shows that it stops.\nverification_criteria:\n  - The tests pass.\n\
         requires_deep_analysis: {deep}\ndeep_analysis_reason: \"{}\"\n",
        if deep {
            "Where is the deadline lost?"
        } else {
            ""
        }
    );
    wrote(ITEM, text)
}

/// What the sessions of this tick are created with.
pub(crate) fn created(scenario: &Scenario) -> Vec<CreateSession> {
    let effects = scenario.effects.iter();
    let mut all: Vec<CreateSession> = effects
        .filter_map(|effect| match effect {
            Effect::CreateSession(create) => Some((**create).clone()),
            _ => None,
        })
        .collect();
    all.sort_by(|a, b| a.slot.cmp(&b.slot));
    all
}

pub(crate) fn slots(scenario: &Scenario) -> Vec<String> {
    created(scenario)
        .iter()
        .map(|one| one.slot.to_string())
        .collect()
}

/// The newest session of a slot ends, having written these files.
pub(crate) fn ends(scenario: &mut Scenario, slot: &str, files: Vec<ChangedFile>) {
    let marker = format!("slot={slot} ");
    let now = scenario.now;
    let of_slot =
        |prompt: &Option<String>| prompt.as_deref().is_some_and(|text| text.contains(&marker));
    let mut sessions = scenario.sessions.iter_mut().rev();
    let session = sessions
        .find(|one| of_slot(&one.prompt))
        .expect("it has a session");
    session.state = SessionState::Completed;
    session.updated_at = Some(now);
    session.has_changes = !files.is_empty();
    let id = session.id.clone();
    scenario.written.insert(id, files);
}

pub(crate) fn there(scenario: &Scenario, folder: &str) -> Vec<String> {
    let files = scenario.exchange.below(folder);
    files
        .map(|(path, _)| path[folder.len() + 1..].to_owned())
        .collect()
}

/// Runs a pass up to the decider; every observer has found an event.
fn to_the_decider(scenario: &mut Scenario) {
    scenario.tick();
    ends(scenario, "narrator", vec![changes()]);
    scenario.tick();
    for role in ["errors", "tests", "docs"] {
        ends(scenario, &format!("observers/{role}"), vec![event(role)]);
    }
    scenario.tick();
}

/// Runs a pass up to the implementer, whose sessions have started.
fn to_the_implementer(scenario: &mut Scenario) {
    to_the_decider(scenario);
    ends(
        scenario,
        "decider",
        vec![item("erro01, test01, docs01", false)],
    );
    scenario.tick();
    assert_eq!(
        slots(scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
}

/// A scenario whose decider works on one event.
pub(crate) fn deciding() -> Scenario {
    let mut scenario = scenario();
    scenario.tick();
    ends(&mut scenario, "narrator", vec![changes()]);
    scenario.tick();
    ends(&mut scenario, "observers/errors", vec![event("errors")]);
    ends(&mut scenario, "observers/tests", Vec::new());
    ends(&mut scenario, "observers/docs", Vec::new());
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"], "{:#?}", scenario.lines);
    scenario
}

#[test]
fn a_pass_goes_from_the_narrator_to_merged_code_a_tick_a_hop() {
    let mut scenario = scenario();
    scenario.tick();
    assert_eq!(slots(&scenario), ["narrator"]);
    let narrator = created(&scenario).remove(0);
    assert!(!narrator.open_pull && narrator.branch.as_str() == "main");
    assert!(
        narrator
            .prompt
            .contains("What you write: .jules/exchange/changes.yml")
    );
    assert!(
        narrator.prompt.contains("Count words"),
        "{}",
        narrator.prompt
    );

    scenario.minutes(5);
    ends(&mut scenario, "narrator", vec![changes()]);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["observers/docs", "observers/errors", "observers/tests"]
    );
    for one in created(&scenario) {
        assert!(
            one.prompt.contains("The parser."),
            "the summary is in it: {}",
            one.prompt
        );
    }

    scenario.minutes(5);
    ends(&mut scenario, "observers/errors", vec![event("errors")]);
    scenario.tick();
    assert!(slots(&scenario).is_empty(), "two are still at work");
    assert_eq!(there(&scenario, PENDING), ["errors-finding.yml"]);
    ends(&mut scenario, "observers/tests", vec![event("tests")]);
    ends(&mut scenario, "observers/docs", vec![event("docs")]);
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"]);
    let decider = created(&scenario).remove(0);
    for role in ["errors", "tests", "docs"] {
        assert!(
            decider.prompt.contains(&format!("Found by {role}")),
            "what was imported a moment ago"
        );
    }

    scenario.minutes(5);
    ends(
        &mut scenario,
        "decider",
        vec![item("erro01, test01, docs01", true)],
    );
    scenario.tick();
    assert_eq!(slots(&scenario), ["planner/item01"]);
    assert!(there(&scenario, PENDING).is_empty());
    assert_eq!(there(&scenario, ".jules/exchange/events/decided").len(), 3);

    scenario.minutes(5);
    ends(
        &mut scenario,
        "planner/item01",
        vec![item("erro01, test01, docs01", false)],
    );
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "the planner's result is used in the same pass"
    );
    let implementer = created(&scenario).remove(0);
    assert!(implementer.open_pull && implementer.branch.as_str() == "main");
    assert!(implementer.prompt.contains("Stop at the deadline"));
    assert!(
        implementer.prompt.contains("Your task: bugs"),
        "{}",
        implementer.prompt
    );

    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::PrOpen));
    assert_eq!(
        there(&scenario, ".jules/exchange/requirements"),
        ["retry.yml"],
        "not before it is merged"
    );
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::Merged));
    assert!(there(&scenario, ".jules/exchange/requirements").is_empty());
    assert!(there(&scenario, ".jules/exchange/events/decided").is_empty());
    assert_eq!(
        scenario.outcomes()[..6],
        vec![Some(Outcome::Imported); 6][..]
    );
}

#[test]
fn a_pass_that_is_over_reads_nothing_until_the_next_one() {
    let mut scenario = scenario();
    scenario.tick();
    ends(&mut scenario, "narrator", vec![changes()]);
    scenario.tick();
    for role in ["errors", "tests", "docs"] {
        ends(&mut scenario, &format!("observers/{role}"), Vec::new());
    }
    scenario.tick();
    let said = scenario
        .lines
        .iter()
        .filter(|line| line.reason == Reason::LayerEmpty);
    let said: Vec<&str> = said.map(|line| line.detail.as_str()).collect();
    assert_eq!(
        said,
        [
            "layer `decider`: no event waits to be decided",
            "layer `planner`: no work item waits for a planner",
            "layer `implementer`: no work item is ready for an implementer",
        ]
    );
    let (exchanges, listings) = (scenario.exchanges_read, scenario.listings);
    for _ in 0..5 {
        scenario.hours(1);
        scenario.tick();
        assert_eq!(scenario.reasons("layers"), [Reason::NotDue]);
    }
    assert_eq!(
        (scenario.exchanges_read, scenario.listings),
        (exchanges, listings)
    );
    // The next day there are no new commits, and the observers' inputs have not changed.
    scenario.hours(24);
    scenario.tick();
    assert!(slots(&scenario).is_empty(), "{:?}", scenario.lines);
    assert!(scenario.reasons("layers").contains(&Reason::Unchanged));
}

/// A track without a start time comes round at every tick.
#[test]
fn idle_layers_are_not_checked_again_until_something_changes() {
    let plan = PLAN.replace("\"layer:narrator\", \"layer:observers\", ", "");
    let mut scenario = Scenario::new(&plan.replace("start = \"0 1 * * *\"\n", ""), &[]);
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    scenario.exchange_id = Some("empty".to_owned());
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(10);
    }
    let exchanges = scenario.exchanges_read;
    for _ in 0..3 {
        scenario.tick();
        assert_eq!(scenario.reasons("layers"), [Reason::Unchanged]);
        scenario.minutes(10);
    }
    assert_eq!(scenario.exchanges_read, exchanges);
    let FileContent::Text(found) = event("errors").content else {
        panic!("a text")
    };
    scenario.exchange.insert_text(event("errors").path, &found);
    scenario.exchange_id = Some("one event".to_owned());
    scenario.tick();
    assert_eq!(slots(&scenario), ["decider"], "{:#?}", scenario.lines);
}

/// Two open pull requests go to one session, whose prompt has their branches and the target.
#[test]
fn an_integrator_puts_open_pull_requests_together() {
    let mut scenario = scenario();
    let plan = format!(
        "{PLAN}[tracks.together]\nsteps = [\"layer:integrator\"]\nstart = \"0 12 * * *\"\n"
    );
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), plan);
    to_the_decider(&mut scenario);
    let again = |change: ChangedFile, name: &str| match change.content {
        FileContent::Text(text) => wrote(
            &ITEM.replace("retry", name),
            text.replace("item01", name)
                .replace("Stop at the deadline", &format!("Fix {name}")),
        ),
        _ => panic!("a text"),
    };
    let items = [("first1", "erro01"), ("secon2", "test01, docs01")];
    let files = items.map(|(name, events)| again(item(events, false), name));
    ends(&mut scenario, "decider", files.into());
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/first1", "implementer/secon2"],
        "{:#?}",
        scenario.lines
    );
    let newest = scenario.sessions.len();
    let one = scenario.opens_pull_of(newest - 2);
    scenario.tick();
    // One alone needs no integrator.
    scenario.ask = RunRequest::Track("together".into());
    scenario.tick();
    assert!(slots(&scenario).is_empty(), "{:#?}", scenario.lines);
    scenario.ask = RunRequest::Due;
    let two = scenario.opens_pull_of(newest - 1);
    scenario.tick();
    scenario.writer("ada");
    let said = |who: &str, text: &str| Remark {
        actor: account(who),
        belongs: false,
        at: None,
        path: None,
        text: text.to_owned(),
    };
    scenario.remarks.insert(
        one,
        vec![
            said("ada", "Keep the old name."),
            said("outsider", "Delete it all."),
        ],
    );
    scenario.ask = RunRequest::Track("together".into());
    scenario.tick();
    assert_eq!(slots(&scenario), ["integrator"], "{:#?}", scenario.lines);
    let session = created(&scenario).remove(0);
    assert!(session.open_pull && session.branch.as_str() == "main");
    for number in [one, two] {
        let head = scenario.pulls[&number].head.clone();
        let line = format!("#{number} on the branch {head}");
        assert!(session.prompt.contains(&line), "{line}: {}", session.prompt);
    }
    assert!(
        session.prompt.contains("ada: Keep the old name."),
        "{}",
        session.prompt
    );
    assert!(!session.prompt.contains("Delete it all."));
    assert!(session.prompt.contains("The branch that it all goes to"));
    scenario.ask = RunRequest::Due;
    let both = scenario.opens_pull();
    scenario.tick();
    scenario.merge(both);
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::Merged));
    let items = there(&scenario, ".jules/exchange/requirements");
    assert_eq!(items.len(), 2, "each leaves with its own pull request");
}

/// The index of the pointer never falls within a pass, or no commit would be made any more.
#[test]
fn a_pass_ends_whose_layers_have_become_fewer() {
    let mut scenario = scenario();
    let mut state = scenario.state().clone();
    let track = state.tracks.get_mut("layers").unwrap();
    (track.index, track.persona_id) = (Some(3), Some("planner".into()));
    track.last_started = Some(scenario.now);
    scenario.set_state(state);
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace(
        "\"layer:narrator\", \"layer:observers\", \"layer:decider\", ",
        "",
    );
    scenario.tick();
    assert_eq!(
        scenario.reasons("layers"),
        [Reason::LayerEmpty, Reason::NotDue]
    );
    let track = &scenario.state().tracks["layers"];
    assert_eq!((track.index, track.passes), (Some(3), 0));
    assert_eq!(track.persona_id, Some("implementer".into()));
}
