//! What somebody probably meant.

/// Longer words were meant as something else altogether.
const MAX_WORD_BYTES: usize = 100;

/// The candidate that is so near to `word` that it was probably meant; the first of equally near ones.
///
/// Near is at most a third of the word's length in edits (at least one), where a swap of neighbours is one edit and
/// upper and lower case do not matter.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD_BYTES {
        return None;
    }
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            let edits = strsim::osa_distance(&word, &candidate.to_lowercase());
            (edits, candidate)
        })
        .filter(|(edits, candidate)| *edits <= allowed && *edits < candidate.chars().count())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// `` `a`, `b` or `c` ``.
pub(crate) fn either_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => String::new(),
        (Some(last), true) => last,
        (Some(last), false) => format!("{} or {last}", words.join(", ")),
    }
}

/// `did you mean x?`, or the whole list where nothing is near.
pub(crate) fn did_you_mean(word: &str, candidates: &[&str]) -> String {
    match closest(word, candidates.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("write {}", either_of(candidates.iter().copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["curator", "refactor", "bolt"];
        assert_eq!(closest("curater", known), Some("curator"));
        assert_eq!(closest("Refcator", known), Some("refactor"));
        assert_eq!(closest("blot", known), Some("bolt"));
        assert_eq!(closest("sentinel", known), None);
        assert_eq!(closest("", known), None);
        assert_eq!(closest("x", ["a"]), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(either_of(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(either_of(["a"]), "`a`");
        assert_eq!(either_of([]), "");
    }
}
