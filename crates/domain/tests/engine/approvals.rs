//! Work that waits for a person's word: it is shown as an issue, once, and done by a writer's label on it.

mod exactly;
mod room;

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};
use crate::hand_over::{ITEM, ROSTER, created, desk, ends, event, item, slots, there};

/// Where the issues of work items begin.
const ISSUE: u64 = 700;

/// A desk whose decider has just written a work item.
fn decided(lost: &[&'static str]) -> Desk {
    decided_where("approval = \"human\"", lost)
}

/// The same where `[workflow]` says this.
fn decided_where(said: &str, lost: &[&'static str]) -> Desk {
    let desk = decided_at(desk(), said, lost);
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    desk
}

/// The same with an own template of implementers.
fn decided_by(said: &str, template: &str) -> Desk {
    let mut desk = desk();
    let path = ".jules/layers/implementer/implementer_prompt.j2";
    desk.files.insert(path.to_owned(), template.to_owned());
    decided_at(desk, said, &[])
}

fn decided_at(mut desk: Desk, said: &str, lost: &[&'static str]) -> Desk {
    let roster = ROSTER.replace("enabled = false", &format!("enabled = false\n{said}"));
    desk.files.insert(".jlo/config.toml".to_owned(), roster);
    desk.writer("ada");
    desk.tick();
    ends(&mut desk, "narrator", vec![crate::hand_over::changes()]);
    desk.tick();
    for role in ["errors", "tests", "docs"] {
        ends(&mut desk, &format!("observers/{role}"), vec![event(role)]);
    }
    desk.tick();
    ends(
        &mut desk,
        "decider",
        vec![item("erro01, test01, docs01", false)],
    );
    desk.lost = lost.to_vec();
    desk.tick();
    desk
}

fn offers(desk: &Desk) -> usize {
    let is_offer = |effect: &&Effect| matches!(effect, Effect::OfferWork { .. });
    desk.effects.iter().filter(is_offer).count()
}

/// What an issue shows of a work item.
fn shown(body: &str) -> &str {
    body.split("\n\n---\n").next().unwrap()
}

/// What stands in a file of the exchange is replaced.
fn rewrite(desk: &mut Desk, path: &str, from: &str, to: &str) {
    let text = desk.exchange.text(path).expect("it is there");
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    desk.exchange = desk.exchange.with(&[(path.to_owned(), Some(text))].into());
}

#[test]
fn work_is_shown_once_and_done_by_a_writers_label() {
    let mut desk = decided(&[]);
    assert_eq!(offers(&desk), 1);
    let subject = desk.subject(ISSUE).clone();
    assert_eq!(subject.title, "[bugs] Stop at the deadline");
    for part in [
        "The client stops at the deadline.",
        "src/retry.rs",
        "phileas:implementer",
        "A test shows",
    ] {
        assert!(subject.body.contains(part), "{part}: {}", subject.body);
    }
    let waits = desk
        .lines
        .iter()
        .any(|line| line.detail.contains("1 for a person to let through"));
    assert!(waits, "{:#?}", desk.lines);
    let exchanges = desk.exchanges_read;
    for _ in 0..4 {
        desk.hours(1);
        desk.tick();
        assert!(desk.effects.is_empty(), "{:?}", desk.effects);
    }
    assert_eq!(desk.exchanges_read, exchanges, "it costs nothing to wait");

    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
    let session = created(&desk).remove(0);
    assert_eq!(session.track.as_str(), "request:1");
    assert!(session.open_pull && !session.require_plan_approval);
    assert!(session.prompt.contains("Stop at the deadline"));
    assert!(
        session.prompt.contains(&format!("#{ISSUE}: name it")),
        "{}",
        session.prompt
    );
    assert!(desk.bears(ISSUE).is_empty(), "the label is off");
    let pull = desk.opens_pull();
    desk.tick();
    desk.merge(pull);
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::Merged));
    assert!(there(&desk, ".jules/exchange/requirements").is_empty());
    assert!(
        !desk.subject(ISSUE).open,
        "done, and closed: {:?}",
        desk.effects
    );
    assert!(desk.state().published.is_empty());
}

#[test]
fn nobody_else_has_it_done_and_nothing_but_what_was_shown() {
    let mut desk = decided(&[]);
    desk.label(ISSUE, "implementer", "stranger");
    desk.minutes(1);
    desk.tick();
    assert!(slots(&desk).is_empty());
    assert!(
        desk.all_reasons().contains(&Reason::ActorPermission),
        "{:#?}",
        desk.lines
    );
    // Somebody rewrites the issue before a writer labels it.
    let honest = desk.subject(ISSUE).body.clone();
    desk.subject(ISSUE).body = honest.replace("src/retry.rs", "src/secrets.rs");
    desk.minutes(1);
    desk.label(ISSUE, "implementer", "ada");
    desk.tick();
    assert!(slots(&desk).is_empty());
    assert!(
        desk.all_reasons().contains(&Reason::ContentChanged),
        "{:#?}",
        desk.lines
    );
    desk.subject(ISSUE).body = honest;
    // On any other issue the word means nothing.
    desk.issue(9, "It is slow", "Opening takes a minute.");
    desk.label(9, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert!(slots(&desk).is_empty());
    assert!(
        desk.all_reasons().contains(&Reason::Unknown),
        "{:#?}",
        desk.lines
    );
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}

#[test]
fn an_issue_whose_answer_was_lost_is_not_opened_twice() {
    let mut desk = decided(&["offer_work"]);
    assert_eq!(desk.state().published.values().collect::<Vec<_>>(), [&0]);
    desk.lost.clear();
    desk.tick();
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.published.len(), 1);
    assert_eq!(
        desk.state().published.values().collect::<Vec<_>>(),
        [&ISSUE]
    );
}

/// Why it came back is told to the next session, so a person reads it first: the issue that shows it is another one.
#[test]
fn work_that_came_back_is_shown_anew_with_its_reasons() {
    let mut desk = decided(&[]);
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    desk.becomes(SessionState::Failed);
    desk.tick();
    let text = desk.exchange.text(ITEM).expect("it is not lost").to_owned();
    assert!(text.contains("attempts: 1"), "{text}");
    assert!(!desk.subject(ISSUE).open, "it does not say why");
    let anew = desk.subject(ISSUE + 1).body.clone();
    assert!(anew.contains("### attempts\n\n```text\n1\n```"), "{anew}");
    assert!(anew.contains("its session failed"), "{anew}");
    desk.hours(2);
    desk.tick();
    assert!(slots(&desk).is_empty());
    desk.label(ISSUE + 1, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
    let session = created(&desk).remove(0);
    assert!(!session.require_plan_approval);
    assert!(session.prompt.contains(shown(&anew)), "{}", session.prompt);
    assert!(
        !session.prompt.contains("phileas found wrong"),
        "nobody has read that: {}",
        session.prompt
    );
}

const EVENT: &str = ".jules/exchange/events/decided/errors-finding.yml";

/// An item goes to implementers by itself from now on, a person lets it through at the same time, and all items of the
/// layer's step are announced at once: one of them is enough.
#[test]
fn an_item_that_is_let_through_and_due_is_done_once() {
    let mut desk = decided_where("labels = [\"docs\"]", &[]);
    let first = desk
        .exchange
        .text(ITEM)
        .unwrap()
        .replace("item01", "aaaa01");
    let first = first
        .replace("erro01", "even01")
        .replace("test01", "even02")
        .replace("docs01", "even03");
    let path = ".jules/exchange/requirements/a-first.yml".to_owned();
    desk.exchange = desk.exchange.with(&[(path, Some(first))].into());
    let roster = desk.files[".jlo/config.toml"].replace("labels = [\"docs\"]\n", "");
    desk.files.insert(".jlo/config.toml".to_owned(), roster);
    desk.hours(24);
    desk.label(ISSUE, "implementer", "ada");
    let mut started = Vec::new();
    for _ in 0..3 {
        desk.tick();
        let tracks = desk.state().tracks.values();
        let holders = tracks.filter(|track| track.turns.contains_key("implementer/item01"));
        assert_eq!(holders.count(), 1, "{:#?}", desk.lines);
        started.extend(slots(&desk));
        desk.minutes(5);
    }
    assert_eq!(
        started,
        ["implementer/aaaa01", "implementer/item01"],
        "{:#?}",
        desk.lines
    );
    let of_item = desk.sessions.iter().position(|one| {
        one.prompt
            .as_deref()
            .is_some_and(|text| text.contains("slot=implementer/item01 "))
    });
    desk.opens_pull_of(of_item.unwrap());
    for _ in 0..6 {
        desk.tick();
        assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
        desk.minutes(30);
    }
}

/// It was announced while nobody had to be asked.
#[test]
fn what_was_announced_before_people_were_to_be_asked_waits_for_them() {
    let mut desk = decided_where("labels = [\"docs\"]", &[]);
    let roster = desk.files[".jlo/config.toml"].clone();
    let says = |said: &str| roster.replace("labels = [\"docs\"]", said);
    desk.files.insert(".jlo/config.toml".to_owned(), says(""));
    desk.hours(24);
    desk.answering = Answering::NotSent;
    desk.tick();
    let announced = |desk: &Desk| {
        let mut tracks = desk.state().tracks.values();
        tracks.any(|track| track.turns.contains_key("implementer/item01"))
    };
    assert!(announced(&desk), "{:#?}", desk.lines);
    desk.answering = Answering::Session;
    desk.files
        .insert(".jlo/config.toml".to_owned(), says("approval = \"human\""));
    desk.minutes(5);
    desk.tick();
    assert!(
        slots(&desk).is_empty() && !announced(&desk),
        "{:#?}",
        desk.lines
    );
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}
