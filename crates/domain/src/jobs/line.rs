//! Splits a file that other programs append to into lines, and says why a line is skipped.

use serde_json::Value;

use crate::Diagnostic;

/// The longest line that is read, in bytes. An event of another writer may carry a whole API response.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// How many lines of a file are named one by one in warnings.
pub const MAX_NAMED: usize = 20;

/// How many bytes of a line are examined to detect UTF-16.
const UTF16_SAMPLE_BYTES: usize = 64;

/// The byte order mark that some editors write.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its bytes without the line end. Of a line longer than [`MAX_LINE_BYTES`] only the beginning is kept.
    pub bytes: Vec<u8>,
    /// Its offset in the file.
    pub start: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Its number; the first line is 1.
    pub number: u64,
    /// Whether its line end was read, too. Without one a writer may still be writing it.
    pub is_whole: bool,
}

/// Why a line is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It is longer than [`MAX_LINE_BYTES`].
    #[error("the line has {0} bytes, and at most {MAX_LINE_BYTES} are read")]
    TooLong(u64),
    /// It is UTF-16, as some shells of Windows write it.
    #[error("the line is UTF-16, not UTF-8")]
    Utf16,
    /// It contains NUL bytes, which a file system may leave after a power failure.
    #[error("the line contains NUL bytes")]
    Nul,
    /// It is not UTF-8 from this column on.
    #[error("the line is not UTF-8 from column {0} on")]
    NotUtf8(u32),
}

impl LineFault {
    /// How to fix it.
    #[must_use]
    pub fn help_text(self) -> &'static str {
        match self {
            Self::TooLong(_) => "remove the line; one JSON object a line is read",
            Self::Utf16 => {
                "write the line as UTF-8; in PowerShell: `Add-Content -Encoding utf8`, not `>>`"
            }
            Self::Nul => "remove the line",
            Self::NotUtf8(_) => "write the line as UTF-8",
        }
    }

    /// A warning that names the line.
    #[must_use]
    pub fn to_warning(self, file: &str, number: u64) -> Diagnostic {
        let column = if let Self::NotUtf8(column) = self {
            column
        } else {
            1
        };
        Diagnostic::warning(file, self.to_string())
            .at(u32::try_from(number).unwrap_or(u32::MAX), column)
            .help(self.help_text())
    }
}

impl Line {
    /// The lines of a complete file.
    #[must_use]
    pub fn split_lines(bytes: &[u8]) -> Vec<Self> {
        let mut start = 0;
        let lines = bytes.split(|byte| *byte == b'\n').zip(1..);
        let lines = lines.map(|(bytes, number)| {
            let length = bytes.len() as u64;
            let line = Self {
                bytes: bytes.to_vec(),
                start,
                length,
                number,
                is_whole: true,
            };
            start += length + 1;
            line
        });
        lines.collect()
    }

    /// Its text without a byte order mark; empty for a blank line.
    ///
    /// # Errors
    ///
    /// [`LineFault`].
    pub fn line_text(&self) -> Result<&str, LineFault> {
        if self.length > MAX_LINE_BYTES as u64 {
            return Err(LineFault::TooLong(self.length));
        }
        text_of(&self.bytes)
    }
}

/// The text of a line's bytes.
///
/// A line end of UTF-16 is `0A 00`, so the line after a line in UTF-16 begins with the second byte of that end.
///
/// # Errors
///
/// [`LineFault`].
pub fn text_of(bytes: &[u8]) -> Result<&str, LineFault> {
    let marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let rest = &bytes[zeros..];
    if marked || is_utf16(rest) {
        return Err(LineFault::Utf16);
    }
    if rest.contains(&0) || (rest.is_empty() && zeros > 1) {
        return Err(LineFault::Nul);
    }
    match std::str::from_utf8(rest) {
        Ok(text) => Ok(text.trim_start_matches(BYTE_ORDER_MARK)),
        Err(error) => {
            let good = String::from_utf8_lossy(&rest[..error.valid_up_to()]);
            let column = good.chars().count() + 1;
            Err(LineFault::NotUtf8(
                u32::try_from(column).unwrap_or(u32::MAX),
            ))
        }
    }
}

/// Whether bytes are UTF-16 without a mark: every second byte of ASCII characters is NUL.
fn is_utf16(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(UTF16_SAMPLE_BYTES)];
    let zeros = |parity: usize| {
        let places = head.iter().skip(parity).step_by(2);
        places.filter(|byte| **byte == 0).count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    even.min(odd) == 0 && even.max(odd) * 4 >= head.len().max(1)
}

/// The first JSON value of a small file. Text after it and bytes that are not UTF-8 are skipped; the second value names
/// them.
///
/// # Errors
///
/// No value can be read: the place of the mistake.
pub fn first_value(
    file: &str,
    bytes: &[u8],
) -> Result<(Value, Option<Diagnostic>), Box<Diagnostic>> {
    let place = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let end = bytes.iter().rposition(|byte| *byte != 0);
    let body = &bytes[..end.map_or(0, |last| last + 1)];
    if text_of(body) == Err(LineFault::Utf16) {
        return Err(Box::new(LineFault::Utf16.to_warning(file, 1)));
    }
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => {
            let (before, behind) = text.split_at(values.byte_offset());
            let passed_over = if !behind.trim().is_empty() || body.len() < bytes.len() {
                let line = before.matches('\n').count() + 1;
                let what = "what stands behind the JSON value is not read";
                Some(Diagnostic::warning(file, what).at(place(line), 1))
            } else if let Err(error) = std::str::from_utf8(body) {
                let good = &body[..error.valid_up_to()];
                let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
                Some(Diagnostic::warning(file, "a text is not UTF-8").at(place(line), 1))
            } else {
                None
            };
            let help = "nothing needs to be done; the file is written again without it";
            Ok((value, passed_over.map(|found| found.help(help))))
        }
        Some(Err(error)) => Err(Box::new(
            Diagnostic::error(file, format!("the file is not JSON: {error}"))
                .at(place(error.line()), place(error.column())),
        )),
        None => Err(Box::new(
            Diagnostic::error(file, "the file is empty").at(1, 1),
        )),
    }
}

/// Keeps the first [`MAX_NAMED`] diagnostics of a file and counts the others.
pub fn limit_diagnostics(file: &str, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let more = found.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        found.truncate(MAX_NAMED);
        found.push(Diagnostic::warning(
            file,
            format!("{more} more lines are not read"),
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn a_line_is_a_text_or_says_why_not() {
        assert_eq!(text_of(b"\xef\xbb\xbf{}"), Ok("{}"));
        assert_eq!(text_of("é".as_bytes()), Ok("é"));
        assert_eq!(text_of(b""), Ok(""));
        // The rest of a line end in UTF-16.
        assert_eq!(text_of(b"\0{}"), Ok("{}"));
        assert_eq!(text_of(b"\0"), Ok(""));
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            for text in ["{\"a\": 1}", "\u{feff}{\"a\": \"日本\"}"] {
                let bytes = utf16(text, order);
                assert_eq!(text_of(&bytes), Err(LineFault::Utf16), "{text}");
            }
        }
        assert_eq!(text_of(&[0; 40]), Err(LineFault::Nul));
        assert_eq!(text_of(b"{\"a\": 1}\0\0\0\0\0\0\0\0"), Err(LineFault::Nul));
        assert_eq!(text_of(b"{\"a\": \"\0 and more\"}"), Err(LineFault::Nul));
        assert_eq!(text_of(b"a\xc3\xa9\xff"), Err(LineFault::NotUtf8(3)));
        let shown = LineFault::NotUtf8(3).to_warning("x.jsonl", 7).to_string();
        assert!(shown.starts_with("x.jsonl:7:3: "), "{shown}");
    }

    #[test]
    fn a_document_is_read_up_to_what_others_put_behind_it() {
        let read = |bytes: &[u8]| first_value("s.json", bytes);
        for good in [&b"{\"a\": 1}\n"[..], b"\xef\xbb\xbf{\"a\": 1}"] {
            assert_eq!(read(good).unwrap().1, None);
        }
        for more in [
            &b"{\"a\": 1}\n{\"b\""[..],
            b"{\"a\": 1}\n\xff\xff",
            b"{\"a\": 1}\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            let (value, rest) = read(more).unwrap();
            assert_eq!(value["a"], 1);
            assert!(rest.is_some(), "{more:?}");
        }
        for bad in [&b""[..], b"{\n\"a\":", b"\xff\xfe{\0}\0", b"\0\0\0\0"] {
            let told = read(bad).unwrap_err().to_string();
            assert!(told.starts_with("s.json:"), "{told}");
        }
    }
}
