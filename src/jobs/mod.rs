//! Watching Jules for somebody's own agent, which is woken only when there is something to do.
//!
//! | file | question it answers |
//! |---|---|
//! | [`files`] | how is a file written whole, by one writer at a time? |
//! | [`registry`] | which jobs are there, and how does one join or leave? |
//! | [`events`] | how does an event get into its file once, and who has read it? |
//! | [`tail`] | what is the next whole line of a file that others append to, rotate and cut? |
//! | [`place`] | where are the files, and which may a caller name? |
//!
//! The jobs file and the events file are the whole interface: whoever can write a line can register a job, and whoever can
//! read a line can be woken. All of what is decided is in [`phileas_domain::jobs`].

pub mod events;
pub mod files;
pub mod place;
pub mod registry;
pub mod tail;

pub use events::{EventsFile, Page};
pub use files::{StoreError, Trouble};
pub use place::Places;
pub use registry::{JobsFile, Registered};
