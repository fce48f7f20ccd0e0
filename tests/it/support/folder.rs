//! Folders that a test makes: repositories with a plan and personas, ledgers.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A repository with this plan, and a short prompt for each persona.
    pub(crate) fn repository(plan: &str, personas: &[&str]) -> Self {
        let folder = Self::empty();
        folder.write(".jules/schedules.toml", plan);
        folder.write("README.md", "# Widget\n");
        for id in personas {
            let prompt = format!(
                "---\nid: {id}\nemoji: \"⚙\"\ndescription: The {id}\n---\nDo the work of {id}.\n"
            );
            folder.write(&format!(".jules/personas/{id}/prompt.md"), &prompt);
        }
        folder
    }

    /// A tree for the branch `jules` that holds this state file.
    pub(crate) fn ledger(state: &str) -> Self {
        let folder = Self::empty();
        folder.write(".jules/cycle_state.json", state);
        folder
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// The path for a command line.
    pub(crate) fn text(&self) -> &str {
        self.path().to_str().unwrap()
    }
}

/// The text of a fixture.
pub(crate) fn fixture(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
