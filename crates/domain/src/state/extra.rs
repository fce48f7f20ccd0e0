//! Keys that this version does not know.

/// Keys that this version does not know, kept for the next write.
pub type Extra = serde_json::Map<String, serde_json::Value>;
