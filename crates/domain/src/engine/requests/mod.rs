//! Requests by labels, comments, checkboxes and the command line: parse, authorize, record, execute.

pub(super) mod acceptance;
pub(super) mod approve;
pub(super) mod authorize;
pub(super) mod cancel;
pub(super) mod checkboxes;
pub(super) mod command_line;
pub(super) mod command_result;
pub(super) mod comments;
pub(super) mod cursor;
pub(super) mod dashboard;
pub(super) mod execute;
pub(super) mod intake;
pub(super) mod labels;
pub(super) mod merge;
pub(super) mod pause;
pub(super) mod record;
pub(super) mod refuse;
pub(super) mod request;
pub(super) mod retry;
pub(super) mod subject_turns;
