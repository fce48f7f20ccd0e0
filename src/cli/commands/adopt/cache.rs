//! What `phileas adopt` has read, kept in a file, so that a run that was ended goes on where it was.
//!
//! One JSON document a line, each written when its page or diff has been read: a kill loses no more than that.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryName;
use phileas_domain::work::{PastPull, Sketch};
use serde::{Deserialize, Serialize};

use crate::adapters::github::HistoryPage;
use crate::cli::exit::CliError;
use crate::cli::exit::paths::path_error;
use crate::jobs::files;

/// The version of the file's lines.
const VERSION: u32 = 1;
/// A listing that was begun this long ago is made again: pull requests have changed since.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(1);

/// Where the pull requests come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    /// The address of the API.
    pub(super) server: &'a str,
    /// The repository.
    pub(super) repository: &'a RepositoryName,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
    /// A listing begins.
    Listing {
        version: u32,
        /// The address of the API: several servers can have a repository of one name.
        server: String,
        repository: String,
        at: Timestamp,
    },
    /// A page of it.
    Page {
        pulls: Vec<PastPull>,
        by_people: usize,
        seen: usize,
        next: Option<String>,
    },
    /// The diff of a pull request.
    Diff {
        pr: u64,
        closed_at: Option<Timestamp>,
        sketch: Sketch,
    },
}

/// The pull requests that have been read.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
    file: File,
    pulls: Vec<PastPull>,
    /// Where each pull request stands in the list.
    indexes: BTreeMap<u64, usize>,
    by_people: usize,
    seen: usize,
    /// Where the next page begins; the outer `None`: the listing is complete.
    next: Option<Option<String>>,
    /// Diffs by number, with the time at which the pull request was closed: a closed one changes no more.
    diffs: BTreeMap<u64, (Option<Timestamp>, Sketch)>,
}

impl Cache {
    /// Reads the file, if there is one. A listing that is old begins again; the diffs of closed pull requests are kept.
    pub(super) fn open(path: &Path, of: Origin<'_>, now: Timestamp) -> Result<Self, CliError> {
        let (lines, length) = read_lines(path, of)?;
        let file = open_append(path)?;
        // What a kill has torn is cut off, so that the next line does not continue it.
        file.set_len(length)
            .map_err(|error| path_error(path, &error))?;
        let mut cache = Self {
            path: path.to_owned(),
            file,
            pulls: Vec::new(),
            indexes: BTreeMap::new(),
            by_people: 0,
            seen: 0,
            next: Some(None),
            diffs: BTreeMap::new(),
        };
        let begun_at = lines.first().and_then(|line| match line {
            Line::Listing { at, .. } => Some(*at),
            Line::Page { .. } | Line::Diff { .. } => None,
        });
        for line in lines {
            cache.take_line(line);
        }
        let is_recent = begun_at.is_some_and(|at| {
            let age = now.duration_since(at);
            !age.is_negative() && age < MAX_AGE
        });
        if !is_recent {
            cache.begin_listing(of, now)?;
        }
        Ok(cache)
    }

    fn take_line(&mut self, line: Line) {
        match line {
            Line::Listing { .. } => {}
            Line::Page {
                pulls,
                by_people,
                seen,
                next,
            } => self.take_page(HistoryPage {
                pulls,
                by_people,
                seen,
                next,
            }),
            Line::Diff {
                pr,
                closed_at,
                sketch,
            } => {
                self.diffs.insert(pr, (closed_at, sketch));
                self.use_diff(pr);
            }
        }
    }

    /// Rewrites the file with the diffs that still hold.
    fn begin_listing(&mut self, of: Origin<'_>, now: Timestamp) -> Result<(), CliError> {
        self.diffs.retain(|_, (closed_at, _)| closed_at.is_some());
        self.pulls.clear();
        self.indexes.clear();
        (self.by_people, self.seen, self.next) = (0, 0, Some(None));
        let mut text = line_text(&Line::Listing {
            version: VERSION,
            server: of.server.to_owned(),
            repository: of.repository.to_string(),
            at: now,
        });
        for (pr, (closed_at, sketch)) in &self.diffs {
            text.push_str(&line_text(&Line::Diff {
                pr: *pr,
                closed_at: *closed_at,
                sketch: sketch.clone(),
            }));
        }
        files::write_whole(&self.path, &text)
            .map_err(|error| CliError::usage(error.to_string()))?;
        self.file = open_append(&self.path)?;
        Ok(())
    }

    /// Where the next page begins; the outer `None`: there is none.
    pub(super) fn next_page(&self) -> Option<Option<String>> {
        self.next.clone()
    }

    pub(super) fn add_page(&mut self, page: HistoryPage) -> Result<(), CliError> {
        self.append(&Line::Page {
            pulls: page.pulls.clone(),
            by_people: page.by_people,
            seen: page.seen,
            next: page.next.clone(),
        })?;
        self.take_page(page);
        Ok(())
    }

    fn take_page(&mut self, page: HistoryPage) {
        self.by_people += page.by_people;
        self.seen += page.seen;
        self.next = page.next.map(Some);
        for pull in page.pulls {
            let number = pull.pr;
            match self.find(number) {
                Some(known) => *known = pull,
                None => {
                    self.indexes.insert(number, self.pulls.len());
                    self.pulls.push(pull);
                }
            }
            self.use_diff(number);
        }
    }

    pub(super) fn add_diff(&mut self, number: u64, sketch: Sketch) -> Result<(), CliError> {
        let closed_at = self.find(number).and_then(|pull| pull.closed_at);
        let line = Line::Diff {
            pr: number,
            closed_at,
            sketch,
        };
        self.append(&line)?;
        self.take_line(line);
        Ok(())
    }

    /// Gives a pull request its lines, if they were read of it as it is.
    fn use_diff(&mut self, number: u64) {
        let Some((closed_at, sketch)) = self.diffs.get(&number).cloned() else {
            return;
        };
        if let Some(pull) = self.find(number)
            && pull.closed_at == closed_at
        {
            pull.fingerprint.sketch = sketch;
            pull.lines_known = true;
        }
    }

    fn find(&mut self, number: u64) -> Option<&mut PastPull> {
        self.pulls.get_mut(*self.indexes.get(&number)?)
    }

    fn append(&mut self, line: &Line) -> Result<(), CliError> {
        let written = self.file.write_all(line_text(line).as_bytes());
        written.map_err(|error| path_error(&self.path, &error))
    }

    pub(super) fn pulls(&self) -> &[PastPull] {
        &self.pulls
    }

    /// How many pull requests people opened from branches that Jules has named.
    pub(super) fn by_people(&self) -> usize {
        self.by_people
    }

    /// How many pull requests the repository has.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }
}

fn line_text(line: &Line) -> String {
    #[expect(clippy::expect_used, reason = "all keys are strings")]
    let text = serde_json::to_string(line).expect("these lines are JSON");
    text + "\n"
}

/// Opens the file for new lines at its end, and makes it and its folders where they are missing.
fn open_append(path: &Path) -> Result<File, CliError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| path_error(folder, &error))?;
    }
    let mut options = OpenOptions::new();
    let opened = options.create(true).append(true).open(path);
    opened.map_err(|error| path_error(path, &error))
}

/// The lines of the file, and how many bytes they have. What stands behind the last line break was torn by a kill, and
/// does not count. A file of another kind is refused and stays as it is.
fn read_lines(path: &Path, of: Origin<'_>) -> Result<(Vec<Line>, u64), CliError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(path_error(path, &error)),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let length = whole.map_or(0, |end| end + 1);
    let refuse = |place: String| {
        CliError::usage(format!(
            "{}{place}; name another file with --cache, or delete this one",
            path.display()
        ))
    };
    if length == 0 && !bytes.is_empty() {
        return Err(refuse(
            ":1:1: this is not a line of `phileas adopt`".to_owned(),
        ));
    }
    let mut lines = Vec::new();
    for (index, row) in bytes[..length]
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
    {
        lines.push(serde_json::from_slice(row).map_err(|error| {
            let column = error.column().max(1);
            let row = index + 1;
            refuse(format!(
                ":{row}:{column}: this is not a line of `phileas adopt`"
            ))
        })?);
    }
    let is_ours = |line: &Line| {
        matches!(line, Line::Listing { version, server, repository, .. }
        if *version == VERSION && server == of.server && *repository == of.repository.to_string())
    };
    if lines.first().is_none_or(is_ours) {
        return Ok((lines, length as u64));
    }
    Err(refuse(
        ": it belongs to another repository, server or version".to_owned(),
    ))
}
