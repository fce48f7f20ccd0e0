//! The hand-over from layer to layer: what one session wrote is what the next one is told.

mod beginnings;
mod setbacks;
mod words;

use phileas_domain::engine::{Ask, CreateSession, Effect, Reason, Remark, SessionState};
use phileas_domain::exchange::{Changed, Content};
use phileas_domain::state::Outcome;

use crate::desk::Desk;
use crate::subjects::account;

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

/// A desk whose pass is due.
pub(crate) fn desk() -> Desk {
    let mut desk = Desk::new(PLAN, &[]);
    desk.files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    desk.tick();
    assert_eq!(desk.reasons("layers"), [Reason::NotDue]);
    desk.hours(1);
    desk
}

fn wrote(path: &str, text: impl Into<String>) -> Changed {
    Changed {
        path: path.to_owned(),
        content: Content::Text(text.into()),
    }
}

pub(crate) fn changes() -> Changed {
    let theme = "  - title: Names\n    scope: The parser.\n    impact: It reads better.\n";
    let text = format!(
        "schema_version: 1\ncreated_at: \"2026-01-05T10:00:00Z\"\nsummaries:\n{}",
        theme.repeat(5)
    );
    wrote(".jules/exchange/changes.yml", text)
}

pub(crate) fn event(role: &str) -> Changed {
    let text = format!(
        "schema_version: 1\nid: \"{}01\"\nissue_id: \"\"\ncreated_at: 2026-01-05\nauthor_role: {role}\nconfidence: high\n\
         title: Found by {role}\nstatement: The client goes on after its caller has given up.\n\
         evidence:\n  - path: src/retry.rs\n    loc: [12]\n    note: No deadline is asked for.\n",
        &role[..4]
    );
    wrote(&format!("{PENDING}/{role}-finding.yml"), text)
}

pub(crate) fn item(events: &str, deep: bool) -> Changed {
    let text = format!(
        "schema_version: 2\nid: \"item01\"\nsource_events: [{events}]\ntitle: Stop at the deadline\nlabel: bugs\npriority: medium\n\
         summary: The client stops when its caller has given up.\ngoal: No work that nobody waits for.\n\
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
pub(crate) fn created(desk: &Desk) -> Vec<CreateSession> {
    let effects = desk.effects.iter();
    let mut all: Vec<CreateSession> = effects
        .filter_map(|effect| match effect {
            Effect::CreateSession(create) => Some((**create).clone()),
            _ => None,
        })
        .collect();
    all.sort_by(|a, b| a.slot.cmp(&b.slot));
    all
}

pub(crate) fn slots(desk: &Desk) -> Vec<String> {
    created(desk)
        .iter()
        .map(|one| one.slot.to_string())
        .collect()
}

/// The newest session of a slot ends, having written these files.
pub(crate) fn ends(desk: &mut Desk, slot: &str, files: Vec<Changed>) {
    let marker = format!("slot={slot} ");
    let now = desk.now;
    let of_slot =
        |prompt: &Option<String>| prompt.as_deref().is_some_and(|text| text.contains(&marker));
    let mut sessions = desk.sessions.iter_mut().rev();
    let session = sessions
        .find(|one| of_slot(&one.prompt))
        .expect("it has a session");
    session.state = SessionState::Completed;
    session.updated_at = Some(now);
    session.has_changes = !files.is_empty();
    let id = session.id.clone();
    desk.written.insert(id, files);
}

pub(crate) fn there(desk: &Desk, folder: &str) -> Vec<String> {
    let files = desk.exchange.below(folder);
    files
        .map(|(path, _)| path[folder.len() + 1..].to_owned())
        .collect()
}

/// Runs a pass up to the decider, for whom every observer found something.
fn to_the_decider(desk: &mut Desk) {
    desk.tick();
    ends(desk, "narrator", vec![changes()]);
    desk.tick();
    for role in ["errors", "tests", "docs"] {
        ends(desk, &format!("observers/{role}"), vec![event(role)]);
    }
    desk.tick();
}

/// Runs a pass up to the implementer, whose sessions have started.
fn to_the_implementer(desk: &mut Desk) {
    to_the_decider(desk);
    ends(desk, "decider", vec![item("erro01, test01, docs01", false)]);
    desk.tick();
    assert_eq!(slots(desk), ["implementer/item01"], "{:#?}", desk.lines);
}

/// A desk whose decider is at work on one finding.
pub(crate) fn deciding() -> Desk {
    let mut desk = desk();
    desk.tick();
    ends(&mut desk, "narrator", vec![changes()]);
    desk.tick();
    ends(&mut desk, "observers/errors", vec![event("errors")]);
    ends(&mut desk, "observers/tests", Vec::new());
    ends(&mut desk, "observers/docs", Vec::new());
    desk.tick();
    assert_eq!(slots(&desk), ["decider"], "{:#?}", desk.lines);
    desk
}

#[test]
fn a_pass_goes_from_the_narrator_to_merged_code_a_tick_a_hop() {
    let mut desk = desk();
    desk.tick();
    assert_eq!(slots(&desk), ["narrator"]);
    let narrator = created(&desk).remove(0);
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

    desk.minutes(5);
    ends(&mut desk, "narrator", vec![changes()]);
    desk.tick();
    assert_eq!(
        slots(&desk),
        ["observers/docs", "observers/errors", "observers/tests"]
    );
    for one in created(&desk) {
        assert!(
            one.prompt.contains("The parser."),
            "the summary is in it: {}",
            one.prompt
        );
    }

    desk.minutes(5);
    ends(&mut desk, "observers/errors", vec![event("errors")]);
    desk.tick();
    assert!(slots(&desk).is_empty(), "two are still at work");
    assert_eq!(there(&desk, PENDING), ["errors-finding.yml"]);
    ends(&mut desk, "observers/tests", vec![event("tests")]);
    ends(&mut desk, "observers/docs", vec![event("docs")]);
    desk.tick();
    assert_eq!(slots(&desk), ["decider"]);
    let decider = created(&desk).remove(0);
    for role in ["errors", "tests", "docs"] {
        assert!(
            decider.prompt.contains(&format!("Found by {role}")),
            "what was imported a moment ago"
        );
    }

    desk.minutes(5);
    ends(
        &mut desk,
        "decider",
        vec![item("erro01, test01, docs01", true)],
    );
    desk.tick();
    assert_eq!(slots(&desk), ["planner/item01"]);
    assert!(there(&desk, PENDING).is_empty());
    assert_eq!(there(&desk, ".jules/exchange/events/decided").len(), 3);

    desk.minutes(5);
    ends(
        &mut desk,
        "planner/item01",
        vec![item("erro01, test01, docs01", false)],
    );
    desk.tick();
    assert_eq!(
        slots(&desk),
        ["implementer/item01"],
        "the planner's result is used in the same pass"
    );
    let implementer = created(&desk).remove(0);
    assert!(implementer.open_pull && implementer.branch.as_str() == "main");
    assert!(implementer.prompt.contains("Stop at the deadline"));
    assert!(
        implementer.prompt.contains("Your task: bugs"),
        "{}",
        implementer.prompt
    );

    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::PrOpen));
    assert_eq!(
        there(&desk, ".jules/exchange/requirements"),
        ["retry.yml"],
        "not before it is merged"
    );
    desk.merge(pull);
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::Merged));
    assert!(there(&desk, ".jules/exchange/requirements").is_empty());
    assert!(there(&desk, ".jules/exchange/events/decided").is_empty());
    assert_eq!(desk.outcomes()[..6], vec![Some(Outcome::Imported); 6][..]);
}

#[test]
fn a_pass_that_is_over_reads_nothing_until_the_next_one() {
    let mut desk = desk();
    desk.tick();
    ends(&mut desk, "narrator", vec![changes()]);
    desk.tick();
    for role in ["errors", "tests", "docs"] {
        ends(&mut desk, &format!("observers/{role}"), Vec::new());
    }
    desk.tick();
    let said = desk
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
    let (exchanges, listings) = (desk.exchanges_read, desk.listings);
    for _ in 0..5 {
        desk.hours(1);
        desk.tick();
        assert_eq!(desk.reasons("layers"), [Reason::NotDue]);
    }
    assert_eq!((desk.exchanges_read, desk.listings), (exchanges, listings));
    // The next day the narrator has nothing to tell, and the observers would see what they saw.
    desk.hours(24);
    desk.tick();
    assert!(slots(&desk).is_empty(), "{:?}", desk.lines);
    assert!(desk.reasons("layers").contains(&Reason::Unchanged));
}

/// A track without a start time comes round at every tick.
#[test]
fn layers_that_had_nothing_to_do_are_not_asked_again_until_something_changes() {
    let plan = PLAN.replace("\"layer:narrator\", \"layer:observers\", ", "");
    let mut desk = Desk::new(&plan.replace("start = \"0 1 * * *\"\n", ""), &[]);
    desk.files
        .insert(".jlo/config.toml".to_owned(), ROSTER.to_owned());
    desk.exchange_id = Some("empty".to_owned());
    for _ in 0..3 {
        desk.tick();
        desk.minutes(10);
    }
    let exchanges = desk.exchanges_read;
    for _ in 0..3 {
        desk.tick();
        assert_eq!(desk.reasons("layers"), [Reason::Unchanged]);
        desk.minutes(10);
    }
    assert_eq!(desk.exchanges_read, exchanges);
    let Content::Text(found) = event("errors").content else {
        panic!("a text")
    };
    desk.exchange.insert_text(event("errors").path, &found);
    desk.exchange_id = Some("one event".to_owned());
    desk.tick();
    assert_eq!(slots(&desk), ["decider"], "{:#?}", desk.lines);
}

/// Two pieces of work that are open go to one session, which is told the pull requests, their branches and where to.
#[test]
fn an_integrator_puts_open_pull_requests_together() {
    let mut desk = desk();
    let plan = format!(
        "{PLAN}[tracks.together]\nsteps = [\"layer:integrator\"]\nstart = \"0 12 * * *\"\n"
    );
    desk.files.insert(".jules/schedules.toml".to_owned(), plan);
    to_the_decider(&mut desk);
    let again = |change: Changed, name: &str| match change.content {
        Content::Text(text) => wrote(
            &ITEM.replace("retry", name),
            text.replace("item01", name)
                .replace("Stop at the deadline", &format!("Mend {name}")),
        ),
        _ => panic!("a text"),
    };
    let items = [("first1", "erro01"), ("secon2", "test01, docs01")];
    let files = items.map(|(name, events)| again(item(events, false), name));
    ends(&mut desk, "decider", files.into());
    desk.tick();
    assert_eq!(
        slots(&desk),
        ["implementer/first1", "implementer/secon2"],
        "{:#?}",
        desk.lines
    );
    let newest = desk.sessions.len();
    let one = desk.opens_pull_of(newest - 2);
    desk.tick();
    // One alone needs nobody to put it together.
    desk.ask = Ask::Track("together".into());
    desk.tick();
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    desk.ask = Ask::Due;
    let two = desk.opens_pull_of(newest - 1);
    desk.tick();
    desk.writer("ada");
    let said = |who: &str, text: &str| Remark {
        actor: account(who),
        belongs: false,
        at: None,
        path: None,
        text: text.to_owned(),
    };
    desk.remarks.insert(
        one,
        vec![
            said("ada", "Keep the old name."),
            said("stranger", "Delete it all."),
        ],
    );
    desk.ask = Ask::Track("together".into());
    desk.tick();
    assert_eq!(slots(&desk), ["integrator"], "{:#?}", desk.lines);
    let session = created(&desk).remove(0);
    assert!(session.open_pull && session.branch.as_str() == "main");
    for number in [one, two] {
        let head = desk.pulls[&number].head.clone();
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
    desk.ask = Ask::Due;
    let both = desk.opens_pull();
    desk.tick();
    desk.merge(both);
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::Merged));
    let items = there(&desk, ".jules/exchange/requirements");
    assert_eq!(items.len(), 2, "each leaves with its own pull request");
}
