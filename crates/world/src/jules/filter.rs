//! Parses the three filters that are known to work, each in the forms that clients send.

use jiff::Timestamp;

use super::refusal::Refusal;

/// Reads `name=sources/a OR name=sources/b` into the names.
pub(super) fn source_names(filter: &str) -> Result<Vec<String>, Refusal> {
    filter
        .split(" OR ")
        .map(|part| {
            let (field, value) = part.split_once('=').ok_or_else(|| bad_filter(filter))?;
            let value = value.trim().trim_matches('"');
            if field.trim() != "name" || value.is_empty() || value.contains(char::is_whitespace) {
                return Err(bad_filter(filter));
            }
            Ok(value.to_owned())
        })
        .collect()
}

/// Reads `archived = true` or `archived = false`.
pub(super) fn parse_archived(filter: &str) -> Result<bool, Refusal> {
    let (field, value) = filter.split_once('=').ok_or_else(|| bad_filter(filter))?;
    match (field.trim(), value.trim()) {
        ("archived", "true") => Ok(true),
        ("archived", "false") => Ok(false),
        _ => Err(bad_filter(filter)),
    }
}

/// Reads `create_time>"<RFC 3339>"`; only strictly newer activities pass.
pub(super) fn newer_than(filter: &str) -> Result<Timestamp, Refusal> {
    let (field, value) = filter.split_once('>').ok_or_else(|| bad_filter(filter))?;
    let value = value
        .trim()
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'))
        .ok_or_else(|| bad_filter(filter))?;
    if field.trim() != "create_time" {
        return Err(bad_filter(filter));
    }
    value.parse().map_err(|_| bad_filter(filter))
}

fn bad_filter(filter: &str) -> Refusal {
    Refusal::bad_field("filter", format!("Invalid filter: {filter}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_filtered_by_name_only() {
        assert_eq!(source_names("name=sources/a").unwrap(), ["sources/a"]);
        assert_eq!(
            source_names("name=sources/a OR name = \"sources/b\"").unwrap(),
            ["sources/a", "sources/b"]
        );
        for bad in [
            "name:sources/a",
            "owner=a",
            "name=",
            "name=a b",
            "name=a AND name=b",
        ] {
            assert_eq!(source_names(bad).unwrap_err().code, 400, "{bad}");
        }
    }

    #[test]
    fn sessions_are_filtered_by_archived_only() {
        assert_eq!(parse_archived("archived = true"), Ok(true));
        assert_eq!(parse_archived("archived=false"), Ok(false));
        for bad in ["archived", "archived = yes", "state = FAILED"] {
            assert!(parse_archived(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn activities_are_filtered_by_creation_time_only() {
        let expected: Timestamp = "2026-01-14T10:00:00.5Z".parse().unwrap();
        assert_eq!(
            newer_than("create_time>\"2026-01-14T10:00:00.5Z\""),
            Ok(expected)
        );
        assert_eq!(
            newer_than("create_time > \"2026-01-14T11:00:00.5+01:00\""),
            Ok(expected)
        );
        for bad in [
            "createTime>\"2026-01-14T10:00:00Z\"",
            "create_time>2026-01-14T10:00:00Z",
            "create_time>\"x\"",
        ] {
            assert!(newer_than(bad).is_err(), "{bad}");
        }
    }
}
