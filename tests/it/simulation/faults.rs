//! What the program says has gone wrong through its own fault, and which of that the play has caused.

use std::collections::BTreeMap;

use super::case::Case;
use super::disturbances;

/// What is said of a process, a tick or an answer that panicked.
pub(super) const PANICKED: &str = "panicked";
/// What is said of a decision that the engine's own checks refuse.
const INVARIANT: &str = "would break an invariant";
/// What is said of a tick that went on after it was told to stop, and of a play that goes on after its time.
const ENDLESS: &str = "did not end";

/// Faults by what was said of them, each with how often it was said.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults(BTreeMap<String, u64>);

impl Faults {
    pub(super) fn add(&mut self, because: String) {
        *self.0.entry(because).or_default() += 1;
    }

    /// Those that nothing in the case explains.
    pub(super) fn findings(&self, case: &Case) -> Vec<String> {
        let unexplained = self.0.iter().filter(|(text, _)| !is_explained(text, case));
        unexplained
            .map(|(text, count)| format!("a fault of its own, {count} times: {text}"))
            .collect()
    }
}

/// Nothing explains a panic or a broken invariant. A tick does not end where its machine stands still or its clock is
/// set. What a service refuses for good looks like a fault of the caller, so refusals that are none explain what names
/// their statuses, and nothing else.
fn is_explained(text: &str, case: &Case) -> bool {
    if text.contains(PANICKED) || text.contains(INVARIANT) {
        return false;
    }
    if text.contains(ENDLESS) {
        let slow = [disturbances::STALLS, disturbances::CLOCK_STEPS];
        return text.contains("tick") && slow.iter().any(|name| case.is_turned(name));
    }
    let refused = disturbances::REFUSED_WITH.iter();
    let mut named = refused.map(u16::to_string);
    case.is_turned(disturbances::REFUSALS) && named.any(|status| has_word(text, &status))
}

/// Whether a number stands in a text by itself.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric())
        .any(|one| one == word)
}

#[test]
fn only_what_the_play_has_caused_is_passed_over() {
    let found = |text: &str, turned: &[&str]| {
        let mut faults = Faults::default();
        faults.add(text.to_owned());
        faults.add(text.to_owned());
        let turned = turned.iter().map(|name| (*name).to_owned()).collect();
        let case = Case {
            turned,
            ..Case::of(0, 2)
        };
        faults.findings(&case).len()
    };
    let all = [
        disturbances::REFUSALS,
        disturbances::STALLS,
        disturbances::CLOCK_STEPS,
    ];
    assert_eq!(found("the tick panicked: sabotage", &all), 1);
    assert_eq!(
        found("a decision would break an invariant of the ledger", &all),
        1
    );
    assert_eq!(found("the play did not end", &all), 1);
    let endless = "the tick did not end, and did not stop when it was stopped";
    assert_eq!(found(endless, &[disturbances::REFUSALS]), 1);
    assert_eq!(found(endless, &[disturbances::STALLS]), 0);
    assert_eq!(
        found("422 Unprocessable Entity", &[disturbances::STALLS]),
        1
    );
    assert_eq!(
        found("422 Unprocessable Entity", &[disturbances::REFUSALS]),
        0
    );
    assert_eq!(found("it answered 404", &[disturbances::REFUSALS]), 1);
    assert_eq!(found("session 14094", &[disturbances::REFUSALS]), 1);
}
