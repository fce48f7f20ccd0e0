//! Parses request bodies: which fields exist, and of what type.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// The input fields of a new session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NewSession {
    pub(super) prompt: String,
    pub(super) title: String,
    /// The source's name and the starting branch; a session without a repository has none.
    pub(super) context: Option<(String, String)>,
    pub(super) require_plan_approval: bool,
    pub(super) auto_create_pull: bool,
    pub(super) environment_variables: bool,
}

/// Fields of a session that only the service sets; sending them is allowed and does nothing.
const OUTPUT_ONLY: [&str; 9] = [
    "name",
    "id",
    "createTime",
    "updateTime",
    "state",
    "url",
    "outputs",
    "archived",
    "generatedFiles",
];

impl NewSession {
    /// Reads the body of `sessions.create`.
    pub(super) fn parse(body: &Bytes) -> Result<NewSession, Refusal> {
        let mut new = NewSession::default();
        for (name, value) in parse_object(body)? {
            match name.as_str() {
                "prompt" => new.prompt = text_field(&value, "session.prompt")?,
                "title" => new.title = text_field(&value, "session.title")?,
                "requirePlanApproval" => {
                    new.require_plan_approval =
                        bool_field(&value, "session.require_plan_approval")?;
                }
                "automationMode" => new.auto_create_pull = automation_mode(&value)?,
                "sourceContext" => {
                    new.context = source_context(&value)?;
                    new.environment_variables = value["environmentVariablesEnabled"] == true;
                }
                other if OUTPUT_ONLY.contains(&other) => {}
                other => return Err(unknown_field(other, "session")),
            }
        }
        if new.prompt.trim().is_empty() {
            return Err(Refusal::invalid_argument());
        }
        Ok(new)
    }
}

/// Reads the body of `:sendMessage`.
pub(super) fn parse_message(body: &Bytes) -> Result<String, Refusal> {
    let mut prompt = String::new();
    for (name, value) in parse_object(body)? {
        match name.as_str() {
            "prompt" => prompt = text_field(&value, "prompt")?,
            other => return Err(unknown_field(other, "")),
        }
    }
    if prompt.trim().is_empty() {
        Err(Refusal::invalid_argument())
    } else {
        Ok(prompt)
    }
}

/// Reads a body that has no fields: nothing, or `{}`.
pub(super) fn expect_empty(body: &Bytes) -> Result<(), Refusal> {
    if body.is_empty() {
        return Ok(());
    }
    match parse_object(body)?.keys().next() {
        None => Ok(()),
        Some(name) => Err(unknown_field(name, "")),
    }
}

fn parse_object(body: &Bytes) -> Result<Map<String, Value>, Refusal> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Refusal::bad_field(
            "",
            "Invalid JSON payload received. Unknown name \"\": Root element must be a message.",
        )),
        Err(error) => Err(Refusal::bad_field(
            "",
            format!("Invalid JSON payload received. {error}"),
        )),
    }
}

fn unknown_field(name: &str, inside: &str) -> Refusal {
    let place = if inside.is_empty() {
        String::new()
    } else {
        format!(" at '{inside}'")
    };
    Refusal::bad_field(
        inside,
        format!(
            "Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field."
        ),
    )
}

fn text_field(value: &Value, field: &str) -> Result<String, Refusal> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        other => Err(wrong_type(other, field, "TYPE_STRING")),
    }
}

fn bool_field(value: &Value, field: &str) -> Result<bool, Refusal> {
    match value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        other => Err(wrong_type(other, field, "TYPE_BOOL")),
    }
}

fn automation_mode(value: &Value) -> Result<bool, Refusal> {
    match value {
        Value::Null => Ok(false),
        Value::String(mode) if mode == "AUTO_CREATE_PR" => Ok(true),
        Value::String(mode) if mode == "AUTOMATION_MODE_UNSPECIFIED" => Ok(false),
        other => Err(wrong_type(
            other,
            "session.automation_mode",
            "type.googleapis.com/google.labs.jules.v1alpha.AutomationMode",
        )),
    }
}

fn wrong_type(value: &Value, field: &str, kind: &str) -> Refusal {
    Refusal::bad_field(
        field,
        format!("Invalid value at '{field}' ({kind}), {value}"),
    )
}

fn source_context(value: &Value) -> Result<Option<(String, String)>, Refusal> {
    const PLACE: &str = "session.source_context";
    const REPOSITORY: &str = "session.source_context.github_repo_context";
    let fields = match value {
        Value::Null => return Ok(None),
        Value::Object(fields) => fields,
        other => {
            return Err(wrong_type(
                other,
                PLACE,
                "type.googleapis.com/google.labs.jules.v1alpha.SourceContext",
            ));
        }
    };
    let mut source = String::new();
    let mut branch = String::new();
    for (name, value) in fields {
        match name.as_str() {
            "source" => source = text_field(value, "session.source_context.source")?,
            "workingBranch" => drop(text_field(value, "session.source_context.working_branch")?),
            "environmentVariablesEnabled" => {
                bool_field(
                    value,
                    "session.source_context.environment_variables_enabled",
                )?;
            }
            "githubRepoContext" => {
                let Value::Object(inner) = value else {
                    return Err(wrong_type(
                        value,
                        REPOSITORY,
                        "type.googleapis.com/google.labs.jules.v1alpha.GitHubRepoContext",
                    ));
                };
                for (name, value) in inner {
                    match name.as_str() {
                        "startingBranch" => {
                            branch = text_field(value, &format!("{REPOSITORY}.starting_branch"))?
                        }
                        other => return Err(unknown_field(other, REPOSITORY)),
                    }
                }
            }
            other => return Err(unknown_field(other, PLACE)),
        }
    }
    if source.is_empty() || branch.is_empty() {
        return Err(Refusal::invalid_argument());
    }
    Ok(Some((source, branch)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<NewSession, Refusal> {
        NewSession::parse(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn the_body_of_the_official_sdk_is_read() {
        let new = parse(
            r#"{"prompt":"do it","title":"T","sourceContext":{"source":"sources/github/o/r",
            "githubRepoContext":{"startingBranch":"main"}},"automationMode":"AUTO_CREATE_PR","requirePlanApproval":true}"#,
        )
        .unwrap();
        assert_eq!(
            new.context,
            Some(("sources/github/o/r".into(), "main".into()))
        );
        assert!(new.auto_create_pull && new.require_plan_approval);
    }

    #[test]
    fn unknown_fields_are_named_with_their_place() {
        for (body, message) in [
            (
                r#"{"prompt":"p","branch":"x"}"#,
                "Unknown name \"branch\" at 'session': Cannot find field.",
            ),
            (
                r#"{"prompt":"p","sourceContext":{"repo":"x"}}"#,
                "Unknown name \"repo\" at 'session.source_context': Cannot find field.",
            ),
        ] {
            let refusal = parse(body).unwrap_err();
            assert_eq!(refusal.code, 400);
            assert!(refusal.message.ends_with(message), "{}", refusal.message);
        }
        let refusal = parse_message(&Bytes::from_static(br#"{"message":"go on"}"#)).unwrap_err();
        assert!(
            refusal
                .message
                .ends_with("Unknown name \"message\": Cannot find field.")
        );
    }

    #[test]
    fn a_bad_enum_value_is_refused_in_the_recorded_words() {
        for mode in ["MANUAL", "NONE", "DRAFT_PR", "auto_create_pr"] {
            let refusal =
                parse(&format!(r#"{{"prompt":"p","automationMode":"{mode}"}}"#)).unwrap_err();
            assert_eq!(
                refusal.message,
                format!(
                    "Invalid value at 'session.automation_mode' (type.googleapis.com/google.labs.jules.v1alpha.AutomationMode), \"{mode}\""
                )
            );
        }
    }

    #[test]
    fn what_is_required_is_required() {
        for body in [
            "{}",
            "",
            r#"{"prompt":" "}"#,
            r#"{"prompt":"p","sourceContext":{"source":"sources/github/o/r"}}"#,
            r#"{"prompt":"p","sourceContext":{"githubRepoContext":{"startingBranch":"main"}}}"#,
            r#"{"prompt":5}"#,
            "[]",
            "{",
        ] {
            assert_eq!(
                parse(body).unwrap_err().status,
                "INVALID_ARGUMENT",
                "{body}"
            );
        }
        assert_eq!(parse(r#"{"prompt":"p"}"#).unwrap().context, None);
    }

    #[test]
    fn verbs_without_input_take_nothing_or_an_empty_object() {
        assert!(expect_empty(&Bytes::new()).is_ok());
        assert!(expect_empty(&Bytes::from_static(b"{}")).is_ok());
        assert!(expect_empty(&Bytes::from_static(b"{\"planId\":\"1\"}")).is_err());
    }
}
