//! Git over smart HTTP.
