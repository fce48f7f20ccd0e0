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
mod choose;
mod journals;
pub mod limits;
mod lint;
mod names;
mod paper;
mod people;
mod sprints;
mod task;
mod tasks;
mod write;

pub use change::{Change, TaskError};
pub use choose::{tags_of, tasks_for};
pub use lint::{Kind, Linted, lint};
pub use sprints::{
    PaperKind, SPRINTS_FOLDER, SprintPaper, current_sprint, current_sprint_path, papers,
    sprint_folder, sprint_of,
};
pub use task::{TASKS_FOLDER, Task, TaskState};
pub use tasks::tasks;
pub use write::{Claim, NewTask, claimed, moved, new_sprint_plan, new_sprint_readme, new_task};
