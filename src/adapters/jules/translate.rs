//! Translates Jules' answers into the domain's types.

use jiff::Timestamp;
use phileas_domain::engine::{Activity, ActivityKind, PlanStep, Session, SessionState};
use phileas_domain::jobs::{AccountSession, Changes, PullLink, SessionPull};
use phileas_domain::model::{Marker, PullNumber, RepositoryId, RepositoryName, SessionId};

use super::wire::{self, Kind, Output};

/// The identity of the repository whose sessions are searched. Jules keeps the name under which a session was
/// created; only GitHub's id stays the same.
#[derive(Debug, Clone)]
pub(super) struct Repository {
    /// Its id, once GitHub has reported it.
    pub(super) id: Option<RepositoryId>,
    /// Its present name, as far as it is known.
    pub(super) name: RepositoryName,
    /// The configured name, which may be from before a rename.
    pub(super) typed: RepositoryName,
}

impl Repository {
    fn is_named(&self, name: &RepositoryName) -> bool {
        self.name == *name || self.typed == *name
    }

    /// Whether a session's prompt ends with phileas' line for this repository's id.
    fn session_wrote(&self, session: &wire::Session) -> bool {
        Marker::from_prompt(&session.prompt).is_some_and(|line| self.id == Some(line.repository))
    }
}

/// Whose a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOwner {
    /// It works on this repository, according to its source or to phileas' line in its prompt.
    Ours,
    /// It does not say what it works on, but has a phileas marker that only its own repository knows; or its name may
    /// be a former one and its prompt is hidden.
    Unnamed,
    /// It belongs to another repository.
    Foreign,
}

/// Whether a listed session belongs to this repository.
pub(super) fn session_owner(session: &wire::Session, repository: &Repository) -> SessionOwner {
    if repository.session_wrote(session) {
        return SessionOwner::Ours;
    }
    match source(session) {
        Some(source) if repository.is_named(&source) => SessionOwner::Ours,
        // It may have been started under a former name, and the listing hides the prompt that shows it.
        Some(_) if session.prompt.is_empty() => SessionOwner::Unnamed,
        Some(_) => SessionOwner::Foreign,
        None => {
            let marked = Marker::from_title(&session.title).is_some()
                || Marker::from_prompt(&session.prompt).is_some();
            if marked {
                SessionOwner::Unnamed
            } else {
                SessionOwner::Foreign
            }
        }
    }
}

/// The domain's session. `fallback` replaces a missing time of creation.
pub(super) fn domain_session(
    session: &wire::Session,
    repository: &Repository,
    fallback: Timestamp,
) -> Session {
    let updated_at = session.update_time.parse().ok();
    let source = source(session);
    // A session that belongs to us by its prompt or title alone names its pull requests by the repository's former
    // name.
    let former = source
        .as_ref()
        .filter(|_| repository.session_wrote(session) || session.prompt.is_empty());
    let is_ours = |name: &RepositoryName| repository.is_named(name) || former == Some(name);
    let mut pulls: Vec<PullNumber> = Vec::new();
    let mut has_changes = false;
    for output in &session.outputs {
        match output {
            Output::PullRequest(pull) => {
                has_changes = true;
                let number = pull_number(&pull.url, is_ours);
                pulls.extend(number.filter(|number| !pulls.contains(number)));
            }
            Output::ChangeSet(changes) => has_changes |= changes.has_changes(),
            Output::Unknown(_) => {}
        }
    }
    let elsewhere = session.prompt.is_empty()
        && source
            .as_ref()
            .is_some_and(|name| !repository.is_named(name));
    Session {
        id: SessionId::new(session.session_id()),
        state: session_state(&session.state),
        title: session.title.clone(),
        prompt: (!session.prompt.is_empty()).then(|| session.prompt.clone()),
        elsewhere,
        source: source.clone().filter(|_| !elsewhere),
        created_at: created_at(session).or(updated_at).unwrap_or(fallback),
        updated_at,
        archived: session.archived,
        pulls,
        has_changes,
    }
}

/// The session as its account sees it. `None`: its id is invalid.
pub(super) fn account_session(session: wire::Session) -> Option<AccountSession> {
    let id = session.session_id().parse().ok()?;
    let created_at = created_at(&session);
    let repository = source(&session);
    let branch = session
        .source_context
        .map(|context| context.github_repo_context.starting_branch);
    let mut pulls: Vec<SessionPull> = Vec::new();
    let mut changes = None;
    for output in session.outputs {
        match output {
            Output::PullRequest(pull) if pulls.iter().all(|known| known.url != pull.url) => {
                pulls.push(SessionPull {
                    link: PullLink::parse(&pull.url),
                    url: pull.url,
                    title: pull.title,
                });
            }
            Output::ChangeSet(set) => changes = changes_of(set).or(changes),
            Output::PullRequest(_) | Output::Unknown(_) => {}
        }
    }
    Some(AccountSession {
        id,
        state: session_state(&session.state),
        title: session.title,
        prompt: session.prompt,
        repository,
        branch: branch.filter(|branch| !branch.is_empty()),
        url: session.url,
        created_at,
        updated_at: session.update_time.parse().ok(),
        archived: session.archived,
        pulls,
        changes,
    })
}

/// The changes of a change set; `None`: it is empty.
pub(super) fn changes_of(set: wire::ChangeSet) -> Option<Changes> {
    set.has_changes().then_some(Changes {
        patch: set.git_patch.unidiff_patch,
        base: set.git_patch.base_commit_id,
        message: set.git_patch.suggested_commit_message,
    })
}

/// When a session was created, if it says so.
pub(super) fn created_at(session: &wire::Session) -> Option<Timestamp> {
    session.create_time.parse().ok()
}

/// A session's state.
pub(super) fn session_state(text: &str) -> SessionState {
    match text {
        "QUEUED" => SessionState::Queued,
        "PLANNING" => SessionState::Planning,
        "AWAITING_PLAN_APPROVAL" => SessionState::AwaitingPlanApproval,
        "AWAITING_USER_FEEDBACK" => SessionState::AwaitingUserFeedback,
        "IN_PROGRESS" => SessionState::InProgress,
        "PAUSED" => SessionState::Paused,
        "COMPLETED" => SessionState::Completed,
        "FAILED" => SessionState::Failed,
        "" => SessionState::Unknown("STATE_UNSPECIFIED".to_owned()),
        other => SessionState::Unknown(other.to_owned()),
    }
}

/// Jules' usual name of a repository.
pub(super) fn source_name(repository: &RepositoryName) -> String {
    format!("sources/github/{repository}")
}

fn source(session: &wire::Session) -> Option<RepositoryName> {
    repository_of(&session.source_context.as_ref()?.source)
}

/// The repository of a source's name.
pub(super) fn repository_of(source: &str) -> Option<RepositoryName> {
    source.strip_prefix("sources/github/")?.parse().ok()
}

/// The number in a pull request's URL, if it is one of this repository.
fn pull_number(url: &str, is_ours: impl Fn(&RepositoryName) -> bool) -> Option<PullNumber> {
    let link = PullLink::parse(url)?;
    is_ours(&link.repository).then_some(link.number)
}

/// The domain's activity. `fallback` replaces a missing time.
pub(super) fn domain_activity(activity: &wire::Activity, fallback: Timestamp) -> Activity {
    Activity {
        id: activity_id(activity),
        at: activity.create_time.parse().unwrap_or(fallback),
        kind: activity_kind(&activity.kind),
        has_changes: activity.change_set().is_some(),
    }
}

/// An activity's id. An activity without one is named after its time.
pub(super) fn activity_id(activity: &wire::Activity) -> String {
    match activity.activity_id() {
        "" => format!("at-{}", activity.create_time),
        id => id.to_owned(),
    }
}

/// What an activity is.
pub(super) fn activity_kind(kind: &Kind) -> ActivityKind {
    match kind {
        Kind::AgentMessaged(text) => ActivityKind::AgentMessaged(text.clone()),
        Kind::UserMessaged(text) => ActivityKind::UserMessaged(text.clone()),
        Kind::PlanGenerated(plan) => {
            let mut steps: Vec<_> = plan.steps.iter().collect();
            steps.sort_by_key(|step| step.index);
            let steps = steps.into_iter().map(|step| PlanStep {
                title: step.title.clone(),
                description: step.description.clone(),
            });
            ActivityKind::PlanGenerated {
                id: plan.id.clone(),
                steps: steps.collect(),
            }
        }
        Kind::PlanApproved(_) => ActivityKind::PlanApproved,
        Kind::ProgressUpdated { title, .. } => ActivityKind::Progress {
            title: title.clone(),
        },
        Kind::SessionCompleted => ActivityKind::Completed,
        Kind::SessionFailed(reason) => ActivityKind::Failed(reason.clone()),
        Kind::Unknown(name, _) => ActivityKind::Unknown(name.clone()),
        Kind::Missing => ActivityKind::Unknown(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listing may hide prompts, and a session keeps the name that the repository had at its beginning.
    #[test]
    fn a_session_under_a_former_name_is_left_to_the_repository_that_knows_its_turn() {
        let repository = Repository {
            id: Some(RepositoryId(7)),
            name: "acme/widget".parse().unwrap(),
            typed: "acme/widget".parse().unwrap(),
        };
        let listed = |title: &str, prompt: &str| -> wire::Session {
            serde_json::from_value(serde_json::json!({
                "name": "sessions/1",
                "title": title,
                "prompt": prompt,
                "sourceContext": { "source": "sources/github/acme/sprocket" },
                "outputs": [{ "pullRequest": { "url": "https://github.com/acme/sprocket/pull/12" } }],
            }))
            .unwrap()
        };
        for title in ["tester: default [phileas:222222222222.1]", ""] {
            let unsaid = listed(title, "");
            assert_eq!(session_owner(&unsaid, &repository), SessionOwner::Unnamed);
            let read = domain_session(&unsaid, &repository, Timestamp::UNIX_EPOCH);
            assert!(read.elsewhere);
            assert_eq!((read.source, read.pulls), (None, vec![PullNumber(12)]));
        }
        let other = listed("tester: default [phileas:222222222222.1]", "Do it.");
        assert_eq!(session_owner(&other, &repository), SessionOwner::Foreign);
        assert!(!domain_session(&other, &repository, Timestamp::UNIX_EPOCH).elsewhere);
    }

    #[test]
    fn only_pull_requests_of_this_repository_count() {
        let repository: RepositoryName = "acme/widget".parse().unwrap();
        let number =
            |url: &str| pull_number(url, |name| *name == repository).map(|number| number.0);
        for url in [
            "https://github.com/acme/widget/pull/12",
            "https://github.com/Acme/Widget/pull/12/files",
            "https://www.github.com/acme/widget/pull/12?w=1",
            "https://GitHub.com/acme/widget/pull/12#discussion",
        ] {
            assert_eq!(number(url), Some(12), "{url}");
        }
        for url in [
            "https://github.com/acme/gadget/pull/12",
            "https://github.com/acme/widget/issues/12",
            "https://github.com/acme/widget/pull/",
            "https://github.com/acme/widget/pull/+12",
            "https://github.com/acme/widget/pull/0",
            "https://github.com.example/acme/widget/pull/12",
            "https://example/github.com/acme/widget/pull/12",
            "acme/widget#12",
            "",
        ] {
            assert_eq!(number(url), None, "{url}");
        }
    }
}
