//! Tests the tail on a file that others append to, rotate, truncate and remove, in any order.

use std::fs;
use std::io::Write as _;

use proptest::prelude::*;

use super::super::files::sibling_path;
use super::*;

/// A change of the file, or a read.
#[derive(Debug, Clone)]
enum Step {
    /// A writer appends this many lines, and begins one more if `true`.
    Append(usize, bool),
    /// A writer rotates the file; the next write creates a new one.
    PutAside,
    /// A writer rewrites it with this many lines.
    Cut(usize),
    /// A writer removes it.
    Remove,
    /// The reader reads all lines that there are.
    Read,
    /// The reader reads the next line, and its process dies before it remembers that.
    Forget,
}

fn any_steps(has_cuts: bool) -> impl Strategy<Value = Vec<Step>> {
    let cuts = u32::from(has_cuts) * 2;
    let step = prop_oneof![
        6 => (0..4_usize, any::<bool>()).prop_map(|(lines, begun)| Step::Append(lines, begun)),
        2 => Just(Step::PutAside),
        4 => Just(Step::Read),
        2 => Just(Step::Forget),
        // These come last: a failure shrinks to the steps before.
        cuts => (0..6_usize).prop_map(Step::Cut),
        cuts => Just(Step::Remove),
    ];
    prop::collection::vec(step, 0..30)
}

/// The file, its writer and its reader.
struct TailPosition {
    folder: tempfile::TempDir,
    memory: WatcherMemory,
    /// How many lines were written. Each has its number, so that no two are alike.
    written: u64,
    /// The lines that were written whole, in order, and that no reader can have missed.
    whole: Vec<String>,
    /// The text after the last line end of the file.
    begun: String,
    read: Vec<String>,
}

impl TailPosition {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            memory: WatcherMemory::default(),
            written: 0,
            whole: Vec::new(),
            begun: String::new(),
            read: Vec::new(),
        }
    }

    fn file_path(&self) -> PathBuf {
        self.folder.path().join("events.jsonl")
    }

    /// Text of this many lines, the first of which ends the line that was begun. Their lengths are
    /// above and below the number of remembered bytes, and no two end alike.
    fn numbered_lines(&mut self, many: usize, begins: bool) -> String {
        let mut text = String::new();
        for _ in 0..many {
            self.written += 1;
            let length = usize::try_from(self.written * 37 % 101).unwrap();
            let part = format!("{}:{}", "x".repeat(length), self.written);
            text.push_str(&part);
            text.push('\n');
            let line = std::mem::take(&mut self.begun) + &part;
            self.whole.push(line);
        }
        if begins {
            self.written += 1;
            let part = format!("<{}>", self.written);
            text.push_str(&part);
            self.begun.push_str(&part);
        }
        text
    }

    fn take_step(&mut self, step: &Step) {
        match step {
            Step::Append(many, begins) => {
                let text = self.numbered_lines(*many, *begins);
                let mut options = fs::OpenOptions::new();
                let mut file = options
                    .append(true)
                    .create(true)
                    .open(self.file_path())
                    .unwrap();
                file.write_all(text.as_bytes()).unwrap();
            }
            Step::PutAside => {
                // Only one rotated file is kept: two rotations without a read in between lose the first.
                self.take_step(&Step::Read);
                let _ = fs::rename(self.file_path(), sibling_path(&self.file_path(), OLDER));
                self.begun.clear();
            }
            Step::Cut(many) => {
                self.begun.clear();
                let text = self.numbered_lines(*many, false);
                fs::write(self.file_path(), text).unwrap();
            }
            Step::Remove => {
                let _ = fs::remove_file(self.file_path());
                self.begun.clear();
            }
            Step::Read => {
                let tail = Tail::new(&self.file_path());
                while let Some(line) = tail.next(&mut self.memory).unwrap() {
                    tail.mark_passed(&mut self.memory, &line).unwrap();
                    self.read.push(String::from_utf8(line.line.bytes).unwrap());
                }
            }
            Step::Forget => {
                let _ = Tail::new(&self.file_path()).next(&mut self.memory).unwrap();
            }
        }
    }
}

fn position_after(steps: &[Step]) -> TailPosition {
    let mut place = TailPosition::new();
    for step in steps {
        place.take_step(step);
    }
    place.take_step(&Step::Read);
    place
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_line_of_a_file_that_is_put_aside_is_read_once(steps in any_steps(false)) {
        let place = position_after(&steps);
        prop_assert_eq!(place.read, place.whole);
    }

    /// A line that was truncated before the reader saw it is gone. Every line that is read was
    /// written like that, whole, and is read once.
    #[test]
    fn of_a_file_that_is_cut_whole_lines_are_read(steps in any_steps(true)) {
        let place = position_after(&steps);
        let mut rest = place.whole.iter();
        for line in &place.read {
            prop_assert!(rest.any(|whole| whole == line), "{line:?} of {:?}: {:?}", place.whole, place.read);
        }
    }
}
