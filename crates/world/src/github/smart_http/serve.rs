//! Serves one request of a git client.

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use jiff::Timestamp;

use super::refusal::GitRefusal;
use super::request::{self, GitRequest, Service};
use super::{git, report};
use crate::github::{Model, RepoId};

impl Model {
    /// Answers a request of a git client, and names the identity that it came with.
    pub(crate) fn smart_http(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
    ) -> (Response<Bytes>, Option<String>) {
        let identity = match self.git_identity(request.headers(), now) {
            Ok(identity) => identity,
            Err(refused) => return (refused.into_response(), None),
        };
        let name = identity.as_ref().map(|identity| identity.name.clone());
        let response = GitRequest::from_request(request)
            .and_then(|wanted| {
                let repo = self.admit_git(&wanted, request, identity.as_ref())?;
                let actor = identity.map_or(0, |identity| identity.account);
                self.serve_git(repo, &wanted, request, actor, now)
            })
            .unwrap_or_else(GitRefusal::into_response);
        (response, name)
    }

    fn serve_git(
        &mut self,
        repo: RepoId,
        wanted: &GitRequest,
        request: &Request<Bytes>,
        actor: u64,
        now: Timestamp,
    ) -> Result<Response<Bytes>, GitRefusal> {
        let (Some(repository), Some(objects)) =
            (self.repositories.get(&repo), self.objects.get(&repo))
        else {
            return Err(GitRefusal::internal_error("find the repository", repo));
        };
        let dir = self
            .bare_repositories
            .refresh_repository(repository, objects)
            .map_err(|error| GitRefusal::internal_error("lay out the repository", error))?;
        let call = git::Call {
            service: wanted.service,
            dir: &dir,
            protocol: request.headers().get("git-protocol"),
        };
        if request.method() == Method::GET {
            let refs = call.advertise_refs()?;
            let mut body = wanted.service.service_announcement();
            body.extend_from_slice(&refs);
            return Ok(git_reply(wanted.service.advertisement_type(), body));
        }
        let mut output = call.run_service(&request::unpacked_body(request)?)?;
        if wanted.service == Service::ReceivePack {
            let refused = self.take_in(repo, &dir, actor, now)?;
            if !refused.is_empty() {
                output = report::decline_refs(&output, &refused);
            }
        }
        Ok(git_reply(wanted.service.result_type(), output))
    }
}

fn git_reply(kind: &'static str, body: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, max-age=0, must-revalidate"),
    );
    response
}
