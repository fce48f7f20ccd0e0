//! Models one version of the ledger branch, with its names and times extracted, so that worlds that differ only in them
//! count as one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use jiff::Timestamp;
use phileas_domain::engine::Ledger;
use phileas_domain::model::Oid;
use phileas_domain::state::{State, codec};
use serde_json::Value;

/// Times that affect no decision and would only multiply the states.
const TOLD_ONLY: [&str; 6] = [
    // Sessions of the rolling day: nothing here lasts a day, and the budget is large.
    "created",
    "updated_at",
    "born_at",
    "finished_at",
    "listed_empty_at",
    "warned_at",
];

/// A version of the branch.
#[derive(Debug)]
pub(crate) struct Version {
    /// The number of its commits; its head is unique.
    pub(crate) number: u64,
    /// The ledger as it is read.
    pub(crate) ledger: Ledger,
    /// A digest of the state file.
    pub(crate) digest: u64,
    /// The state file without times and holders.
    pub(crate) text: String,
    /// The times, in the order of the file.
    pub(crate) times: Vec<Timestamp>,
    /// The holders of intents, in the order of the file.
    pub(crate) holders: Vec<String>,
}

impl Version {
    /// The ledger before its first commit.
    pub(crate) fn missing() -> Self {
        Self {
            number: 0,
            ledger: Ledger::Missing { head: None },
            digest: 0,
            text: String::new(),
            times: Vec::new(),
            holders: Vec::new(),
        }
    }

    /// The version after a commit.
    pub(crate) fn after(&self, state: State) -> Self {
        let number = self.number + 1;
        let file = codec::save(&state);
        let mut digest = DefaultHasher::new();
        file.hash(&mut digest);
        let mut value: Value = serde_json::from_str(&file).expect("the codec writes JSON");
        let (mut times, mut holders) = (Vec::new(), Vec::new());
        take_out(&mut value, &mut times, &mut holders);
        Self {
            number,
            ledger: Ledger::Present {
                head: Oid::new(format!("ledger-{number}")),
                state: Box::new(state),
            },
            digest: digest.finish(),
            text: value.to_string(),
            times,
            holders,
        }
    }

    /// The state, once the branch exists.
    pub(crate) fn state(&self) -> Option<&State> {
        match &self.ledger {
            Ledger::Present { state, .. } => Some(state),
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
        }
    }

    /// The head for a compare-and-swap.
    pub(crate) fn head(&self) -> Option<&Oid> {
        match &self.ledger {
            Ledger::Present { head, .. } | Ledger::Corrupt { head, .. } => Some(head),
            Ledger::Missing { head } => head.as_ref(),
        }
    }
}

fn take_out(value: &mut Value, times: &mut Vec<Timestamp>, holders: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            // The times of an entry with an outcome are not used any more.
            if fields.get("outcome").is_some_and(Value::is_string) {
                fields.remove("created_at");
            }
            for (key, field) in fields.iter_mut() {
                match field {
                    Value::String(text) if key == "holder" => holders.push(std::mem::take(text)),
                    _ if TOLD_ONLY.contains(&key.as_str()) => *field = Value::Null,
                    _ => take_out(field, times, holders),
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| take_out(item, times, holders)),
        Value::String(text) => {
            if let Ok(time) = text.parse() {
                times.push(time);
                text.clear();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
