//! Keeps the documents of the ledger beside the exchange: the rules for agents, the guide for people, and the registry
//! of labels.
//!
//! The first commit of layers brings them. A newer version updates those that people have not changed; a file that a
//! person removed stays removed (see [`upgrade_moves`]).

use std::collections::BTreeMap;

use crate::engine::lookup::exchange_view::is_ledger_document;
use crate::engine::lookup::layer_members::layer_members;
use crate::engine::output::builder::DecisionBuilder;
use crate::layers::{FileChangeKind, LEDGER_PIN_PATH, Pin, upgrade_moves};
use crate::plan::StepKind;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes missing or outdated documents in a commit that layers make anyway.
pub(crate) fn write_documents(builder: &mut DecisionBuilder<'_>) {
    let has_layers = builder.snapshot.plan.tracks.values().any(|track| {
        let mut steps = track.steps.iter();
        steps.any(|step| matches!(step.kind, StepKind::Layer(_)))
    });
    if !has_layers || !builder.has_headline() || !builder.snapshot.layers_read {
        return;
    }
    let Some(ledger) = builder.exchange.clone() else {
        return;
    };
    let text = ledger.text(LEDGER_PIN_PATH);
    // Leave the documents of a newer version, and those with an unreadable pin: `phileas bootstrap` names both.
    let Ok(pin) = text.map(|text| Pin::read_pin(text, VERSION)).transpose() else {
        return;
    };
    let mut wanted = layer_members(builder).catalogue.copies();
    wanted.retain(|path, _| is_ledger_document(path));
    let of_documents = pin.clone().map(|mut pin| {
        pin.digests.retain(|path, _| is_ledger_document(path));
        pin
    });
    let (all, after) = upgrade_moves(of_documents.as_ref(), VERSION, &wanted, &ledger);
    let mut files = BTreeMap::new();
    for one in all {
        if let FileChangeKind::Write(text) | FileChangeKind::Replace(text) = one.kind {
            files.insert(one.path, Some(text));
        }
    }
    let mut whole = pin.unwrap_or_else(|| Pin::new(VERSION));
    whole.version = VERSION.to_owned();
    whole.digests.retain(|path, _| !is_ledger_document(path));
    whole.digests.extend(after.digests);
    let whole = whole.text();
    if text != Some(whole.as_str()) {
        files.insert(LEDGER_PIN_PATH.to_owned(), Some(whole));
    }
    builder.write_files(files);
}
