//! The output of commands. Standard output is for results; everything else goes to standard error.
//!
//! Other people wrote much of the output: a persona's description, a pause's reason, a key of a plan. All output passes
//! through here, and control characters become visible, so that none of it can control the terminal.

use std::io::{self, IsTerminal, Write};

use super::sanitize;

/// A terminal that reports fewer columns does not know its width.
const MIN_WIDTH: usize = 20;
/// The first character of a colour sequence.
const ESCAPE: char = '\u{1b}';

/// Standard output, and what is known of its terminal.
pub struct Screen<W> {
    out: W,
    /// Whether to use colours.
    pub colour: bool,
    /// Whether a person watches, so that progress is worth printing.
    pub interactive: bool,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// The number of columns; `None` if it is not a terminal.
    pub width: Option<usize>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that writes there"
)]
impl Screen<io::Stdout> {
    /// The standard output of this process. Progress and colours need a terminal. `CI` disables both, `NO_COLOR` and
    /// `TERM=dumb` disable colours. `COLUMNS` overrides the terminal's width.
    #[must_use]
    pub fn stdout() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let terminal = io::stdout().is_terminal();
        let interactive = terminal && !set("CI");
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        let size = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns().or_else(size).filter(|width| *width >= MIN_WIDTH);
        Self {
            out: io::stdout(),
            colour: interactive && !dumb && !set("NO_COLOR"),
            interactive,
            terminal,
            width: width.filter(|_| terminal),
        }
    }
}

impl<W: Write> Screen<W> {
    /// An output that is not a terminal: no colours, no progress.
    #[cfg(test)]
    pub(crate) fn without_terminal(out: W) -> Self {
        Self {
            out,
            colour: false,
            interactive: false,
            terminal: false,
            width: None,
        }
    }

    /// Writes one line; line breaks in the text become visible. A closed pipe is not an error.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn print_line(&mut self, text: &str) -> io::Result<()> {
        let text = self.clean_text(text, sanitize::sanitize_line);
        writeln!(self.out, "{text}").or_else(ignore_closed_pipe)
    }

    /// Writes several lines, such as a table, and ends the last one.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn print_lines(&mut self, text: &str) -> io::Result<()> {
        let text = self.clean_text(text, sanitize::sanitize_lines);
        writeln!(self.out, "{text}").or_else(ignore_closed_pipe)
    }

    /// Writes a document for people and programs, such as a prompt: unchanged, except at a terminal.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn print_document(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal {
            sanitize::sanitize_lines(text)
        } else {
            text.into()
        };
        self.out
            .write_all(text.as_bytes())
            .or_else(ignore_closed_pipe)
    }

    /// Writes a JSON document of several lines. Control characters are written as JSON escapes, which mean the same.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn print_json(&mut self, text: &str) -> io::Result<()> {
        let text = sanitize::sanitize_lines(text);
        self.out
            .write_all(text.as_bytes())
            .or_else(ignore_closed_pipe)
    }

    /// Makes control characters visible; keeps phileas' own colours if colours are on.
    fn clean_text(&self, text: &str, clean: fn(&str) -> std::borrow::Cow<'_, str>) -> String {
        if self.colour {
            sanitize::sanitize_between_styles(text, clean)
        } else {
            clean(text).into_owned()
        }
    }

    /// Writes a line, wrapped to the terminal's width. Further rows begin at column `indent`.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn print_wrapped(&mut self, text: &str, indent: usize) -> io::Result<()> {
        match self.width {
            Some(width) => {
                let text = self.clean_text(text, sanitize::sanitize_line);
                self.print_lines(&wrap_text(&text, width, indent.min(width / 2)))
            }
            None => self.print_line(text),
        }
    }

    /// Flushes the output.
    ///
    /// # Errors
    ///
    /// A write fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush().or_else(ignore_closed_pipe)
    }
}

/// Prints one line to standard error. A closed pipe is not an error.
///
/// # Errors
///
/// A write fails.
pub fn print_error(text: &str) -> io::Result<()> {
    writeln!(error_stream(), "{}", sanitize::sanitize_line(text)).or_else(ignore_closed_pipe)
}

/// Prints several lines to standard error. A closed pipe is not an error.
///
/// # Errors
///
/// A write fails.
pub fn print_error_lines(text: &str) -> io::Result<()> {
    writeln!(error_stream(), "{}", sanitize::sanitize_lines(text)).or_else(ignore_closed_pipe)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what is written here was made fit before"
)]
fn error_stream() -> io::Stderr {
    io::stderr()
}

/// A log stream without characters that change the direction of text. The logging library escapes the other control
/// characters.
pub struct Logged<W>(pub W);

impl<W: Write> Write for Logged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A line comes in one write.
        let text = String::from_utf8_lossy(bytes);
        self.0
            .write_all(sanitize::sanitize_log_line(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Breaks a text at spaces, so that no row is wider than `width` columns unless a word is.
fn wrap_text(text: &str, width: usize, indent: usize) -> String {
    let mut rows = String::new();
    // The row so far, its width, and the width and end before its last space.
    let (mut row, mut columns, mut space) = (String::new(), 0, None);
    let mut escape = false;
    for c in text.chars() {
        escape = escape || c == ESCAPE;
        // Columns are separated by several spaces; none of them begins a further row.
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

fn ignore_closed_pipe(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        Ok(())
    } else {
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::{Screen, wrap_text};

    fn captured_output(colour: bool, write: impl FnOnce(&mut Screen<Vec<u8>>)) -> String {
        let mut screen = Screen::without_terminal(Vec::new());
        screen.colour = colour;
        screen.width = Some(28);
        write(&mut screen);
        String::from_utf8(screen.out).unwrap()
    }

    #[test]
    fn text_of_other_people_controls_no_terminal() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}]0;title\u{7}\nnext";
        let one = |screen: &mut Screen<Vec<u8>>| screen.print_line(text).unwrap();
        let several = |screen: &mut Screen<Vec<u8>>| screen.print_lines(text).unwrap();
        let broken = |screen: &mut Screen<Vec<u8>>| screen.print_wrapped(text, 2).unwrap();
        assert_eq!(
            captured_output(true, one),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007 next\n"
        );
        assert_eq!(
            captured_output(false, one),
            "\\u001b[1mbold\\u001b[0m \\u001b]0;title\\u0007 next\n"
        );
        assert_eq!(
            captured_output(true, several),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007\nnext\n"
        );
        assert_eq!(
            captured_output(true, broken),
            "\u{1b}[1mbold\u{1b}[0m \\u001b]0;title\\u0007\n  next\n"
        );
    }

    #[test]
    fn a_document_is_exact_without_a_terminal() {
        let text = "{\"a\":\"\u{9b}\"}\n";
        let document = |screen: &mut Screen<Vec<u8>>| screen.print_document(text).unwrap();
        assert_eq!(captured_output(false, document), text);
        let at_a_terminal = |screen: &mut Screen<Vec<u8>>| {
            screen.terminal = true;
            document(screen);
        };
        assert_eq!(
            captured_output(false, at_a_terminal),
            "{\"a\":\"\\u009b\"}\n"
        );
        let json = |screen: &mut Screen<Vec<u8>>| screen.print_json(text).unwrap();
        assert_eq!(captured_output(false, json), "{\"a\":\"\\u009b\"}\n");
    }

    #[test]
    fn rows_break_at_spaces_and_colours_take_no_room() {
        assert_eq!(wrap_text("one two three", 20, 2), "one two three");
        assert_eq!(
            wrap_text("one two three four", 9, 2),
            "one two\n  three\n  four"
        );
        let bold = concat!("\u{1b}[1m", "one", "\u{1b}[0m two");
        assert_eq!(wrap_text(bold, 7, 2), bold);
        assert_eq!(wrap_text("📚📚 📚📚", 6, 0), "📚📚\n📚📚");
        assert_eq!(wrap_text("indivisible", 5, 2), "indivisible");
        assert_eq!(wrap_text("a column      word", 11, 2), "a column\n  word");
    }
}
