//! Wraps lines like Python's `textwrap`.

/// The settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wrapping {
    /// The largest width of a line, in characters; at least 1.
    pub(super) width: usize,
    /// Whether a word that is longer than a line is broken.
    pub(super) break_long_words: bool,
    /// Whether a word may be broken after a hyphen.
    pub(super) break_on_hyphens: bool,
}

/// The lines of one line of text, without spaces at their ends.
pub(super) fn wrap_line(line: &str, wrapping: Wrapping) -> Vec<String> {
    let mut chunks: Vec<Vec<char>> = split_chunks(line, wrapping.break_on_hyphens);
    chunks.reverse();
    let mut lines = Vec::new();
    while let Some(first) = chunks.last() {
        if is_blank(first) && !lines.is_empty() {
            chunks.pop();
        }
        let mut now: Vec<Vec<char>> = Vec::new();
        let mut room = wrapping.width;
        while let Some(chunk) = chunks.pop_if(|chunk| chunk.len() <= room) {
            room -= chunk.len();
            now.push(chunk);
        }
        if let Some(long) = chunks.pop_if(|chunk| chunk.len() > wrapping.width) {
            let (head, rest) = break_word(long, room, now.is_empty(), wrapping);
            now.extend(head);
            chunks.extend(rest);
        }
        let _trailing = now.pop_if(|chunk| is_blank(chunk));
        if !now.is_empty() {
            lines.push(now.into_iter().flatten().collect());
        }
    }
    lines
}

/// The part of a long word that fits into the current line, and the rest.
fn break_word(
    mut word: Vec<char>,
    room: usize,
    is_alone: bool,
    wrapping: Wrapping,
) -> (Option<Vec<char>>, Option<Vec<char>>) {
    if !wrapping.break_long_words {
        return if is_alone {
            (Some(word), None)
        } else {
            (None, Some(word))
        };
    }
    let hyphen = word[..room.min(word.len())].iter().rposition(|c| *c == '-');
    let behind = hyphen
        .filter(|at| wrapping.break_on_hyphens && *at > 0 && word[..*at].iter().any(|c| *c != '-'));
    let rest = word.split_off(behind.map_or(room, |at| at + 1).min(word.len()));
    let some = |word: Vec<char>| (!word.is_empty()).then_some(word);
    (some(word), some(rest))
}

fn is_blank(chunk: &[char]) -> bool {
    chunk.iter().all(|c| c.is_whitespace())
}

/// Words and the spaces between them; a word is split after a hyphen between letters.
fn split_chunks(line: &str, break_on_hyphens: bool) -> Vec<Vec<char>> {
    let signs: Vec<char> = line.chars().collect();
    let mut chunks: Vec<Vec<char>> = Vec::new();
    for (at, sign) in signs.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| signs[before]);
        let is_other = before.is_none_or(|before| before.is_whitespace() != sign.is_whitespace());
        if is_other || (break_on_hyphens && is_break(&signs, at)) {
            chunks.push(Vec::new());
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(*sign);
        }
    }
    chunks
}

/// Whether a word may be split at a position: after `ab-` or `a-b-`, if two more letters follow.
fn is_break(signs: &[char], at: usize) -> bool {
    let letter = |at: Option<usize>| {
        at.and_then(|at| signs.get(at))
            .is_some_and(|c| c.is_alphabetic())
    };
    let hyphen = |at: Option<usize>| at.and_then(|at| signs.get(at)) == Some(&'-');
    let back = |by: usize| at.checked_sub(by);
    let before = hyphen(back(1))
        && letter(back(2))
        && (letter(back(3)) || (hyphen(back(3)) && letter(back(4))));
    let next = Some(at + 1);
    before && letter(Some(at)) && (letter(next) || (hyphen(next) && letter(Some(at + 2))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_python() {
        let usual = Wrapping {
            width: 8,
            break_long_words: true,
            break_on_hyphens: true,
        };
        for (text, wrapping, lines) in [
            ("a b  c", usual, vec!["a b  c"]),
            ("well-known things", usual, vec!["well-", "known", "things"]),
            ("abcdefghijkl m", usual, vec!["abcdefgh", "ijkl m"]),
            (
                "a well-known",
                Wrapping {
                    break_on_hyphens: false,
                    ..usual
                },
                vec!["a well-k", "nown"],
            ),
            (
                "abcdefghijkl m",
                Wrapping {
                    break_long_words: false,
                    ..usual
                },
                vec!["abcdefghijkl", "m"],
            ),
            ("", usual, vec![]),
            ("   ", usual, vec![]),
        ] {
            assert_eq!(wrap_line(text, wrapping), lines, "{text}");
        }
    }
}
