//! Requests and answers: where they go, which limits hold, what is repeated.

pub(crate) mod answer;
pub mod api_url;
pub mod budget;
pub(crate) mod channel;
pub(crate) mod error;
pub(crate) mod request;
pub mod retry;
pub mod routes;
