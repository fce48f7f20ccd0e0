//! Parses query parameters: names, page sizes, page tokens.

use data_encoding::BASE64URL_NOPAD;

use super::refusal::Refusal;
use super::route::Route;
use crate::knobs::Knobs;

/// The largest page; larger sizes are coerced to it (documented).
const LARGEST_PAGE: usize = 100;

/// The query of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    page_size: Option<String>,
    pub(super) page_token: Option<String>,
    pub(super) filter: Option<String>,
}

impl Query {
    /// Reads a query string; a name that the method does not have is 400.
    ///
    /// Google's front end also knows `key`, `alt` and the like. They are refused here, because a key must never
    /// be in a URL and no client of Jules needs the others.
    pub(super) fn parse(query: Option<&str>, route: &Route) -> Result<Query, Refusal> {
        let mut read = Query::default();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if !route.query_parameters().contains(&name.as_ref()) {
                return Err(Refusal::bad_field(
                    "",
                    format!(
                        "Unknown name \"{name}\": Cannot bind query parameter. Field '{name}' could not be found in request message."
                    ),
                ));
            }
            let value = Some(value.into_owned()).filter(|value| !value.is_empty());
            match name.as_ref() {
                "pageSize" => read.page_size = value,
                "pageToken" => read.page_token = value,
                _ => read.filter = value,
            }
        }
        Ok(read)
    }

    /// The number of entries on a page, `default` when none is asked for.
    pub(super) fn page_size(&self, default: usize, knobs: &Knobs) -> Result<usize, Refusal> {
        let Some(text) = &self.page_size else {
            return Ok(default);
        };
        let asked: i32 = text.parse().map_err(|_| {
            Refusal::bad_field(
                "page_size",
                format!("Invalid value at 'page_size' (TYPE_INT32), \"{text}\""),
            )
        })?;
        let fits = usize::try_from(asked)
            .ok()
            .filter(|size| (1..=LARGEST_PAGE).contains(size));
        match fits {
            Some(size) => Ok(size),
            None if asked == 0 => Ok(default),
            None if knobs.count_use("page-size-rejected", knobs.page_size_rejected) => {
                Err(Refusal::invalid_argument())
            }
            None if asked < 0 => Ok(default),
            None => Ok(LARGEST_PAGE),
        }
    }

    /// The position at which the page starts, from a token of [`page_token`] for this kind of listing.
    pub(super) fn page_start(&self, kind: &str) -> Result<Option<usize>, Refusal> {
        let Some(token) = &self.page_token else {
            return Ok(None);
        };
        let text = BASE64URL_NOPAD
            .decode(token.as_bytes())
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(Refusal::invalid_argument)?;
        match text.split_once(' ') {
            Some((of, position)) if of == kind => position
                .parse()
                .map(Some)
                .map_err(|_| Refusal::invalid_argument()),
            _ => Err(Refusal::invalid_argument()),
        }
    }
}

/// An opaque token from which the next page of this kind of listing starts.
pub(super) fn page_token(kind: &str, position: usize) -> String {
    BASE64URL_NOPAD.encode(format!("{kind} {position}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions_query(query: &str) -> Result<Query, Refusal> {
        Query::parse(Some(query), &Route::ListSessions)
    }

    #[test]
    fn an_unknown_name_is_refused_in_the_recorded_words() {
        let refusal = Query::parse(
            Some("createTime=2026-01-01"),
            &Route::ListActivities("1".into()),
        )
        .unwrap_err();
        assert_eq!(refusal.code, 400);
        assert_eq!(
            refusal.message,
            "Unknown name \"createTime\": Cannot bind query parameter. Field 'createTime' could not be found in request message."
        );
        assert!(Query::parse(Some("pageSize=3"), &Route::GetSession("1".into())).is_err());
        assert!(sessions_query("key=secret").is_err());
    }

    #[test]
    fn page_sizes_are_coerced_or_rejected() {
        let mut knobs = Knobs::documented();
        for (asked, size) in [("1", 1), ("100", 100), ("101", 100), ("0", 30), ("-1", 30)] {
            assert_eq!(
                sessions_query(&format!("pageSize={asked}"))
                    .unwrap()
                    .page_size(30, &knobs),
                Ok(size)
            );
        }
        assert_eq!(sessions_query("").unwrap().page_size(50, &knobs), Ok(50));
        assert!(
            sessions_query("pageSize=ten")
                .unwrap()
                .page_size(30, &knobs)
                .is_err()
        );
        knobs.page_size_rejected = true;
        assert!(
            sessions_query("pageSize=101")
                .unwrap()
                .page_size(30, &knobs)
                .is_err()
        );
        assert_eq!(
            sessions_query("pageSize=0").unwrap().page_size(30, &knobs),
            Ok(30)
        );
    }

    #[test]
    fn a_token_belongs_to_its_listing() {
        let query = sessions_query(&format!("pageToken={}", page_token("sessions", 17))).unwrap();
        assert_eq!(query.page_start("sessions"), Ok(Some(17)));
        assert!(query.page_start("sources").is_err());
        assert!(
            sessions_query("pageToken=zzz")
                .unwrap()
                .page_start("sessions")
                .is_err()
        );
        assert_eq!(
            sessions_query("pageToken=").unwrap().page_start("sessions"),
            Ok(None)
        );
    }
}
