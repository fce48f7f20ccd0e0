//! The credential for GitHub, and whether it is sufficient.

use jiff::Timestamp;

use super::finding::{Findings, Grade, Group};
use super::repository::CheckedRepository;
use crate::adapters::github::{
    Client, Credential, RepositoryAccess, Right, TOKEN_RIGHTS, TokenKind,
};
use crate::cli::context::clock::{self, CLOCK_MAY_DIFFER};
use crate::cli::context::{clients, credential_help};
use crate::cli::exit::CliError;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::admin::check::{self, check_app};

/// Report clocks that differ by more than this many seconds. App credentials fail at slightly more.
const MAX_SKEW_SECONDS: i64 = 120;
/// The rights that a tick requires. Others are only recommended.
const REQUIRED_RIGHTS: [Right; 3] = [Right::Contents, Right::Issues, Right::PullRequests];
/// Jules answers comments of the account that started its task, and of no other account. A person's token therefore
/// matters: <https://jules.google/docs/>.
const ACCOUNT_WARNING: &str = "phileas comments as that person, and where the Jules key is theirs, too, Jules may take a comment for \
                        a task: switch on Reactive Mode in Jules' settings";
/// Scopes that grant far more than phileas uses.
const BROAD_SCOPES: [&str; 5] = [
    "workflow",
    "delete_repo",
    "admin:org",
    "admin:enterprise",
    "site_admin",
];

/// Reports the kind of the credential. Returns the kind of a token, or `None` for an App.
pub(super) async fn check_kind(
    credential: &Credential,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) -> Result<Option<TokenKind>, CliError> {
    findings.group = Group::Credential;
    let from = credential_help::github_variables();
    let token = match credential {
        Credential::App(app) => {
            let client = clients::app_client(app.clone())?;
            let owner = place.repository.owner.as_str();
            for one in check_app(&client, place.github, Some(owner)).await {
                let (text, help) = match one.text.rsplit_once("; ") {
                    Some((text, help)) if one.grade > check::Grade::Hint => {
                        (text.to_owned(), Some(help.to_owned()))
                    }
                    _ => (one.text.clone(), None),
                };
                let grade = match one.grade {
                    check::Grade::Good => Grade::Good,
                    check::Grade::Hint => Grade::Hint,
                    check::Grade::Unavailable => Grade::Unavailable,
                    check::Grade::Configuration => Grade::Error,
                    check::Grade::Credential => Grade::Credential,
                };
                let text = format!("{}: {text}", one.about);
                let help = help.or_else(|| {
                    let page = format!("{}/settings/apps", place.github);
                    (grade > Grade::Hint).then_some(page)
                });
                findings.add_finding(grade, "credential.app", text, help);
            }
            return Ok(None);
        }
        Credential::Token(token) | Credential::WorkflowToken(token) => token,
        Credential::Shared(_) => return Ok(None),
    };
    let kind = token.kind();
    let what = match (kind, credential) {
        (_, Credential::WorkflowToken(_)) => "the job's own GITHUB_TOKEN",
        (TokenKind::Classic, _) => "a classic personal access token",
        (TokenKind::FineGrained, _) => "a fine-grained personal access token",
        (TokenKind::OnBehalfOfPerson, _) => "an App's token on behalf of a person",
        (TokenKind::Installation, _) => "a token of an App's installation, which lives an hour",
        (TokenKind::Unknown, _) => {
            findings.add_unknown(
                "credential.kind",
                format!(
                    "the token in {from} is of an unknown kind: it does not begin as GitHub's tokens do, such as `ghp_` or \
                     `github_pat_`; if GitHub refuses it, copy the whole token again"
                ),
            );
            return Ok(Some(kind));
        }
    };
    let is_of_person = matches!(
        kind,
        TokenKind::Classic | TokenKind::FineGrained | TokenKind::OnBehalfOfPerson
    ) && !matches!(credential, Credential::WorkflowToken(_));
    findings.add_good(
        "credential.kind",
        match is_of_person {
            true => format!("{what}, from {from}; {ACCOUNT_WARNING}"),
            false => format!("{what}, from {from}"),
        },
    );
    Ok(Some(kind))
}

/// Reports why GitHub does not show the repository.
pub(super) fn report_unreadable_repository(
    failure: &Failure,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    let from = credential_help::github_variables();
    let tokens = format!("{}/settings/tokens", place.github);
    match failure.disposition {
        Disposition::Denied => findings.add_credential(
            "credential.refused",
            format!("GitHub refuses the credential from {from}: {}", failure.detail),
            format!("make a new one at {tokens} and set it in {from}"),
        ),
        Disposition::NotFound => findings.add_credential(
            "credential.unseen",
            format!(
                "the credential from {from} does not see {}: the name is wrong, or the credential lacks access",
                place.repository
            ),
            format!(
                "{tokens}: a classic token of a private repository needs the scope `repo`, a fine-grained one this repository; an App must be installed on it"
            ),
        ),
        _ => findings.add_finding(
            Grade::Unavailable,
            "credential.unavailable",
            format!("GitHub cannot be asked: {}", failure.detail),
            Some("see https://www.githubstatus.com, and what is between here and there".to_owned()),
        ),
    }
}

/// Checks what the credential may do in the repository.
pub(super) async fn check_rights(
    client: &Client,
    shown: &RepositoryAccess,
    kind: Option<TokenKind>,
    place: &CheckedRepository<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Credential;
    let tokens = format!("{}/settings/tokens", place.github);
    if shown.archived {
        findings.add_error(
            "credential.archived",
            "the repository is archived: nothing can be written",
            format!("{}/{}/settings", place.github, place.repository),
        );
    }
    let of_person = !matches!(kind, None | Some(TokenKind::Installation));
    if of_person && shown.push == Some(false) {
        findings.add_credential(
            "credential.push",
            "the token's person may not push here; the ledger is a branch of the repository",
            format!(
                "{}/{}/settings/access: give them the role Write",
                place.github, place.repository
            ),
        );
    }
    if let Some(scopes) = &shown.scopes {
        check_scopes(scopes, shown.private, &tokens, findings);
    }
    for right in Right::ALL {
        match client.may_read(right, &shown.default_branch).await {
            Ok(true) => {}
            Ok(false) if REQUIRED_RIGHTS.contains(&right) => findings.add_credential(
                "credential.rights",
                format!("the credential may not read `{}`", right.permission_name()),
                format!("{tokens}: grant {TOKEN_RIGHTS}"),
            ),
            Ok(false) => findings.add_hint(
                "credential.rights",
                format!(
                    "the credential may not read `{}`, so red checks hold nothing up",
                    right.permission_name()
                ),
                "grant it, or leave `gate.main_red` at \"ignore\"",
            ),
            Err(failure) => {
                findings.add_unread("credential.rights", right.permission_name(), &failure)
            }
        }
    }
    // GitHub lists scopes and an App's permissions. Rights of other tokens show only in a write.
    if kind.is_some() && shown.scopes.is_none() {
        let seen = if shown.private {
            ""
        } else {
            " Anyone may read a public repository."
        };
        findings.add_unknown(
            "credential.writes",
            format!("it is unknown whether this token may write: only a write would show it. It needs {TOKEN_RIGHTS}.{seen}"),
        );
    }
}

fn check_scopes(scopes: &[String], private: bool, tokens: &str, findings: &mut Findings) {
    let has = |name: &str| scopes.iter().any(|scope| scope == name);
    let wanted = if private { "repo" } else { "public_repo" };
    if !has("repo") && !has(wanted) {
        let told = if scopes.is_empty() {
            "none".to_owned()
        } else {
            scopes.join(", ")
        };
        return findings.add_credential(
            "credential.scopes",
            format!("the token lacks the scope `{wanted}` (it has: {told})"),
            format!("{tokens}: tick `{wanted}`"),
        );
    }
    let surplus: Vec<&str> = BROAD_SCOPES.into_iter().filter(|name| has(name)).collect();
    if surplus.is_empty() {
        findings.add_good(
            "credential.scopes",
            format!("its scopes suffice: {}", scopes.join(", ")),
        );
    } else {
        findings.add_hint(
            "credential.scopes",
            format!(
                "its scopes open more than phileas uses: {}",
                surplus.join(", ")
            ),
            format!(
                "{tokens}?type=beta: a fine-grained token for this repository alone ({TOKEN_RIGHTS})"
            ),
        );
    }
}

/// Compares this machine's clock with GitHub's. `real`: with that of github.com.
pub(super) fn check_clock(
    github: Option<Timestamp>,
    local: Timestamp,
    real: bool,
    findings: &mut Findings,
) {
    findings.group = Group::Status;
    let Some(github) = github else { return };
    match clock::may_differ() {
        Ok(false) => {}
        Ok(true) => {
            return findings.add_good(
                "status.clock",
                format!(
                    "this machine's clock may differ from GitHub's: {CLOCK_MAY_DIFFER} says so"
                ),
            );
        }
        Err(stopped) => {
            let help = format!("unset {CLOCK_MAY_DIFFER}");
            return findings.add_error("status.clock", stopped.message, help);
        }
    }
    let seconds = local.duration_since(github).as_secs();
    if seconds.abs() <= MAX_SKEW_SECONDS {
        return findings.add_good("status.clock", "this machine's clock agrees with GitHub's");
    }
    let side = if seconds > 0 { "ahead of" } else { "behind" };
    findings.add_hint(
        "status.clock",
        format!(
            "this machine's clock is {} s {side} GitHub's; decisions use GitHub's, but an App's credential is refused",
            seconds.abs()
        ),
        match real {
            true => "sudo timedatectl set-ntp true",
            // A model has its own time, so setting this machine's clock would fix nothing.
            false => {
                "where GITHUB_API_URL names a model with a time of its own, set PHILEAS_CLOCK_MAY_DIFFER=1; else set the \
                 clock of whichever of the two machines is wrong"
            }
        },
    );
}
