//! The GitHub client and the ledger's commit against the model of GitHub, in one process.

mod commit;
mod place;
mod read;
mod write;
