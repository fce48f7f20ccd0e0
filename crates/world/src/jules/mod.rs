//! A model of Jules.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use jiff::Timestamp;

use crate::books::Books;
use crate::chance::Stream;
use crate::github;
use crate::knobs::Knobs;

/// How Jules behaves in one world.
#[derive(Debug, Clone, Default)]
pub struct Config {}

/// All of Jules.
#[derive(Debug)]
pub struct Model {}

impl Model {
    /// A Jules without sessions.
    #[must_use]
    pub fn new(_config: Config, _chance: Stream) -> Self {
        Self {}
    }

    /// Registers an API key of an account.
    pub fn add_key(&mut self, _key: &str, _account: &str) {}

    /// Answers one request.
    pub fn handle(
        &mut self,
        _request: &Request<Bytes>,
        _now: Timestamp,
        _github: &mut github::Model,
        _knobs: &Knobs,
        _books: &mut Books,
    ) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = StatusCode::NOT_IMPLEMENTED;
        response
    }

    /// When something happens by itself next.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        None
    }

    /// Does what is due.
    pub fn advance(
        &mut self,
        _now: Timestamp,
        _github: &mut github::Model,
        _knobs: &Knobs,
        _books: &mut Books,
    ) {
    }
}
