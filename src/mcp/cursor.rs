//! Encodes positions in listings as opaque cursors. A cursor of another tool or another job is
//! refused.

use data_encoding::BASE64URL_NOPAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::tool_error::ToolError;

/// The longest cursor that is accepted, in bytes.
const MAX_BYTES: usize = 32_000;
/// The version of a cursor's shape. A changed shape gets another number.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    v: u8,
    of: String,
    at: T,
}

/// Encodes a position as a cursor. `of` names the listing: the tool and its subject.
pub(super) fn seal_cursor(of: &str, at: &impl Serialize) -> String {
    let sealed = Sealed {
        v: VERSION,
        of: of.to_owned(),
        at,
    };
    let text = serde_json::to_vec(&sealed).expect("cursors are made of texts and numbers");
    BASE64URL_NOPAD.encode(&text)
}

/// Decodes the position from a cursor of this listing. `None`: the client passed none, so the
/// listing begins at its start.
///
/// # Errors
///
/// When it is no cursor of this listing.
pub(super) fn open_cursor<T: DeserializeOwned>(
    of: &str,
    cursor: Option<&str>,
) -> Result<Option<T>, ToolError> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else {
        return Ok(None);
    };
    let sealed = (cursor.len() <= MAX_BYTES)
        .then(|| BASE64URL_NOPAD.decode(cursor.as_bytes()).ok())
        .flatten()
        .and_then(|bytes| serde_json::from_slice::<Sealed<T>>(&bytes).ok())
        .filter(|sealed| sealed.v == VERSION && sealed.of == of);
    match sealed {
        Some(sealed) => Ok(Some(sealed.at)),
        None => Err(ToolError::input(
            "this `cursor` does not belong to this listing; pass `next_cursor` of its last answer unchanged, or none \
             to start again",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_by_its_own_listing_only() {
        let cursor = seal_cursor("messages 77", &("2026-01-01T00:00:00Z", "a7"));
        let at: Option<(String, String)> = open_cursor("messages 77", Some(&cursor)).unwrap();
        assert_eq!(at.unwrap().1, "a7");
        assert!(open_cursor::<(String, String)>("messages 78", Some(&cursor)).is_err());
        assert!(open_cursor::<u64>("messages 77", Some(&cursor)).is_err());
        assert!(open_cursor::<u64>("messages 77", Some("nonsense")).is_err());
        assert_eq!(open_cursor::<u64>("messages 77", Some("")).unwrap(), None);
        assert_eq!(open_cursor::<u64>("messages 77", None).unwrap(), None);
    }
}
