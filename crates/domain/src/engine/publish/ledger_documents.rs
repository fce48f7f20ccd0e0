//! The documents that stand on the ledger beside the exchange, as seeds 000 and 001 draw them: the rules for agents, the
//! guide for people, and the registry of labels.
//!
//! The first commit of layers brings them. A newer version renews those that are still as phileas wrote them; what a
//! person has changed stays, and what a person has removed stays away (see [`moves`]).

use std::collections::BTreeMap;

use crate::engine::lookup::exchange_view::is_document;
use crate::engine::lookup::layer_members::cast;
use crate::engine::output::builder::Draft;
use crate::layers::{Fate, LEDGER_PIN_PATH, Pin, moves};
use crate::plan::StepKind;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the documents in a commit that layers make anyway, where they are missing or of an older version.
pub(crate) fn write_documents(draft: &mut Draft<'_>) {
    let has_layers = draft.snapshot.plan.tracks.values().any(|track| {
        let mut steps = track.steps.iter();
        steps.any(|step| matches!(step.kind, StepKind::Layer(_)))
    });
    if !has_layers || !draft.has_headline() || !draft.snapshot.layers_read {
        return;
    }
    let Some(ledger) = draft.exchange.clone() else {
        return;
    };
    let text = ledger.text(LEDGER_PIN_PATH);
    // A newer version knows better, and a pin that cannot be read tells nothing: `phileas bootstrap` names both.
    let Ok(pin) = text.map(|text| Pin::read(text, VERSION)).transpose() else {
        return;
    };
    let mut wanted = cast(draft).catalogue.copies();
    wanted.retain(|path, _| is_document(path));
    let of_documents = pin.clone().map(|mut pin| {
        pin.digests.retain(|path, _| is_document(path));
        pin
    });
    let there = |path: &str| ledger.get(path).map(|entry| entry.text.as_deref());
    let (all, after) = moves(of_documents.as_ref(), VERSION, &wanted, there);
    let mut files = BTreeMap::new();
    for one in all {
        if let Fate::Write(text) | Fate::Replace(text) = one.fate {
            files.insert(one.path, Some(text));
        }
    }
    let mut whole = pin.unwrap_or_else(|| Pin::new(VERSION));
    whole.version = VERSION.to_owned();
    whole.digests.retain(|path, _| !is_document(path));
    whole.digests.extend(after.digests);
    let whole = whole.text();
    if text != Some(whole.as_str()) {
        files.insert(LEDGER_PIN_PATH.to_owned(), Some(whole));
    }
    draft.write(files);
}
