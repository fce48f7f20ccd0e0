//! Text that others wrote, made fit for a terminal.

/// One line of at most `limit` characters. Control characters, which could steer a terminal, become spaces.
pub(super) fn plain(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    match line.char_indices().nth(limit) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_that_steers_a_terminal_is_left() {
        assert_eq!(plain("a\u{1b}[31m\n b\u{9b}c", 20), "a [31m b c");
        assert_eq!(plain("äöü", 2), "äö…");
    }
}
