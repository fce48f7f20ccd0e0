//! The command line.

pub mod arguments;
mod duration;
pub mod exit;
pub mod lines;
mod persona;
mod validate;
