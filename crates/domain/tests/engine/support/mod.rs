//! The scenario that all tests run in.

pub(crate) mod reading;
pub(crate) mod scenario;
pub(crate) mod subjects;
