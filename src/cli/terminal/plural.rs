//! Counts in sentences.

/// `1 commit`, `2 commits`. For words whose plural ends in `s`.
pub(crate) fn pluralize(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

#[cfg(test)]
mod tests {
    use super::pluralize;

    #[test]
    fn one_is_not_several() {
        assert_eq!(pluralize(1, "commit"), "1 commit");
        assert_eq!(pluralize(0, "commit"), "0 commits");
        assert_eq!(pluralize(12, "pull request"), "12 pull requests");
    }
}
