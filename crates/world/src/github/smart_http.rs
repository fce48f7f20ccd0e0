//! Git over smart HTTP: a repository is written out, git's own programs serve it, and what was pushed is read back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderValue, Method, Request, Response, header};
use jiff::Timestamp;

use super::object::{Object, Oid};
use super::rest::{Need, Refusal, put};
use super::{Identity, Model, RepoId};
use crate::export::write_bare;

/// A packed request may unfold to this many bytes at most.
const MAX_REQUEST: u64 = 256 * 1024 * 1024;

/// The service that a path names: `/{owner}/{repo}[.git]/info/refs`, `git-upload-pack` or `git-receive-pack`.
pub(crate) fn service_of(path: &str) -> Option<&'static str> {
    ["info/refs", "git-upload-pack", "git-receive-pack"]
        .into_iter()
        .find(|service| owner_and_name(path, service).is_some())
}

fn owner_and_name<'p>(path: &'p str, service: &str) -> Option<(&'p str, &'p str)> {
    let rest = path
        .strip_prefix('/')?
        .strip_suffix(service)?
        .strip_suffix('/')?;
    let (owner, name) = rest.split_once('/')?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    (!owner.is_empty() && !name.is_empty() && !name.contains('/')).then_some((owner, name))
}

/// Something that went wrong with git's own programs or with the folder they work in.
type Trouble = Box<dyn std::error::Error>;

impl Model {
    /// Answers one request of a git client.
    pub(crate) fn smart_http(
        &mut self,
        request: &Request<Bytes>,
        service: &str,
        identity: Option<&Identity>,
        now: Timestamp,
    ) -> Response<Bytes> {
        let query = request.uri().query().unwrap_or_default();
        let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "service");
        let program = match (service, asked.as_ref().map(|(_, value)| value.as_ref())) {
            ("git-upload-pack", _) | ("info/refs", Some("git-upload-pack")) => "upload-pack",
            ("git-receive-pack", _) | ("info/refs", Some("git-receive-pack")) => "receive-pack",
            _ => return Refusal::new(403, "Please upgrade your git client.").response(),
        };
        let advertises = service == "info/refs";
        if advertises != (request.method() == Method::GET) {
            return Refusal::new(405, "Method Not Allowed").response();
        }
        let repo = match self.git_repository(request.uri().path(), service, program, identity) {
            Ok(repo) => repo,
            Err(response) => return response,
        };
        match self.run_git(request, repo, program, advertises, identity, now) {
            Ok(body) => {
                let kind = if advertises {
                    "advertisement"
                } else {
                    "result"
                };
                let mut response = Response::new(body);
                put(
                    response.headers_mut(),
                    "content-type",
                    &format!("application/x-git-{program}-{kind}"),
                );
                put(
                    response.headers_mut(),
                    "cache-control",
                    "no-cache, max-age=0, must-revalidate",
                );
                response
            }
            Err(trouble) => Refusal::new(500, &format!("git {program}: {trouble}")).response(),
        }
    }

    /// The repository of a path, when the caller may use it; otherwise what git is told.
    fn git_repository(
        &self,
        path: &str,
        service: &str,
        program: &str,
        identity: Option<&Identity>,
    ) -> Result<RepoId, Response<Bytes>> {
        let found = owner_and_name(path, service).and_then(|(owner, name)| {
            self.repository_by_name(owner, name)
                .or_else(|| self.repository_by_former_name(owner, name))
        });
        let need = if program == "receive-pack" {
            Need::Write("contents")
        } else {
            Need::Read("contents")
        };
        let permitted = match found {
            Some(repo) => self.permit(identity, repo, need).map(|()| repo),
            None => Err(Refusal::not_found()),
        };
        permitted.map_err(|refusal| {
            if identity.is_some() {
                return refusal.response();
            }
            // Git shows its credentials only after it was asked for them.
            let mut response = Response::new(Bytes::from_static(b"Authentication required"));
            *response.status_mut() = http::StatusCode::UNAUTHORIZED;
            response.headers_mut().insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"GitHub\""),
            );
            response
        })
    }

    fn run_git(
        &mut self,
        request: &Request<Bytes>,
        repo: RepoId,
        program: &str,
        advertises: bool,
        identity: Option<&Identity>,
        now: Timestamp,
    ) -> Result<Bytes, Trouble> {
        let folder = tempfile::tempdir()?;
        let bare = folder.path().join("repository.git");
        write_bare(self, repo, &bare)?;
        let mut command = git(&bare);
        if let Some(version) = request
            .headers()
            .get("git-protocol")
            .and_then(|value| value.to_str().ok())
        {
            command.env("GIT_PROTOCOL", version);
        }
        command.arg(program).arg("--stateless-rpc");
        if advertises {
            let output = command
                .arg("--advertise-refs")
                .arg(&bare)
                .stdin(Stdio::null())
                .output()?;
            let line = format!("# service=git-{program}\n");
            let mut body = format!("{:04x}{line}0000", line.len() + 4).into_bytes();
            body.extend_from_slice(&output.stdout);
            return Ok(body.into());
        }
        let mut input = tempfile::tempfile()?;
        let packed = request
            .headers()
            .get(header::CONTENT_ENCODING)
            .is_some_and(|value| value == "gzip");
        if packed {
            std::io::copy(
                &mut GzDecoder::new(request.body().as_ref()).take(MAX_REQUEST),
                &mut input,
            )?;
        } else {
            input.write_all(request.body())?;
        }
        input.seek(SeekFrom::Start(0))?;
        let output = command.arg(&bare).stdin(Stdio::from(input)).output()?;
        if program == "receive-pack" {
            self.take_in(
                repo,
                &bare,
                identity.map_or(0, |identity| identity.account),
                now,
            )?;
        }
        Ok(output.stdout.into())
    }

    /// Takes over the objects and references that a push has left in a bare repository.
    fn take_in(
        &mut self,
        repo: RepoId,
        bare: &Path,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), Trouble> {
        let listed = text_of(git(bare).args([
            "cat-file",
            "--batch-check=%(objectname)",
            "--batch-all-objects",
        ]))?;
        let known = |oid: &Oid| {
            self.objects(repo)
                .is_some_and(|objects| objects.get(*oid).is_some())
        };
        let new: BTreeSet<Oid> = listed
            .lines()
            .filter_map(|line| line.parse().ok())
            .filter(|oid| !known(oid))
            .collect();
        if !new.is_empty() {
            let list = bare.join("new-objects");
            fs::write(
                &list,
                new.iter().map(|oid| format!("{oid}\n")).collect::<String>(),
            )?;
            let output = git(bare)
                .args(["cat-file", "--batch"])
                .stdin(fs::File::open(&list)?)
                .output()?;
            let mut rest = Bytes::from(output.stdout);
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8(rest.split_to(end + 1).to_vec())?;
                let parts: Vec<&str> = line.trim().split(' ').collect();
                let [_, kind, size] = parts[..] else {
                    return Err(line.into());
                };
                let size: usize = size.parse()?;
                if rest.len() <= size {
                    return Err("an object that ends too early".into());
                }
                let content = rest.split_to(size);
                // A line feed ends each object.
                drop(rest.split_to(1));
                self.objects_mut(repo).put(Object::decode(kind, content)?);
            }
        }
        let listed =
            text_of(git(bare).args(["for-each-ref", "--format=%(objectname) %(refname)"]))?;
        let pushed: BTreeMap<String, Oid> = listed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(oid, name)| Some((name.to_owned(), oid.parse().ok()?)))
            .collect();
        let before = self
            .repository(repo)
            .map(|repository| repository.refs.clone())
            .unwrap_or_default();
        for (name, oid) in &pushed {
            match before.get(name) {
                None => self.create_ref(repo, name, *oid, actor, now)?,
                Some(old) if old != oid => self.update_ref(repo, name, *oid, true, actor, now)?,
                Some(_) => {}
            }
        }
        for name in before.keys().filter(|name| !pushed.contains_key(*name)) {
            self.delete_ref(repo, name, actor, now)?;
        }
        Ok(())
    }
}

/// Git, deaf to the settings of whoever runs the model.
fn git(bare: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(bare)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("HOME", bare)
        .stderr(Stdio::null());
    command
}

fn text_of(command: &mut Command) -> Result<String, Trouble> {
    let output = command.stdin(Stdio::null()).output()?;
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_told_from_api_paths() {
        assert_eq!(service_of("/o/r.git/info/refs"), Some("info/refs"));
        assert_eq!(
            service_of("/o/r/git-receive-pack"),
            Some("git-receive-pack")
        );
        assert_eq!(service_of("/repos/o/r/git/ref/heads/main"), None);
        assert_eq!(service_of("/repos/o/r/contents/info/refs"), None);
        assert_eq!(
            owner_and_name("/o/r.git/info/refs", "info/refs"),
            Some(("o", "r"))
        );
    }
}
