//! An agent that has ideas of its own, and has the popular ones again and again.
//!
//! An idea is a title and the files that it changes. How often an idea comes follows its rank (Zipf). A prompt or a
//! message may say that an idea is open, refused or done; the settings say how often the agent heeds.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::file_texts::FileTexts;
use crate::chance::Stream;

/// How many ideas there are.
pub const IDEAS: usize = 200;
/// How often an obedient agent draws again before it takes what it has drawn.
const MOST_DRAWS: usize = 1_000;
/// How many lines an idea writes into its file, at least and at most.
const LINES: (u64, u64) = (16, 48);

/// What an idea is about.
const AREAS: [&str; 20] = [
    "parser",
    "renderer",
    "cache",
    "scheduler",
    "router",
    "logger",
    "config",
    "session",
    "storage",
    "search",
    "importer",
    "exporter",
    "mailer",
    "billing",
    "profile",
    "upload",
    "archive",
    "report",
    "queue",
    "gateway",
];
/// What an idea does there: the beginning of its title, and the stem of its files.
const KINDS: [(&str, &str); 10] = [
    ("Cache results of the", "memo"),
    ("Escape untrusted text in the", "escape"),
    ("Cover edge cases of the", "edges"),
    ("Reduce allocations in the", "buffers"),
    ("Explain failures of the", "errors"),
    ("Validate options of the", "checks"),
    ("Retry interrupted work of the", "retry"),
    ("Measure durations in the", "timing"),
    ("Split large functions of the", "parts"),
    ("Close leaked handles of the", "handles"),
];
/// Words of the lines.
const WORDS: [&str; 24] = [
    "amount", "batch", "bound", "chunk", "count", "cursor", "entry", "field", "frame", "group",
    "index", "items", "limit", "lower", "offset", "owner", "part", "range", "rest", "score",
    "slice", "state", "total", "value",
];

/// The settings of an agent with ideas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Ideas {
    /// How fast the popularity of ideas falls with their rank: the exponent of Zipf's law.
    pub exponent: f64,
    /// Share of sessions that avoid what their prompt lists.
    pub heeds_prompt: f64,
    /// Share of turned down plans after which the session plans another idea.
    pub heeds_plan: f64,
    /// Share of lines that a repeated idea writes in another way.
    pub rewrites: f64,
    /// Where these lines lie.
    pub rewritten: Rewritten,
}

/// Where the lines lie that a repeated idea writes in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rewritten {
    /// Anywhere.
    #[default]
    Scattered,
    /// In one piece.
    Together,
}

impl Default for Ideas {
    fn default() -> Self {
        Self {
            exponent: 1.0,
            heeds_prompt: 0.6,
            heeds_plan: 0.8,
            rewrites: 0.2,
            rewritten: Rewritten::Scattered,
        }
    }
}

/// An idea, by its rank from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Idea(usize);

impl Idea {
    fn area_and_kind(self) -> (&'static str, (&'static str, &'static str)) {
        let (tens, kind) = (self.0 / KINDS.len(), self.0 % KINDS.len());
        // Ideas of neighbouring ranks are about different areas.
        (AREAS[(self.0 + tens) % AREAS.len()], KINDS[kind])
    }

    pub(super) fn title(self) -> String {
        let (area, (start, _)) = self.area_and_kind();
        format!("{start} {area}")
    }

    fn paths(self) -> [String; 2] {
        let (area, (_, stem)) = self.area_and_kind();
        [
            format!("src/{area}/{stem}.rs"),
            format!("tests/{area}_{stem}.rs"),
        ]
    }

    /// The steps of a plan for it.
    pub(super) fn plan_steps(self) -> Vec<(String, String)> {
        let [code, test] = self.paths();
        let step = |title: &str, text: String| (title.to_owned(), text);
        vec![
            step("Read the code", format!("Read `{code}` and what calls it.")),
            (self.title(), format!("Change `{code}`.")),
            step("Cover it with a test", format!("Add a test to `{test}`.")),
            step(
                "Run the checks",
                "Run formatter, linter and tests.".to_owned(),
            ),
        ]
    }
}

impl Ideas {
    /// Draws an idea. An obedient session avoids what its prompt lists, and in any case what was turned down.
    pub(super) fn draw(&self, prompt: &str, refused: Option<Idea>, chance: &mut Stream) -> Idea {
        let heeds = chance.happens(self.heeds_prompt);
        let listed: Vec<&str> = prompt
            .lines()
            .filter(|line| line.starts_with("- #"))
            .collect();
        let is_avoided = |idea: Idea| {
            let title = idea.title();
            Some(idea) == refused || heeds && listed.iter().any(|line| line.contains(&title))
        };
        let mut idea = self.draw_rank(chance);
        for _ in 0..MOST_DRAWS {
            if !is_avoided(idea) {
                break;
            }
            idea = self.draw_rank(chance);
        }
        idea
    }

    fn draw_rank(&self, chance: &mut Stream) -> Idea {
        let weight = |rank: usize| ((rank + 1) as f64).powf(-self.exponent);
        let whole: f64 = (0..IDEAS).map(weight).sum();
        let mut left = (chance.draw_below(1 << 40) as f64 / (1_u64 << 40) as f64) * whole;
        for rank in 0..IDEAS {
            left -= weight(rank);
            if left < 0.0 {
                return Idea(rank);
            }
        }
        Idea(IDEAS - 1)
    }

    /// The files of an idea. `before` gives their present texts; `again`: the idea had a pull request before, so some lines
    /// are written in another way.
    pub(super) fn files(
        &self,
        idea: Idea,
        again: bool,
        before: impl Fn(&str) -> Option<Bytes>,
        chance: &mut Stream,
    ) -> FileTexts {
        let paths = idea.paths();
        let texts = paths.into_iter().map(|path| {
            let present = before(&path).map(|text| String::from_utf8_lossy(&text).into_owned());
            let mut lines: Vec<String> = match present {
                Some(text) => text.lines().map(str::to_owned).collect(),
                None => own_lines(&path),
            };
            if again {
                self.rewrite(&mut lines, chance);
            }
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            (path, Some(text))
        });
        texts.collect()
    }

    fn rewrite(&self, lines: &mut [String], chance: &mut Stream) {
        let count = (lines.len() as f64 * self.rewrites).round() as usize;
        let mut order: Vec<usize> = (0..lines.len()).collect();
        match self.rewritten {
            Rewritten::Scattered => {
                for last in (1..order.len()).rev() {
                    order.swap(last, draw_index(chance, last + 1));
                }
            }
            Rewritten::Together => {
                let start = draw_index(chance, lines.len() - count + 1);
                order.rotate_left(start);
            }
        }
        for index in order.into_iter().take(count) {
            lines[index] = some_line(chance);
        }
    }
}

fn draw_index(chance: &mut Stream, bound: usize) -> usize {
    usize::try_from(chance.draw_below(bound as u64)).expect("an index below a length fits")
}

/// The lines that an idea writes into a file the first time.
fn own_lines(path: &str) -> Vec<String> {
    let mut chance = crate::chance::Chance::new(0).stream(path);
    let count = chance.draw_between(LINES.0, LINES.1);
    (0..count).map(|_| some_line(&mut chance)).collect()
}

fn some_line(chance: &mut Stream) -> String {
    let mut word = || *chance.pick(&WORDS).expect("there are words");
    let (name, from, call, by) = (word(), word(), word(), word());
    let number = chance.draw_below(1_000);
    format!("    let {name} = {from}.{call}({by} + {number});")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::chance::Chance;

    #[test]
    fn each_idea_has_a_title_and_files_of_its_own() {
        let titles: BTreeSet<String> = (0..IDEAS).map(|rank| Idea(rank).title()).collect();
        let paths: BTreeSet<[String; 2]> = (0..IDEAS).map(|rank| Idea(rank).paths()).collect();
        assert_eq!((titles.len(), paths.len()), (IDEAS, IDEAS));
    }

    #[test]
    fn popular_ideas_come_often() {
        let mut chance = Chance::new(1).stream("ideas");
        let ideas = Ideas::default();
        let drawn: Vec<Idea> = (0..10_000)
            .map(|_| ideas.draw("", None, &mut chance))
            .collect();
        let share = |rank| drawn.iter().filter(|idea| idea.0 == rank).count() as f64 / 10_000.0;
        // 1 / H(200), and half of it.
        assert!((share(0) - 0.170).abs() < 0.02, "{}", share(0));
        assert!((share(1) - 0.085).abs() < 0.02, "{}", share(1));
    }

    #[test]
    fn an_obedient_agent_avoids_what_is_listed_or_turned_down() {
        let prompt = format!("Open:\n- #3 (curator): {} [src/x.rs]\n", Idea(0).title());
        let mut chance = Chance::new(1).stream("ideas");
        let obedient = Ideas {
            heeds_prompt: 1.0,
            ..Ideas::default()
        };
        let deaf = Ideas {
            heeds_prompt: 0.0,
            ..Ideas::default()
        };
        let mut drawn = |ideas: &Ideas, refused| {
            let draws = (0..200).map(|_| ideas.draw(&prompt, refused, &mut chance));
            draws.filter(|idea| *idea == Idea(0)).count()
        };
        assert_eq!(drawn(&obedient, None), 0);
        assert!(drawn(&deaf, None) > 0);
        assert_eq!(drawn(&deaf, Some(Idea(0))), 0);
    }

    #[test]
    fn a_repeat_writes_a_fifth_of_its_lines_in_another_way() {
        for rewritten in [Rewritten::Scattered, Rewritten::Together] {
            let ideas = Ideas {
                rewritten,
                ..Ideas::default()
            };
            let mut chance = Chance::new(1).stream("ideas");
            let mut files = |again| ideas.files(Idea(7), again, |_| None, &mut chance);
            let (first, second) = (files(false), files(true));
            assert!(first.keys().eq(second.keys()));
            for (path, text) in &first {
                let (one, other) = (text.as_ref().unwrap(), second[path].as_ref().unwrap());
                let changed = one
                    .lines()
                    .zip(other.lines())
                    .filter(|(a, b)| a != b)
                    .count();
                let share = changed as f64 / one.lines().count() as f64;
                assert!((0.14..=0.26).contains(&share), "{rewritten:?} {share}");
            }
        }
    }
}
