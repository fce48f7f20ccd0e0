//! Every method of the API that phileas uses. The client builds its requests only from these.
//!
//! The path's first segment is the version, which a custom base URL may replace.

/// Lists repositories that Jules may work on.
pub const LIST_SOURCES: &str = "GET /v1alpha/sources";
/// Reads one repository.
pub const GET_SOURCE: &str = "GET /v1alpha/sources/{source}";
/// Starts a session.
pub const CREATE_SESSION: &str = "POST /v1alpha/sessions";
/// Lists sessions of the whole account.
pub const LIST_SESSIONS: &str = "GET /v1alpha/sessions";
/// Reads a session.
pub const GET_SESSION: &str = "GET /v1alpha/sessions/{session}";
/// Sends a message to a session.
pub const SEND_MESSAGE: &str = "POST /v1alpha/sessions/{session}:sendMessage";
/// Approves a session's plan.
pub const APPROVE_PLAN: &str = "POST /v1alpha/sessions/{session}:approvePlan";
/// Archives a session; one that runs is paused.
pub const ARCHIVE_SESSION: &str = "POST /v1alpha/sessions/{session}:archive";
/// Lists a session's activities.
pub const LIST_ACTIVITIES: &str = "GET /v1alpha/sessions/{session}/activities";

/// All of them.
pub const ALL: &[&str] = &[
    LIST_SOURCES,
    GET_SOURCE,
    CREATE_SESSION,
    LIST_SESSIONS,
    GET_SESSION,
    SEND_MESSAGE,
    APPROVE_PLAN,
    ARCHIVE_SESSION,
    LIST_ACTIVITIES,
];

/// The version segment of the routes.
const VERSION: &str = "/v1alpha";

/// The longest id or name in a path.
const MAX_NAME_CHARS: usize = 250;

/// A route's method, and its path below the version with the names filled in.
///
/// An invalid name (ids come from files that others can write); returns its text.
pub(super) fn fill_route(
    route: &'static str,
    names: &[(&str, &str)],
) -> Result<(http::Method, String), String> {
    let (method, path) = route
        .split_once(' ')
        .expect("a route is a method and a path");
    let method = method
        .parse()
        .expect("a route's method is a method of HTTP");
    let mut path = path
        .strip_prefix(VERSION)
        .expect("a route's path begins with the version")
        .to_owned();
    for (placeholder, name) in names {
        let slashes = *placeholder == "{source}";
        if !is_name(name, slashes) {
            return Err((*name).to_owned());
        }
        path = path.replace(placeholder, name);
    }
    debug_assert!(
        !path.contains('{'),
        "{route} has a name that was not filled in"
    );
    Ok((method, path))
}

fn is_name(name: &str, slashes: bool) -> bool {
    let segment = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    name.len() <= MAX_NAME_CHARS
        && if slashes {
            name.split('/').all(segment)
        } else {
            segment(name)
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in() {
        let (method, path) = fill_route(LIST_ACTIVITIES, &[("{session}", "15")]).unwrap();
        assert_eq!(
            (method.as_str(), path.as_str()),
            ("GET", "/sessions/15/activities")
        );
        let (_, path) = fill_route(GET_SOURCE, &[("{source}", "github/acme/widget")]).unwrap();
        assert_eq!(path, "/sources/github/acme/widget");
    }

    #[test]
    fn a_name_cannot_leave_its_place() {
        for wrong in [
            "",
            "..",
            "1/..",
            "1?x=y",
            "1#",
            "1 2",
            "1:delete",
            "%2e",
            "é",
            &"1".repeat(251),
        ] {
            assert_eq!(
                fill_route(GET_SESSION, &[("{session}", wrong)]).unwrap_err(),
                wrong
            );
        }
        for wrong in ["../sessions", "github//x", "github/", "/"] {
            assert!(
                fill_route(GET_SOURCE, &[("{source}", wrong)]).is_err(),
                "{wrong}"
            );
        }
    }
}
