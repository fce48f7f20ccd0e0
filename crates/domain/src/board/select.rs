//! Selects the tasks that wait for a persona.

use super::task::{Task, TaskState};
use crate::plan::Persona;

/// The frontmatter key by which a persona takes tasks besides those that are assigned to it: `tags: [docs, tests]`.
const TAGS_KEY: &str = "tags";

/// The tags by which a persona takes tasks: those of its frontmatter, and its own id.
#[must_use]
pub fn tags_of(persona: &Persona) -> Vec<String> {
    use serde_json::Value;
    let own = match persona.frontmatter.get(TAGS_KEY) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
        Some(Value::String(text)) => text.split(',').map(|tag| tag.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    let full = own.into_iter().filter(|tag| !tag.is_empty());
    full.chain([persona.id.to_string()]).collect()
}

/// The open tasks for a persona: first those in progress, then those assigned to it, then unassigned ones with one of
/// its tags. Each group is sorted by time, oldest first.
///
/// A task with files in both open states counts as in progress.
#[must_use]
pub fn tasks_for<'t>(tasks: &'t [Task], persona: &Persona) -> Vec<&'t Task> {
    let tags = tags_of(persona);
    let rank = |task: &Task| {
        let own = task.is_for(persona.id.as_str());
        match task.state {
            TaskState::InProgress if own => Some(0),
            TaskState::Todo if own => Some(1),
            // Another persona works on it.
            TaskState::Todo if task.persona.is_none() => {
                tags.iter().any(|tag| task.has_tag(tag)).then_some(2)
            }
            _ => None,
        }
    };
    let further = |task: &Task| {
        let same = |other: &&Task| other.id == task.id && other.state > task.state;
        tasks.iter().any(|other| same(&other))
    };
    let mut found: Vec<(u8, &Task)> = tasks
        .iter()
        .filter(|task| !further(task))
        .filter_map(|task| Some((rank(task)?, task)))
        .collect();
    found.sort_by(|(a, one), (b, other)| (a, &one.id).cmp(&(b, &other.id)));
    found.into_iter().map(|(_, task)| task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tree;
    use crate::plan::read_personas;

    fn persona(frontmatter: &str) -> Persona {
        let text = format!("---\nid: tester\n{frontmatter}---\nTest.\n");
        let tree = Tree::from_texts([(".jules/personas/tester/prompt.md", text)]);
        read_personas(&tree).0.into_values().next().unwrap()
    }

    fn chosen(frontmatter: &str, files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(name, head)| {
            let path = format!(".jules/tasks/{name}.md");
            (path, format!("---\ntitle: x\n{head}\n---\n"))
        });
        let tasks = super::super::list_tasks(&Tree::from_texts(files));
        let chosen = tasks_for(&tasks, &persona(frontmatter));
        chosen.into_iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn what_is_begun_comes_first_then_what_is_assigned_then_what_bears_a_tag() {
        let files = [
            ("todo/3", "tags: [Tests]"),
            ("todo/2", "assigned_persona: Tester"),
            ("todo/1", "persona: tester"),
            ("todo/4", "tags: tester, x"),
            ("todo/5", "tags: [docs]"),
            ("todo/6", "tags: [tests]\npersona: curator"),
            ("todo/7", ""),
            ("in_progress/9", "persona: tester"),
            ("in_progress/8", "persona: curator"),
            ("in_progress/7a", "tags: [tests]"),
            ("done/0", "persona: tester"),
        ];
        assert_eq!(chosen("tags: [tests]\n", &files), ["9", "1", "2", "3", "4"]);
        assert_eq!(
            chosen("tags: 'tests, docs'\n", &files),
            ["9", "1", "2", "3", "4", "5"]
        );
        assert_eq!(chosen("", &files), ["9", "1", "2", "4"]);
    }

    #[test]
    fn a_task_in_two_states_is_as_far_as_the_further_one() {
        let files = [
            ("todo/1", "persona: tester"),
            ("in_progress/1", "persona: tester"),
            ("in_progress/2", "persona: tester"),
            ("done/2", "persona: tester"),
        ];
        assert_eq!(chosen("", &files), ["1"]);
    }
}
