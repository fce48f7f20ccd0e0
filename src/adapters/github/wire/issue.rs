//! Issues and comments, by REST.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Issue {
    pub(in super::super) number: u64,
    pub(in super::super) state: String,
    /// Whether only people with write access may comment.
    #[serde(default)]
    pub(in super::super) locked: bool,
    #[serde(default)]
    pub(in super::super) body: Option<String>,
    #[serde(default)]
    pub(in super::super) labels: Vec<Label>,
    /// The listing of issues has pull requests in it; this key tells them.
    #[serde(default)]
    pub(in super::super) pull_request: Option<serde_json::Value>,
}

/// GitHub's description allows both forms.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(in super::super) enum Label {
    Name(String),
    Object { name: Option<String> },
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Comment {
    #[serde(default)]
    pub(in super::super) body: Option<String>,
}

/// A comment that was just written.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Created {
    pub(in super::super) id: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct PullBase {
    pub(in super::super) base: Base,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Base {
    #[serde(rename = "ref")]
    pub(in super::super) branch: String,
}

impl Issue {
    pub(in super::super) fn has_label(&self, wanted: &str) -> bool {
        self.labels.iter().any(|label| match label {
            Label::Name(name) | Label::Object { name: Some(name) } => {
                name.eq_ignore_ascii_case(wanted)
            }
            Label::Object { name: None } => false,
        })
    }
}
