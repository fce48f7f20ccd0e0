//! Lists the folders of the default branch that a prompt quotes, besides journals.

use crate::board::{self, TaskState};

/// The folders of open tasks, and the folder of the current sprint, if there is one. A dispatch needs the texts of
/// their files.
#[must_use]
pub fn folders_to_read(sprint: Option<u64>) -> Vec<String> {
    let open = TaskState::ALL.into_iter().filter(|state| state.is_open());
    open.map(TaskState::folder_path)
        .chain(sprint.map(board::sprint_folder))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_tasks_and_one_sprint_are_read() {
        let tasks = [".jules/tasks/todo", ".jules/tasks/in_progress"];
        assert_eq!(folders_to_read(None), tasks);
        assert_eq!(folders_to_read(Some(3))[2..], [".jules/sprints/sprint-3"]);
    }
}
