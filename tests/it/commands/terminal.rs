//! The program as a person at a terminal meets it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A terminal, which `script` (of util-linux) plays, with the program in it. What was shown so far is kept.
pub(super) struct Terminal {
    child: Child,
    keys: ChildStdin,
    reader: BufReader<ChildStdout>,
    pub(super) shown: String,
}

impl Terminal {
    pub(super) fn with(arguments: &[&str]) -> Self {
        // Without the word, a shell that stays between would be ended by Ctrl-C as well.
        let words = [&["exec", env!("CARGO_BIN_EXE_phileas")], arguments]
            .concat()
            .join(" ");
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &words, "/dev/null"])
            .env_remove("CI")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            keys: child.stdin.take().unwrap(),
            reader: BufReader::new(child.stdout.take().unwrap()),
            shown: String::new(),
            child,
        }
    }

    /// Reads on until this is shown.
    #[track_caller]
    pub(super) fn until(&mut self, words: &str) {
        while !self.shown.contains(words) {
            let read = self.reader.read_line(&mut self.shown).unwrap();
            assert!(read > 0, "{words} never came: {}", self.shown);
        }
    }

    /// Types Ctrl-C, and sees the program end well.
    #[track_caller]
    pub(super) fn interrupt(&mut self) {
        self.keys.write_all(&[3]).unwrap();
        self.reader.read_to_string(&mut self.shown).unwrap();
        assert!(self.child.wait().unwrap().success(), "{}", self.shown);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program ends with its terminal.
        let _over = self.child.kill();
        let _ = self.child.wait();
    }
}
