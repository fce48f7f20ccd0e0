//! Watching Jules for somebody's own agent: the monitor, the watcher and the handler against the model of Jules.

mod day;
mod handler;
mod programs;
mod stage;
mod troubles;
mod watcher;
