//! Acts of people, bots and APIs on repositories. Every act adds timeline events, webhooks and a line in the books.

mod checks;
mod comments;
mod commits;
mod error;
mod installations;
mod labels;
mod line_comments;
mod pulls;
mod rules;
mod runs;
mod settings;
mod threads;

pub use error::ActError;
pub use line_comments::LineRemark;
pub use pulls::MergeMethod;

pub(crate) use comments::Subject;
