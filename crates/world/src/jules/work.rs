//! Changes files, pushes branches and opens pull requests for a session.
//!
//! Scripted paths and texts may hold placeholders: `{{session}}` (the id), `{{n}}` (the session's number, from 1),
//! `{{hex6}}` (six hexadecimal digits, the same throughout one edit), `{{date}}` (`2026-01-14`) and `{{time}}`
//! (`2026-01-14T10:00:00Z`).

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use jiff::{Timestamp, tz};

use super::file_texts::FileTexts;
use super::ideas::{Idea, Ideas};
use super::patch;
use super::sample_texts;
use super::session::Session;
use crate::github::{self, NewPull, Oid, RepoId};
use crate::knobs::{BranchForm, CommitAuthor, Knobs, PullAuthor};

/// The login under which Jules acts on GitHub.
pub const BOT: &str = "google-labs-jules[bot]";

/// The last line of a commit that is a person's, with Jules as co-author.
const CO_AUTHOR: &str = "Co-authored-by: google-labs-jules[bot] <161369871+google-labs-jules[bot]@users.noreply.github.com>";

/// Share of sessions whose made-up work also adds a line to the README, where two of them may conflict.
const TOUCHES_README: f64 = 0.15;

/// The facts of a session for its worker.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The title as it was sent.
    pub title: &'a str,
    /// The prompt as it was sent.
    pub prompt: &'a str,
    /// The source's name; empty without one.
    pub source: &'a str,
    /// The repository and the commit that the session works on.
    pub checkout: Option<(RepoId, Oid)>,
    /// How many messages have woken the session again.
    pub follow_ups: usize,
    /// The present instant.
    pub now: Timestamp,
}

/// Does the work of sessions without scripted files, for example by reading what the prompt asks for.
pub trait Worker: Send + fmt::Debug {
    /// The files that the session changes; `None` leaves it to the model to make something up.
    fn change_files(&mut self, task: &Task<'_>, github: &github::Model) -> Option<FileTexts>;
}

impl Session {
    /// The session as a worker sees it.
    pub(super) fn worker_task(&self, now: Timestamp) -> Task<'_> {
        Task {
            session: &self.record.id,
            title: &self.record.title,
            prompt: &self.record.prompt,
            source: &self.source,
            checkout: self
                .checkout
                .as_ref()
                .map(|checkout| (checkout.repo, checkout.base)),
            follow_ups: self.follow_ups,
            now,
        }
    }

    /// Changes files and brings the cumulative patch up to date.
    pub(super) fn edit_files(
        &mut self,
        files: &FileTexts,
        ordinal: usize,
        now: Timestamp,
        github: &github::Model,
    ) {
        let hex = format!("{:06x}", self.chance.random_bits() & 0xff_ffff);
        let fill = |text: &str| {
            if !text.contains("{{") {
                return text.to_owned();
            }
            text.replace("{{session}}", &self.record.id)
                .replace("{{n}}", &ordinal.to_string())
                .replace("{{hex6}}", &hex)
                .replace(
                    "{{date}}",
                    &now.to_zoned(tz::TimeZone::UTC).date().to_string(),
                )
                .replace("{{time}}", &format!("{now:.0}"))
        };
        let changes: Vec<_> = files
            .iter()
            .map(|(path, text)| {
                (
                    fill(path),
                    text.as_deref().map(|text| Bytes::from(fill(text))),
                )
            })
            .collect();
        self.changes.extend(changes);
        self.refresh_patch(github);
        self.mark_changed(now);
    }

    /// Plans an idea; another one where a plan was turned down and the session heeds.
    pub(super) fn have_idea(&mut self, ideas: &Ideas) {
        if !self.record.auto_create_pull || self.scenario.beats.is_some() {
            return;
        }
        let refused = self.idea;
        if refused.is_none() || self.chance.happens(ideas.heeds_plan) {
            let idea = ideas.draw(&self.record.prompt, refused, &mut self.chance);
            self.idea = Some(idea);
        }
        self.record.ideas.extend(self.idea.map(Idea::title));
    }

    /// The changes of the session's idea, or something made up.
    pub(super) fn own_changes(
        &mut self,
        ideas: Option<&Ideas>,
        github: &github::Model,
    ) -> FileTexts {
        let (Some(idea), Some(ideas)) = (self.idea, ideas) else {
            return self.plausible_changes(github);
        };
        let Some(checkout) = self.checkout.clone() else {
            return FileTexts::new();
        };
        if !self.changes.is_empty() {
            // A message after completion asks for more; within the work the idea is done.
            return match self.follow_ups {
                0 => FileTexts::new(),
                _ => self.plausible_changes(github),
            };
        }
        let title = idea.title();
        let mut pulls = github.pulls(checkout.repo);
        let again = pulls.any(|pull| pull.title == title);
        let before = |path: &str| github.read_file(checkout.repo, checkout.base, path);
        ideas.files(idea, again, before, &mut self.chance)
    }

    /// The title of its pull request.
    fn work_title(&self) -> String {
        let scripted = self.scenario.pull_title.clone();
        let idea = || self.idea.map(Idea::title);
        scripted.or_else(idea).unwrap_or_else(|| self.own_title())
    }

    /// Makes up small plausible changes.
    pub(super) fn plausible_changes(&mut self, github: &github::Model) -> FileTexts {
        let slug = sample_texts::branch_slug(&self.own_title());
        let tail = &self.record.id[self.record.id.len() - 6..];
        let (heading, text) = sample_texts::progress_text(&mut self.chance);
        let path = format!("docs/notes/{slug}-{tail}.md");
        let before = self
            .changes
            .get(&path)
            .cloned()
            .flatten()
            .unwrap_or_default();
        let before = String::from_utf8_lossy(&before);
        let mut files = FileTexts::new();
        let addition = format!("# {}\n\n## {heading}\n\n{text}\n", self.own_title());
        files.insert(path, Some(format!("{before}{addition}")));
        let readme = self
            .checkout
            .as_ref()
            .and_then(|checkout| github.read_file(checkout.repo, checkout.base, "README.md"));
        if let Some(readme) = readme
            && self.chance.happens(TOUCHES_README)
        {
            let readme = String::from_utf8_lossy(&readme);
            files.insert(
                "README.md".to_owned(),
                Some(format!("{}\n\n{text}\n", readme.trim_end())),
            );
        }
        files
    }

    fn refresh_patch(&mut self, github: &github::Model) {
        let checkout = self.checkout.as_ref();
        let sides: BTreeMap<_, _> = self
            .changes
            .iter()
            .map(|(path, new)| {
                let old = checkout
                    .and_then(|checkout| github.read_file(checkout.repo, checkout.base, path));
                (path.clone(), (old, new.clone()))
            })
            .collect();
        self.patch = patch::unified_diff(&sides);
    }

    /// Pushes the changes on the session's own branch and opens the pull request, if there is anything to push.
    ///
    /// With `replay`, everything that differs from the base is put back first, as sessions were seen to do that
    /// pin their base commit. This undoes what others pushed to the branch in the meantime.
    pub(super) fn push_changes(
        &mut self,
        replay: bool,
        login: &str,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
    ) {
        let Some(checkout) = self.checkout.clone() else {
            return;
        };
        if self.patch.is_empty() {
            return;
        }
        knobs.count_use("pull-author", knobs.pull_author != PullAuthor::Bot);
        let author = match knobs.pull_author {
            PullAuthor::Bot => BOT,
            PullAuthor::User => login,
        };
        let known = self.record.branch.clone();
        let head = known
            .as_ref()
            .and_then(|branch| github.branch_head(checkout.repo, branch));
        let mut files: BTreeMap<String, Option<Bytes>> = BTreeMap::new();
        if let (true, Some(head)) = (replay, head) {
            let diff = github.diff(checkout.repo, checkout.base, head);
            for path in changed_paths(&diff) {
                let old = github.read_file(checkout.repo, checkout.base, &path);
                files.insert(path, old);
            }
        }
        files.extend(self.changes.clone());
        let files: Vec<_> = files.into_iter().collect();
        let parent = head.unwrap_or(checkout.base);
        let mut message = self.commit_message();
        knobs.count_use("commit-author", knobs.commit_author != CommitAuthor::Jules);
        let committer = match knobs.commit_author {
            CommitAuthor::Jules => BOT,
            CommitAuthor::CoAuthored => {
                message.push_str(&format!("\n\n{CO_AUTHOR}\n"));
                login
            }
            CommitAuthor::User => login,
        };
        let repo = checkout.repo;
        let commit = github.commit_files(repo, Some(parent), &files, committer, &message, now);
        let branch = known.unwrap_or_else(|| self.branch_name(knobs));
        if let Some(refusal) = github.push_refusal(checkout.repo, &branch, commit) {
            let reason = format!("The branch {branch} could not be pushed: {refusal}");
            return self.fail_session(reason, now, knobs);
        }
        self.record.commits.push(commit.to_string());
        if head.is_some() {
            github.move_branch(checkout.repo, &branch, commit, author, now);
        } else {
            github.create_branch(checkout.repo, &branch, commit, author, now);
        }
        self.record.branch = Some(branch.clone());
        // The starting branch may be deleted by now, for example after its pull request was merged. No pull request can
        // lead there, so the work is only pushed.
        let base = github.branch_head(checkout.repo, &self.record.starting_branch);
        if self.record.pull.is_none() && base.is_some() {
            let new = NewPull {
                title: self.work_title(),
                body: self.pull_body(login),
                head: branch,
                base: self.record.starting_branch.clone(),
                draft: self
                    .scenario
                    .draft
                    .unwrap_or_else(|| knobs.count_use("draft-pulls", knobs.draft_pulls)),
                author: author.to_owned(),
            };
            self.record.pull = Some(github.open_pull(checkout.repo, new, now));
        }
        self.mark_changed(now);
    }

    fn branch_name(&mut self, knobs: &Knobs) -> String {
        let id = self.record.id.clone();
        if let Some(stem) = &self.scenario.branch {
            return format!("{stem}-{id}");
        }
        let hex = match knobs.branch_form {
            BranchForm::Slug => false,
            BranchForm::JulesHex => true,
            BranchForm::Mixed => self.chance.happens(0.5),
        };
        if knobs.count_use("branch-form", hex) {
            return format!("jules-{id}-{:08x}", self.chance.random_bits() >> 32);
        }
        let category = sample_texts::branch_category(&mut self.chance);
        format!(
            "{category}/{}-{id}",
            sample_texts::branch_slug(&self.work_title())
        )
    }

    fn pull_body(&self, login: &str) -> String {
        let id = &self.record.id;
        let text = self.scenario.pull_body.clone().unwrap_or_else(|| {
            let files: String = self
                .changes
                .keys()
                .map(|path| format!("- `{path}`\n"))
                .collect();
            format!(
                "This change does what was asked: {}.\n\nFiles:\n{files}",
                self.work_title()
            )
        });
        format!(
            "{}\n\n---\n*PR created automatically by Jules for task [{id}](https://jules.google.com/task/{id}) started by @{login}*",
            text.trim_end()
        )
    }
}

/// The paths that a unified diff touches.
fn changed_paths(diff: &str) -> Vec<String> {
    diff.lines()
        .filter_map(|line| line.strip_prefix("diff --git a/"))
        .filter_map(|names| names.split_once(" b/").map(|(path, _)| path.to_owned()))
        .collect()
}
