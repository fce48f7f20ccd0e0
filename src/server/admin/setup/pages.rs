//! The HTML of the set-up pages, without scripts and external styles.

use std::sync::LazyLock;

use askama::Template;
use sha2::{Digest as _, Sha256};

use crate::server::admin::check::PERMISSIONS;

/// The style, the same as of the dashboard.
const STYLE: &str = include_str!("templates/setup.css");

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage<'a> {
    title: &'static str,
    style: &'static str,
    content: Content<'a>,
}

/// What is below a page's title.
enum Content<'a> {
    Form {
        token: &'a str,
        url: &'a str,
        wrong: Option<&'a str>,
    },
    Review {
        action: &'a str,
        manifest: &'a str,
    },
    Done {
        install: String,
    },
    Retry {
        why: &'a str,
        address: &'a str,
    },
    UnknownVisitor {
        leftover: String,
    },
    Failure {
        why: &'a str,
    },
}

/// The digest by which the content policy allows this style and no other.
pub(super) fn style_digest() -> &'static str {
    static DIGEST: LazyLock<String> = LazyLock::new(|| {
        let digest = data_encoding::BASE64.encode(&Sha256::digest(STYLE));
        format!("sha256-{digest}")
    });
    &DIGEST
}

/// Asks for the public address. `wrong` is the problem of the last attempt.
pub(super) fn form_page(token: &str, url: &str, wrong: Option<&str>) -> String {
    let content = Content::Form { token, url, wrong };
    whole_page("Create a GitHub App for phileas", content)
}

/// Shows the requested permissions, with the button that creates the App.
pub(super) fn review_page(action: &str, manifest: &str) -> String {
    whole_page("What the App may do", Content::Review { action, manifest })
}

/// Says that the App exists.
pub(super) fn done_page(html_url: &str) -> String {
    let install = format!("{}/installations/new", html_url.trim_end_matches('/'));
    whole_page("The App is created", Content::Done { install })
}

/// Says that GitHub did not reply and the code may still be valid. `address` tries again.
pub(super) fn retry_page(why: &str, address: &str) -> String {
    whole_page("GitHub did not reply", Content::Retry { why, address })
}

/// The page for a browser that returns from GitHub with an unknown state.
pub(super) fn unknown_visitor_page(github: &str) -> String {
    let leftover = leftover_note(github);
    whole_page(
        "This page did not send you to GitHub",
        Content::UnknownVisitor { leftover },
    )
}

/// Mentions the App that may be left on GitHub after a failure.
pub(super) fn leftover_note(github: &str) -> String {
    format!(
        " GitHub may have created an App whose key is lost: delete it at {github}/settings/apps (or at \
         {github}/organizations/ORGANISATION/settings/apps) before you start again."
    )
}

/// A failure that this page cannot fix.
pub(super) fn failure_page(why: &str) -> String {
    whole_page("The set-up failed", Content::Failure { why })
}

fn whole_page(title: &'static str, content: Content<'_>) -> String {
    let page = SetupPage {
        title,
        style: STYLE,
        content,
    };
    page.render().expect("texts can be rendered")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_stays_text() {
        let page = form_page("t", "\"><script>", Some("<b>&"));
        assert!(
            !page.contains("<script>") && !page.contains("<b>&<"),
            "{page}"
        );
        assert!(page.contains("&#34;&#62;&#60;script&#62;"));
    }
}
