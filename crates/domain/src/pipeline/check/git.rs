//! Invariants of what was proposed.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::outcome::stage_outcome;
use crate::pipeline::read::Part::Key;
use crate::pipeline::values::{GitResult, Outcome};

const GIT: Artifact = Artifact::Git;
/// What branches of runs begin with.
const PREFIXES: [&str; 4] = ["feature/", "fix/", "chore/", "spike/"];
/// Branches that agents must not push to.
const SHARED: [&str; 3] = ["main", "master", "trunk"];

pub(super) fn check_git(checker: &mut Checker<'_>) {
    let git: Option<GitResult> =
        checker.read_artifact(GIT, "git_result_exists", "git_result_valid");
    let Some(git) = git else { return };
    let place = (GIT, &[Key("branch")][..]);
    if SHARED.contains(&git.branch.as_str()) {
        let wrong = format!("the work is on `{}` itself", git.branch);
        checker.report_error("branch_own", place, wrong, "put it on a branch of its own");
    } else {
        let prefixed = PREFIXES.iter().any(|prefix| git.branch.starts_with(prefix));
        if !prefixed || git.branch.chars().any(char::is_uppercase) {
            let wrong = format!("`{}` is not a usual name for a branch", git.branch);
            let help = "begin it with feature/, fix/, chore/ or spike/, in lower case";
            checker.report_warning("branch_name", place, wrong, help);
        }
    }
    let sha = &git.commit_sha;
    if !(7..=64).contains(&sha.len()) || !sha.bytes().all(|b| b.is_ascii_hexdigit()) {
        let wrong = format!("`{}` is not a commit", sha.escape_debug());
        let place = (GIT, &[Key("commit_sha")][..]);
        checker.report_warning(
            "commit_sha_valid",
            place,
            wrong,
            "write 7 to 64 hexadecimal digits",
        );
    }
    for (artifact, check) in [
        (Artifact::Test, "tests_passed"),
        (Artifact::Review, "review_passed"),
    ] {
        let outcome = checker.run.reading(artifact).map(stage_outcome);
        if !matches!(outcome, Some(Outcome::Pass | Outcome::Skip)) {
            let wrong = match outcome {
                Some(_) => "the work was proposed, and this does not pass",
                None => "the work was proposed, and this is missing",
            };
            let help = "let the stage pass before the work is proposed";
            checker.report_error(check, (artifact, &[Key("verdict")]), wrong, help);
        }
    }
}
