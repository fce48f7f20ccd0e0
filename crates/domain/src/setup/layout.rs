//! Where the files of the set-up lie.

use crate::Diagnostic;
use crate::model::Tree;

/// The two places that a set-up can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `.jlo/setup`, with `vars.toml` and `secrets.toml`.
    Split,
    /// `.jules/setup`, with one `env.toml` that git ignores.
    Joined,
}

impl Layout {
    /// Both, the usual one first.
    pub const ALL: [Self; 2] = [Self::Split, Self::Joined];

    /// The folder, from the repository's root.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Split => ".jlo/setup",
            Self::Joined => ".jules/setup",
        }
    }

    /// The path of a file in it.
    #[must_use]
    pub fn path(self, name: &str) -> String {
        format!("{}/{name}", self.folder())
    }

    /// The name of the file that holds secrets, which git must ignore.
    #[must_use]
    pub fn private(self) -> &'static str {
        match self {
            Self::Split => "secrets.toml",
            Self::Joined => "env.toml",
        }
    }

    /// The layout of a repository: the one whose `tools.yml` is there.
    ///
    /// # Errors
    ///
    /// None is, or both are.
    pub fn detect(tree: &Tree) -> Result<Self, Diagnostic> {
        let has = |layout: &Self| tree.get(&layout.path("tools.yml")).is_some();
        let [usual, older] = Self::ALL.map(|layout| has(&layout));
        let path = Self::Split.path("tools.yml");
        match (usual, older) {
            (true, false) => Ok(Self::Split),
            (false, true) => Ok(Self::Joined),
            (true, true) => Err(Diagnostic::error(
                path,
                format!("there are two set-ups: the other is `{}`", Self::Joined.folder()),
            )
            .help("keep one of the two `tools.yml`; the values of an `env.toml` beside the one that stays are taken over")),
            (false, false) => Err(Diagnostic::error(path, "there is no set-up yet")
                .help("write it: `tools: [gh]`; `phileas setup list` shows what there is")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_one_that_names_tools() {
        let layout =
            |files: &[&str]| Layout::detect(&Tree::from_texts(files.iter().map(|f| (*f, "x"))));
        assert_eq!(layout(&[".jlo/setup/tools.yml"]).unwrap(), Layout::Split);
        assert_eq!(
            layout(&[".jules/setup/tools.yml", ".jlo/setup/vars.toml"]).unwrap(),
            Layout::Joined
        );
        let two = layout(&[".jules/setup/tools.yml", ".jlo/setup/tools.yml"]).unwrap_err();
        assert!(two.message.contains("two set-ups"), "{two}");
        assert!(layout(&[]).unwrap_err().help.contains("tools: [gh]"));
    }
}
