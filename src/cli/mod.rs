//! The command line: arguments, commands, output and exit codes.

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
