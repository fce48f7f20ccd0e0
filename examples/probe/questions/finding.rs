//! What was asked, what came back, and what it means.

/// How much of an answer is kept as evidence, in characters.
const EVIDENCE_CHARS: usize = 160;

/// One request and what came back: a status and the first characters, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) request: String,
    pub(crate) status: Option<u16>,
    pub(crate) text: String,
}

impl Evidence {
    /// `text` must not contain secrets; the caller removes them.
    pub(crate) fn new(request: impl Into<String>, status: Option<u16>, text: &str) -> Self {
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .collect();
        Self {
            request: request.into(),
            status,
            text: words.join(" ").chars().take(EVIDENCE_CHARS).collect(),
        }
    }
}

/// An open question, its answer, and the knobs of the sandbox that replay it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    /// Its stable name.
    pub(crate) id: &'static str,
    /// The question.
    pub(crate) question: &'static str,
    /// The answer, as a sentence; `None` when it could not be found out.
    pub(crate) answer: Option<String>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) knobs: Vec<(&'static str, toml::Value)>,
}

impl Finding {
    pub(crate) fn new(id: &'static str, question: &'static str) -> Self {
        Self {
            id,
            question,
            answer: None,
            evidence: Vec::new(),
            knobs: Vec::new(),
        }
    }

    pub(crate) fn with_answer(mut self, answer: impl Into<String>) -> Self {
        self.answer = Some(answer.into());
        self
    }

    pub(crate) fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    pub(crate) fn with_knob(mut self, name: &'static str, value: impl Into<toml::Value>) -> Self {
        self.knobs.push((name, value.into()));
        self
    }
}

/// The answers as a fault plan: `sandbox --faults FILE` replays them.
pub(crate) fn fault_plan_toml(findings: &[Finding]) -> Result<String, toml::ser::Error> {
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
    use super::{Finding, fault_plan_toml};

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
