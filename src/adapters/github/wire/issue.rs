//! Issues and comments in REST answers.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Issue {
    pub(crate) number: u64,
    pub(crate) state: String,
    /// Whether only people with write access may comment.
    #[serde(default)]
    pub(crate) locked: bool,
    #[serde(default)]
    pub(crate) body: Option<String>,
    #[serde(default)]
    pub(crate) labels: Vec<Label>,
    /// Present in the listing of issues for pull requests only.
    #[serde(default)]
    pub(crate) pull_request: Option<serde_json::Value>,
}

/// GitHub's API description allows both forms.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Name(String),
    Object { name: Option<String> },
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Comment {
    #[serde(default)]
    pub(crate) body: Option<String>,
}

/// A comment that was just created.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Created {
    pub(crate) id: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PullBase {
    pub(crate) base: Base,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Base {
    #[serde(rename = "ref")]
    pub(crate) branch: String,
}

impl Issue {
    pub(crate) fn has_label(&self, wanted: &str) -> bool {
        self.labels.iter().any(|label| match label {
            Label::Name(name) | Label::Object { name: Some(name) } => {
                name.eq_ignore_ascii_case(wanted)
            }
            Label::Object { name: None } => false,
        })
    }
}
