//! Where results go. Standard output is for results only; what is said beside them goes to standard error.

use std::io::{self, IsTerminal, Write};

/// Standard output, and whether a person looks at it.
pub struct Screen<W> {
    out: W,
    /// Whether colours are wanted.
    pub colour: bool,
    /// Whether a person watches, so that progress is worth showing.
    pub watched: bool,
}

impl Screen<io::Stdout> {
    /// This process' standard output. No colour and no progress under `CI` or `NO_COLOR`, or where it is no terminal.
    #[must_use]
    pub fn standard() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let watched = io::stdout().is_terminal() && !set("CI");
        Self {
            out: io::stdout(),
            colour: watched && !set("NO_COLOR"),
            watched,
        }
    }
}

impl<W: Write> Screen<W> {
    /// Somewhere that is no terminal: neither colour nor progress.
    #[must_use]
    pub fn plain(out: W) -> Self {
        Self {
            out,
            colour: false,
            watched: false,
        }
    }

    /// Writes a line. A reader that went away is not an error of ours.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{text}").or_else(gone)
    }

    /// Makes what was written visible.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush().or_else(gone)
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.out.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().or_else(gone)
    }
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Ok(())
    } else {
        Err(error)
    }
}
