//! Defines the request for a persona's prompt, and the result.

use serde::{Deserialize, Serialize};

use crate::model::{PullNumber, RepositoryName, TrackName, Tree};
use crate::plan::Persona;

/// Everything that a persona's prompt is made from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The repository.
    pub repository: &'a RepositoryName,
    /// The persona.
    pub persona: &'a Persona,
    /// The files of the default branch at the plan's commit, with the texts of
    /// [`journals_to_read`](super::journals_to_read) and of [`folders_to_read`](super::folders_to_read). If it was read
    /// in parts, [`RenderError::Unread`](super::RenderError::Unread) lists what it lacks.
    pub tree: &'a Tree,
    /// The track of the turn.
    pub track: &'a TrackName,
    /// The repository's open pull requests.
    pub open_pulls: &'a [OpenPull],
    /// The current sprint, if the repository has sprints.
    pub sprint: Option<u64>,
    /// Randomness that was unknown when the quoted texts were written.
    pub entropy: &'a [u8; 32],
    /// phileas' notes on the persona's earlier turns.
    pub notes: &'a [String],
    /// Earlier work that the session should not repeat, nearest first.
    pub work: &'a [EarlierWork],
    /// The issue or pull request on which a person with write access requested the turn.
    pub subject: Option<Subject<'a>>,
}

/// A pull request of an earlier session, as a prompt shows it. All its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierWork {
    /// Its number.
    pub number: u64,
    /// What became of it.
    pub kind: WorkKind,
    /// The persona whose session opened it, where the ledger knows.
    pub persona: Option<String>,
    /// Why a person refused it, where a reason was given.
    pub reason: Option<String>,
    /// Its title.
    pub title: String,
    /// The files that it mainly changes.
    pub paths: Vec<String>,
    /// What people with write access wrote when they refused it.
    pub quotes: Vec<String>,
}

/// What became of earlier work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkKind {
    /// It is open.
    Open,
    /// A person refused it with a reason.
    Refused,
    /// It was closed without a merge. A bot may have closed it.
    Closed,
    /// It was merged.
    Merged,
}

/// An issue or a pull request, as a prompt shows it. All its texts are untrusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub body: &'a str,
    /// The branch of a pull request; `None` for an issue.
    pub head: Option<&'a str>,
}

/// An open pull request, as a prompt shows it. All its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPull {
    /// Its number.
    pub number: PullNumber,
    /// Its title.
    pub title: String,
    /// The login of its author.
    pub author: String,
    /// Its branch.
    pub head: String,
    /// Whether it is a draft.
    pub draft: bool,
}

/// A prompt without its marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The session's title, without the marker: one line, with the persona's emoji and id.
    pub title: String,
    /// The prompt, without the marker line.
    pub prompt: String,
    /// The paths of the included files, without the persona's own, in byte order.
    pub included: Vec<String>,
}
