//! Work that waits for a person's word: it is shown as an issue, once, and done by a writer's label on it.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::state::Outcome;

use crate::desk::Desk;
use crate::hand_over::{ITEM, ROSTER, created, desk, ends, event, item, slots, there};

/// Where the issues of work items begin.
const ISSUE: u64 = 700;

/// A desk whose decider has just written a work item.
fn decided(lost: &[&'static str]) -> Desk {
    decided_where("approval = \"human\"", lost)
}

/// The same where `[workflow]` says this.
fn decided_where(said: &str, lost: &[&'static str]) -> Desk {
    let mut desk = desk();
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
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    desk
}

fn offers(desk: &Desk) -> usize {
    let is_offer = |effect: &&Effect| matches!(effect, Effect::OfferWork { .. });
    desk.effects.iter().filter(is_offer).count()
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

#[test]
fn work_that_came_back_takes_another_label() {
    let mut desk = decided(&[]);
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    desk.becomes(SessionState::Failed);
    desk.tick();
    let text = desk.exchange.text(ITEM).expect("it is not lost").to_owned();
    assert!(text.contains("attempts: 1"), "{text}");
    assert!(desk.subject(ISSUE).open, "the same issue shows it");
    desk.hours(2);
    desk.tick();
    assert!(slots(&desk).is_empty());
    desk.label(ISSUE, "retry", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}

#[test]
fn an_item_that_was_changed_is_another_issue() {
    let mut desk = decided(&[]);
    desk.label(ISSUE, "implementer", "ada");
    // A person mends the item on the ledger while the label waits.
    let text = desk
        .exchange
        .text(ITEM)
        .unwrap()
        .replace("The tests pass.", "All tests pass.");
    desk.exchange = desk.exchange.with(&[(ITEM.to_owned(), Some(text))].into());
    desk.minutes(1);
    desk.tick();
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    assert!(
        desk.all_reasons().contains(&Reason::ContentChanged),
        "{:#?}",
        desk.lines
    );
    assert!(!desk.subject(ISSUE).open);
    assert!(desk.subject(ISSUE + 1).body.contains("All tests pass."));
    desk.label(ISSUE + 1, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}

/// What does not go on by itself is no dead end: people see it, and have it done.
#[test]
fn work_on_the_shelf_is_shown_and_the_rest_is_not() {
    let mut desk = decided_where("labels = [\"docs\"]", &[]);
    assert_eq!(offers(&desk), 1);
    desk.label(ISSUE, "implementer", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(slots(&desk), ["implementer/item01"], "{:#?}", desk.lines);
}
