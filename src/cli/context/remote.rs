//! What a remote's address says: which repository it leads to, and whether that is one of GitHub.

use std::collections::BTreeSet;

use http::Uri;
use phileas_domain::model::RepositoryName;

use super::env_var::env_value;
use crate::adapters::transport::is_loopback;
use crate::cli::exit::CliError;

const GITHUB_HOST: &str = "github.com";
/// Where the API of a server lies that has a name of its own for it: `api.github.com`.
const API_PREFIX: &str = "api.";
/// What stands before the name of a server without leading elsewhere; `ssh.github.com` listens at the port of https.
const OTHER_PREFIXES: [&str; 2] = ["ssh.", "www."];

/// The repository in the address of `origin`: `https://github.com/owner/name.git`, `git@github.com:owner/name`. `None`:
/// it names none.
///
/// # Errors
///
/// An address at a host that is known to be none of GitHub's.
pub(crate) fn repository_of(address: &str) -> Result<Option<RepositoryName>, CliError> {
    repository_at(address, &github_hosts())
}

/// The hosts at which GitHub is to be found, as the environment tells them.
fn github_hosts() -> BTreeSet<String> {
    let mut hosts = BTreeSet::from([GITHUB_HOST.to_owned()]);
    for name in ["GITHUB_SERVER_URL", "GITHUB_API_URL"] {
        let uri = env_value(name).and_then(|text| text.trim().parse::<Uri>().ok());
        let Some(host) = uri.as_ref().and_then(Uri::host) else {
            continue;
        };
        let host = host.to_ascii_lowercase();
        if let Some(server) = host.strip_prefix(API_PREFIX) {
            hosts.insert(server.to_owned());
        }
        hosts.insert(host);
    }
    hosts
}

fn repository_at(
    address: &str,
    hosts: &BTreeSet<String>,
) -> Result<Option<RepositoryName>, CliError> {
    let Some(remote) = Remote::parse_remote(address) else {
        return Ok(None);
    };
    if !remote.may_be_github(hosts) {
        return Err(CliError::usage(format!(
            "the remote `origin` is at {}, which is not github.com; name the repository with --repo OWNER/NAME, or, behind a \
             proxy, set GITHUB_SERVER_URL and GITHUB_API_URL",
            remote.host
        )));
    }
    let path = remote.path.trim_matches('/');
    Ok(path.strip_suffix(".git").unwrap_or(path).parse().ok())
}

/// A remote's address in its parts.
struct Remote<'a> {
    /// Without a name and a port; empty for a path of this machine.
    host: &'a str,
    path: &'a str,
    /// Whether ssh reads the host, whose configuration may know it by a name of its own.
    is_ssh: bool,
}

impl<'a> Remote<'a> {
    fn parse_remote(address: &'a str) -> Option<Self> {
        if let Some((scheme, rest)) = address.split_once("://") {
            let (authority, path) = rest.split_once('/')?;
            return Some(Self {
                host: without_port(without_user(authority)),
                path,
                is_ssh: scheme.contains("ssh"),
            });
        }
        let (authority, path) = address.split_once(':')?;
        Some(Self {
            host: without_user(authority),
            path,
            is_ssh: true,
        })
    }

    /// Whether nothing speaks against its being GitHub: a name without a dot is one that this machine or its network
    /// gives, and so is an alias that ssh is told of; this machine itself may pass on what it is asked.
    fn may_be_github(&self, hosts: &BTreeSet<String>) -> bool {
        let host = self.host.to_ascii_lowercase();
        let bare = OTHER_PREFIXES
            .iter()
            .find_map(|prefix| host.strip_prefix(prefix))
            .unwrap_or(&host);
        !host.contains(['.', ':'])
            || host.contains('/')
            || is_loopback(&host)
            || hosts.contains(&host)
            || hosts.contains(bare)
            || self.is_ssh && host.starts_with(&format!("{GITHUB_HOST}-"))
    }
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, at)| at)
}

/// An address without the name and the password in it, and without a query.
pub(crate) fn public_address(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", without_user(rest)),
        None => without_user(address).to_owned(),
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // What stands in brackets is an address, with colons of its own.
        Some((host, port)) if !port.contains(']') => host,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_at(address: &str, more: &[&str]) -> Result<Option<String>, CliError> {
        let mut hosts = BTreeSet::from([GITHUB_HOST.to_owned()]);
        hosts.extend(more.iter().map(|host| (*host).to_owned()));
        repository_at(address, &hosts).map(|name| name.map(|name| name.to_string()))
    }

    #[test]
    fn what_is_shown_of_an_address_holds_no_password() {
        for (address, shown) in [
            (
                "https://ada:to/k@en@github.com/widget",
                "https://github.com/widget",
            ),
            ("ada:token@github.com/widget", "github.com/widget"),
            (
                "https://github.com/widget?token=x",
                "https://github.com/widget",
            ),
            ("git@github.com:widget", "github.com:widget"),
            ("../widget.git", "../widget.git"),
        ] {
            assert_eq!(public_address(address), shown);
        }
    }

    #[test]
    fn remotes_name_their_repository() {
        for address in [
            "https://github.com/acme/widget",
            "https://github.com/acme/widget.git",
            "https://x@github.com/acme/widget.git/",
            "https://www.GitHub.com/acme/widget",
            "git@github.com:acme/widget.git",
            "git@github.com-work:acme/widget.git",
            "git@work:acme/widget",
            "ssh://git@github.com:22/acme/widget.git",
            "ssh://git@ssh.github.com:443/acme/widget.git",
            "http://maintainer:token@127.0.0.1:4011/acme/widget.git",
            "http://[::1]:4011/acme/widget.git",
            "file:///acme/widget",
        ] {
            let name = name_at(address, &[]).unwrap();
            assert_eq!(name.as_deref(), Some("acme/widget"), "{address}");
        }
        for address in [
            "/srv/git/widget.git",
            "../widget",
            "https://github.com/a/b/c",
            "",
        ] {
            assert_eq!(name_at(address, &[]).unwrap(), None, "{address}");
        }
    }

    #[test]
    fn a_host_other_than_githubs_is_reported() {
        for (address, host) in [
            ("git@gitlab.com:acme/widget.git", "gitlab.com"),
            ("https://me:secret@gitlab.com/acme/widget", "gitlab.com"),
            ("https://gitlab.com/acme/group/widget", "gitlab.com"),
            ("ssh://git@git.example:2222/acme/widget", "git.example"),
            (
                "https://github.com-x.example/acme/widget",
                "github.com-x.example",
            ),
            (
                "https://github.com.example/acme/widget",
                "github.com.example",
            ),
            ("https://[2001:db8::1]:80/acme/widget", "[2001:db8::1]"),
        ] {
            let said = name_at(address, &[]).unwrap_err().message;
            assert!(said.contains(&format!("is at {host}, ")), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
        let own = name_at("git@git.example:acme/widget.git", &["git.example"]).unwrap();
        assert_eq!(own.as_deref(), Some("acme/widget"));
    }
}
