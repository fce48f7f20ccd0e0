//! Selects a part of a listing.

use super::error::{ApiError, Cause};
use crate::adapters::transport::TransportError;

/// The largest page that Jules returns.
pub const MAX_PAGE_SIZE: u32 = 100;

/// The requested part of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageQuery<'a> {
    /// A filter in Google's grammar (AIP-160), as far as the method supports it.
    pub filter: Option<&'a str>,
    /// The page size, clamped to 1 to 100. `None`: Jules' default.
    pub page_size: Option<u32>,
    /// The token that the previous page returned.
    pub page_token: Option<&'a str>,
}

/// The page size: smaller after a page was too large to be read, and then larger again. A token stays valid when the
/// size changes (<https://google.aip.dev/158>).
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

    /// Reduces the size after a page that was too large. Returns whether a smaller page may succeed.
    pub(super) fn shrink_on(&mut self, error: &ApiError) -> bool {
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

    /// Increases the size again: the entries that made a page too large may be behind us.
    pub(super) fn grow_back(&mut self) {
        self.0 = (self.0 * 2).min(MAX_PAGE_SIZE);
    }
}

impl PageQuery<'_> {
    pub(super) fn encode_query(self) -> String {
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
