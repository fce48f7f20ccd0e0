//! Fingerprints of pull requests with their words and paths as hashes, so that those of other projects can be kept
//! without a word of theirs: `scripts/pull-diffs CLONE | cargo run --example fingerprints`.
//!
//! Reads and writes JSON, one pull request a line.

use std::io::{BufRead as _, Write as _};

use phileas_domain::engine::ProtectedPaths;
use phileas_domain::work::{ChangedFile, Fingerprint};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

#[derive(Deserialize)]
struct Pull {
    repository: String,
    pr: u64,
    title: String,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    added: u64,
    removed: u64,
    patch: Option<String>,
}

fn hashed(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text)[..4])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protected = ProtectedPaths::with_patterns(&[]).ok_or("the built-in patterns are broken")?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let pull: Pull = serde_json::from_str(&line?)?;
        let files = pull.files.iter().map(|file| ChangedFile {
            path: &file.path,
            added: file.added,
            removed: file.removed,
            patch: file.patch.as_deref(),
        });
        let files: Vec<ChangedFile<'_>> = files.collect();
        let mut work =
            Fingerprint::from_pull(&pull.title, &files, |path| protected.is_protected(path));
        work.title = work.title.iter().map(|word| hashed(word)).collect();
        work.title.sort();
        work.paths = work.paths.iter().map(|path| hashed(path)).collect();
        let line = json!({ "repository": pull.repository, "pr": pull.pr, "work": work });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
