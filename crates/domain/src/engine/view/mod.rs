//! What is shown of a repository. The status comment, the dashboard issue, the web dashboard, the terminal and MCP
//! render this one view, so that a fact has one wording.
//!
//! Sentences are one line of Markdown that begins in lower case and has no full stop; names stand in backticks.

pub(super) mod attention;
pub(super) mod budget;
pub(super) mod line;
pub(super) mod pause;
pub(super) mod repository;
pub(super) mod review;
pub(super) mod review_facts;
pub(super) mod review_lane;
pub(super) mod track;
pub(super) mod turn;
