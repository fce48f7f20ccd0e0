//! phileas.

pub mod runtime;
