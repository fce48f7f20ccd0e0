//! GraphQL as `api.github.com/graphql` answers it: a real parser, the schema's own types, a small executor.

mod coerce;
mod connection;
mod cost;
mod documents;
mod execute;
mod graph_object;
mod mutate;
mod request;
mod resolve;
mod resolve_git;
mod resolve_review;
mod resolve_thread;
mod schema;
mod validate;

pub(crate) use documents::Documents;
