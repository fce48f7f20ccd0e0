//! Reads the feedback on pull requests and sessions: failed checks, remarks, comments and requests.

use std::collections::BTreeSet;

use phileas_domain::engine::{FailedChecks, ReadRequests, Snapshot};
use phileas_domain::model::{Oid, PullNumber};

use crate::runtime::ports::{Disposition, ReadGitHub};

/// Reads the output of failed checks. If it cannot be read, the message is sent without it; during
/// an outage of GitHub, the next tick reads it.
pub(super) async fn read_checks(github: &impl ReadGitHub, snapshot: &mut Snapshot, commit: &Oid) {
    let read = match github.read_checks(commit).await {
        Ok(read) => read,
        Err(failure) => {
            tracing::warn!(commit = commit.as_str(), %failure, "the output of checks could not be read");
            if !matches!(
                failure.disposition,
                Disposition::Denied | Disposition::Refused
            ) {
                return;
            }
            FailedChecks {
                hidden: true,
                ..FailedChecks::default()
            }
        }
    };
    snapshot.failed_checks.insert(commit.clone(), read);
}

/// Reads the remarks on a rejected pull request. Without the permission it counts as empty; during an outage of
/// GitHub, the next tick reads it.
pub(super) async fn read_remarks(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    pull: PullNumber,
) {
    let read = match github.read_remarks(pull).await {
        Ok(read) => read,
        Err(failure) => {
            tracing::warn!(pull = pull.0, %failure, "the remarks on a pull request could not be read");
            if matches!(
                failure.disposition,
                Disposition::Retry { .. } | Disposition::Unknown
            ) {
                return;
            }
            Vec::new()
        }
    };
    snapshot.remarks.insert(pull, read);
}

/// Reads comments beyond the first read. During an outage of GitHub, the next tick reads them from the same instant on.
pub(super) async fn read_comments(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    since: jiff::Timestamp,
) {
    match github.read_comments(since).await {
        Ok(further) => snapshot.comment_coverage.further = Some(further),
        Err(failure) => {
            tracing::warn!(%failure, "comments beyond the first read could not be read; the next tick reads them");
        }
    }
}

/// Reads the subjects of requests and the permissions of their authors. A request waits for what
/// cannot be read, and the next tick reads it again.
pub(super) async fn read_requests(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
) {
    if !needs.subjects.is_empty() {
        match github.read_subjects(&needs.subjects).await {
            Ok(mut read) => {
                snapshot.viewer = read.viewer.or(snapshot.viewer.take());
                for number in &needs.subjects {
                    let subject = read.subjects.remove(number);
                    snapshot.subjects.insert(*number, subject);
                }
            }
            Err(failure) => {
                tracing::warn!(%failure, "the subjects of requests could not be read; the next tick reads them again");
            }
        }
    }
    for login in &needs.permissions {
        match github.read_permission(login).await {
            Ok(permission) => {
                snapshot.permissions.insert(login.clone(), permission);
            }
            Err(failure) => {
                tracing::warn!(login = login.as_str(), %failure, "the permission of an account could not be read; its request waits");
            }
        }
    }
}

pub(super) async fn read_pulls(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    numbers: &BTreeSet<PullNumber>,
) {
    match github.read_pulls(numbers).await {
        Ok(pulls) => {
            let missing = numbers.iter().filter(|one| !pulls.contains_key(one));
            snapshot.missing_pulls.extend(missing);
            snapshot.pulls.extend(pulls);
        }
        Err(failure) => {
            tracing::warn!(%failure, "pull requests could not be read; they are read again by the next tick");
        }
    }
}

pub(super) async fn read_merge_facts(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    pull: PullNumber,
) {
    match github.read_merge_facts(pull).await {
        Ok(read) => {
            snapshot.merges.insert(pull, read);
        }
        Err(failure) => {
            tracing::warn!(pull = pull.0, %failure, "a pull request could not be read before its merge; the merge waits");
        }
    }
}

pub(super) async fn read_reviews(
    github: &impl ReadGitHub,
    snapshot: &mut Snapshot,
    pull: PullNumber,
) {
    match github.read_reviews(pull).await {
        Ok(read) => {
            snapshot.reviews.insert(pull, read);
        }
        Err(failure) => {
            tracing::warn!(pull = pull.0, %failure, "the remarks of reviewers could not be read; the session gets them \
                later");
        }
    }
}
