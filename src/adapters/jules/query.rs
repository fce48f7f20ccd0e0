//! Which part of a listing is asked for.

use super::error::{ApiError, Cause};
use crate::adapters::transport::TransportError;

/// The largest page that Jules gives.
pub const MAX_PAGE_SIZE: u32 = 100;

/// Which part of a listing is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageQuery<'a> {
    /// A filter in Google's grammar (AIP-160), as far as the method knows it.
    pub filter: Option<&'a str>,
    /// How many at once, 1 to 100; what lies outside is brought inside. `None`: as many as Jules gives.
    pub page_size: Option<u32>,
    /// The token of the page before.
    pub page_token: Option<&'a str>,
}

/// How many are asked for at once: fewer where a page was too large to be read, and then more again. A token stays good
/// when the size changes (<https://google.aip.dev/158>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageSize(u32);

impl Default for PageSize {
    fn default() -> Self {
        Self(MAX_PAGE_SIZE)
    }
}

impl PageSize {
    pub(super) fn get(self) -> u32 {
        self.0
    }

    /// Whether a smaller page may be read where this one could not; from then on fewer are asked for.
    pub(super) fn shrink(&mut self, error: &ApiError) -> bool {
        let too_large = matches!(
            error.cause,
            Cause::Transport(TransportError::TooLarge { .. })
        );
        let smaller = too_large && self.0 > 1;
        if smaller {
            self.0 = (self.0 / 4).max(1);
        }
        smaller
    }

    /// A page was read: what made the last one too large may be behind us.
    pub(super) fn grow(&mut self) {
        self.0 = (self.0 * 2).min(MAX_PAGE_SIZE);
    }
}

impl PageQuery<'_> {
    pub(super) fn encode(self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(size) = self.page_size {
            query.append_pair("pageSize", &size.clamp(1, MAX_PAGE_SIZE).to_string());
        }
        for (name, value) in [("pageToken", self.page_token), ("filter", self.filter)] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}
