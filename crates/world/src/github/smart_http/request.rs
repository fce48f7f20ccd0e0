//! Parses the request of a git client.

use std::io::Read as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http::{Method, Request, StatusCode, header};

use super::refusal::GitRefusal;

/// The largest body after unpacking, in bytes.
const MAX_UNPACKED: u64 = 256 * 1024 * 1024;

/// One of git's two services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Fetching.
    UploadPack,
    /// Pushing.
    ReceivePack,
}

impl Service {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "git-upload-pack" => Some(Self::UploadPack),
            "git-receive-pack" => Some(Self::ReceivePack),
            _ => None,
        }
    }

    /// The subcommand of git.
    pub(super) fn git_subcommand(self) -> &'static str {
        match self {
            Self::UploadPack => "upload-pack",
            Self::ReceivePack => "receive-pack",
        }
    }

    /// The type of an advertisement of references (gitprotocol-http).
    pub(super) fn advertisement_type(self) -> &'static str {
        match self {
            Self::UploadPack => "application/x-git-upload-pack-advertisement",
            Self::ReceivePack => "application/x-git-receive-pack-advertisement",
        }
    }

    /// The type of an answer (gitprotocol-http).
    pub(super) fn result_type(self) -> &'static str {
        match self {
            Self::UploadPack => "application/x-git-upload-pack-result",
            Self::ReceivePack => "application/x-git-receive-pack-result",
        }
    }

    /// The packet lines that come before the references (gitprotocol-http).
    pub(super) fn service_announcement(self) -> Vec<u8> {
        let line = format!("# service=git-{}\n", self.git_subcommand());
        format!("{:04x}{line}0000", line.len() + 4).into_bytes()
    }
}

/// The repository in the path, and the requested service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitRequest {
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) service: Service,
}

/// The end of a git client's path, which tells such paths from those of the API.
pub(crate) fn service_of(path: &str) -> Option<&'static str> {
    split_path(path).map(|(_, _, end)| end)
}

/// Owner, name without `.git`, and the end of the path.
fn split_path(path: &str) -> Option<(&str, &str, &'static str)> {
    let mut parts = path.strip_prefix('/')?.splitn(3, '/');
    let (owner, name, end) = (parts.next()?, parts.next()?, parts.next()?);
    let end = ["info/refs", "git-upload-pack", "git-receive-pack"]
        .into_iter()
        .find(|known| *known == end)?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    (!owner.is_empty() && !name.is_empty()).then_some((owner, name, end))
}

impl GitRequest {
    pub(super) fn from_request(request: &Request<Bytes>) -> Result<Self, GitRefusal> {
        let not_found = || GitRefusal::new(StatusCode::NOT_FOUND, "Not Found");
        let (owner, name, end) = split_path(request.uri().path()).ok_or_else(not_found)?;
        let (method, service) = if end == "info/refs" {
            let query = request.uri().query().unwrap_or_default();
            let named = form_urlencoded::parse(query.as_bytes())
                .find(|(key, _)| key == "service")
                .and_then(|(_, name)| Service::from_name(&name));
            // Without a service this would be the dumb protocol, which GitHub does not speak.
            let service = named.ok_or_else(|| {
                GitRefusal::new(
                    StatusCode::FORBIDDEN,
                    "Please upgrade your git client.\nGitHub.com no longer supports git over dumb-http.",
                )
            })?;
            (Method::GET, service)
        } else {
            (Method::POST, Service::from_name(end).ok_or_else(not_found)?)
        };
        if request.method() != method {
            return Err(GitRefusal::new(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("Method Not Allowed: use {method}"),
            ));
        }
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            service,
        })
    }
}

/// The body of a request, unpacked when the client has packed it.
pub(super) fn unpacked_body(request: &Request<Bytes>) -> Result<Bytes, GitRefusal> {
    let encoding = request
        .headers()
        .get(header::CONTENT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("identity");
    match encoding {
        "identity" => Ok(request.body().clone()),
        "gzip" | "x-gzip" => {
            let mut unpacked = Vec::new();
            MultiGzDecoder::new(request.body().as_ref())
                .take(MAX_UNPACKED + 1)
                .read_to_end(&mut unpacked)
                .map_err(|error| {
                    GitRefusal::new(StatusCode::BAD_REQUEST, format!("not a gzip body: {error}"))
                })?;
            if unpacked.len() as u64 > MAX_UNPACKED {
                return Err(GitRefusal::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("the unpacked body is larger than {MAX_UNPACKED} bytes"),
                ));
            }
            Ok(unpacked.into())
        }
        other => Err(GitRefusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("the content encoding {other:?} is not known; use gzip or none"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_git_are_told_from_those_of_the_api() {
        assert_eq!(service_of("/o/r.git/info/refs"), Some("info/refs"));
        assert_eq!(
            service_of("/o/r/git-receive-pack"),
            Some("git-receive-pack")
        );
        assert_eq!(
            split_path("/o/r.git/info/refs").map(|(_, name, _)| name),
            Some("r")
        );
        for other in [
            "/repos/o/r/git/refs",
            "/o/.git/info/refs",
            "/info/refs",
            "/a/b/c/info/refs",
        ] {
            assert_eq!(service_of(other), None, "{other}");
        }
    }

    #[test]
    fn the_announcement_counts_itself() {
        assert_eq!(
            Service::UploadPack.service_announcement(),
            b"001e# service=git-upload-pack\n0000"
        );
    }

    #[test]
    fn a_broken_gzip_body_is_refused() {
        let request = Request::post("/o/r.git/git-upload-pack")
            .header("content-encoding", "gzip")
            .body(Bytes::from_static(b"plain"))
            .unwrap();
        assert_eq!(
            unpacked_body(&request).unwrap_err().status,
            StatusCode::BAD_REQUEST
        );
    }
}
