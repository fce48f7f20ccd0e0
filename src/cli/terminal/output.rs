//! Where results go. Standard output is for results only; what is said beside them goes to standard error.
//!
//! Much of what is printed others wrote: a persona's description, a pause's reason, a key of a plan. Nothing of it
//! steers a terminal, because everything that a command prints comes through here, and what steers is made visible here.

use std::io::{self, IsTerminal, Write};

use super::sanitize;

/// A terminal that says it is narrower than this, in columns, does not know its width.
const NARROWEST: usize = 20;
/// What a colour begins with.
const ESCAPE: char = '\u{1b}';

/// Standard output, and whether a person looks at it.
pub struct Screen<W> {
    out: W,
    /// Whether colours are wanted.
    pub colour: bool,
    /// Whether a person watches, so that progress is worth showing.
    pub watched: bool,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// How many columns a line may have; `None` where it is no terminal.
    pub width: Option<usize>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that writes there"
)]
impl Screen<io::Stdout> {
    /// This process' standard output. No progress under `CI` or where it is no terminal; no colour there either, nor
    /// under `NO_COLOR` or `TERM=dumb`. `COLUMNS` counts before what the terminal says of its width.
    #[must_use]
    pub fn standard() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let terminal = io::stdout().is_terminal();
        let watched = terminal && !set("CI");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns().or_else(size).filter(|width| *width >= NARROWEST);
        Self {
            out: io::stdout(),
            colour: watched && !dumb && !set("NO_COLOR"),
            watched,
            terminal,
            width: width.filter(|_| terminal),
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
            terminal: false,
            width: None,
        }
    }

    /// Writes a line, also where the text has breaks. A reader that went away is not an error of ours.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        let text = self.fit(text, sanitize::line);
        writeln!(self.out, "{text}").or_else(gone)
    }

    /// Writes what has several lines on purpose, such as a table, and ends the last one.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn lines(&mut self, text: &str) -> io::Result<()> {
        let text = self.fit(text, sanitize::lines);
        writeln!(self.out, "{text}").or_else(gone)
    }

    /// Writes a document that a program may read as well, such as a prompt: to the byte as it is, except at a terminal.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn document(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal {
            sanitize::lines(text)
        } else {
            text.into()
        };
        self.out.write_all(text.as_bytes()).or_else(gone)
    }

    /// Writes a JSON document of several lines. What would steer a terminal is written by its number, which means the same.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn json(&mut self, text: &str) -> io::Result<()> {
        let text = sanitize::lines(text);
        self.out.write_all(text.as_bytes()).or_else(gone)
    }

    /// Makes visible what would steer the terminal; phileas' own colours are left in where they are wanted.
    fn fit(&self, text: &str, clean: fn(&str) -> std::borrow::Cow<'_, str>) -> String {
        if self.colour {
            sanitize::between_styles(text, clean)
        } else {
            clean(text).into_owned()
        }
    }

    /// Writes a line, on several rows where the terminal is too narrow; further rows begin at column `indent`.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn wrapped(&mut self, text: &str, indent: usize) -> io::Result<()> {
        match self.width {
            Some(width) => {
                let text = self.fit(text, sanitize::line);
                self.lines(&rows(&text, width, indent.min(width / 2)))
            }
            None => self.line(text),
        }
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

/// Says something beside the results, on a line of standard error.
///
/// # Errors
///
/// What the system says.
pub fn beside(text: &str) -> io::Result<()> {
    writeln!(errors(), "{}", sanitize::line(text))
}

/// Says something of several lines beside the results.
///
/// # Errors
///
/// What the system says.
pub fn lines_beside(text: &str) -> io::Result<()> {
    writeln!(errors(), "{}", sanitize::lines(text))
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is written here was made fit before"
)]
fn errors() -> io::Stderr {
    io::stderr()
}

/// A stream of log lines in which nothing turns the order of what is read. The library that writes them makes control
/// characters visible by itself, and no others.
pub struct Logged<W>(pub W);

impl<W: Write> Write for Logged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line comes as a whole.
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(sanitize::logged(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A text with line breaks at spaces, so that no row is wider than `width` columns as far as its words allow.
fn rows(text: &str, width: usize, indent: usize) -> String {
    let mut rows = String::new();
    // The row so far, how wide it is, and the width and end of what stands before its last space.
    let (mut row, mut columns, mut space) = (String::new(), 0, None);
    let mut escape = false;
    for c in text.chars() {
        escape = escape || c == ESCAPE;
        // Columns are set apart by several spaces; none of them begins a further row.
        if c == ' ' && columns == indent && !rows.is_empty() {
            continue;
        }
        row.push(c);
        if escape {
            escape = !c.is_ascii_alphabetic();
            continue;
        }
        if c == ' ' && columns > indent {
            space = Some((row.len(), columns + 1));
        }
        columns += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if columns > width
            && let Some((end, taken)) = space.take()
        {
            rows.push_str(row[..end].trim_end());
            rows.push('\n');
            row = format!("{:indent$}{}", "", &row[end..]);
            columns = indent + columns.saturating_sub(taken);
        }
    }
    rows + &row
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Ok(())
    } else {
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::{Screen, rows};

    fn written(colour: bool, write: impl FnOnce(&mut Screen<Vec<u8>>)) -> String {
        let mut screen = Screen::plain(Vec::new());
        screen.colour = colour;
        screen.width = Some(28);
        write(&mut screen);
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn what_others_wrote_steers_nothing() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7}\nnext";
        let one = |screen: &mut Screen<Vec<u8>>| screen.line(text).unwrap();
        let several = |screen: &mut Screen<Vec<u8>>| screen.lines(text).unwrap();
        let broken = |screen: &mut Screen<Vec<u8>>| screen.wrapped(text, 2).unwrap();
        assert_eq!(
            written(true, one),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007 next\n"
        );
        assert_eq!(
            written(false, one),
            "\\u001b[1mbold\\u001b[0m \\u001b]0;title\\u0007 next\n"
        );
        assert_eq!(
            written(true, several),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007\nnext\n"
        );
        assert_eq!(
            written(true, broken),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007\n  next\n"
        );
    }

    #[test]
    fn a_document_is_exact_where_nobody_looks() {
        let text = "{\"a\":\"\u{9b}\"}\n";
        let document = |screen: &mut Screen<Vec<u8>>| screen.document(text).unwrap();
        assert_eq!(written(false, document), text);
        let at_a_terminal = |screen: &mut Screen<Vec<u8>>| {
            screen.terminal = true;
            document(screen);
        };
        assert_eq!(written(false, at_a_terminal), "{\"a\":\"\\u009b\"}\n");
        let json = |screen: &mut Screen<Vec<u8>>| screen.json(text).unwrap();
        assert_eq!(written(false, json), "{\"a\":\"\\u009b\"}\n");
    }

    #[test]
    fn rows_break_at_spaces_and_colours_take_no_room() {
        assert_eq!(rows("one two three", 20, 2), "one two three");
        assert_eq!(rows("one two three four", 9, 2), "one two\n  three\n  four");
        let bold = concat!("\u{1b}[1m", "one", "\u{1b}[0m two");
        assert_eq!(rows(bold, 7, 2), bold);
        assert_eq!(rows("📚📚 📚📚", 6, 0), "📚📚\n📚📚");
        assert_eq!(rows("indivisible", 5, 2), "indivisible");
        assert_eq!(rows("a column      word", 11, 2), "a column\n  word");
    }
}
