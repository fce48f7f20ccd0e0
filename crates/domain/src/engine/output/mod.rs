//! The parts of a decision: builder, effects, events, report lines, read requests, limits.

pub(super) mod builder;
pub(super) mod decision;
pub(super) mod effect;
pub(super) mod event;
pub(super) mod exchange_view;
pub(super) mod limits;
pub(super) mod read_requests;
pub(super) mod report;
