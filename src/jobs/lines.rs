//! The lines of a file that others write, too: however long one is, no more of it is kept than is looked at.

use std::io::{self, BufRead};

use super::events::MAX_LINE_BYTES;

/// The lines of a reader without their ends.
#[derive(Debug)]
pub(super) struct Lines<R>(R);

/// A line as it was read.
#[derive(Debug)]
pub(super) struct Read {
    /// Of a line that is longer than [`MAX_LINE_BYTES`] one byte more is kept, by which it is known to be too long.
    pub(super) bytes: Vec<u8>,
    /// How long the line is.
    pub(super) length: u64,
    /// Whether its end was there, too. The rest may still be to be written.
    pub(super) is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(reader)
    }

    /// The next one; `None` where there is nothing more.
    pub(super) fn read(&mut self) -> io::Result<Option<Read>> {
        let mut line = Read {
            bytes: Vec::new(),
            length: 0,
            is_whole: false,
        };
        while !line.is_whole {
            let piece = match self.0.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                piece => piece?,
            };
            if piece.is_empty() {
                return Ok((line.length > 0).then_some(line));
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = &piece[..end.unwrap_or(piece.len())];
            let room = (MAX_LINE_BYTES + 1).saturating_sub(line.bytes.len());
            line.bytes.extend_from_slice(&part[..part.len().min(room)]);
            line.length += part.len() as u64;
            line.is_whole = end.is_some();
            let read = part.len() + usize::from(line.is_whole);
            self.0.consume(read);
        }
        Ok(Some(line))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.read().transpose()?;
        Some(line.map(|line| line.bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read, repeat};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any bytes in any pieces are the lines that the standard library sees in them.
        #[test]
        fn lines_are_what_stands_between_their_ends(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400),
            piece in 1_usize..50,
        ) {
            let pieces = BufReader::with_capacity(piece, Cursor::new(&bytes));
            let read: Vec<_> = Lines::new(pieces).map(Result::unwrap).collect();
            let wanted: Vec<_> = Cursor::new(&bytes).split(b'\n').map(Result::unwrap).collect();
            prop_assert_eq!(read, wanted);
        }
    }

    #[test]
    fn of_a_line_without_end_little_is_kept_and_the_next_one_is_read() {
        let length = 64 * MAX_LINE_BYTES as u64;
        let endless = BufReader::new(repeat(b'x').take(length).chain(&b"\nnext"[..]));
        let lines: Vec<_> = Lines::new(endless).map(Result::unwrap).collect();
        assert_eq!(lines[0].len(), MAX_LINE_BYTES + 1);
        assert!(lines[0].capacity() <= 4 * MAX_LINE_BYTES);
        assert_eq!(lines[1..], [b"next".to_vec()]);
    }
}
