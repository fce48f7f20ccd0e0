//! Holds the untrusted texts that a prompt quotes.

/// The quoted texts of a request, already fenced.
pub(super) struct Quoted {
    pub(super) journals: String,
    pub(super) journal_paths: Vec<String>,
    pub(super) sprint: String,
    pub(super) sprint_paths: Vec<String>,
    pub(super) tasks: String,
    pub(super) task_paths: Vec<String>,
    pub(super) work: String,
    pub(super) notes: Vec<String>,
    pub(super) subject: String,
}
