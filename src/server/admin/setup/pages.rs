//! The HTML of the set-up pages, without scripts and external styles.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use crate::server::admin::check::PERMISSIONS;

/// The style, the same as of the dashboard.
const STYLE: &str = "\
    :root{color-scheme:light dark;--paper:#f6f7f9;--card:#fff;--ink:#1c2330;--quiet:#5b6678;--rule:#dde2ea;--strong:#1f5fbf}\
    @media(prefers-color-scheme:dark){:root{--paper:#12161d;--card:#1a202a;--ink:#e6eaf1;--quiet:#98a3b5;--rule:#2c3543;--strong:#7fb0ff}}\
    body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
    main{max-width:42rem;margin:3rem auto;padding:1.5rem 2rem;background:var(--card);border:1px solid var(--rule);border-radius:10px}\
    h1{margin-top:0;font-size:1.4rem}a{color:var(--strong)}label{color:var(--quiet)}\
    input{box-sizing:border-box;width:100%;padding:.5rem;font:inherit;color:inherit;background:var(--paper);\
    border:1px solid var(--rule);border-radius:6px}\
    button{padding:.5rem 1.2rem;font:inherit;color:var(--card);background:var(--strong);border:0;border-radius:6px;cursor:pointer}\
    [role=alert]{padding:.6rem .9rem;border-left:4px solid #c2410c}";

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
    let wrong = wrong.map_or_else(String::new, |wrong| {
        format!(
            "<p role=\"alert\"><strong>{}</strong></p>\n",
            escape_html(wrong)
        )
    });
    whole_page(
        "Create a GitHub App for phileas",
        &format!(
            "{wrong}<p>phileas works on GitHub as an App of your own. It will be private to your account, and can neither \
             change workflows nor settings.</p>\n\
             <form method=\"post\" action=\"/setup\">\n\
             <input type=\"hidden\" name=\"token\" value=\"{}\">\n\
             <p><label for=\"url\">The address under which GitHub reaches this service</label><br>\n\
             <input id=\"url\" name=\"url\" type=\"url\" required size=\"50\" placeholder=\"https://phileas.example.com\" \
             value=\"{}\"></p>\n\
             <p><label for=\"owner\">The organisation that is to own the App; empty for yourself</label><br>\n\
             <input id=\"owner\" name=\"owner\" size=\"30\"></p>\n\
             <p><button type=\"submit\">Go on</button></p>\n</form>\n",
            escape_html(token),
            escape_html(url)
        ),
    )
}

/// Shows the requested permissions, with the button that creates the App.
pub(super) fn review_page(action: &str, manifest: &str) -> String {
    let rows: String = PERMISSIONS
        .iter()
        .map(|(name, access, why)| format!("<li><code>{name}: {access}</code> – {why}</li>\n"))
        .collect();
    whole_page(
        "What the App may do",
        &format!(
            "<ul>\n{rows}</ul>\n<p>GitHub asks you for a name and shows the same once more before anything is made.</p>\n\
             <form method=\"post\" action=\"{}\">\n<input type=\"hidden\" name=\"manifest\" value=\"{}\">\n\
             <p><button type=\"submit\">Make it on GitHub</button></p>\n</form>\n",
            escape_html(action),
            escape_html(manifest)
        ),
    )
}

/// Says that the App exists.
pub(super) fn done_page(html_url: &str) -> String {
    let install = format!("{}/installations/new", html_url.trim_end_matches('/'));
    whole_page(
        "The App is created",
        &format!(
            "<p>Its credentials are kept in the data directory. Two steps are left:</p>\n<ol>\n\
             <li><a href=\"{}\">Install it</a> on the repositories that phileas should manage.</li>\n\
             <li>Start <code>phileas serve</code> again, without <code>--setup</code>.</li>\n</ol>\n",
            escape_html(&install)
        ),
    )
}

/// Says that GitHub did not reply and the code may still be valid. `address` tries again.
pub(super) fn retry_page(why: &str, address: &str) -> String {
    whole_page(
        "GitHub did not reply",
        &format!(
            "<p role=\"alert\">{}</p>\n<p>Nothing is lost yet: what GitHub has sent you back with is good for an hour.</p>\n\
             <p><a href=\"{}\">Ask again</a></p>\n",
            escape_html(why),
            escape_html(address)
        ),
    )
}

/// The page for a browser that returns from GitHub with an unknown state.
pub(super) fn unknown_visitor_page(github: &str) -> String {
    whole_page(
        "This page did not send you to GitHub",
        &format!(
            "<p>It was another tab, or one that was served before.{}</p>\n\
             <p>Start again with the address on the console of <code>phileas serve --setup</code>.</p>\n",
            escape_html(&leftover_note(github))
        ),
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
    whole_page(
        "The set-up failed",
        &format!("<p>{}</p>\n", escape_html(why)),
    )
}

fn whole_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// Escapes a text for use between tags and in quoted attributes.
fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
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
        assert!(page.contains("&quot;&gt;&lt;script&gt;"));
    }
}
