//! phileas.

pub mod adapters;
pub mod runtime;
