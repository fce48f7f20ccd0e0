//! The methods of the API, and the parsing of requests into them.

use http::Method;

use super::refusal::Refusal;

/// One method of `jules.googleapis.com/v1alpha`, with the ids of its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    ListSources,
    GetSource(String),
    CreateSession,
    ListSessions,
    GetSession(String),
    DeleteSession(String),
    SendMessage(String),
    ApprovePlan(String),
    Archive(String),
    Unarchive(String),
    ListActivities(String),
    GetActivity(String, String),
}

impl Route {
    /// Parses method and path; a request that is no method of the API is 404.
    pub(super) fn parse(method: &Method, path: &str) -> Result<Route, Refusal> {
        let rest = path
            .strip_prefix("/v1alpha/")
            .ok_or_else(Refusal::not_found)?;
        let get = method == Method::GET;
        let post = method == Method::POST;
        if let Some(name) = rest.strip_prefix("sources/") {
            return if get && !name.is_empty() {
                Ok(Route::GetSource(format!("sources/{name}")))
            } else {
                Err(Refusal::not_found())
            };
        }
        let segments: Vec<&str> = rest.split('/').collect();
        match segments.as_slice() {
            ["sources"] if get => Ok(Route::ListSources),
            ["sessions"] if get => Ok(Route::ListSessions),
            ["sessions"] if post => Ok(Route::CreateSession),
            ["sessions", id] if !id.is_empty() => Route::parse_session_route(method, id),
            ["sessions", id, "activities"] if get => Ok(Route::ListActivities((*id).to_owned())),
            ["sessions", id, "activities", activity] if get && !activity.is_empty() => {
                Ok(Route::GetActivity((*id).to_owned(), (*activity).to_owned()))
            }
            _ => Err(Refusal::not_found()),
        }
    }

    fn parse_session_route(method: &Method, last: &str) -> Result<Route, Refusal> {
        if method == Method::POST {
            let (id, verb) = last.split_once(':').ok_or_else(Refusal::not_found)?;
            let id = id.to_owned();
            return match verb {
                "sendMessage" => Ok(Route::SendMessage(id)),
                "approvePlan" => Ok(Route::ApprovePlan(id)),
                "archive" => Ok(Route::Archive(id)),
                "unarchive" => Ok(Route::Unarchive(id)),
                _ => Err(Refusal::not_found()),
            };
        }
        match *method {
            Method::GET => Ok(Route::GetSession(last.to_owned())),
            Method::DELETE => Ok(Route::DeleteSession(last.to_owned())),
            _ => Err(Refusal::not_found()),
        }
    }

    /// The query parameters that this method has, in the spelling of the wire.
    pub(super) fn query_parameters(&self) -> &'static [&'static str] {
        match self {
            Route::ListSources | Route::ListSessions | Route::ListActivities(_) => {
                &["pageSize", "pageToken", "filter"]
            }
            _ => &[],
        }
    }

    /// The path with its ids as placeholders, for counting requests.
    pub(super) fn path_template(&self) -> &'static str {
        match self {
            Route::ListSources => "/v1alpha/sources",
            Route::GetSource(_) => "/v1alpha/sources/{source}",
            Route::CreateSession | Route::ListSessions => "/v1alpha/sessions",
            Route::GetSession(_) | Route::DeleteSession(_) => "/v1alpha/sessions/{session}",
            Route::SendMessage(_) => "/v1alpha/sessions/{session}:sendMessage",
            Route::ApprovePlan(_) => "/v1alpha/sessions/{session}:approvePlan",
            Route::Archive(_) => "/v1alpha/sessions/{session}:archive",
            Route::Unarchive(_) => "/v1alpha/sessions/{session}:unarchive",
            Route::ListActivities(_) => "/v1alpha/sessions/{session}/activities",
            Route::GetActivity(..) => "/v1alpha/sessions/{session}/activities/{activity}",
        }
    }
}

/// The route of a request to the Jules face, for the books; `unknown` when the API has no such method.
pub fn route_template(method: &Method, path: &str) -> &'static str {
    Route::parse(method, path).map_or("unknown", |route| route.path_template())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_methods_are_known() {
        let known = [
            ("GET", "/v1alpha/sources", "/v1alpha/sources"),
            (
                "GET",
                "/v1alpha/sources/github/o/r",
                "/v1alpha/sources/{source}",
            ),
            ("POST", "/v1alpha/sessions", "/v1alpha/sessions"),
            ("GET", "/v1alpha/sessions/1", "/v1alpha/sessions/{session}"),
            (
                "DELETE",
                "/v1alpha/sessions/1",
                "/v1alpha/sessions/{session}",
            ),
            (
                "POST",
                "/v1alpha/sessions/1:archive",
                "/v1alpha/sessions/{session}:archive",
            ),
            (
                "GET",
                "/v1alpha/sessions/1/activities/a",
                "/v1alpha/sessions/{session}/activities/{activity}",
            ),
            ("PATCH", "/v1alpha/sessions/1", "unknown"),
        ];
        for (method, path, expected) in known {
            assert_eq!(route_template(&method.parse().unwrap(), path), expected);
        }
    }

    #[test]
    fn nothing_else_exists() {
        for (method, path) in [
            ("POST", "/v1alpha/sessions/1:cancelPlan"),
            ("POST", "/v1alpha/sessions/1:pause"),
            ("POST", "/v1alpha/sessions/1:resume"),
            ("POST", "/v1alpha/sessions/1"),
            ("PATCH", "/v1alpha/sessions/1"),
            ("DELETE", "/v1alpha/sources/github/o/r"),
            ("GET", "/v1/sessions"),
            ("GET", "/v1alpha/jobs"),
            ("GET", "/v1alpha/sessions/"),
            ("GET", "/v1alpha//sources"),
            ("GET", "/v1alpha/sessions/1/artifacts"),
        ] {
            let refusal = Route::parse(&method.parse().unwrap(), path).unwrap_err();
            assert_eq!(refusal.code, 404, "{method} {path}");
        }
    }
}
