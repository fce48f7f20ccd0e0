//! phileas keeps Google's Jules working on a GitHub repository by the clock.

pub mod adapters;
pub mod cli;
pub mod runtime;
pub mod sandbox;
