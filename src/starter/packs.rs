//! Personas that a repository can add, one by one: prompts that have done good work elsewhere, and when they usually run.

use super::plan::STARTERS;

/// The line by which `phileas init` knows its own files; what a person adds is the repository's from then on.
const INIT_LINE: &str = "# Written by phileas init\n";

/// A persona that can be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pack {
    /// Its id.
    pub id: &'static str,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// When it runs by default. Once a week is what most repositories can review.
    pub cron: &'static str,
    template: &'static str,
}

/// All of them, by id.
pub const PACKS: [Pack; 8] = [
    Pack {
        id: "craftsman",
        purpose: "takes a task from the board and does it",
        cron: "41 3 * * 2-5",
        template: include_str!("personas/craftsman.md"),
    },
    Pack {
        id: "curator",
        purpose: "keeps the documentation true",
        cron: "11 4 * * 1",
        template: STARTERS[0].prompt,
    },
    Pack {
        id: "janitor",
        purpose: "removes unused code",
        cron: "11 4 * * 2",
        template: include_str!("personas/janitor.md"),
    },
    Pack {
        id: "profiler",
        purpose: "makes one slow thing measurably faster",
        cron: "11 4 * * 3",
        template: include_str!("personas/profiler.md"),
    },
    Pack {
        id: "sentinel",
        purpose: "closes one security hole; on public repositories only where the plan allows it",
        cron: "11 4 * * 4",
        template: include_str!("personas/sentinel.md"),
    },
    Pack {
        id: "simplifier",
        purpose: "says the same in less code",
        cron: "11 4 * * 5",
        template: include_str!("personas/simplifier.md"),
    },
    Pack {
        id: "taskmaster",
        purpose: "finds what is to be done, and writes it down as tasks",
        cron: "41 3 * * 1",
        template: include_str!("personas/taskmaster.md"),
    },
    Pack {
        id: "tester",
        purpose: "writes missing tests",
        cron: "11 4 * * 6",
        template: STARTERS[1].prompt,
    },
];

impl Pack {
    /// The pack of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        PACKS.into_iter().find(|pack| pack.id == name)
    }

    /// Its prompt.
    #[must_use]
    pub fn prompt(self) -> String {
        self.template.replacen(INIT_LINE, "", 1)
    }
}

#[cfg(test)]
mod tests {
    use phileas_domain::model::Tree;
    use phileas_domain::{plan, prompt};

    use super::*;

    #[test]
    fn every_pack_can_be_read_said_and_scheduled() {
        let mut crons = std::collections::BTreeSet::new();
        for pack in PACKS {
            let path = format!(".jules/personas/{}/prompt.md", pack.id);
            let schedules = format!("[schedules]\n{} = \"{}\"\n", pack.id, pack.cron);
            let tree = Tree::from_texts([
                (path.as_str(), pack.prompt().as_str()),
                (plan::SCHEDULES_PATH, schedules.as_str()),
            ]);
            let (read, found) = plan::read(&tree);
            assert_eq!(found, [], "{}", pack.id);
            let persona = &read.personas[pack.id];
            assert_eq!(
                prompt::validate_prompt(
                    persona,
                    &prompt::SourceFiles::of_default_branch(&tree),
                    &prompt::InProcess
                ),
                [],
                "{}",
                pack.id
            );
            assert!(!persona.emoji.is_empty() && !persona.description.is_empty());
            assert!(read.schedules[pack.id].cron.is_some());
            assert!(crons.insert(pack.cron), "{} runs beside another", pack.id);
            assert!(!pack.prompt().contains("phileas init"), "{}", pack.id);
            // Good advice has a beginning, steps and an end, and fits on a page or two.
            let prompt = pack.prompt();
            assert!(
                (1_500..6_000).contains(&prompt.len()),
                "{}: {}",
                pack.id,
                prompt.len()
            );
            for part in [
                "\n1. ",
                "\n4. ",
                "What a good pull request of yours looks like",
            ] {
                assert!(prompt.contains(part), "{}: {part}", pack.id);
            }
        }
        assert!(PACKS.is_sorted_by_key(|pack| pack.id));
    }
}
