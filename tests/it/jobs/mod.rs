//! Watching Jules for a user's own agent: the monitor, the watcher and the handler against the model of Jules.

mod codes;
mod day;
mod defects;
mod handler;
mod jules_errors;
mod keys;
mod programs;
mod stage;
mod watcher;
