//! Files of a repository's folder on this machine: read as a tree, written one by one or together.

pub mod board;
mod change_files;
mod same_file;
mod text;
mod tree;
mod write;

pub use change_files::{ChangeError, FileWrite, change_files};
pub use text::{TextError, read_limited, read_limited_text, read_text};
pub use tree::read_tree;
pub use write::{FileError, is_disk_full, refuse_link};
