//! Parses and formats sizes as people write them.

use crate::adapters::inbox::sqlite::LEAST_ROOM;

/// Units, the largest first.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a size; write it as `512MiB`, `2GiB`, or a number of bytes")]
pub struct BytesError {
    /// The text.
    pub text: String,
}

/// Parses a size such as `536870912`, `512MiB`, `2GiB`, `64KiB`.
///
/// # Errors
///
/// Says how to write it.
pub fn parse_bytes(text: &str) -> Result<u64, BytesError> {
    let wrong = || BytesError {
        text: text.to_owned(),
    };
    let trimmed = text.trim();
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(unit, size)| Some((trimmed.strip_suffix(unit)?.trim_end(), *size)))
        .unwrap_or((trimmed, 1));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).ok_or_else(wrong)
}

/// Checks that an inbox fits in its room.
pub(super) fn check_room(bytes: u64) -> Result<(), String> {
    if bytes >= LEAST_ROOM {
        return Ok(());
    }
    Err(format!(
        "an inbox of {bytes} bytes is too small; give it at least {}",
        size_text(LEAST_ROOM)
    ))
}

/// Formats a size in the largest unit that divides it.
pub(super) fn size_text(bytes: u64) -> String {
    UNITS
        .iter()
        .find(|(_, size)| bytes > 0 && bytes.is_multiple_of(*size))
        .map_or_else(
            || bytes.to_string(),
            |(unit, size)| format!("{}{unit}", bytes / size),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_the_rest_is_refused() {
        assert_eq!(parse_bytes("17"), Ok(17));
        assert_eq!(parse_bytes(" 512MiB"), Ok(512 << 20));
        assert_eq!(parse_bytes("2 GiB"), Ok(2 << 30));
        for wrong in [
            "",
            "MiB",
            "-1",
            "+1",
            "1.5GiB",
            "1TB",
            "99999999999999999999",
            "99999999999GiB",
        ] {
            let refused = parse_bytes(wrong).unwrap_err().to_string();
            assert!(refused.contains("512MiB"), "{refused}");
        }
        assert_eq!(size_text(16 << 20), "16MiB");
        assert_eq!(size_text(1_000), "1000");
    }
}
