//! What the pages say, as plain values: made out of summaries and the inbox, without HTTP and without HTML, so that it
//! can be tested by itself. Templates only write it down.

pub mod deliveries;
pub mod front;
pub mod report_lines;
pub mod repository;
pub mod ring;
pub mod sessions;
pub mod timeline;
pub mod yields;
