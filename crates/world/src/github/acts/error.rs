//! Why GitHub refuses an act.

/// Why an act was refused; the text is GitHub's own where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The object does not exist.
    #[error("Not Found")]
    NotFound,
    /// The reference exists already.
    #[error("Reference already exists")]
    ReferenceExists,
    /// Git cannot hold the reference beside one that has its name as a folder, or the other way round.
    /// <https://git-scm.com/docs/git-check-ref-format>; GitHub's words as renovatebot/renovate#5391 quotes them.
    #[error("Reference update failed")]
    ReferenceBlocked,
    /// A rule of a ruleset forbids it.
    #[error("Repository rule violations found\n\n{0}\n\n")]
    RuleViolation(String),
    /// The older protection of the branch forbids it.
    #[error("Protected branch update failed: {0}")]
    Protected(String),
    /// The caller lacks the permission.
    #[error("{0}")]
    Forbidden(String),
    /// The reference does not exist.
    #[error("Reference does not exist")]
    ReferenceMissing,
    /// The new commit does not descend from the old one.
    #[error("Update is not a fast forward")]
    NotFastForward,
    /// The object does not exist in the repository.
    #[error("Object does not exist")]
    ObjectMissing,
    /// The pull request cannot be merged.
    #[error("Pull Request is not mergeable")]
    NotMergeable,
    /// The head differs from the one that the caller expects.
    #[error("Head branch was modified. Review and try the merge again.")]
    HeadModified,
    /// The request does not make sense, for this reason.
    #[error("{0}")]
    Invalid(String),
}
