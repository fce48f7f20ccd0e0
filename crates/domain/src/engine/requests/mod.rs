//! Requests by labels, comments, checkboxes and the command line: parse, authorize, record, execute.

pub(super) mod authorize;
pub(super) mod checkboxes;
pub(super) mod command_line;
pub(super) mod comments;
pub(super) mod cursor;
pub(super) mod dashboard;
pub(super) mod execute;
pub(super) mod intake;
pub(super) mod labels;
pub(super) mod merge;
pub(super) mod record;
pub(super) mod request;
pub(super) mod reviews;
