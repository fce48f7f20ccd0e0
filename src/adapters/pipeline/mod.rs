//! Reads, writes and archives the runs in `.pipeline/<issue-id>/`. Links are not followed, and files are never
//! half written.

mod error;
mod files;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use phileas_domain::Diagnostic;
use phileas_domain::pipeline::{
    Artifact, IssueId, Lesson, Made, Reading, Run, RunFile, SETTINGS_FILE, Settings, add_lesson,
    add_to_trace, read_artifact, read_lessons,
};

pub use error::RunsError;
pub use files::Mark;

/// The folder of runs in a repository.
pub const RUNS_FOLDER: &str = ".pipeline";
/// The folder of archived runs in it.
const COMPLETED: &str = "completed";
/// The copy of the lessons file, if a lesson is added to a file that cannot be read completely.
const UNREADABLE_LESSONS: &str = "lessons.yaml.unreadable";
/// The most runs that are listed.
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
    /// The artifact as read; its warnings say what was normalized.
    pub reading: Reading,
}

impl Runs {
    /// The runs in a folder, usually a repository's `.pipeline`. It need not exist.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The repository's settings for its runs.
    ///
    /// # Errors
    ///
    /// When `config.toml` cannot be read or is invalid.
    pub fn read_settings(&self) -> Result<Settings, RunsError> {
        let path = self.folder.join(SETTINGS_FILE);
        match files::read_text(&path)? {
            Some(text) => Ok(Settings::read_settings(&path.display().to_string(), &text)?),
            None => Ok(Settings::default()),
        }
    }

    /// The issues with a run, in order, and those whose run is archived.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn list_issues(&self) -> Result<(Vec<IssueId>, Vec<IssueId>), RunsError> {
        let of = |folder: &Path| -> Result<Vec<IssueId>, RunsError> {
            let names = files::list_folders(folder, RUNS_LIMIT)?;
            let mut ids: Vec<IssueId> = names.iter().filter_map(|name| name.parse().ok()).collect();
            ids.sort();
            Ok(ids)
        };
        Ok((of(&self.folder)?, of(&self.folder.join(COMPLETED))?))
    }

    /// The run of an issue; `None`: there is none.
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
                && let Some(bytes) = files::read_limited_bytes(&path)?
            {
                found.push(RunFile {
                    name: name.to_owned(),
                    bytes,
                });
            }
        }
        Ok(Some(Run::read_run(issue.clone(), &found, settings)))
    }

    /// The text of a file of a run, valid or not; `None`: there is none.
    ///
    /// # Errors
    ///
    /// When no artifact has that name, or the file cannot be read.
    pub fn read_artifact(&self, issue: &IssueId, name: &str) -> Result<Option<String>, RunsError> {
        Artifact::from_path(name)?;
        files::read_text(&self.folder_of(issue).join(name))
    }

    /// Length and time of each file of the `most` runs whose folders changed last, to detect changes. Unreadable
    /// files are left out.
    #[must_use]
    pub fn artifact_marks(&self, most: usize) -> BTreeMap<(IssueId, &'static str), Mark> {
        let (issues, _) = self.list_issues().unwrap_or_default();
        let mut issues: Vec<_> = issues
            .into_iter()
            .map(|issue| (files::file_mark(&self.folder_of(&issue)), issue))
            .collect();
        issues.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.map(|(_, at)| at)));
        let mut marks = BTreeMap::new();
        for (_, issue) in issues.into_iter().take(most) {
            for name in Artifact::ALL.into_iter().flat_map(Artifact::names) {
                let mark = files::file_mark(&self.folder_of(&issue).join(name));
                marks.extend(mark.map(|mark| ((issue.clone(), name), mark)));
            }
        }
        marks
    }

    /// Whether the run of an issue is archived.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn is_archived(&self, issue: &IssueId) -> Result<bool, RunsError> {
        files::is_folder(&self.folder.join(COMPLETED).join(issue.as_str()))
    }

    /// Writes an artifact of a run in normal form, and the result into the trace. An invalid one replaces nothing.
    ///
    /// # Errors
    ///
    /// [`RunsError::Unsound`] with the findings; [`RunsError::Archived`] for an archived run; otherwise when the
    /// trace cannot be continued or the system refuses.
    pub fn write_artifact(
        &self,
        issue: &IssueId,
        artifact: Artifact,
        text: &str,
        settings: Settings,
        made: &Made,
    ) -> Result<Written, RunsError> {
        let folder = self.folder_of(issue);
        let path = folder.join(artifact.file_name());
        let reading = read_artifact(artifact, artifact.file_name(), text, &settings);
        let Some(normal) = reading.normal_form() else {
            return Err(RunsError::Unsound(reading.diagnostics));
        };
        if artifact == Artifact::Lessons {
            return Err(RunsError::NotOfARun);
        }
        files::make_folder(&self.folder)?;
        let _lock = self.lock_runs()?;
        // Another process may have archived the run before it released the lock.
        if !files::is_folder(&folder)? && self.is_archived(issue)? {
            return Err(RunsError::Archived {
                issue: issue.clone(),
                archive: self.folder.join(COMPLETED).join(issue.as_str()),
            });
        }
        files::make_folder(&folder)?;
        let run = self.run(issue, settings)?;
        let run = run.unwrap_or_else(|| Run::read_run(issue.clone(), &[], settings));
        let trace = add_to_trace(&run, &reading, &normal, made)?;
        let trace_path = folder.join(Artifact::Trace.file_name());
        let trace = trace.as_ref().map(|trace| (trace_path, trace.as_str()));
        let texts = [(path.clone(), normal.as_str())].into_iter().chain(trace);
        // A process that dies here leaves a file that is not in the trace; its digest shows that.
        if let Err(error) = files::replace_together(&texts.collect::<Vec<_>>()) {
            // A folder that is not empty stays.
            let _filled = fs::remove_dir(&folder);
            return Err(error);
        }
        Ok(Written { path, reading })
    }

    /// Archives a run, and returns where. An archived run of this name stays as it is.
    ///
    /// # Errors
    ///
    /// When there is no such run, one of this name is archived already, or the system refuses.
    pub fn archive_run(&self, issue: &IssueId) -> Result<PathBuf, RunsError> {
        let from = self.folder_of(issue);
        if !files::is_folder(&from)? {
            return Err(RunsError::NoRun(from));
        }
        let completed = self.folder.join(COMPLETED);
        files::make_folder(&completed)?;
        let _lock = self.lock_runs()?;
        let to = completed.join(issue.as_str());
        // The system would replace an empty folder.
        if fs::symlink_metadata(&to).is_ok() {
            return Err(RunsError::Taken(to));
        }
        fs::rename(&from, &to).map_err(|error| RunsError::from_io(&from, error))?;
        Ok(to)
    }

    /// The lessons; `None`: there are none yet.
    ///
    /// # Errors
    ///
    /// When the file cannot be read. Its errors are in the reading.
    pub fn read_lessons(&self) -> Result<Option<Reading>, RunsError> {
        Ok(self.read_lessons_file()?.map(|(reading, _)| reading))
    }

    /// As [`Self::read_lessons`]; the second value says whether a part of the file is missing in the reading.
    fn read_lessons_file(&self) -> Result<Option<(Reading, bool)>, RunsError> {
        let path = self.folder.join(Artifact::Lessons.file_name());
        let name = path.display().to_string();
        Ok(files::read_bytes(&path)?.map(|bytes| read_lessons(&name, &bytes)))
    }

    /// Adds a lesson, or counts it if its pattern is known.
    ///
    /// # Errors
    ///
    /// [`RunsError::Unsound`] if the existing file or the lesson is invalid.
    pub fn add_lesson(&self, lesson: &Lesson) -> Result<(), RunsError> {
        files::make_folder(&self.folder)?;
        let _lock = self.lock_runs()?;
        let (known, is_partial) = self.read_lessons_file()?.unzip();
        let Some(text) = add_lesson(known.as_ref(), lesson) else {
            return Err(RunsError::Unsound(
                known.map(|one| one.diagnostics).unwrap_or_default(),
            ));
        };
        let path = self.folder.join(Artifact::Lessons.file_name());
        let reading = read_artifact(Artifact::Lessons, "the lesson", &text, &Settings::default());
        if !reading.is_sound() {
            return Err(RunsError::Unsound(reading.diagnostics));
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
            fs::copy(&path, &kept).map_err(|error| RunsError::from_io(&kept, error))?;
        }
        files::replace_file(&path, &text)
    }

    fn folder_of(&self, issue: &IssueId) -> PathBuf {
        self.folder.join(issue.as_str())
    }

    /// Locks the runs for one writer; dropping the value releases the lock.
    fn lock_runs(&self) -> Result<File, RunsError> {
        let failed = |error| RunsError::from_io(&self.folder, error);
        let folder = File::open(&self.folder).map_err(failed)?;
        folder.lock().map_err(failed)?;
        Ok(folder)
    }
}

/// Reads the file of an artifact in any folder; its name says which artifact it is.
///
/// The settings are those of the `.pipeline` folder that contains it.
///
/// # Errors
///
/// When no artifact has that name, the file is missing or cannot be read, or the settings are wrong.
pub fn read_file(path: &Path) -> Result<Reading, RunsError> {
    let Some(text) = files::read_text(path)? else {
        return Err(RunsError::NoFile(path.to_owned()));
    };
    let shown = path.display().to_string();
    let artifact = Artifact::from_path(&shown)?;
    let runs = path
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == RUNS_FOLDER));
    let settings = match runs {
        Some(folder) => Runs::in_folder(folder).read_settings()?,
        None => Settings::default(),
    };
    Ok(read_artifact(artifact, &shown, &text, &settings))
}

impl RunsError {
    /// The errors of the refused artifact; empty for other failures.
    #[must_use]
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Unsound(found) => found,
            _ => &[],
        }
    }
}
