//! Transitions of the state: sessions, turns, requests, pull requests, work items, notices.

pub(super) mod attempts;
pub(super) mod import;
pub(super) mod notice;
pub(super) mod outage;
pub(super) mod pull;
pub(super) mod refused_effect;
pub(super) mod request;
pub(super) mod rest;
pub(super) mod retention;
pub(super) mod review_request;
pub(super) mod session;
pub(super) mod steer;
pub(super) mod turn;
pub(super) mod work_item;
