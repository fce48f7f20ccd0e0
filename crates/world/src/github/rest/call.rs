//! One call of a route: its parameters, its caller, and the replies.

use bytes::Bytes;
use http::{HeaderMap, Response};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::github::acts::ActError;
use crate::github::object::Oid;
use crate::github::objects::Objects;
use crate::github::reply::{error_body, json_response, put_header};
use crate::github::{Identity, Model, RepoId, Repository};
use crate::knobs::Knobs;

/// The default number of items on a page.
const PAGE: usize = 30;
/// Items on a page at most.
const MAX_PAGE: usize = 100;

/// A path parameter's name and value.
pub(crate) type Params = Vec<(&'static str, String)>;

/// One call.
pub(crate) struct Call<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) knobs: &'a Knobs,
    pub(crate) now: Timestamp,
    pub(crate) identity: Option<Identity>,
    pub(crate) params: Params,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Value,
    pub(crate) path: String,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) link: Option<String>,
    pub(crate) repo: Option<RepoId>,
}

/// A reply that is not a refusal.
pub(crate) enum Reply {
    Json(u16, Value),
    Empty(u16),
    Raw(u16, &'static str, Bytes),
    /// 302 to another address.
    Found(String),
}

/// A refusal in GitHub's form.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) errors: Option<Box<Value>>,
    pub(crate) location: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: &str) -> Self {
        Self {
            status,
            message: message.to_owned(),
            errors: None,
            location: None,
        }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    /// 422 with one entry of `errors`.
    pub(crate) fn validation_failed(
        resource: &str,
        field: &str,
        code: &str,
        message: Option<&str>,
    ) -> Self {
        let mut error = json!({"resource": resource, "field": field, "code": code});
        if let Some(message) = message {
            error["message"] = message.into();
        }
        Self {
            errors: Some(Box::new(json!([error]))),
            ..Self::new(422, "Validation Failed")
        }
    }

    pub(crate) fn into_response(self) -> Response<Bytes> {
        let mut body = error_body(self.status, &self.message, self.errors.as_deref());
        if let Some(location) = &self.location {
            body["url"] = location.as_str().into();
        }
        let mut response = json_response(self.status, &body);
        if let Some(location) = &self.location {
            put_header(response.headers_mut(), "location", location);
        }
        response
    }
}

impl From<ActError> for Refusal {
    fn from(error: ActError) -> Self {
        let status = match &error {
            ActError::NotFound => 404,
            ActError::Forbidden(_) => 403,
            ActError::NotMergeable => 405,
            ActError::HeadModified => 409,
            _ => 422,
        };
        match error {
            ActError::Invalid(text) => match text.split_once(": ") {
                Some((field @ ("head" | "base" | "state"), code)) => {
                    Self::validation_failed("PullRequest", field, code, None)
                }
                _ => Self::validation_failed("PullRequest", "base", "custom", Some(&text)),
            },
            other => Self::new(status, &other.to_string()),
        }
    }
}

impl Reply {
    pub(crate) fn into_response(self) -> Response<Bytes> {
        match self {
            Self::Json(status, body) => json_response(status, &body),
            Self::Empty(status) => {
                let mut response = Response::new(Bytes::new());
                *response.status_mut() =
                    http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::NO_CONTENT);
                response
            }
            Self::Raw(status, kind, body) => {
                let mut response = Response::new(body);
                *response.status_mut() =
                    http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::OK);
                put_header(response.headers_mut(), "content-type", kind);
                response
            }
            Self::Found(location) => {
                let mut response = Response::new(Bytes::new());
                *response.status_mut() = http::StatusCode::FOUND;
                put_header(response.headers_mut(), "location", &location);
                response
            }
        }
    }
}

/// The value of a path parameter.
pub(crate) fn path_parameter<'p>(params: &'p Params, name: &str) -> &'p str {
    params
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, value)| value)
}

impl Call<'_> {
    /// A path parameter.
    pub(crate) fn path_param(&self, name: &str) -> &str {
        path_parameter(&self.params, name)
    }

    /// A path parameter that is a number; 404 when it is not.
    pub(crate) fn number_param(&self, name: &str) -> Result<u64, Refusal> {
        self.path_param(name)
            .parse()
            .map_err(|_| Refusal::not_found())
    }

    /// A query parameter.
    pub(crate) fn query_param(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// A text of the body.
    pub(crate) fn body_text(&self, name: &str) -> Option<&str> {
        self.body.get(name).and_then(Value::as_str)
    }

    /// A text that the body must hold; 422 when it does not.
    pub(crate) fn required_text(&self, name: &str) -> Result<String, Refusal> {
        match self.body_text(name) {
            Some(text) => Ok(text.to_owned()),
            None => Err(Refusal {
                errors: Some(Box::new(json!([{"field": name, "code": "missing_field"}]))),
                ..Refusal::new(
                    422,
                    &format!("Invalid request.\n\n\"{name}\" wasn't supplied."),
                )
            }),
        }
    }

    /// The repository of the path, once the call was admitted.
    pub(crate) fn repo_id(&self) -> RepoId {
        self.repo.expect("a route below a repository was admitted")
    }

    /// The repository as writes see it.
    pub(crate) fn current_repository(&self) -> &Repository {
        self.model
            .repository(self.repo_id())
            .expect("an admitted repository exists")
    }

    /// The repository as reads see it.
    pub(crate) fn visible_repository(&self) -> &Repository {
        self.model
            .visible_repository(self.repo_id(), self.knobs, self.now)
            .expect("an admitted repository exists")
    }

    /// The objects of the repository.
    pub(crate) fn repository_objects(&self) -> &Objects {
        self.model
            .objects(self.repo_id())
            .expect("every repository has objects")
    }

    /// The account that acts.
    pub(crate) fn actor_account(&self) -> u64 {
        self.identity
            .as_ref()
            .map_or(0, |identity| identity.account)
    }

    /// The items of the requested page; sets the Link header.
    pub(crate) fn page_of<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        let size = self
            .query_param("per_page")
            .and_then(|text| text.parse().ok())
            .unwrap_or(PAGE)
            .clamp(1, MAX_PAGE);
        let page: usize = self
            .query_param("page")
            .and_then(|text| text.parse().ok())
            .unwrap_or(1)
            .max(1);
        let last = items.len().div_ceil(size).max(1);
        let mut links = Vec::new();
        if page > 1 {
            links.push((page - 1, "prev"));
        }
        if page < last {
            links.extend([(page + 1, "next"), (last, "last")]);
        }
        if page > 1 {
            links.push((1, "first"));
        }
        if !links.is_empty() {
            let links: Vec<String> = links
                .into_iter()
                .map(|(page, rel)| format!("<{}>; rel=\"{rel}\"", self.page_url(page)))
                .collect();
            self.link = Some(links.join(", "));
        }
        let from = ((page - 1) * size).min(items.len());
        let until = (from + size).min(items.len());
        items.truncate(until);
        items.split_off(from)
    }

    fn page_url(&self, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.query.iter().filter(|(name, _)| name != "page") {
            query.append_pair(name, value);
        }
        query.append_pair("page", &page.to_string());
        // GitHub's links name the repository by its number.
        let path = match (self.repo, self.path.strip_prefix("/repos/")) {
            (Some(repo), Some(rest)) => {
                let rest = rest
                    .splitn(3, '/')
                    .nth(2)
                    .map_or_else(String::new, |rest| format!("/{rest}"));
                format!("/repositories/{repo}{rest}")
            }
            _ => self.path.clone(),
        };
        format!("{}{path}?{}", self.model.api_url, query.finish())
    }

    /// The commit of a branch, a tag, a full reference or a commit id, which may be abbreviated to 7 digits.
    pub(crate) fn commit_named(&self, name: &str) -> Option<Oid> {
        let repository = self.visible_repository();
        let name = if name == "HEAD" {
            &repository.default_branch
        } else {
            name
        };
        let candidates = [
            format!("refs/heads/{name}"),
            format!("refs/tags/{name}"),
            format!("refs/{name}"),
            name.to_owned(),
        ];
        if let Some(oid) = candidates.iter().find_map(|name| repository.refs.get(name)) {
            return self.peel_tag(*oid);
        }
        if let Ok(oid) = name.parse::<Oid>() {
            return self.repository_objects().commit(oid).map(|_| oid);
        }
        if name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let sorted = self.repository_objects().sorted_objects();
            return sorted
                .into_iter()
                .find(|(oid, object)| {
                    object.kind_name() == "commit" && oid.to_string().starts_with(name)
                })
                .map(|(oid, _)| oid);
        }
        None
    }

    fn peel_tag(&self, oid: Oid) -> Option<Oid> {
        use crate::github::object::Object;
        match self.repository_objects().get(oid)? {
            Object::Commit(_) => Some(oid),
            Object::Tag(content) => {
                let text = std::str::from_utf8(content).ok()?;
                text.lines().next()?.strip_prefix("object ")?.parse().ok()
            }
            _ => None,
        }
    }
}
