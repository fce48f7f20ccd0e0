//! Which part of a listing is asked for.

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
