//! What people request, and who may.

mod command_line;
mod commands;
mod comment_cursor;
mod comments;
mod expiry;
mod gate_rules;
mod incidents;
mod labels;
mod many_comments;
mod refuse;
mod status_answers;
