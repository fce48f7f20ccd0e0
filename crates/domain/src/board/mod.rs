//! The files that agents leave for each other on the default branch: tasks, sprint files, journals.
//!
//! Personas write these files by hand, in their own pull requests. So each file is read by itself: a mistake is reported
//! with its position, and the other files are read all the same.
//!
//! | file | question it answers |
//! |---|---|
//! | `task`, `tasks` | Which tasks exist, and what is wrong with their files? |
//! | `choose` | Which tasks wait for a persona? |
//! | `change`, `write` | What does a new task look like, or one that is claimed or moved? |
//! | `sprints` | Which files does a sprint have, and what is wrong with them? |
//! | `journals` | What is wrong with a persona's journal? |
//! | `lint` | All of these checks at once, with the fixes that have exactly one answer. |
//! | `markdown` | What does a Markdown file with frontmatter say, and where? |

mod change;
mod file_names;
mod journals;
pub mod limits;
mod lint;
mod markdown;
mod personas;
mod select;
mod sprints;
mod task;
mod tasks;
mod write;

pub use change::{Change, TaskError};
pub use lint::{Kind, LintResult, lint};
pub use personas::persona_names;
pub use select::{tags_of, tasks_for};
pub use sprints::{
    SPRINTS_FOLDER, SprintFile, SprintFileKind, current_sprint, current_sprint_path, sprint_files,
    sprint_folder, sprint_of,
};
pub use task::{TASKS_FOLDER, Task, TaskState};
pub use tasks::{list_tasks, unread_tasks};
pub use write::{
    Claim, NewTask, claim_task, move_task, new_sprint_plan, new_sprint_readme, new_task,
};
