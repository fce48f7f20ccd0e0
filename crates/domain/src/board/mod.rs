//! What agents leave for one another on the default branch: tasks, the papers of sprints, journals.
//!
//! Personas write these files in their own pull requests, by hand, so all of them are read with patience: what is wrong
//! with one file is a finding with its place, and the rest is read all the same.
//!
//! | file | question it answers |
//! |---|---|
//! | `task`, `tasks` | which tasks are there, and what is wrong with their files? |
//! | `choose` | which of them wait for a persona? |
//! | `write` | what does a new task look like, and one that is claimed or moved? |
//! | `sprints` | which papers has a sprint, and what is wrong with them? |
//! | `journals` | what is wrong with a persona's journal? |
//! | `lint` | all of that at once, and what of it has one answer |
//! | `paper` | Markdown with frontmatter, and where each value stands in it |

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

pub use choose::{tags_of, tasks_for};
pub use lint::{Kind, Linted, lint};
pub use sprints::{
    PaperKind, SPRINTS_FOLDER, SprintPaper, current_sprint, current_sprint_path, papers,
    sprint_folder, sprint_of,
};
pub use task::{TASKS_FOLDER, Task, TaskState};
pub use tasks::tasks;
pub use write::{
    Change, Claim, NewTask, TaskError, claimed, moved, new_sprint_plan, new_sprint_readme, new_task,
};
