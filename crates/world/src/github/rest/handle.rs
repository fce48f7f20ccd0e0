//! Answers one request to `api.github.com`: credentials, limits, route, conditional requests, common headers.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::call::{Call, Refusal};
use super::routes;
use crate::github::limits::{ExceededLimit, Resource, primary_limit};
use crate::github::reply::put_header;
use crate::github::smart_http::service_of;
use crate::github::{Identity, Model, RepoId, TokenKind};
use crate::knobs::Knobs;

/// The reply to a request, and facts about it for the books.
pub(crate) struct Handled {
    pub(crate) response: Response<Bytes>,
    pub(crate) identity: Option<String>,
    pub(crate) points: u32,
    pub(crate) fields: Vec<String>,
}

impl Model {
    /// The route of a request, for the books; `unknown` when there is none.
    pub(crate) fn route_of(&self, request: &Request<Bytes>) -> String {
        let path = request.uri().path();
        if path == "/graphql" {
            return "/graphql".to_owned();
        }
        if let Some(service) = service_of(path) {
            return format!("/{{owner}}/{{repo}}.git/{service}");
        }
        match routes::find_route(request.method(), &self.by_name(path)) {
            Some((route, _)) => route.template.to_owned(),
            None => "unknown".to_owned(),
        }
    }

    /// The path with a repository's name in place of its number.
    fn by_name(&self, path: &str) -> String {
        let Some(rest) = path.strip_prefix("/repositories/") else {
            return path.to_owned();
        };
        let (id, rest) = rest
            .split_once('/')
            .map_or((rest, String::new()), |(id, rest)| (id, format!("/{rest}")));
        match id.parse().ok().and_then(|id| self.repository(RepoId(id))) {
            Some(repository) => format!("/repos/{}{rest}", self.full_name(repository.id)),
            None => path.to_owned(),
        }
    }

    /// Answers one request.
    pub(crate) fn handle_request(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Handled {
        let mut handled = self.answer_request(request, now, knobs);
        let id = format!(
            "{:04X}:{:X}:{:X}",
            self.chance.draw_below(65_536),
            self.chance.draw_below(1 << 24),
            self.chance.draw_below(1 << 28)
        );
        let headers = handled.response.headers_mut();
        knobs.count_use("date-skew-seconds", knobs.date_skew_seconds != 0);
        let date = now
            .checked_add(SignedDuration::from_secs(knobs.date_skew_seconds))
            .unwrap_or(now);
        put_header(
            headers,
            "date",
            &date.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        );
        put_header(headers, "x-github-request-id", &id);
        put_header(headers, "server", "github.com");
        put_header(headers, "x-github-media-type", "github.v3; format=json");
        put_header(headers, "x-github-api-version-selected", "2022-11-28");
        handled
    }

    fn answer_request(
        &mut self,
        request: &Request<Bytes>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Handled {
        let path = request.uri().path();
        if service_of(path).is_some() {
            let (response, name) = self.smart_http(request, now);
            return handled_response(response, name, 0);
        }
        if let Some(response) = self.new_app_page(request, now) {
            return handled_response(response, None, 0);
        }
        // Neither the page nor a download counts against the API's limits.
        if let Some(response) = self.answer_download(request, now) {
            return handled_response(response, None, 0);
        }
        let identity = match self.identify_caller(request.headers(), now) {
            Ok(identity) => identity,
            Err(refusal) => return handled_response(refusal.into_response(), None, 0),
        };
        let graphql = path == "/graphql";
        let writes = !matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        let resource = if graphql {
            Resource::Graphql
        } else {
            Resource::Core
        };
        let name = identity
            .as_ref()
            .map_or_else(|| "anonymous".to_owned(), |identity| identity.name.clone());
        let limit = primary_limit(identity.as_ref(), knobs);
        let scopes = match identity.as_ref().map(|identity| &identity.kind) {
            Some(TokenKind::Person { scopes }) => scopes.as_ref().map(|scopes| scopes.join(", ")),
            _ => None,
        };
        let booked = identity.as_ref().map(|identity| identity.name.clone());
        let mutation = graphql && self.is_mutation(request.body());
        let points = if (writes && !graphql) || mutation {
            5
        } else {
            1
        };
        let content = writes && !graphql && creates_content(path);
        // Reading the limits is free.
        let free = path == "/rate_limit";
        if !free
            && let Err(met) = self
                .limits
                .count_request(&name, resource, limit, points, content, knobs, now)
        {
            let limit_status = self.limits.limit_status(&name, resource, limit, now);
            debug_assert!(matches!(
                met,
                ExceededLimit::Primary | ExceededLimit::Secondary
            ));
            knobs.count_use("primary-limit", met == ExceededLimit::Primary);
            return handled_response(
                Self::limit_reply(met, limit_status, resource),
                booked,
                points,
            );
        }
        let (mut response, fields) = if graphql {
            self.answer_graphql(request, identity, now, knobs)
        } else {
            (self.answer_rest(request, identity, now, knobs), Vec::new())
        };
        let commits = fields.iter().any(|field| field == "createCommitOnBranch")
            || (writes && (path.contains("/git/refs") || path.contains("/contents/")));
        if commits
            && response.status().is_success()
            && knobs.count_use(
                "commit-done-although-502",
                self.chance.happens(knobs.commit_done_although_502),
            )
        {
            response = Refusal::new(502, "Server Error").into_response();
        }
        if request.method() == Method::GET && response.status() == StatusCode::OK {
            response = apply_etag(request.headers(), response, &name);
            if response.status() == StatusCode::NOT_MODIFIED {
                self.limits.give_back(&name, resource);
            }
        }
        let limit_status = self.limits.limit_status(&name, resource, limit, now);
        limit_status.write_headers(resource, response.headers_mut());
        if let Some(scopes) = scopes {
            put_header(response.headers_mut(), "x-oauth-scopes", &scopes);
        }
        let mut handled = handled_response(response, booked, points);
        handled.fields = fields;
        handled
    }

    fn answer_rest(
        &mut self,
        request: &Request<Bytes>,
        identity: Option<Identity>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Response<Bytes> {
        let path = self.by_name(request.uri().path());
        let Some((route, params)) = routes::find_route(request.method(), &path) else {
            let message = format!(
                "The model does not serve {} {}",
                request.method(),
                request.uri().path()
            );
            return Refusal::new(501, &message).into_response();
        };
        let body = if request.body().is_empty() {
            Value::Null
        } else {
            match serde_json::from_slice(request.body()) {
                Ok(body) => body,
                Err(_) => return Refusal::new(400, "Problems parsing JSON").into_response(),
            }
        };
        let query = request.uri().query().unwrap_or_default();
        let mut call = Call {
            model: self,
            knobs,
            now,
            identity,
            params,
            query: form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
            body,
            path,
            headers: request.headers(),
            link: None,
            repo: None,
        };
        let reply = call
            .admit_caller(route.need)
            .and_then(|()| (route.handler)(&mut call));
        let link = call.link.take();
        let mut response = match reply {
            Ok(reply) => reply.into_response(),
            Err(refusal) => refusal.into_response(),
        };
        if let Some(link) = link {
            put_header(response.headers_mut(), "link", &link);
        }
        response
    }
}

/// Whether a write creates content that notifies people.
fn creates_content(path: &str) -> bool {
    ["/issues", "/comments", "/pulls", "/reviews", "/replies"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Adds an ETag, and answers 304 without a body when the client has the same one.
fn apply_etag(
    headers: &HeaderMap,
    mut response: Response<Bytes>,
    identity: &str,
) -> Response<Bytes> {
    let mut hash = Sha256::new();
    // The tag depends on the caller, as on GitHub.
    hash.update(identity.as_bytes());
    hash.update(response.body());
    let digits: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let tag = format!("W/\"{digits}\"");
    put_header(response.headers_mut(), "etag", &tag);
    put_header(
        response.headers_mut(),
        "cache-control",
        "private, max-age=60, s-maxage=60",
    );
    put_header(
        response.headers_mut(),
        "vary",
        "Accept, Authorization, Cookie, X-GitHub-OTP",
    );
    let weak = |text: &str| text.trim().trim_start_matches("W/").to_owned();
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| weak(one) == weak(&tag))) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Bytes::new();
        // A client that parses by content type would fail on the empty body.
        response.headers_mut().remove(header::CONTENT_TYPE);
    }
    response
}

fn handled_response(response: Response<Bytes>, identity: Option<String>, points: u32) -> Handled {
    Handled {
        response,
        identity,
        points,
        fields: Vec::new(),
    }
}
