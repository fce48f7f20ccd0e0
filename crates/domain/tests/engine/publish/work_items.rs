//! Tests work items that wait for a person: each is shown as one issue, and started by a writer's label on it.

mod approved_text;
mod limits;

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::layers::hand_over::{ITEM, ROSTER, created, ends, event, item, scenario, slots, there};
use crate::support::scenario::{Answering, Scenario};

/// Where the issues of work items begin.
const ISSUE: u64 = 700;

/// A scenario whose decider has just written a work item.
fn decided(lost: &[&'static str]) -> Scenario {
    decided_where("approval = \"human\"", lost)
}

/// The same with this `[workflow]`.
fn decided_where(said: &str, lost: &[&'static str]) -> Scenario {
    let scenario = decided_at(scenario(), said, lost);
    assert!(slots(&scenario).is_empty(), "{:#?}", scenario.lines);
    scenario
}

/// The same with an own template of implementers.
fn decided_by(said: &str, template: &str) -> Scenario {
    let mut scenario = scenario();
    let path = ".jules/layers/implementer/implementer_prompt.j2";
    scenario.files.insert(path.to_owned(), template.to_owned());
    decided_at(scenario, said, &[])
}

fn decided_at(mut scenario: Scenario, said: &str, lost: &[&'static str]) -> Scenario {
    let roster = ROSTER.replace("enabled = false", &format!("enabled = false\n{said}"));
    scenario.files.insert(".jlo/config.toml".to_owned(), roster);
    scenario.writer("ada");
    scenario.tick();
    ends(
        &mut scenario,
        "narrator",
        vec![crate::layers::hand_over::changes()],
    );
    scenario.tick();
    for role in ["errors", "tests", "docs"] {
        ends(
            &mut scenario,
            &format!("observers/{role}"),
            vec![event(role)],
        );
    }
    scenario.tick();
    ends(
        &mut scenario,
        "decider",
        vec![item("erro01, test01, docs01", false)],
    );
    scenario.lost = lost.to_vec();
    scenario.tick();
    scenario
}

fn offers(scenario: &Scenario) -> usize {
    let is_offer = |effect: &&Effect| matches!(effect, Effect::OpenWorkItem { .. });
    scenario.effects.iter().filter(is_offer).count()
}

/// What an issue shows of a work item.
fn shown(body: &str) -> &str {
    body.split("\n\n---\n").next().unwrap()
}

/// Replaces text in a file of the exchange.
fn rewrite(scenario: &mut Scenario, path: &str, from: &str, to: &str) {
    let text = scenario.exchange.text(path).expect("it is there");
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    scenario.exchange = scenario
        .exchange
        .with(&[(path.to_owned(), Some(text))].into());
}

#[test]
fn work_is_shown_once_and_done_by_a_writers_label() {
    let mut scenario = decided(&[]);
    assert_eq!(offers(&scenario), 1);
    let subject = scenario.subject(ISSUE).clone();
    assert_eq!(subject.title, "[bugs] Stop at the deadline");
    for part in [
        "The client stops at the deadline.",
        "src/retry.rs",
        "phileas:implementer",
        "A test shows",
    ] {
        assert!(subject.body.contains(part), "{part}: {}", subject.body);
    }
    let waits = scenario
        .lines
        .iter()
        .any(|line| line.detail.contains("1 for a person's approval"));
    assert!(waits, "{:#?}", scenario.lines);
    let exchanges = scenario.exchanges_read;
    for _ in 0..4 {
        scenario.hours(1);
        scenario.tick();
        assert!(scenario.effects.is_empty(), "{:?}", scenario.effects);
    }
    assert_eq!(
        scenario.exchanges_read, exchanges,
        "it costs nothing to wait"
    );

    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
    let session = created(&scenario).remove(0);
    assert_eq!(session.track.as_str(), "request:1");
    assert!(session.open_pull && !session.require_plan_approval);
    assert!(session.prompt.contains("Stop at the deadline"));
    assert!(
        session.prompt.contains(&format!("#{ISSUE}: name it")),
        "{}",
        session.prompt
    );
    assert!(scenario.bears(ISSUE).is_empty(), "the label is off");
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::Merged));
    assert!(there(&scenario, ".jules/exchange/requirements").is_empty());
    assert!(
        !scenario.subject(ISSUE).open,
        "done, and closed: {:?}",
        scenario.effects
    );
    assert!(scenario.state().published.is_empty());
}

#[test]
fn only_a_writer_starts_an_item_and_only_as_it_was_shown() {
    let mut scenario = decided(&[]);
    scenario.label(ISSUE, "implementer", "outsider");
    scenario.minutes(1);
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    assert!(
        scenario.all_reasons().contains(&Reason::ActorPermission),
        "{:#?}",
        scenario.lines
    );
    // An account edits the issue before a writer labels it.
    let honest = scenario.subject(ISSUE).body.clone();
    scenario.subject(ISSUE).body = honest.replace("src/retry.rs", "src/secrets.rs");
    scenario.minutes(1);
    scenario.label(ISSUE, "implementer", "ada");
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    assert!(
        scenario.all_reasons().contains(&Reason::ItemChanged),
        "{:#?}",
        scenario.lines
    );
    scenario.subject(ISSUE).body = honest;
    // On any other issue the label means nothing.
    scenario.issue(9, "It is slow", "Opening takes a minute.");
    scenario.label(9, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    assert!(
        scenario.all_reasons().contains(&Reason::Unknown),
        "{:#?}",
        scenario.lines
    );
    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
}

#[test]
fn an_issue_whose_answer_was_lost_is_not_opened_twice() {
    let mut scenario = decided(&["open_work_item"]);
    assert_eq!(
        scenario.state().published.values().collect::<Vec<_>>(),
        [&0]
    );
    scenario.lost.clear();
    scenario.tick();
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.published.len(), 1);
    assert_eq!(
        scenario.state().published.values().collect::<Vec<_>>(),
        [&ISSUE]
    );
}

/// The next session gets the reasons of the return, so a person reads them first: another issue shows the item.
#[test]
fn returned_work_is_shown_again_with_its_reasons() {
    let mut scenario = decided(&[]);
    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    let text = scenario
        .exchange
        .text(ITEM)
        .expect("it is not lost")
        .to_owned();
    assert!(text.contains("attempts: 1"), "{text}");
    assert!(!scenario.subject(ISSUE).open, "it does not say why");
    let updated = scenario.subject(ISSUE + 1).body.clone();
    assert!(
        updated.contains("### attempts\n\n```text\n1\n```"),
        "{updated}"
    );
    assert!(updated.contains("its session failed"), "{updated}");
    scenario.hours(2);
    scenario.tick();
    assert!(slots(&scenario).is_empty());
    scenario.label(ISSUE + 1, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
    let session = created(&scenario).remove(0);
    assert!(!session.require_plan_approval);
    assert!(
        session.prompt.contains(shown(&updated)),
        "{}",
        session.prompt
    );
    assert!(
        !session.prompt.contains("phileas found wrong"),
        "no person has read that: {}",
        session.prompt
    );
}

const EVENT: &str = ".jules/exchange/events/decided/errors-finding.yml";

/// Items start without approval from now on, a person approves one at the same time, and all items of the step are
/// announced at once: one session is enough.
#[test]
fn an_item_that_is_approved_and_due_is_done_once() {
    let mut scenario = decided_where("labels = [\"docs\"]", &[]);
    let first = scenario
        .exchange
        .text(ITEM)
        .unwrap()
        .replace("item01", "aaaa01");
    let first = first
        .replace("erro01", "even01")
        .replace("test01", "even02")
        .replace("docs01", "even03");
    let path = ".jules/exchange/requirements/a-first.yml".to_owned();
    scenario.exchange = scenario.exchange.with(&[(path, Some(first))].into());
    let roster = scenario.files[".jlo/config.toml"].replace("labels = [\"docs\"]\n", "");
    scenario.files.insert(".jlo/config.toml".to_owned(), roster);
    scenario.hours(24);
    scenario.label(ISSUE, "implementer", "ada");
    let mut started = Vec::new();
    for _ in 0..3 {
        scenario.tick();
        let tracks = scenario.state().tracks.values();
        let holders = tracks.filter(|track| track.turns.contains_key("implementer/item01"));
        assert_eq!(holders.count(), 1, "{:#?}", scenario.lines);
        started.extend(slots(&scenario));
        scenario.minutes(5);
    }
    assert_eq!(
        started,
        ["implementer/aaaa01", "implementer/item01"],
        "{:#?}",
        scenario.lines
    );
    let of_item = scenario.sessions.iter().position(|one| {
        one.prompt
            .as_deref()
            .is_some_and(|text| text.contains("slot=implementer/item01 "))
    });
    scenario.opens_pull_of(of_item.unwrap());
    for _ in 0..6 {
        scenario.tick();
        assert!(slots(&scenario).is_empty(), "{:#?}", scenario.lines);
        scenario.minutes(30);
    }
}

/// It was announced while no approval was needed.
#[test]
fn an_item_announced_before_approval_was_required_waits_for_it() {
    let mut scenario = decided_where("labels = [\"docs\"]", &[]);
    let roster = scenario.files[".jlo/config.toml"].clone();
    let says = |said: &str| roster.replace("labels = [\"docs\"]", said);
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), says(""));
    scenario.hours(24);
    scenario.answering = Answering::NotSent;
    scenario.tick();
    let announced = |scenario: &Scenario| {
        let mut tracks = scenario.state().tracks.values();
        tracks.any(|track| track.turns.contains_key("implementer/item01"))
    };
    assert!(announced(&scenario), "{:#?}", scenario.lines);
    scenario.answering = Answering::Session;
    scenario
        .files
        .insert(".jlo/config.toml".to_owned(), says("approval = \"human\""));
    scenario.minutes(5);
    scenario.tick();
    assert!(
        slots(&scenario).is_empty() && !announced(&scenario),
        "{:#?}",
        scenario.lines
    );
    scenario.label(ISSUE, "implementer", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        slots(&scenario),
        ["implementer/item01"],
        "{:#?}",
        scenario.lines
    );
}
