//! A failing case is made smaller: fewer hours, fewer knobs, as long as something is still found.

use std::collections::BTreeSet;

use super::case::Case;

/// No case is shrunk by more plays than this.
const MOST_PLAYS: usize = 60;
/// No case is made shorter than this.
const FEWEST_HOURS: i64 = 2;

/// The smallest case that was found to fail, beginning with one that does.
pub(super) fn shrink(case: &Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    let mut plays = 0;
    let mut try_out = |smallest: &mut Case, smaller: Case| {
        plays += 1;
        let is_better = plays <= MOST_PLAYS && fails(&smaller);
        if is_better {
            *smallest = smaller;
        }
        is_better
    };
    loop {
        let hours = smallest.hours / 2;
        let shorter = Case {
            hours,
            ..smallest.clone()
        };
        if hours < FEWEST_HOURS || !try_out(&mut smallest, shorter) {
            break;
        }
    }
    // Half of the knobs at a time, then a quarter, down to one.
    let mut share = smallest.turned.len().div_ceil(2);
    while share > 0 && !smallest.turned.is_empty() {
        let names: Vec<String> = smallest.turned.iter().cloned().collect();
        for some in names.chunks(share) {
            let left: BTreeSet<String> = smallest
                .turned
                .iter()
                .filter(|name| !some.contains(name))
                .cloned()
                .collect();
            let smaller = Case {
                turned: left,
                ..smallest.clone()
            };
            try_out(&mut smallest, smaller);
        }
        share /= 2;
    }
    smallest
}

#[test]
fn what_does_not_matter_is_left_out() {
    let case = Case::of(10, 48);
    let wanted: Vec<String> = case.turned.iter().take(9).skip(7).cloned().collect();
    assert_eq!(wanted.len(), 2);
    let fails =
        |case: &Case| case.hours >= 6 && wanted.iter().all(|name| case.turned.contains(name));
    let smallest = shrink(&case, fails);
    assert_eq!((smallest.seed, smallest.hours), (10, 6));
    assert!(smallest.turned.iter().eq(wanted.iter()), "{smallest}");
    // What is kept says everything: it must be the same case when the knobs are others.
    let kept = smallest.to_string();
    assert_eq!(kept, format!("10 6 {}", wanted.join(",")));
    assert_eq!(kept.parse(), Ok(smallest));
}
