//! The labels of notices, and the hidden marker that holds their key.

/// The label of every issue that phileas opens.
pub const NOTICE_LABEL: &str = "phileas";
/// Its colour.
pub const NOTICE_COLOR: &str = "5319e7";
/// Its description on GitHub.
pub const NOTICE_DESCRIPTION: &str = "Opened by phileas: a person is wanted";
/// The label by which a person pauses the repository.
pub const PAUSE_LABEL: &str = "phileas:pause";
const MARKER_START: &str = "<!-- phileas:notice:";
const MARKER_END: &str = " -->";

/// The key in an issue's text.
pub(crate) fn notice_key_in(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once(MARKER_START)?;
    let (key, _) = rest.split_once(MARKER_END)?;
    Some(key)
}

pub(super) fn notice_marker(key: &str) -> String {
    format!("{MARKER_START}{key}{MARKER_END}")
}
