//! The service's accounts at GitHub and at Jules, and its access to both.

pub mod app;
pub mod external_services;
pub mod keys;
