//! One after the other, and not too many at once.

use jiff::{SignedDuration, Timestamp};
use phileas_world::World;
use phileas_world::github::RepoId;

use super::Judge;
use super::sessions::Marked;

/// The track that goes step by step.
const STEPS: &str = "default";
/// After so long a session that does not end is given up.
const GIVEN_UP: SignedDuration = SignedDuration::from_hours(6);

/// From when until when a session is at work.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: Timestamp,
    /// Its pull request is open, it has ended, or it was given up, whatever came first.
    until: Timestamp,
}

impl Span {
    fn of(one: &Marked<'_>, world: &World, repo: RepoId) -> Self {
        let states = &one.session.states;
        let ended = states
            .iter()
            .find(|(_, word)| word == "COMPLETED" || word == "FAILED")
            .map(|(at, _)| *at);
        let pull = one.session.pull;
        let pull = pull.and_then(|number| world.github().pull(repo, number));
        let opened = pull.map(|pull| pull.thread.created_at);
        let archived = one.session.acts.iter().find(|act| act.what == "archive");
        let ends = [ended, opened, archived.map(|act| act.at)];
        let given_up = one.at + GIVEN_UP;
        Self {
            from: one.at,
            until: ends.into_iter().flatten().fold(given_up, Timestamp::min),
        }
    }
}

/// How many are at work at the busiest instant, and when that is. A session no longer counts at the instant at which
/// it ends.
fn busiest(spans: &[Span]) -> Option<(usize, Timestamp)> {
    let at_work = |at: Timestamp| {
        let spans = spans.iter();
        spans.filter(|one| one.from <= at && at < one.until).count()
    };
    let counts = spans.iter().map(|one| (at_work(one.from), one.from));
    counts.max()
}

impl Judge<'_> {
    /// A step begins when the one before it is over, and there are never more at work than the plan allows.
    pub(super) fn order(&mut self, ours: &[&Marked<'_>]) {
        let span = |one: &Marked<'_>| Span::of(one, self.world, self.repo);
        let mut steps: Vec<(u64, u32, Span)> = ours
            .iter()
            .filter(|one| one.track == STEPS)
            .map(|one| (one.seq, one.attempt, span(one)))
            .collect();
        steps.sort_by_key(|(seq, attempt, _)| (*seq, *attempt));
        let spans: Vec<Span> = ours.iter().map(|one| span(one)).collect();
        let mut wrong = Vec::new();
        for pair in steps.windows(2) {
            let ((before, _, first), (after, _, second)) = (pair[0], pair[1]);
            if second.from < first.until {
                let (from, until) = (second.from, first.until);
                wrong.push(format!(
                    "{STEPS}#{after} began at {from}, and {STEPS}#{before} was at work until {until}"
                ));
            }
        }
        if let Some((most, at)) = busiest(&spans).filter(|(most, _)| *most > self.allowed.at_once) {
            wrong.push(format!("{most} sessions are at work at {at}"));
        }
        for text in wrong {
            self.find(text);
        }
    }
}

#[test]
fn those_at_work_at_one_instant_are_counted() {
    let at = |minute: i64| Timestamp::from_second(1_767_571_200 + minute * 60).unwrap();
    let span = |from: i64, until: i64| Span {
        from: at(from),
        until: at(until),
    };
    assert_eq!(busiest(&[]), None);
    let in_turn = [span(0, 10), span(10, 20), span(30, 40)];
    assert_eq!(busiest(&in_turn).map(|(most, _)| most), Some(1));
    let spans = [span(0, 10), span(5, 20), span(9, 12), span(15, 16)];
    assert_eq!(busiest(&spans), Some((3, at(9))));
}
