//! How long a wish is waited for, and how long it is remembered.

use jiff::SignedDuration;
use phileas_domain::engine::{Ask, Reason, SessionState};

use crate::desk::Desk;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

#[test]
fn a_wish_is_waited_for_a_week() {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_active = 1\n", &["a", "b"]);
    desk.tick();
    desk.ask = Ask::Persona("b".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.pass(days(7) - SECOND);
    desk.becomes(SessionState::InProgress);
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::BudgetActive]);
    desk.pass(SECOND);
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::RequestOld]);
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn a_fulfilled_wish_is_remembered_for_thirty_days_and_the_newest_for_ever() {
    let mut desk = Desk::new("", &["a"]);
    let mut finished = Vec::new();
    for _ in 0..2 {
        desk.ask = Ask::Persona("a".into());
        desk.tick();
        desk.ask = Ask::Due;
        desk.minutes(5);
        let pull = desk.opens_pull();
        desk.merge(pull);
        desk.tick();
        finished.push(desk.now);
        desk.hours(1);
    }
    let known = |desk: &Desk| {
        let requests = desk.state().requests.values();
        let numbers: Vec<_> = requests.filter_map(|one| one.number).collect();
        let tracks: Vec<_> = desk
            .state()
            .tracks
            .keys()
            .map(ToString::to_string)
            .collect();
        (numbers, tracks)
    };
    let both = (
        vec![1, 2],
        vec!["request:1".to_owned(), "request:2".to_owned()],
    );
    desk.now = finished[0] + days(30) - SECOND;
    desk.tick();
    assert_eq!(known(&desk), both);
    desk.now = finished[0] + days(30);
    desk.tick();
    let newest = (vec![2], vec!["request:2".to_owned()]);
    assert_eq!(known(&desk), newest);
    desk.now = finished[1] + days(300);
    desk.tick();
    assert_eq!(known(&desk), newest);
}
