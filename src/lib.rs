//! phileas.
