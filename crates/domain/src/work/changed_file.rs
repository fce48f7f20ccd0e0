//! A file of a pull request.

/// One file of a pull request, as GitHub lists it.
/// <https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files>
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedFile<'f> {
    /// Its path afterwards.
    pub path: &'f str,
    /// Lines that are added.
    pub added: u64,
    /// Lines that are removed.
    pub removed: u64,
    /// Its hunks. GitHub leaves them out where the file is binary, only renamed, or too large.
    pub patch: Option<&'f str>,
}
