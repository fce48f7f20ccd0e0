//! The tools `jules_get_artifacts` and `jules_get_diff`.

use std::sync::Arc;

use phileas_domain::jobs::{AccountSession, Changes};
use phileas_domain::patch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::cursor;
use super::super::text_limit::{TextLimit, char_boundary_before};
use super::super::tool_context::ToolContext;
use super::super::tool_definition::{ToolCard, ToolDefinition, ToolEffect};
use super::super::tool_error::ToolError;
use super::super::view::{JobView, PullView};

/// How many files are listed.
const MAX_FILES: usize = 100;
/// How many bytes of a suggested commit message are shown.
const MESSAGE_BYTES: usize = 600;
/// How many bytes of the diff are shown by default.
const DEFAULT_BYTES: usize = 16_000;
/// The most bytes of the diff in one result.
const MAX_BYTES: usize = 200_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneJob {
    /// The job's id.
    job_id: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Artifacts {
    /// The job's id.
    job_id: String,
    /// The job's state, in Jules' words.
    state: String,
    /// Its pull requests.
    pull_requests: Vec<PullView>,
    /// The newest commit of its newest pull request: the commit to review, and the
    /// `expected_head_sha` of `jules_merge_pr`. Missing: there is no pull request, or GitHub does
    /// not show it.
    head_sha: Option<String>,
    /// Its changes; `jules_get_diff` shows the lines. Missing: Jules shows no changes.
    changes: Option<Summary>,
}

/// A changed file.
#[derive(Serialize, JsonSchema)]
struct FileChange {
    /// Its path.
    path: String,
    /// How many lines were added.
    additions: usize,
    /// How many lines were removed.
    deletions: usize,
}

impl From<patch::FileChange> for FileChange {
    fn from(file: patch::FileChange) -> Self {
        Self {
            path: file.path,
            additions: file.added,
            deletions: file.removed,
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct Summary {
    /// The changed files.
    files: Vec<FileChange>,
    /// Whether there are more files than the list shows.
    truncated: bool,
    /// How many files changed.
    files_total: usize,
    /// How many lines were added.
    additions: usize,
    /// How many lines were removed.
    deletions: usize,
    /// The length of the diff, in bytes.
    diff_bytes: usize,
    /// The commit that the changes apply to.
    base_commit: String,
    /// The commit message that Jules suggests.
    suggested_message: TextLimit,
}

pub(super) fn get_artifacts() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_get_artifacts",
        title: "Show the results of a Jules job",
        text: "Returns the pull requests of a job and its changed files with their numbers of lines. `jules_get_diff` \
            returns the lines themselves.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, list_artifacts)
}

async fn list_artifacts(context: Arc<ToolContext>, input: OneJob) -> Result<Artifacts, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    let changes = read_changes(&context, &job)
        .await?
        .map(|changes| summarize_changes(&changes));
    Ok(Artifacts {
        head_sha: head_of(&context, &job).await,
        state: job.state.as_str().to_owned(),
        pull_requests: JobView::from_job(&job).pull_requests,
        job_id: job.id.to_string(),
        changes,
    })
}

/// Reads the newest commit of a job's newest pull request, if the credential can read it.
async fn head_of(context: &ToolContext, job: &AccountSession) -> Option<String> {
    let links = job.pulls.iter().filter_map(|pull| pull.link.as_ref());
    let mut links = links.filter(|link| {
        let own = job.repository.as_ref();
        context.policy.is_allowed(&link.repository) && own.is_none_or(|own| *own == link.repository)
    });
    let link = links.next_back()?;
    match context
        .phileas
        .merge_facts(&link.repository, link.number)
        .await
    {
        Ok(facts) => facts.map(|facts| facts.head.to_string()),
        Err(trouble) => {
            tracing::debug!("{}#{}: {trouble}", link.repository, link.number);
            None
        }
    }
}

fn summarize_changes(changes: &Changes) -> Summary {
    let files = patch::changed_files(&changes.patch).into_iter();
    let mut files: Vec<FileChange> = files.map(FileChange::from).collect();
    let (additions, deletions) = files.iter().fold((0, 0), |(added, removed), file| {
        (added + file.additions, removed + file.deletions)
    });
    let files_total = files.len();
    files.truncate(MAX_FILES);
    Summary {
        truncated: files.len() < files_total,
        files,
        files_total,
        additions,
        deletions,
        diff_bytes: changes.patch.len(),
        base_commit: changes.base.clone(),
        suggested_message: TextLimit::new(&changes.message, MESSAGE_BYTES),
    }
}

/// Reads all changes of a job. Each change set contains those before it, so the last one shown is
/// complete.
pub(in crate::mcp) async fn read_changes(
    context: &ToolContext,
    job: &AccountSession,
) -> Result<Option<Changes>, ToolError> {
    if job.changes.is_some() {
        return Ok(job.changes.clone());
    }
    let happenings = context.read_activities(job).await?;
    Ok(happenings.into_iter().rev().find_map(|one| one.changes))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffInput {
    /// The job's id.
    job_id: String,
    /// Only this file, by its path in the repository.
    file: Option<String>,
    /// The most bytes to return, up to 200000. Default: 16000.
    max_bytes: Option<usize>,
    /// `next_cursor` of the previous answer.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DiffOutput {
    /// The job's id.
    job_id: String,
    /// The changes in the format of `git diff`, whole lines.
    diff: String,
    /// Whether there is more.
    truncated: bool,
    /// The length of all requested changes, in bytes.
    total_bytes: usize,
    /// The commit that the changes apply to.
    base_commit: String,
    /// The newest commit of the job's newest pull request. Missing: there is no pull request, or
    /// GitHub does not show it.
    head_sha: Option<String>,
    /// The `cursor` for the rest. Missing: this is the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

pub(super) fn get_diff() -> ToolDefinition {
    let card = ToolCard {
        name: "jules_get_diff",
        title: "Read the changes of a Jules job",
        text: "Returns the changes of a job as a diff, of all files or of one. A long diff comes in parts of whole \
            lines.",
        effect: ToolEffect::Asks,
    };
    ToolDefinition::new(card, get_diff_of)
}

async fn get_diff_of(context: Arc<ToolContext>, input: DiffInput) -> Result<DiffOutput, ToolError> {
    let job = context.read_job(&input.job_id).await?;
    let bytes = input.max_bytes.unwrap_or(DEFAULT_BYTES).clamp(1, MAX_BYTES);
    let all = read_changes(&context, &job).await?.ok_or_else(|| {
        ToolError::new(format!(
            "Jules shows no changes of job {}; its state is {}",
            job.id,
            job.state.as_str()
        ))
    })?;
    let diff = all.patch;
    let whole = match &input.file {
        None => diff.as_str(),
        Some(file) => patch::of_file(&diff, file).ok_or_else(|| {
            let names: Vec<_> = patch::changed_files(&diff)
                .into_iter()
                .take(MAX_FILES)
                .map(|one| one.path)
                .collect();
            ToolError::input(format!(
                "job {} does not change `{file}`, but {}",
                job.id,
                names.join(", ")
            ))
        })?,
    };
    let of = format!(
        "diff {} {}",
        job.id,
        input.file.as_deref().unwrap_or_default()
    );
    let (begin, length): (usize, usize) =
        cursor::open_cursor(&of, input.cursor.as_deref())?.unwrap_or((0, whole.len()));
    if length != whole.len() || !whole.is_char_boundary(begin) {
        return Err(ToolError::input(
            "the changes are no longer those of this `cursor`; start again without it",
        ));
    }
    let rest = &whole[begin..];
    let end = if rest.len() <= bytes {
        rest.len()
    } else {
        // Parts end at a line; only a longer line is divided.
        let end = char_boundary_before(rest, bytes);
        rest[..end]
            .rfind('\n')
            .map_or_else(|| end.max(first_char(rest)), |at| at + 1)
    };
    let truncated = end < rest.len();
    Ok(DiffOutput {
        base_commit: all.base,
        head_sha: head_of(&context, &job).await,
        job_id: job.id.to_string(),
        diff: rest[..end].to_owned(),
        truncated,
        total_bytes: whole.len(),
        next_cursor: truncated.then(|| cursor::seal_cursor(&of, &(begin + end, whole.len()))),
    })
}

fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}
