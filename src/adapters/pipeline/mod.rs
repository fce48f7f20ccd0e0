//! Runs on this machine: `.pipeline/<issue-id>/` read, written, put away. Nothing is followed that is a link, nothing is
//! written half, and nothing is ever written over that cannot be read.

mod error;
mod files;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use phileas_domain::Diagnostic;
use phileas_domain::pipeline::{
    Artifact, IssueId, Lesson, Made, Reading, Run, RunFile, SETTINGS_FILE, Settings, learn, read,
    read_lessons, traced,
};

pub use error::{RunsError, SettingsError};
pub use files::Mark;

/// Where runs lie, below a repository's folder.
pub const RUNS_FOLDER: &str = ".pipeline";
/// Where runs are put away, below that.
const COMPLETED: &str = "completed";
/// Where the lessons stay as they were, when a lesson is added to a file of which a part cannot be read.
const UNREADABLE_LESSONS: &str = "lessons.yaml.unreadable";
/// No more runs than this are listed.
const RUNS_LIMIT: usize = 10_000;

/// The runs of a repository.
#[derive(Debug, Clone)]
pub struct Runs {
    folder: PathBuf,
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// What was read; its warnings tell what was brought into the normal form.
    pub reading: Reading,
}

impl Runs {
    /// The runs in a folder, which is usually `.pipeline` of a repository. It need not be there.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the repository asks of its runs.
    ///
    /// # Errors
    ///
    /// When `config.toml` cannot be read or says something else.
    pub fn settings(&self) -> Result<Settings, RunsError> {
        let path = self.folder.join(SETTINGS_FILE);
        match files::text(&path)? {
            Some(text) => Settings::read(&path.display().to_string(), &text)
                .map_err(|wrong| RunsError::Settings(Box::new(SettingsError(*wrong)))),
            None => Ok(Settings::default()),
        }
    }

    /// The issues that have a run, in order, and those whose run was put away.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn issues(&self) -> Result<(Vec<IssueId>, Vec<IssueId>), RunsError> {
        let of = |folder: &Path| -> Result<Vec<IssueId>, RunsError> {
            let names = files::folders(folder, RUNS_LIMIT)?;
            let mut ids: Vec<IssueId> = names.iter().filter_map(|name| name.parse().ok()).collect();
            ids.sort();
            Ok(ids)
        };
        Ok((of(&self.folder)?, of(&self.folder.join(COMPLETED))?))
    }

    /// The run of an issue; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or the settings are wrong.
    pub fn run(&self, issue: &IssueId, settings: Settings) -> Result<Option<Run>, RunsError> {
        let folder = self.folder_of(issue);
        if !files::is_folder(&folder)? {
            return Ok(None);
        }
        let mut found = Vec::new();
        for name in Artifact::ALL.into_iter().flat_map(Artifact::names) {
            let path = folder.join(name);
            if name != Artifact::Lessons.file_name()
                && let Some(text) = files::text(&path)?
            {
                found.push(RunFile {
                    name: name.to_owned(),
                    text,
                });
            }
        }
        Ok(Some(Run::read(issue.clone(), &found, settings)))
    }

    /// The text of a file of a run as it stands, whatever it says; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When no artifact has that name, or the file cannot be read.
    pub fn text(&self, issue: &IssueId, name: &str) -> Result<Option<String>, RunsError> {
        Artifact::at(name)?;
        files::text(&self.folder_of(issue).join(name))
    }

    /// Length and time of each file of the `most` runs whose folders changed last, so that one sees when somebody has
    /// written. What cannot be looked at is left out.
    #[must_use]
    pub fn marks(&self, most: usize) -> BTreeMap<(IssueId, &'static str), Mark> {
        let (issues, _) = self.issues().unwrap_or_default();
        let mut issues: Vec<_> = issues
            .into_iter()
            .map(|issue| (files::mark(&self.folder_of(&issue)), issue))
            .collect();
        issues.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.map(|(_, at)| at)));
        let mut marks = BTreeMap::new();
        for (_, issue) in issues.into_iter().take(most) {
            for name in Artifact::ALL.into_iter().flat_map(Artifact::names) {
                let mark = files::mark(&self.folder_of(&issue).join(name));
                marks.extend(mark.map(|mark| ((issue.clone(), name), mark)));
            }
        }
        marks
    }

    /// Whether the run of an issue was put away.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn is_archived(&self, issue: &IssueId) -> Result<bool, RunsError> {
        files::is_folder(&self.folder.join(COMPLETED).join(issue.as_str()))
    }

    /// Writes an artifact of a run in the normal form, and what came of it into the trace. What is not sound replaces
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`RunsError::Unsound`] with the findings; [`RunsError::Archived`] for a run that was put away; else when the trace
    /// cannot be continued or the system says no.
    pub fn write(
        &self,
        issue: &IssueId,
        artifact: Artifact,
        text: &str,
        settings: Settings,
        made: &Made,
    ) -> Result<Written, RunsError> {
        let folder = self.folder_of(issue);
        let path = folder.join(artifact.file_name());
        let reading = read(artifact, artifact.file_name(), text, &settings);
        let Some(normal) = reading.normal_form() else {
            return Err(RunsError::Unsound(reading.found));
        };
        if artifact == Artifact::Lessons {
            return Err(RunsError::NotOfARun);
        }
        files::make_folder(&self.folder)?;
        let _lock = self.lock()?;
        // Whoever put it away may have had the lock until now.
        if !files::is_folder(&folder)? && self.is_archived(issue)? {
            return Err(RunsError::Archived {
                issue: issue.clone(),
                archive: self.folder.join(COMPLETED).join(issue.as_str()),
            });
        }
        files::make_folder(&folder)?;
        let run = self.run(issue, settings)?;
        let run = run.unwrap_or_else(|| Run::read(issue.clone(), &[], settings));
        let trace = traced(&run, &reading, &normal, made)?;
        let trace_path = folder.join(Artifact::Trace.file_name());
        let trace = trace.as_ref().map(|trace| (trace_path, trace.as_str()));
        let texts = [(path.clone(), normal.as_str())].into_iter().chain(trace);
        // A process that dies amid it leaves a file that is not in the trace, which is seen by its digest.
        if let Err(error) = files::replace_together(&texts.collect::<Vec<_>>()) {
            // Whatever holds something stays.
            let _filled = fs::remove_dir(&folder);
            return Err(error);
        }
        Ok(Written { path, reading })
    }

    /// Puts a run away, and tells where. A run that is there already stays as it is.
    ///
    /// # Errors
    ///
    /// When there is no such run, one of this name was put away before, or the system says no.
    pub fn archive(&self, issue: &IssueId) -> Result<PathBuf, RunsError> {
        let from = self.folder_of(issue);
        if !files::is_folder(&from)? {
            return Err(RunsError::NoRun(from));
        }
        let completed = self.folder.join(COMPLETED);
        files::make_folder(&completed)?;
        let _lock = self.lock()?;
        let to = completed.join(issue.as_str());
        // The system would put a folder in the place of an empty one.
        if fs::symlink_metadata(&to).is_ok() {
            return Err(RunsError::Taken(to));
        }
        fs::rename(&from, &to).map_err(|error| RunsError::system(&from, error))?;
        Ok(to)
    }

    /// The lessons; `None` where there are none yet.
    ///
    /// # Errors
    ///
    /// When the file cannot be read. What is wrong with what it says is in the reading.
    pub fn lessons(&self) -> Result<Option<Reading>, RunsError> {
        Ok(self.read_lessons()?.map(|(reading, _)| reading))
    }

    /// As [`Self::lessons`]; the second value says whether a part of the file is not in the reading.
    fn read_lessons(&self) -> Result<Option<(Reading, bool)>, RunsError> {
        let path = self.folder.join(Artifact::Lessons.file_name());
        let name = path.display().to_string();
        Ok(files::bytes(&path)?.map(|bytes| read_lessons(&name, &bytes)))
    }

    /// Adds a lesson, or counts it where its pattern is known.
    ///
    /// # Errors
    ///
    /// [`RunsError::Unsound`], when the file that is there is not sound, or the lesson is not.
    pub fn learn(&self, lesson: &Lesson) -> Result<(), RunsError> {
        files::make_folder(&self.folder)?;
        let _lock = self.lock()?;
        let (known, is_partial) = self.read_lessons()?.unzip();
        let Some(text) = learn(known.as_ref(), lesson) else {
            return Err(RunsError::Unsound(
                known.map(|one| one.found).unwrap_or_default(),
            ));
        };
        let path = self.folder.join(Artifact::Lessons.file_name());
        let reading = read(Artifact::Lessons, "the lesson", &text, &Settings::default());
        if !reading.is_sound() {
            return Err(RunsError::Unsound(reading.found));
        }
        if is_partial == Some(true) {
            let kept = self.folder.join(UNREADABLE_LESSONS);
            if fs::symlink_metadata(&kept).is_ok_and(|meta| meta.is_symlink()) {
                return Err(RunsError::Refused {
                    path: kept,
                    what: "it is a symbolic link, and nothing is written through links; remove it"
                        .to_owned(),
                });
            }
            fs::copy(&path, &kept).map_err(|error| RunsError::system(&kept, error))?;
        }
        files::replace(&path, &text)
    }

    fn folder_of(&self, issue: &IssueId) -> PathBuf {
        self.folder.join(issue.as_str())
    }

    /// One writer at a time; the lock goes with the value.
    fn lock(&self) -> Result<File, RunsError> {
        let failed = |error| RunsError::system(&self.folder, error);
        let folder = File::open(&self.folder).map_err(failed)?;
        folder.lock().map_err(failed)?;
        Ok(folder)
    }
}

/// Reads the file of an artifact, wherever it lies; its name tells which it is.
///
/// The settings are those of the `.pipeline` folder that it lies in.
///
/// # Errors
///
/// When no artifact has that name, the file is not there or cannot be read, or the settings are wrong.
pub fn read_file(path: &Path) -> Result<Reading, RunsError> {
    let Some(text) = files::text(path)? else {
        return Err(RunsError::NoFile(path.to_owned()));
    };
    let shown = path.display().to_string();
    let artifact = Artifact::at(&shown)?;
    let runs = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == RUNS_FOLDER));
    let settings = match runs {
        Some(folder) => Runs::at(folder).settings()?,
        None => Settings::default(),
    };
    Ok(read(artifact, &shown, &text, &settings))
}

impl RunsError {
    /// What is wrong with what was to be written; empty for other errors.
    #[must_use]
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Unsound(found) => found,
            _ => &[],
        }
    }
}
