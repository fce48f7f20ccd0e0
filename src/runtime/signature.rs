//! Writes and reads the trailers by which a commit of the ledger names its author.

use phileas_domain::model::Holder;

/// The trailer that names the process of the commit.
const HOLDER: &str = "Phileas-Holder: ";
/// How the name of a service's run begins.
pub const SERVICE: &str = "serve:";

/// The last trailers of a commit of phileas. The second keeps continuous integration from running
/// on the ledger.
#[must_use]
pub fn commit_trailers(holder: &Holder) -> String {
    format!("{HOLDER}{holder}\nskip-checks: true\n")
}

/// Whether the message says that a service made the commit. Any account can write that, so it is no
/// proof.
#[must_use]
pub fn is_of_service(message: &str) -> bool {
    message
        .lines()
        .filter_map(|line| line.strip_prefix(HOLDER))
        .any(|holder| holder.starts_with(SERVICE))
}

#[test]
fn a_commit_says_whose_it_is() {
    let text = |holder: &str| {
        format!(
            "phileas: intent\n\n{}",
            commit_trailers(&Holder::new(holder))
        )
    };
    assert!(is_of_service(&text("serve:12:ab:cd")));
    assert!(!is_of_service(&text("action:7/1:cd")));
    assert!(!is_of_service(&text("cli:serve:cd")));
    assert!(!is_of_service("It says `Phileas-Holder: serve:` somewhere"));
}
