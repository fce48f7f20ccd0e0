//! The parts of a diff, one per file.

/// How the part about one file begins.
pub const HEADER: &str = "diff --git ";

/// The parts, in their order. Text before the first header is dropped. No line of a hunk can begin like a
/// header: it begins with a blank, `+`, `-` or `\`.
pub fn split_parts(diff: &str) -> impl Iterator<Item = &str> {
    let starts = diff
        .match_indices(HEADER)
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || diff[..*at].ends_with('\n'));
    let starts: Vec<usize> = starts.collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([diff.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| &diff[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_reaches_to_the_next_header() {
        let diff =
            "before\ndiff --git a/x b/x\n+diff --git is no header here\ndiff --git a/y b/y\n";
        let found: Vec<&str> = split_parts(diff).collect();
        assert_eq!(
            found,
            [
                "diff --git a/x b/x\n+diff --git is no header here\n",
                "diff --git a/y b/y\n"
            ]
        );
        assert_eq!(split_parts("no diff at all").count(), 0);
    }
}
