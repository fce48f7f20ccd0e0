//! Git over smart HTTP: fetching and pushing with the real git.
//!
//! A repository of the model is kept on disk as a bare one, brought up to date before each request, and served by
//! `git upload-pack` and `git receive-pack`; what a push leaves there is taken back into the model. All of it happens
//! within one request to the world, so that no other write can come between.

mod admission;
mod git;
mod intake;
mod report;
mod request;
mod shelf;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use jiff::Timestamp;

use super::{Model, RepoId};
use request::{Service, Wanted};

pub(crate) use request::service_of;
pub(crate) use shelf::Shelves;

/// An answer other than git's own.
#[derive(Debug)]
struct Refused {
    status: StatusCode,
    text: String,
    /// Where the repository is now.
    location: Option<String>,
}

impl Refused {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self {
            status,
            text: text.into(),
            location: None,
        }
    }

    fn broken(what: &str, error: impl std::fmt::Display) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("the model of GitHub could not {what}: {error}"),
        )
    }

    fn response(self) -> Response<Bytes> {
        // git shows a plain text to its user, line by line after "remote: ".
        let mut response = Response::new(Bytes::from(self.text + "\n"));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        );
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static("Basic realm=\"GitHub\""),
            );
        }
        if let Some(location) = self
            .location
            .and_then(|url| HeaderValue::from_str(&url).ok())
        {
            headers.insert(header::LOCATION, location);
        }
        response
    }
}

impl Model {
    /// Answers a request of a git client, and names the identity that it came with.
    pub(crate) fn smart_http(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
    ) -> (Response<Bytes>, Option<String>) {
        let identity = match self.git_identity(request.headers(), now) {
            Ok(identity) => identity,
            Err(refused) => return (refused.response(), None),
        };
        let name = identity.as_ref().map(|identity| identity.name.clone());
        let response = Wanted::read(request)
            .and_then(|wanted| {
                let repo = self.admit_git(&wanted, request, identity.as_ref())?;
                let actor = identity.map_or(0, |identity| identity.account);
                self.serve_git(repo, &wanted, request, actor, now)
            })
            .unwrap_or_else(Refused::response);
        (response, name)
    }

    fn serve_git(
        &mut self,
        repo: RepoId,
        wanted: &Wanted,
        request: &Request<Bytes>,
        actor: u64,
        now: Timestamp,
    ) -> Result<Response<Bytes>, Refused> {
        let dir = self
            .fresh_shelf(repo)
            .map_err(|error| Refused::broken("lay out the repository", error))?;
        let call = git::Call {
            service: wanted.service,
            dir: &dir,
            protocol: request.headers().get("git-protocol"),
        };
        if request.method() == Method::GET {
            let refs = call.advertise()?;
            let mut body = wanted.service.announcement();
            body.extend_from_slice(&refs);
            return Ok(reply(wanted.service.advertisement_type(), body));
        }
        let mut output = call.answer(&request::body(request)?)?;
        if wanted.service == Service::ReceivePack {
            let refused = self.take_in(repo, &dir, actor, now)?;
            if !refused.is_empty() {
                output = report::declined(&output, &refused);
            }
        }
        Ok(reply(wanted.service.result_type(), output))
    }
}

fn reply(kind: &'static str, body: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, max-age=0, must-revalidate"),
    );
    response
}
