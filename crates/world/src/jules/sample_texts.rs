//! Sample texts for sessions without a script: plans, progress, questions, titles.

use crate::chance::Stream;

const STEPS: [(&str, &str); 8] = [
    (
        "Explore the repository",
        "Read the layout, the build files and the tests that touch the task.",
    ),
    (
        "Reproduce the present behaviour",
        "Run the existing checks to have a starting point.",
    ),
    (
        "Make the change",
        "Edit the smallest set of files that does what was asked.",
    ),
    (
        "Cover it with a test",
        "Add a test that fails without the change.",
    ),
    ("Run the checks", "Run formatter, linter and tests."),
    (
        "Update the documentation",
        "Say in the documentation what has changed.",
    ),
    (
        "Review the diff",
        "Read the whole diff once more before submitting.",
    ),
    ("Submit", "Push the branch."),
];

const PROGRESS: [(&str, &str); 8] = [
    (
        "Exploring the codebase",
        "Listed the source tree and read the manifest.",
    ),
    ("Running the tests", "All tests pass before the change."),
    (
        "Editing files",
        "Replaced the duplicated block by one function.",
    ),
    (
        "Adding a test",
        "The new test fails as expected without the change.",
    ),
    ("Formatting", "The formatter changed two files."),
    ("Checking the result", "12 passed, 0 failed."),
    (
        "Reading the history",
        "Looked at the last commits on the files concerned.",
    ),
    ("Ready to submit", "The diff is small and self-contained."),
];

const COMMANDS: [(&str, &str, i32); 5] = [
    ("git status --short", "", 0),
    (
        "cargo test",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        0,
    ),
    ("npm test", "12 passing (340ms)", 0),
    (
        "grep -rn TODO src",
        "src/lib.rs:14: // TODO: handle the empty case",
        0,
    ),
    (
        "cargo clippy -- -D warnings",
        "error: unused variable: `count`",
        101,
    ),
];

const QUESTIONS: [&str; 4] = [
    "There are two places where this could be changed. Shall I keep the public function and change only the private one?",
    "The tests need a fixture that is not in the repository. Should I add a small one?",
    "Shall I also update the documentation, or leave that for another change?",
    "The file is generated. Do you want the generator changed as well?",
];

const REMARKS: [&str; 3] = [
    "I have read the code and am starting on the change.",
    "The tests were green before I started, so any failure is mine.",
    "I found a second place with the same pattern and will treat it likewise.",
];

const AGREEMENTS: [&str; 3] = [
    "Understood, I will do that.",
    "Thank you, I will go on with that in mind.",
    "Good point. I am changing it now.",
];

const NOTHING: [&str; 2] = [
    "I looked at everything that was named and found nothing to change.",
    "The work that was asked for is already done on this branch.",
];

const FAILURES: [&str; 4] = [
    "The environment could not be set up: the set-up script ended with exit code 1.",
    "Jules was unable to complete the task in time.",
    "The repository could not be cloned.",
    "An internal error occurred while the plan was carried out.",
];

fn pick_phrase<T: Copy>(chance: &mut Stream, from: &[T]) -> T {
    *chance.pick(from).expect("the lists of words are not empty")
}

/// The steps of a plan: three to six, in their order.
pub(super) fn plan_steps(chance: &mut Stream) -> Vec<(String, String)> {
    let mut steps: Vec<usize> = (0..STEPS.len()).collect();
    let keep = usize::try_from(chance.draw_between(3, 6)).expect("six is small");
    while steps.len() > keep {
        let drop = usize::try_from(chance.draw_below(steps.len() as u64)).expect("an index");
        steps.remove(drop);
    }
    steps
        .into_iter()
        .map(|step| (STEPS[step].0.to_owned(), STEPS[step].1.to_owned()))
        .collect()
}

/// A heading and a text.
pub(super) fn progress_text(chance: &mut Stream) -> (String, String) {
    let (title, description) = pick_phrase(chance, &PROGRESS);
    (title.to_owned(), description.to_owned())
}

/// A command line, its output and its exit code.
pub(super) fn command_run(chance: &mut Stream) -> (String, String, i32) {
    let (command, output, code) = pick_phrase(chance, &COMMANDS);
    (command.to_owned(), output.to_owned(), code)
}

pub(super) fn question_text(chance: &mut Stream) -> String {
    pick_phrase(chance, &QUESTIONS).to_owned()
}

pub(super) fn remark_text(chance: &mut Stream) -> String {
    pick_phrase(chance, &REMARKS).to_owned()
}

pub(super) fn agreement_text(chance: &mut Stream) -> String {
    pick_phrase(chance, &AGREEMENTS).to_owned()
}

pub(super) fn nothing_to_do(chance: &mut Stream) -> String {
    pick_phrase(chance, &NOTHING).to_owned()
}

pub(super) fn failure_reason(chance: &mut Stream) -> String {
    pick_phrase(chance, &FAILURES).to_owned()
}

/// A category as Jules' branch names have it.
pub(super) fn branch_category(chance: &mut Stream) -> &'static str {
    pick_phrase(
        chance,
        &["feat", "fix", "refactor", "docs", "test", "chore"],
    )
}

/// The first words of a text as they stand in branch and file names; `task` when there are none.
pub(super) fn branch_slug(text: &str) -> String {
    const WORDS: usize = 4;
    const LONGEST: usize = 40;
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| line.chars().any(|c| c.is_ascii_alphanumeric()))
        .unwrap_or("");
    let words: Vec<String> = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(str::to_ascii_lowercase)
        .collect();
    let mut slug = words.join("-");
    slug.truncate(LONGEST);
    let slug = slug.trim_matches('-');
    if slug.is_empty() {
        "task".to_owned()
    } else {
        slug.to_owned()
    }
}

/// A title made from the first line of a prompt, as the service makes one when none is given.
pub(super) fn title_of_prompt(prompt: &str) -> String {
    const LONGEST: usize = 60;
    let line = prompt
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("Task");
    line.trim_start_matches('#')
        .trim()
        .chars()
        .take(LONGEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn slugs_fit_into_a_branch_name() {
        assert_eq!(
            branch_slug("# You are \"Curator\" 🧹, the keeper"),
            "you-are-curator-the"
        );
        assert_eq!(branch_slug("日本語\n\nFix: it"), "fix-it");
        assert_eq!(branch_slug("…"), "task");
    }

    #[test]
    fn plans_have_a_few_steps() {
        for seed in 0..20 {
            let steps = plan_steps(&mut Chance::new(seed).stream("plan"));
            assert!((3..=6).contains(&steps.len()));
        }
    }
}
