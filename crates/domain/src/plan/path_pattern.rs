//! Patterns of paths in the repository, as plans and personas write them.

use globset::GlobBuilder;

/// The longest path pattern in bytes.
pub const MAX_PATTERN_BYTES: usize = 500;

/// How to fix one.
pub(super) const HELP: &str =
    "write a path from the repository's root with forward slashes, such as `docs/**`";

/// What is wrong with a pattern.
pub(super) fn mistake_in(text: &str) -> Option<String> {
    if text.is_empty() {
        Some("an empty pattern matches nothing".to_owned())
    } else if text.len() > MAX_PATTERN_BYTES {
        Some(format!(
            "the pattern is longer than {MAX_PATTERN_BYTES} bytes"
        ))
    } else if text.starts_with('/')
        || text.contains('\\')
        || text.split('/').any(|part| part == "..")
    {
        Some(format!("`{text}` never matches a path of the repository"))
    } else {
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        glob.err()
            .map(|error| format!("`{text}` is not a path pattern: {}", error.kind()))
    }
}
