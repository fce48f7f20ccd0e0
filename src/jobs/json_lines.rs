//! Reads the lines of a file to which other programs append. Of a longer line at most
//! [`MAX_LINE_BYTES`] and one byte are kept.

use std::io::{self, BufRead};

use phileas_domain::jobs::Line;
use phileas_domain::jobs::line::MAX_LINE_BYTES;

/// Reads lines from a reader.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    start: u64,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            start: 0,
            number: 0,
        }
    }

    /// Returns the next line; `None` at the end.
    pub(super) fn read_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Line {
            bytes: Vec::new(),
            start: self.start,
            length: 0,
            number: self.number + 1,
            is_whole: false,
        };
        while !line.is_whole {
            let piece = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                piece => piece?,
            };
            if piece.is_empty() {
                if line.length == 0 {
                    return Ok(None);
                }
                break;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = &piece[..end.unwrap_or(piece.len())];
            let room = (MAX_LINE_BYTES + 1).saturating_sub(line.bytes.len());
            line.bytes.extend_from_slice(&part[..part.len().min(room)]);
            line.length += part.len() as u64;
            line.is_whole = end.is_some();
            let read = part.len() + usize::from(line.is_whole);
            self.reader.consume(read);
        }
        self.number += 1;
        self.start += line.length + u64::from(line.is_whole);
        Ok(Some(line))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_line().transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read, repeat};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Any bytes, read in any pieces, give the lines that the standard library sees in them.
        #[test]
        fn lines_are_what_stands_between_their_ends(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..400),
            piece in 1_usize..50,
        ) {
            let pieces = BufReader::with_capacity(piece, Cursor::new(&bytes));
            let lines: Vec<_> = Lines::new(pieces).map(Result::unwrap).collect();
            let starts: Vec<_> = lines.iter().map(|line| line.start).collect();
            let read: Vec<_> = lines.into_iter().map(|line| line.bytes).collect();
            let wanted: Vec<_> = Cursor::new(&bytes).split(b'\n').map(Result::unwrap).collect();
            for (start, line) in starts.iter().zip(&wanted) {
                let start = usize::try_from(*start).unwrap();
                prop_assert_eq!(&bytes[start..start + line.len()], line.as_slice());
            }
            prop_assert_eq!(read, wanted);
        }
    }

    #[test]
    fn of_a_line_without_end_little_is_kept_and_the_next_one_is_read() {
        let length = 64 * MAX_LINE_BYTES as u64;
        let endless = BufReader::new(repeat(b'x').take(length).chain(&b"\nnext"[..]));
        let lines: Vec<_> = Lines::new(endless).map(Result::unwrap).collect();
        assert_eq!(lines[0].bytes.len(), MAX_LINE_BYTES + 1);
        assert!(lines[0].bytes.capacity() <= 4 * MAX_LINE_BYTES);
        assert_eq!(
            (&lines[1].bytes[..], lines[1].start),
            (&b"next"[..], length + 1)
        );
    }
}
