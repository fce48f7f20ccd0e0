//! What people request, and who may.

mod command_line;
mod commands;
mod comments;
mod expiry;
mod gate_rules;
mod incidents;
mod labels;
mod many_comments;
