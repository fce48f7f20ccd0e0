//! One case: a seed, how long it lasts, and which knobs are turned.
//!
//! Which knobs a seed turns is no accident. Ten seeds in a row are a block, and each knob is turned in five of them:
//! in the first, and in four of the other nine that no other knob has in common with it. Two different choices of this
//! kind meet in the first, each has a seed that the other does not, and together they leave one out; so each block sees
//! every pair of knobs with both turned, either one alone, and neither. Which knob has which choice is drawn again for
//! every block, and so is, for every seed, to what a knob is turned that has several values.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use phileas_world::chance::Chance;
use serde_json::Value;

use super::disturbances;

/// How many seeds see every pair of knobs.
pub(super) const BLOCK: u64 = 10;
/// In how many seeds of a block a knob is turned.
const TURNED: u32 = 5;

/// What one run is given. As text: `seed hours trouble,knob=value,…`. The text says everything, so that it is the same
/// case still when there are other knobs, or when they have other values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) seed: u64,
    /// Hours with troubles. Some without follow, in which everything comes to rest.
    pub(super) hours: i64,
    /// Troubles by their names, and the models' knobs with their values: `title=dropped`. A knob without a value is at
    /// its worst.
    pub(super) turned: BTreeSet<String>,
}

impl Case {
    /// The case of a seed.
    pub(super) fn of(seed: u64, hours: i64) -> Self {
        let names = disturbances::names();
        let mut columns = columns();
        let mut draws = Chance::new(seed / BLOCK).stream("columns");
        for last in (1..columns.len()).rev() {
            columns.swap(last, draws.draw_below(last as u64 + 1) as usize);
        }
        let row = seed % BLOCK;
        let is_turned = |column: &u16| column >> row & 1 == 1;
        let turned = names.into_iter().zip(&columns);
        Self {
            seed,
            hours,
            turned: turned
                .filter(|(_, column)| is_turned(column))
                .map(|(name, _)| drawn_value(&name, seed))
                .collect(),
        }
    }

    /// Hours without troubles at the end. No pause lasts longer than one of them, and a session that never ends is given
    /// up after six.
    pub(super) fn quiet_hours(&self) -> i64 {
        if self.is_short() { 2 } else { 8 }
    }

    /// A short case has one repository, and a long one three.
    pub(super) fn is_short(&self) -> bool {
        self.hours < 24
    }

    /// Whether it lasts as long as what the project promises to have been through.
    pub(super) fn is_long(&self) -> bool {
        self.hours >= 48
    }

    pub(super) fn is_turned(&self, name: &str) -> bool {
        self.turned.iter().any(|turned| name_of(turned) == name)
    }
}

/// The name of what is turned, without its value.
pub(super) fn name_of(turned: &str) -> &str {
    turned.split_once('=').map_or(turned, |(name, _)| name)
}

/// A knob with the value that a seed turns it to; a trouble as it is. The draw depends on this name alone.
fn drawn_value(name: &str, seed: u64) -> String {
    let values = disturbances::values(name);
    let mut draws = Chance::new(seed).stream(&format!("value of {name}"));
    match draws.pick(&values) {
        Some(Value::String(word)) => format!("{name}={word}"),
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    }
}

/// Every choice of [`TURNED`] seeds of a block with the first among them.
fn columns() -> Vec<u16> {
    let all = 0_u16..1 << BLOCK;
    all.filter(|choice| choice & 1 == 1 && choice.count_ones() == TURNED)
        .collect()
}

/// Which settings of pairs of knobs a set of cases has seen.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    seen: BTreeSet<(usize, usize, bool, bool)>,
}

impl Pairs {
    pub(super) fn add(&mut self, case: &Case) {
        let set: Vec<bool> = disturbances::names()
            .iter()
            .map(|name| case.is_turned(name))
            .collect();
        for (one, first) in set.iter().enumerate() {
            for (other, second) in set.iter().enumerate().skip(one + 1) {
                self.seen.insert((one, other, *first, *second));
            }
        }
    }

    pub(super) fn seen(&self) -> usize {
        self.seen.len()
    }

    /// How many there are: two settings of each knob of a pair.
    pub(super) fn all() -> usize {
        let count = disturbances::names().len();
        count * (count - 1) / 2 * 4
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turned: Vec<&str> = self.turned.iter().map(String::as_str).collect();
        write!(f, "{} {} {}", self.seed, self.hours, turned.join(","))
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let mut word = |what: &str| words.next().ok_or_else(|| format!("{line}: no {what}"));
        let seed = word("seed")?
            .parse()
            .map_err(|error| format!("{line}: {error}"))?;
        let hours = word("hours")?
            .parse()
            .map_err(|error| format!("{line}: {error}"))?;
        let turned: BTreeSet<String> = words
            .next()
            .unwrap_or_default()
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        for one in &turned {
            disturbances::check(one).map_err(|error| format!("{line}: {error}"))?;
        }
        Ok(Self {
            seed,
            hours,
            turned,
        })
    }
}

#[test]
fn every_block_of_seeds_sees_every_pair_of_knobs() {
    assert!(columns().len() >= disturbances::names().len());
    for block in [0, 1, 77] {
        let mut pairs = Pairs::default();
        for seed in block * BLOCK..(block + 1) * BLOCK {
            pairs.add(&Case::of(seed, 48));
        }
        assert_eq!(pairs.seen(), Pairs::all(), "block {block}");
    }
}

#[test]
fn a_case_is_read_as_it_was_written() {
    let case = Case::of(7, 48);
    assert!(!case.turned.is_empty());
    assert_eq!(case.to_string().parse(), Ok(case));
    for wrong in ["no-such-knob", "title=kept", "webhook-lost=2", "outages=1"] {
        assert!(format!("7 48 {wrong}").parse::<Case>().is_err(), "{wrong}");
    }
}

#[test]
fn every_value_of_a_knob_is_drawn() {
    let drawn: BTreeSet<String> = (0..40).map(|seed| drawn_value("title", seed)).collect();
    let all = ["title=dropped", "title=rewritten", "title=truncated"];
    assert!(drawn.iter().eq(all.iter()), "{drawn:?}");
    assert_eq!(drawn_value(disturbances::OUTAGES, 7), disturbances::OUTAGES);
}
