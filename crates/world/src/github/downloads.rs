//! Serves the files of releases: the page of `github.com` that redirects to the storage, and the storage.
//!
//! GitHub itself serves no file of a release. Both `github.com/{owner}/{repo}/releases/download/{tag}/{name}` and the
//! asset's API address answer 302 with a signed address on another host. That address is valid for some minutes and
//! takes no other credential.
//! <https://docs.github.com/en/rest/releases/assets#get-a-release-asset>

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::reply::put_header;
use super::{Model, RepoId, Repository};
use crate::clock::later_by;

/// How long a signed address is valid (seen on the real service: 5 minutes to an hour).
const GOOD_FOR: Duration = Duration::from_secs(300);
/// The prefix of the storage's addresses.
const STORAGE: &str = "/github-production-release-asset/";
/// The prefix of the log storage's addresses.
const LOGS: &str = "/actions-results/job-logs/";
/// The secret with which the storage signs; no client knows it.
const SIGNING_KEY: &str = "the model's own storage key";

impl Model {
    /// Answers a download page or the storage. None: the path is neither.
    pub(crate) fn answer_download(
        &self,
        request: &Request<Bytes>,
        now: Timestamp,
    ) -> Option<Response<Bytes>> {
        let path = request.uri().path();
        let stored = path.strip_prefix(STORAGE);
        if let Some(log) = path.strip_prefix(LOGS) {
            return Some(self.storage_response(log, request, now, |repository, id| {
                let run = repository.checks.iter().find(|run| run.id == id)?;
                run.output.log.clone().map(Bytes::from)
            }));
        }
        let page = page_of(path);
        if stored.is_none() && page.is_none() {
            return None;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Some(text_response(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET is served here",
            ));
        }
        let found = match (stored, page) {
            (Some(stored), _) => {
                return Some(
                    self.storage_response(stored, request, now, |repository, id| {
                        let mut assets = repository
                            .releases
                            .iter()
                            .flat_map(|release| &release.assets);
                        assets
                            .find(|asset| asset.0 == id)
                            .map(|asset| asset.2.clone())
                    }),
                );
            }
            (_, Some((owner, name, tag, file))) => self.asset_on_page(owner, name, &tag, &file),
            _ => None,
        };
        Some(match found {
            Some((repo, asset)) => redirect_to(&self.storage_address(repo, asset, now)),
            // Without a browser login a private repository is answered 404, even with a token.
            None => text_response(StatusCode::NOT_FOUND, "Not Found"),
        })
    }

    /// The signed address at which the storage gives an asset.
    pub(crate) fn storage_address(&self, repo: RepoId, asset: u64, now: Timestamp) -> String {
        let until = later_by(now, GOOD_FOR).as_second();
        let signature = sign_url(&repo.to_string(), &asset.to_string(), until);
        format!(
            "{}{STORAGE}{repo}/{asset}?se={until}&sig={signature}",
            self.api_url
        )
    }

    /// The signed address at which the store gives a job's log.
    pub(crate) fn log_address(&self, repo: RepoId, job: u64, now: Timestamp) -> String {
        let until = later_by(now, GOOD_FOR).as_second();
        let signature = sign_url(&repo.to_string(), &job.to_string(), until);
        format!(
            "{}{LOGS}{repo}/{job}?se={until}&sig={signature}",
            self.api_url
        )
    }

    fn asset_on_page(
        &self,
        owner: &str,
        name: &str,
        tag: &str,
        file: &str,
    ) -> Option<(RepoId, u64)> {
        let id = self
            .repository_by_name(owner, name)
            .or_else(|| self.repository_by_former_name(owner, name))?;
        let repository = self.repository(id).filter(|found| !found.private)?;
        let release = repository
            .releases
            .iter()
            .find(|release| release.tag == tag && !release.draft)?;
        let asset = release.assets.iter().find(|asset| asset.1 == file)?;
        Some((id, asset.0))
    }

    fn storage_response(
        &self,
        stored: &str,
        request: &Request<Bytes>,
        now: Timestamp,
        content: impl Fn(&Repository, u64) -> Option<Bytes>,
    ) -> Response<Bytes> {
        if request.headers().contains_key(header::AUTHORIZATION) {
            let why = "Only one auth mechanism allowed; the signature is one already";
            return text_response(StatusCode::BAD_REQUEST, why);
        }
        let query = request.uri().query().unwrap_or_default();
        let field = |name: &str| {
            form_urlencoded::parse(query.as_bytes())
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.into_owned())
        };
        let until = field("se").and_then(|text| text.parse::<i64>().ok());
        let (Some((repo, asset)), Some(until)) = (stored.split_once('/'), until) else {
            return text_response(
                StatusCode::FORBIDDEN,
                "Server failed to authenticate the request",
            );
        };
        if field("sig") != Some(sign_url(repo, asset, until)) || now.as_second() > until {
            return text_response(
                StatusCode::FORBIDDEN,
                "Signature not valid in the specified time frame",
            );
        }
        let content = repo
            .parse()
            .ok()
            .and_then(|repo| content(self.repository(RepoId(repo))?, asset.parse().ok()?));
        match content {
            Some(content) => {
                let mut response = Response::new(content);
                put_header(
                    response.headers_mut(),
                    "content-type",
                    "application/octet-stream",
                );
                response
            }
            None => text_response(
                StatusCode::NOT_FOUND,
                "The specified resource does not exist",
            ),
        }
    }
}

/// Owner, name, tag and file of `/{owner}/{name}/releases/download/{tag}/{file}`; a tag may have slashes.
fn page_of(path: &str) -> Option<(&str, &str, String, String)> {
    let (repository, rest) = path.strip_prefix('/')?.split_once("/releases/download/")?;
    let (owner, name) = repository.split_once('/')?;
    let (tag, file) = rest.rsplit_once('/')?;
    let plain = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8()
            .ok()
            .map(std::borrow::Cow::into_owned)
    };
    (!name.contains('/')).then_some((owner, name, plain(tag)?, plain(file)?))
}

fn sign_url(repo: &str, asset: &str, until: i64) -> String {
    Sha256::digest(format!("{SIGNING_KEY}\n{repo}\n{asset}\n{until}"))
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn redirect_to(to: &str) -> Response<Bytes> {
    let mut response = text_response(StatusCode::FOUND, "");
    put_header(response.headers_mut(), "location", to);
    response
}

fn text_response(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *response.status_mut() = status;
    response
}
