//! What was asked, what came back, and what it means.

use serde_json::{Value, json};

use crate::cli::terminal::sanitize::sanitize;

/// How much of an answer is kept as evidence, in characters.
const EVIDENCE_CHARS: usize = 160;

/// One request and what came back: a status and the first characters, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Evidence {
    request: String,
    status: Option<u16>,
    text: String,
}

impl Evidence {
    /// `text` must not contain secrets; the caller removes them.
    pub(super) fn new(request: impl Into<String>, status: Option<u16>, text: &str) -> Self {
        Self {
            request: request.into(),
            status,
            text: sanitize(text, EVIDENCE_CHARS),
        }
    }
}

/// An open question, its answer, and the knobs of the sandbox that replay it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// Its stable name.
    pub(super) id: &'static str,
    /// The question.
    pub(super) question: &'static str,
    /// The answer, as a sentence; `None` when it could not be found out.
    pub(super) answer: Option<String>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) knobs: Vec<(&'static str, toml::Value)>,
}

impl Finding {
    pub(super) fn new(id: &'static str, question: &'static str) -> Self {
        Self {
            id,
            question,
            answer: None,
            evidence: Vec::new(),
            knobs: Vec::new(),
        }
    }

    pub(super) fn with_answer(mut self, answer: impl Into<String>) -> Self {
        self.answer = Some(answer.into());
        self
    }

    pub(super) fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    pub(super) fn with_knob(mut self, name: &'static str, value: impl Into<toml::Value>) -> Self {
        self.knobs.push((name, value.into()));
        self
    }

    /// Several lines for people.
    pub(super) fn finding_text(&self) -> String {
        let mut text = format!(
            "{}\n  {}",
            self.question,
            self.answer.as_deref().unwrap_or("not found out")
        );
        for one in &self.evidence {
            let status = one
                .status
                .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
            text.push_str(&format!("\n    {}: {status} {}", one.request, one.text));
        }
        text
    }

    pub(super) fn finding_json(&self) -> Value {
        let evidence: Vec<Value> = self
            .evidence
            .iter()
            .map(|one| json!({ "request": one.request, "status": one.status, "text": one.text }))
            .collect();
        let knobs: serde_json::Map<String, Value> = self
            .knobs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        json!({
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "evidence": evidence,
            "knobs": knobs,
        })
    }
}

/// The answers as a fault plan: `sandbox --faults FILE` replays them.
pub(super) fn fault_plan_toml(findings: &[Finding]) -> Result<String, toml::ser::Error> {
    let knobs: toml::Table = findings
        .iter()
        .flat_map(|finding| &finding.knobs)
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    let mut plan = toml::Table::new();
    plan.insert("knobs".to_owned(), toml::Value::Table(knobs));
    toml::to_string(&plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_plan_sets_knobs_that_exist() {
        let findings = [
            Finding::new("a", "?").with_knob("title", "truncated"),
            Finding::new("b", "?")
                .with_knob("listing-lag-seconds", 4)
                .with_knob("draft-pulls", true),
        ];
        let text = fault_plan_toml(&findings).unwrap();
        let read: toml::Table = toml::from_str(&text).unwrap();
        let mut knobs = phileas_world::Knobs::documented();
        knobs
            .set(&serde_json::to_value(&read["knobs"]).unwrap())
            .unwrap();
        assert_eq!(knobs.title, phileas_world::knobs::TitleKept::Truncated);
        assert_eq!(knobs.listing_lag_seconds, 4);
        assert!(knobs.draft_pulls);
    }
}
