//! What earlier pull requests did, so that no session does the same again.
//!
//! | module | question it answers |
//! |---|---|
//! | [`record`] | What does the ledger keep of one pull request? |
//! | [`files`] | In which files of the ledger do the records lie? |
//! | [`changed_file`] | What does GitHub say of a file that a pull request changes? |
//! | [`fingerprint`] | What is a pull request about, in a few hundred bytes? |
//! | [`title`] | Which words of a title carry its meaning? |
//! | [`paths`] | Which files does a pull request mainly change? |
//! | [`sketch`] | Which lines does it add and remove? |
//! | [`similarity`] | Are two pull requests the same work? |
//! | [`planned`] | Does the plan of a session do what a pull request does? |
//! | [`named_files`] | Which files does a text name? |
//! | [`neighbour`] | Which records are like a record? |
//! | [`no_op`] | Does a pull request change anything? |
//! | [`past_pull`] | What does a listing say of one pull request of Jules? |
//! | [`history`] | What do all pull requests of Jules in a repository say together? |
//! | [`repeats`] | Which of them are the same idea? |
//!
//! Everything is computed from what GitHub says of a pull request, without a model, so that a rebuild gives the same
//! bytes.

pub mod changed_file;
pub mod files;
pub mod fingerprint;
pub mod history;
pub mod named_files;
pub mod neighbour;
pub mod no_op;
pub mod past_pull;
pub mod paths;
pub mod planned;
pub mod record;
pub mod repeats;
pub mod similarity;
pub mod sketch;
#[cfg(test)]
mod tests;
pub mod title;

pub use changed_file::ChangedFile;
pub use files::{HOT_PATH, WORK_FOLDER, WorkFile, segment_path};
pub use fingerprint::Fingerprint;
pub use history::History;
pub use named_files::NamedFiles;
pub use neighbour::Neighbour;
pub use past_pull::PastPull;
pub use planned::PlannedWork;
pub use record::{Refusal, RefusalReason, WorkRecord};
pub use repeats::worth_reading;
pub use similarity::{Likeness, Similarity};
pub use sketch::Sketch;

/// GitHub's number of the account of Jules' App, `google-labs-jules[bot]`: <https://api.github.com/users/google-labs-jules[bot]>.
/// Logins can be given to others, numbers never.
pub const JULES_BOT_ID: u64 = 161_369_871;
