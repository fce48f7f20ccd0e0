//! Says which of GitHub's events may change what is due, and which are unknown.
//!
//! A wake costs one read of GitHub, so events that do not concern sessions, pull requests, requests
//! or the plan wake no repository. In doubt an event wakes: a new action of a waking event does,
//! too.
//!
//! Names and actions: GitHub's documentation, "Webhook events and payloads", and its published
//! examples.

/// What an event means for phileas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventInterest {
    /// Whether its repository must be ticked.
    pub(super) wakes: bool,
    pub(super) familiar: EventFamiliarity,
}

/// Whether the event and its action were known when this was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventFamiliarity {
    Known,
    UnknownEvent,
    UnknownAction,
}

/// An event that may change what is due.
struct WakingActions {
    event: &'static str,
    /// Its waking actions, if it has actions.
    actions: &'static [&'static str],
    /// Its other actions: each announces something that another action ends.
    idle: &'static [&'static str],
}

const fn waking_actions(
    event: &'static str,
    actions: &'static [&'static str],
    idle: &'static [&'static str],
) -> WakingActions {
    WakingActions {
        event,
        actions,
        idle,
    }
}

const WAKING: [WakingActions; 15] = [
    waking_actions(
        "check_run",
        &["completed"],
        &["created", "requested_action", "rerequested"],
    ),
    waking_actions("check_suite", &["completed"], &["requested", "rerequested"]),
    waking_actions("delete", &[], &[]),
    waking_actions(
        "issue_comment",
        &["created", "edited", "deleted", "pinned", "unpinned"],
        &[],
    ),
    waking_actions(
        "issues",
        &[
            "assigned",
            "closed",
            "deleted",
            "demilestoned",
            "edited",
            "labeled",
            "locked",
            "milestoned",
            "opened",
            "pinned",
            "reopened",
            "transferred",
            "typed",
            "unassigned",
            "unlabeled",
            "unlocked",
            "unpinned",
            "untyped",
        ],
        &[],
    ),
    waking_actions("member", &["added", "edited", "removed"], &[]),
    waking_actions(
        "pull_request",
        &[
            "assigned",
            "auto_merge_disabled",
            "auto_merge_enabled",
            "closed",
            "converted_to_draft",
            "demilestoned",
            "dequeued",
            "edited",
            "enqueued",
            "labeled",
            "locked",
            "milestoned",
            "opened",
            "ready_for_review",
            "reopened",
            "review_request_removed",
            "review_requested",
            "synchronize",
            "unassigned",
            "unlabeled",
            "unlocked",
        ],
        &[],
    ),
    waking_actions(
        "pull_request_review",
        &["dismissed", "edited", "submitted"],
        &[],
    ),
    waking_actions(
        "pull_request_review_comment",
        &["created", "deleted", "edited"],
        &[],
    ),
    waking_actions("push", &[], &[]),
    waking_actions(
        "repository",
        &[
            "archived",
            "edited",
            "publicized",
            "privatized",
            "renamed",
            "transferred",
            "unarchived",
        ],
        &["created", "deleted"],
    ),
    waking_actions("repository_dispatch", &[], &[]),
    waking_actions("status", &[], &[]),
    waking_actions("workflow_dispatch", &[], &[]),
    waking_actions(
        "workflow_run",
        &["completed"],
        &["in_progress", "requested"],
    ),
];

/// Events that wake no repository.
const IDLE: [&str; 66] = [
    "branch_protection_configuration",
    "branch_protection_rule",
    "code_scanning_alert",
    "commit_comment",
    "create",
    "custom_property",
    "custom_property_promoted_to_enterprise",
    "custom_property_values",
    "dependabot_alert",
    "deploy_key",
    "deployment",
    "deployment_protection_rule",
    "deployment_review",
    "deployment_status",
    "discussion",
    "discussion_comment",
    "exemption_request_push_ruleset",
    "fork",
    "github_app_authorization",
    "gollum",
    "installation",
    "installation_repositories",
    "installation_target",
    "issue_dependencies",
    "label",
    "marketplace_purchase",
    "membership",
    "merge_group",
    "meta",
    "milestone",
    "org_block",
    "organization",
    "package",
    "page_build",
    "personal_access_token_request",
    "ping",
    "project",
    "project_card",
    "project_column",
    "projects_v2",
    "projects_v2_item",
    "projects_v2_status_update",
    "public",
    "pull_request_review_thread",
    "registry_package",
    "release",
    "repository_advisory",
    "repository_import",
    "repository_ruleset",
    "repository_vulnerability_alert",
    "secret_scanning_alert",
    "secret_scanning_alert_location",
    "secret_scanning_scan",
    "security_advisory",
    "security_and_analysis",
    "sponsorship",
    "star",
    "sub_issues",
    "team",
    "team_add",
    "watch",
    "workflow_job",
    "bypass_request_push_ruleset",
    "bypass_request_secret_scanning",
    "dismissal_request_code_scanning",
    "dismissal_request_secret_scanning",
];

/// Whether an event may change the list of repositories, their names or their permissions.
pub(super) fn changes_repositories(event: &str) -> bool {
    event.starts_with("installation") || event == "repository"
}

/// Whether an event must be handled: a repository must be checked, or the list of repositories may
/// have changed.
pub(in crate::server) fn is_relevant(event: &str, action: Option<&str>) -> bool {
    event_interest(event, action).wakes || changes_repositories(event)
}

/// What an event with this action means for phileas.
pub(super) fn event_interest(event: &str, action: Option<&str>) -> EventInterest {
    let Some(waking) = WAKING.iter().find(|waking| waking.event == event) else {
        let familiar = if IDLE.contains(&event) {
            EventFamiliarity::Known
        } else {
            EventFamiliarity::UnknownEvent
        };
        return EventInterest {
            wakes: false,
            familiar,
        };
    };
    let has = |actions: &[&str]| action.is_some_and(|action| actions.contains(&action));
    let named = !waking.actions.is_empty();
    EventInterest {
        wakes: !has(waking.idle),
        familiar: if !named || action.is_none() || has(waking.actions) || has(waking.idle) {
            EventFamiliarity::Known
        } else {
            EventFamiliarity::UnknownAction
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r30_what_matters_wakes_and_what_is_new_is_counted() {
        let known = |wakes| EventInterest {
            wakes,
            familiar: EventFamiliarity::Known,
        };
        assert_eq!(event_interest("issues", Some("labeled")), known(true));
        assert_eq!(event_interest("push", None), known(true));
        assert_eq!(
            event_interest("repository_dispatch", Some("my-own")),
            known(true)
        );
        assert_eq!(event_interest("check_run", Some("completed")), known(true));
        assert_eq!(event_interest("check_run", Some("created")), known(false));
        assert_eq!(event_interest("star", Some("created")), known(false));
        assert_eq!(event_interest("ping", None), known(false));
        let new_action = event_interest("check_run", Some("teleported"));
        assert_eq!(
            new_action,
            EventInterest {
                wakes: true,
                familiar: EventFamiliarity::UnknownAction
            }
        );
        let new_event = event_interest("holodeck", Some("created"));
        assert_eq!(
            new_event,
            EventInterest {
                wakes: false,
                familiar: EventFamiliarity::UnknownEvent
            }
        );
    }

    #[test]
    fn no_event_is_listed_twice() {
        let mut all: Vec<&str> = WAKING.iter().map(|waking| waking.event).collect();
        all.extend(IDLE);
        let listed = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), listed);
    }
}
