//! Sessions whose work is over are archived.

use jiff::{SignedDuration, Timestamp};
use phileas_world::books::Session;

use super::Judge;
use super::sessions::Marked;

/// A day after its pull request was merged, and after it last moved, a session is archived; so much later it must be.
const PUT_AWAY: SignedDuration = SignedDuration::from_hours(26);

/// Whether a session has been left as it is for too long.
fn is_left(session: &Session, merged_at: Timestamp, end: Timestamp) -> bool {
    let states = session.states.iter().map(|(at, _)| *at);
    let acts = session.acts.iter().map(|act| act.at);
    let quiet = states.chain(acts).fold(merged_at, Timestamp::max);
    !session.archived && !session.deleted && end.duration_since(quiet) > PUT_AWAY
}

impl Judge<'_> {
    pub(super) fn archived(&mut self, ours: &[&Marked<'_>]) {
        let end = self.world.now();
        let github = self.world.github();
        let merged = |number| Some(github.pull(self.repo, number)?.merged.as_ref()?.at);
        // A suspended repository is not read, so that what was merged meanwhile is seen when it is resumed.
        let seen = |at: Timestamp| self.resumed.map_or(at, |resumed| at.max(resumed));
        let left: Vec<String> = ours
            .iter()
            .filter_map(|one| {
                let number = one.session.pull?;
                let at = merged(number)?;
                let text = format!(
                    "session {} is not archived, and #{number} was merged at {at}",
                    one.session.id
                );
                is_left(one.session, seen(at), end).then_some(text)
            })
            .collect();
        for text in left {
            self.find(text);
        }
    }
}

#[test]
fn who_has_moved_since_is_left_alone() {
    let at = |hour: i64| Timestamp::from_second(1_767_571_200 + hour * 3_600).unwrap();
    let mut session = Session {
        states: vec![(at(0), "COMPLETED".to_owned())],
        ..Session::default()
    };
    assert!(is_left(&session, at(1), at(28)));
    assert!(!is_left(&session, at(3), at(28)));
    session.states.push((at(5), "IN_PROGRESS".to_owned()));
    assert!(!is_left(&session, at(1), at(28)));
    session.archived = true;
    assert!(!is_left(&session, at(1), at(99)));
}
