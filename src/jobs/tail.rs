//! Reads the next whole line of a file that others append to, rotate, truncate and rewrite.

#[cfg(test)]
mod property;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use phileas_domain::jobs::{Line, WatcherMemory};
use sha2::{Digest as _, Sha256};

use super::events::OLDER;
use super::files::{StoreError, sibling_path};
use super::json_lines::Lines;

/// How many bytes before the offset identify a file.
const WITNESS_BYTES: u64 = 64;
/// The size of one read, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// A line, and where the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TailLine {
    /// The line. Its number is unknown; see [`Tail::locate_line`].
    pub line: Line,
    /// The number of its file.
    pub file: u64,
    /// The offset of the next line.
    pub end: u64,
}

/// Reads lines of a file that other programs change.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    /// How far lines were counted at the last call of [`Tail::locate_line`], so that each is
    /// counted once.
    counted: Mutex<Option<Counted>>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    file: u64,
    /// The offset after the last line that was counted.
    end: u64,
    lines: u64,
}

impl Tail {
    /// Takes the path of a file, which need not exist yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            counted: Mutex::default(),
        }
    }

    /// Returns the next whole line after the memory's offset; `None` if there is none yet. After a
    /// rotation the rest of the old file is read first. Then the memory is set to the beginning of
    /// the new file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read. A missing file is no error.
    pub fn next(&self, memory: &mut WatcherMemory) -> Result<Option<TailLine>, StoreError> {
        let wrong = |error: io::Error| StoreError::new(&self.path, error);
        // One pass for each change of the file that can be found, and one to read.
        for _ in 0..3 {
            let Some(mut file) = open(&self.path).map_err(wrong)? else {
                // The file was rotated, and not written since.
                return self.rest_of_older(memory).map_err(wrong);
            };
            let number = file_number(&file).map_err(wrong)?;
            if memory.file.is_some_and(|known| known != number) {
                if let Some(line) = self.rest_of_older(memory).map_err(wrong)? {
                    return Ok(Some(line));
                }
                self.begin_file(memory, number);
                continue;
            }
            if !is_as_it_was(&mut file, memory).map_err(wrong)? {
                self.begin_file(memory, number);
                continue;
            }
            memory.file = Some(number);
            return read_line(&mut file, memory.offset, number).map_err(wrong);
        }
        Ok(None)
    }

    /// Remembers that a line was handled.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn mark_passed(
        &self,
        memory: &mut WatcherMemory,
        line: &TailLine,
    ) -> Result<(), StoreError> {
        memory.offset = line.end;
        memory.file = Some(line.file);
        let wrong = |error: io::Error| StoreError::new(&self.path, error);
        for path in [self.path.clone(), sibling_path(&self.path, OLDER)] {
            if let Some(mut file) = open(&path).map_err(wrong)?
                && file_number(&file).map_err(wrong)? == line.file
            {
                memory.before = read_witness(&mut file, line.end).map_err(wrong)?;
                return Ok(());
            }
        }
        memory.before = None;
        Ok(())
    }

    /// Returns the file and the number of a line.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn locate_line(&self, line: &TailLine) -> Result<(PathBuf, u64), StoreError> {
        for path in [self.path.clone(), sibling_path(&self.path, OLDER)] {
            let wrong = |error: io::Error| StoreError::new(&path, error);
            if let Some(mut file) = open(&path).map_err(wrong)?
                && file_number(&file).map_err(wrong)? == line.file
            {
                let count = self.count_lines(&mut file, line).map_err(wrong)?;
                return Ok((path, count));
            }
        }
        Ok((self.path.clone(), 0))
    }

    /// Counts the lines up to and including this one.
    fn count_lines(&self, file: &mut File, line: &TailLine) -> io::Result<u64> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counted.filter(|known| known.file == line.file && known.end <= line.end);
        let (from, before) = known.map_or((0, 0), |known| (known.end, known.lines));
        file.seek(SeekFrom::Start(from))?;
        let until = BufReader::with_capacity(PIECE_BYTES, file.take(line.end - from));
        let lines = Lines::new(until).try_fold(before, |count, line| line.map(|_| count + 1))?;
        *counted = Some(Counted {
            file: line.file,
            end: line.end,
            lines,
        });
        Ok(lines)
    }

    /// Sets the memory to the beginning of a file.
    fn begin_file(&self, memory: &mut WatcherMemory, file: u64) {
        memory.offset = 0;
        memory.file = Some(file);
        memory.before = None;
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns a line of the rotated file, if that is the file that was read last. If it was
    /// truncated before, it is read from its beginning.
    fn rest_of_older(&self, memory: &WatcherMemory) -> io::Result<Option<TailLine>> {
        let Some(mut file) = open(&sibling_path(&self.path, OLDER))? else {
            return Ok(None);
        };
        let number = file_number(&file)?;
        if memory.file != Some(number) {
            return Ok(None);
        }
        let is_as_it_was = is_as_it_was(&mut file, memory)?;
        let offset = if is_as_it_was { memory.offset } else { 0 };
        read_line(&mut file, offset, number)
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The inode of the file.
fn file_number(file: &File) -> io::Result<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(file.metadata()?.ino())
    }
    #[cfg(not(unix))]
    {
        // Without inodes, the length and the bytes before the offset identify the file.
        let _unused = file;
        Ok(0)
    }
}

/// Whether a file was only appended to: it still reaches to the offset, and the bytes before the
/// offset are the same.
fn is_as_it_was(file: &mut File, memory: &WatcherMemory) -> io::Result<bool> {
    if file.metadata()?.len() < memory.offset {
        return Ok(false);
    }
    match &memory.before {
        Some(known) => Ok(read_witness(file, memory.offset)?.as_ref() == Some(known)),
        None => Ok(true),
    }
}

fn read_witness(file: &mut File, offset: u64) -> io::Result<Option<String>> {
    if offset == 0 {
        return Ok(None);
    }
    let length = offset.min(WITNESS_BYTES);
    file.seek(SeekFrom::Start(offset - length))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    let digest = Sha256::digest(&bytes);
    Ok(Some(data_encoding::HEXLOWER.encode(&digest[..8])))
}

/// Reads a whole line; `None` while its end is not written.
fn read_line(file: &mut File, offset: u64, number: u64) -> io::Result<Option<TailLine>> {
    file.seek(SeekFrom::Start(offset))?;
    let line = Lines::new(BufReader::with_capacity(PIECE_BYTES, file)).read_line()?;
    let whole = line.filter(|line| line.is_whole);
    Ok(whole.map(|line| TailLine {
        file: number,
        end: offset + line.length + 1,
        line,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use phileas_domain::jobs::line::MAX_LINE_BYTES;

    use super::*;

    struct Reader {
        folder: tempfile::TempDir,
        memory: WatcherMemory,
    }

    impl Reader {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
                memory: WatcherMemory::default(),
            }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("events.jsonl")
        }

        fn append(&self, text: &str) {
            let mut options = fs::OpenOptions::new();
            let mut file = options.append(true).create(true).open(self.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        /// Reads all whole lines.
        fn read(&mut self) -> Vec<String> {
            let tail = Tail::new(&self.path());
            let mut lines = Vec::new();
            while let Some(line) = tail.next(&mut self.memory).unwrap() {
                tail.mark_passed(&mut self.memory, &line).unwrap();
                lines.push(String::from_utf8(line.line.bytes).unwrap());
            }
            lines
        }
    }

    /// Upstream defect 5a: half a line was taken for a line, and the rest was lost.
    #[test]
    fn defect_05a_a_line_is_read_when_it_is_whole() {
        let mut reader = Reader::new();
        assert!(reader.read().is_empty());
        reader.append("one\ntw");
        assert_eq!(reader.read(), ["one"]);
        reader.append("o\n\nthree");
        assert_eq!(reader.read(), ["two", ""]);
        assert!(reader.read().is_empty());
    }

    /// Upstream defect 5d: a file was never read again after a truncation or a rotation.
    #[test]
    fn defect_05d_a_file_that_is_cut_or_put_aside_is_read_on() {
        let mut reader = Reader::new();
        reader.append("one\ntwo\n");
        assert_eq!(reader.read(), ["one", "two"]);
        fs::write(reader.path(), "a\n").unwrap();
        assert_eq!(reader.read(), ["a"]);
        // Truncated, and longer than before at the next read.
        fs::write(reader.path(), "longer than before\nb\n").unwrap();
        assert_eq!(reader.read(), ["longer than before", "b"]);
        // Rotated, with one line unread.
        reader.append("last\n");
        fs::rename(reader.path(), sibling_path(&reader.path(), OLDER)).unwrap();
        reader.append("first\n");
        assert_eq!(reader.read(), ["last", "first"]);
        fs::rename(reader.path(), sibling_path(&reader.path(), OLDER)).unwrap();
        assert!(reader.read().is_empty());
        reader.append("next\n");
        assert_eq!(reader.read(), ["next"]);
    }

    /// Regression: the line was searched after the offset, which was beyond the end or within a
    /// line.
    #[test]
    fn a_file_that_is_cut_and_then_put_aside_is_read_from_its_beginning() {
        for rewritten in ["a\n", "longer than before\nb\n"] {
            let mut reader = Reader::new();
            reader.append("one\ntwo\n");
            assert_eq!(reader.read(), ["one", "two"]);
            fs::write(reader.path(), rewritten).unwrap();
            fs::rename(reader.path(), sibling_path(&reader.path(), OLDER)).unwrap();
            reader.append("next\n");
            let expected: Vec<&str> = rewritten.lines().chain(["next"]).collect();
            assert_eq!(reader.read(), expected);
        }
    }

    /// Regression: for each bad line, all lines before it were read again.
    #[test]
    fn the_lines_before_a_place_are_counted_once() {
        let mut reader = Reader::new();
        reader.append(&"a\n".repeat(50));
        let tail = Tail::new(&reader.path());
        let next = |reader: &mut Reader| {
            let line = tail.next(&mut reader.memory).unwrap().unwrap();
            tail.mark_passed(&mut reader.memory, &line).unwrap();
            tail.locate_line(&line).unwrap().1
        };
        for number in 1..=50 {
            assert_eq!(next(&mut reader), number);
        }
        // The counted part is not read again: here it has no line ends any more.
        let rest = "b\n".repeat(40);
        fs::write(reader.path(), "a".repeat(20) + &"a\n".repeat(40) + &rest).unwrap();
        for number in 51..=90 {
            assert_eq!(next(&mut reader), number);
        }
        // Other content is counted from its beginning.
        fs::write(reader.path(), "c\nd\n").unwrap();
        assert_eq!((next(&mut reader), next(&mut reader)), (1, 2));
    }

    #[test]
    fn a_line_without_end_takes_no_more_room_than_any_other() {
        let mut reader = Reader::new();
        reader.append(&"x".repeat(3 * MAX_LINE_BYTES));
        assert!(reader.read().is_empty());
        reader.append("\nnext\n");
        let lines = reader.read();
        assert_eq!(
            (lines[0].len(), lines[1].as_str()),
            (MAX_LINE_BYTES + 1, "next")
        );
    }
}
