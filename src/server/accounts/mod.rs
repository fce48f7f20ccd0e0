//! Who the service is to GitHub and to Jules, and how it reaches both.

pub mod app;
pub mod external_services;
pub mod keys;
