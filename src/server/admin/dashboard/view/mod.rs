//! The views: values of pages, built from summaries and the inbox without HTTP and HTML, so that
//! tests can check them. Templates only render them.

pub mod deliveries;
pub mod front;
pub mod report_lines;
pub mod repository;
pub mod review;
pub mod ring;
pub mod sessions;
pub mod timeline;
pub mod yields;
