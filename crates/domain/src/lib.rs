//! The pure core of phileas.
