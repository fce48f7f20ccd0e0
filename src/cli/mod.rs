//! The command line: what is typed, what is printed, and the exit code.

pub mod arguments;
mod commands;
mod context;
mod deadline;
pub mod exit;
mod logs;
mod parse;
mod run;
pub mod terminal;

pub use run::main;
