//! Who phileas is to GitHub, and whether that is enough.

use jiff::Timestamp;

use super::finding::{Findings, Grade, Group};
use super::place::Place;
use crate::adapters::github::{Client, Credential, Kind, Right, Shown};
use crate::cli::context::{clients, credential_help};
use crate::cli::exit::Stopped;
use crate::runtime::ports::{Disposition, Failure};
use crate::server::admin::check::{self, check_app};

/// Clocks that differ by more than this many seconds are worth a word; App credentials fail soon after.
const MOST_SKEW_SECONDS: i64 = 120;
/// What must be readable for a tick; the others are only missed.
const WANTED: [Right; 3] = [Right::Contents, Right::Issues, Right::PullRequests];
/// What a token needs, in the words of its form.
const RIGHTS: &str =
    "Contents, Issues and Pull requests: read and write; Checks and Commit statuses: read";
/// What a person's token means for Jules, which answers comments of the account that started its task, and of no other one:
/// <https://jules.google/docs/>.
const REACTIVE: &str = "phileas comments as that person, and where the Jules key is theirs, too, Jules may take a comment for \
                        a task: switch on Reactive Mode in Jules' settings";
/// Scopes that open far more than phileas ever uses.
const SURPLUS: [&str; 5] = [
    "workflow",
    "delete_repo",
    "admin:org",
    "admin:enterprise",
    "site_admin",
];

/// What the credential is by itself. The kind of a token, or `None` for an App.
pub(super) async fn kind(
    credential: &Credential,
    place: &Place<'_>,
    findings: &mut Findings,
) -> Result<Option<Kind>, Stopped> {
    findings.group = Group::Credential;
    let from = credential_help::github_variables();
    let token = match credential {
        Credential::App(app) => {
            let client = clients::app(app.clone())?;
            let owner = place.repository.owner.as_str();
            for one in check_app(&client, place.github, Some(owner)).await {
                let (text, mend) = match one.text.rsplit_once("; ") {
                    Some((text, mend)) if one.grade > check::Grade::Hint => {
                        (text.to_owned(), Some(mend.to_owned()))
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
                let mend = mend.or_else(|| {
                    let page = format!("{}/settings/apps", place.github);
                    (grade > Grade::Hint).then_some(page)
                });
                findings.add(grade, "credential.app", text, mend);
            }
            return Ok(None);
        }
        Credential::Token(token) | Credential::WorkflowToken(token) => token,
        Credential::Shared(_) => return Ok(None),
    };
    let kind = token.kind();
    let what = match (kind, credential) {
        (_, Credential::WorkflowToken(_)) => "the job's own GITHUB_TOKEN",
        (Kind::Classic, _) => "a classic personal access token",
        (Kind::FineGrained, _) => "a fine-grained personal access token",
        (Kind::OfPerson, _) => "an App's token on behalf of a person",
        (Kind::Installation, _) => "a token of an App's installation, which lives an hour",
        (Kind::Unknown, _) => {
            findings.unknown(
                "credential.kind",
                format!(
                    "a token from {from} that begins like none of those that GitHub describes; if GitHub refuses it, look \
                     whether it was copied whole"
                ),
            );
            return Ok(Some(kind));
        }
    };
    let is_of_person = matches!(kind, Kind::Classic | Kind::FineGrained | Kind::OfPerson)
        && !matches!(credential, Credential::WorkflowToken(_));
    findings.good(
        "credential.kind",
        match is_of_person {
            true => format!("{what}, from {from}; {REACTIVE}"),
            false => format!("{what}, from {from}"),
        },
    );
    Ok(Some(kind))
}

/// Why the repository is not shown.
pub(super) fn not_shown(failure: &Failure, place: &Place<'_>, findings: &mut Findings) {
    let from = credential_help::github_variables();
    let tokens = format!("{}/settings/tokens", place.github);
    match failure.disposition {
        Disposition::Denied => findings.credential(
            "credential.refused",
            format!("GitHub refuses the credential from {from}: {}", failure.detail),
            format!("make a new one at {tokens} and set it in {from}"),
        ),
        Disposition::NotFound => findings.credential(
            "credential.unseen",
            format!(
                "the credential from {from} does not see {}: the name is wrong, or it may not",
                place.repository
            ),
            format!(
                "{tokens}: a classic token of a private repository needs the scope `repo`, a fine-grained one this repository; an App must be installed on it"
            ),
        ),
        _ => findings.add(
            Grade::Unavailable,
            "credential.unavailable",
            format!("GitHub cannot be asked: {}", failure.detail),
            Some("see https://www.githubstatus.com, and what is between here and there".to_owned()),
        ),
    }
}

/// What the credential may do in the repository.
pub(super) async fn rights(
    client: &Client,
    shown: &Shown,
    kind: Option<Kind>,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    findings.group = Group::Credential;
    let tokens = format!("{}/settings/tokens", place.github);
    if shown.archived {
        findings.error(
            "credential.archived",
            "the repository is archived: nothing can be written",
            format!("{}/{}/settings", place.github, place.repository),
        );
    }
    let of_person = !matches!(kind, None | Some(Kind::Installation));
    if of_person && shown.push == Some(false) {
        findings.credential(
            "credential.push",
            "the token's person may not push here; the ledger is a branch of the repository",
            format!(
                "{}/{}/settings/access: give them the role Write",
                place.github, place.repository
            ),
        );
    }
    if let Some(scopes) = &shown.scopes {
        of_scopes(scopes, shown.private, &tokens, findings);
    }
    for right in Right::ALL {
        match client.may_read(right, &shown.default_branch).await {
            Ok(true) => {}
            Ok(false) if WANTED.contains(&right) => findings.credential(
                "credential.rights",
                format!("the credential may not read `{}`", right.name()),
                format!("{tokens}: grant {RIGHTS}"),
            ),
            Ok(false) => findings.hint(
                "credential.rights",
                format!(
                    "the credential may not read `{}`, so red checks hold nothing up",
                    right.name()
                ),
                "grant it, or leave `gate.main_red` at \"ignore\"",
            ),
            Err(failure) => findings.unread("credential.rights", right.name(), &failure),
        }
    }
    // Scopes and an App's permissions are told; of other tokens only a write tells.
    if kind.is_some() && shown.scopes.is_none() {
        let seen = if shown.private {
            ""
        } else {
            " Of a public repository everybody may read."
        };
        findings.unknown(
            "credential.writes",
            format!("whether this token may write cannot be asked without writing. It needs {RIGHTS}.{seen}"),
        );
    }
}

fn of_scopes(scopes: &[String], private: bool, tokens: &str, findings: &mut Findings) {
    let has = |name: &str| scopes.iter().any(|scope| scope == name);
    let wanted = if private { "repo" } else { "public_repo" };
    if !has("repo") && !has(wanted) {
        let told = if scopes.is_empty() {
            "none".to_owned()
        } else {
            scopes.join(", ")
        };
        return findings.credential(
            "credential.scopes",
            format!("the token lacks the scope `{wanted}` (it has: {told})"),
            format!("{tokens}: tick `{wanted}`"),
        );
    }
    let surplus: Vec<&str> = SURPLUS.into_iter().filter(|name| has(name)).collect();
    if surplus.is_empty() {
        findings.good(
            "credential.scopes",
            format!("its scopes suffice: {}", scopes.join(", ")),
        );
    } else {
        findings.hint(
            "credential.scopes",
            format!(
                "its scopes open more than phileas uses: {}",
                surplus.join(", ")
            ),
            format!(
                "{tokens}?type=beta: a fine-grained token for this repository alone ({RIGHTS})"
            ),
        );
    }
}

/// Whether this machine's clock is right, by GitHub's; `real`: by the one of github.com.
pub(super) fn clock(
    github: Option<Timestamp>,
    local: Timestamp,
    real: bool,
    findings: &mut Findings,
) {
    findings.group = Group::Standing;
    let Some(github) = github else { return };
    let seconds = local.duration_since(github).as_secs();
    if seconds.abs() <= MOST_SKEW_SECONDS {
        return findings.good(
            "standing.clock",
            "this machine's clock agrees with GitHub's",
        );
    }
    let side = if seconds > 0 { "ahead of" } else { "behind" };
    findings.hint(
        "standing.clock",
        format!(
            "this machine's clock is {} s {side} GitHub's; decisions use GitHub's, but an App's credential is refused",
            seconds.abs()
        ),
        match real {
            true => "sudo timedatectl set-ntp true",
            // A model has a time of its own, and setting this machine's clock would mend nothing.
            false => {
                "nothing, where GITHUB_API_URL names a model with a time of its own; else set the clock of whichever of \
                 the two machines is wrong"
            }
        },
    );
}
