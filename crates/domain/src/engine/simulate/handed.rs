//! The files that simulated sessions of layers write: each observer finds one event, the decider makes one work item of
//! all pending ones, no item needs a planner.

use crate::engine::lookup::slot::SlotRole;
use crate::exchange::{
    ChangedFile, EventState, FLAT_STREAM, FileContent, Layout, Stream, check_exchange,
};
use crate::model::Tree;
use crate::plan::Roster;

/// The label of a simulated work item where the plan names no labels.
const LABEL: &str = "bugs";

/// Proposals of one innovator.
const PROPOSALS: u64 = 3;

/// Themes of one summary.
const THEMES: usize = 5;

/// Whether the exchange can be simulated: only in the flat layout.
pub(crate) fn can_be_imagined(tree: &Tree) -> bool {
    matches!(Layout::detect(tree), Ok(None | Some(Layout::Flat)))
}

/// The files of a session of a slot. `number`: unique to the session.
pub(crate) fn imagine_files(
    slot_role: &SlotRole,
    tree: &Tree,
    roster: &Roster,
    (number, day): (u64, &str),
) -> Vec<ChangedFile> {
    let id = file_id(number);
    let file = |path: String, text: String| ChangedFile {
        path,
        content: FileContent::Text(text),
    };
    let home = ".jules/exchange";
    match slot_role {
        SlotRole::Narrator => vec![file(format!("{home}/changes.yml"), summary_text(day))],
        SlotRole::Observer { role, .. } => {
            let text = format!(
                "schema_version: 1\nid: \"{id}\"\nissue_id: \"\"\ncreated_at: {day}\nauthor_role: {role}\nconfidence: high\n\
                 title: Imagined finding {id}\nstatement: Something is imagined to be wrong here.\n\
                 evidence:\n  - path: imagined\n    loc: [1]\n    note: It is imagined.\n"
            );
            vec![file(
                format!("{home}/events/pending/imagined-{id}.yml"),
                text,
            )]
        }
        SlotRole::Decider { .. } => {
            let text = work_item_text(&id, &flat_stream(tree), roster);
            vec![file(format!("{home}/requirements/imagined-{id}.yml"), text)]
        }
        SlotRole::Planner { item, .. } => {
            let stream = flat_stream(tree);
            let own = stream.items.iter().filter(|filed| filed.value.id == *item);
            let clear = own.filter_map(|filed| {
                let text = tree.text(&filed.path)?;
                let flag = "requires_deep_analysis: ";
                let text = text.replace(&format!("{flag}true"), &format!("{flag}false"));
                Some(file(filed.path.clone(), text))
            });
            clear.collect()
        }
        SlotRole::Innovator { role } => {
            let prefix = crate::exchange::proposal_prefix(role);
            let proposal = |which: u64| {
                let name = format!("{prefix}imagined-{id}-{which}");
                let text = format!(
                    "schema_version: 1\nid: \"{}\"\npersona: {role}\ncreated_at: {day}\ntitle: Imagined {id} {which}\n\
                     problem: Something is imagined.\nintroduction: Something else.\nimportance: It is imagined to matter.\n\
                     impact_surface: [imagined]\nimplementation_cost: A day.\nconsistency_risks: [None is known.]\n\
                     verification_signals: [It is seen.]\n",
                    file_id(number * PROPOSALS + which)
                );
                file(format!("{home}/proposals/{name}.yml"), text)
            };
            (0..PROPOSALS).map(proposal).collect()
        }
        SlotRole::Implementer { .. } | SlotRole::Integrator => Vec::new(),
    }
}

fn summary_text(day: &str) -> String {
    let theme = "  - title: Imagined\n    scope: Everywhere.\n    impact: None.\n";
    format!(
        "schema_version: 1\ncreated_at: \"{day}T00:00:00Z\"\nsummaries:\n{}",
        theme.repeat(THEMES)
    )
}

/// A work item of all pending events.
fn work_item_text(id: &str, stream: &Stream, roster: &Roster) -> String {
    let pending = stream.events_in(EventState::Pending);
    let events: Vec<String> = pending
        .map(|event| format!("\"{}\"", event.value.id))
        .collect();
    let labels = roster.labels.as_deref().and_then(<[String]>::first);
    let label = labels.map_or(LABEL, String::as_str);
    format!(
        "schema_version: 2\nid: \"{id}\"\nsource_events: [{}]\ntitle: Imagined work {id}\nlabel: {label}\npriority: medium\n\
         summary: What was found is put right.\ngoal: It is right.\nproblem: Something is imagined to be wrong.\n\
         impact: It is imagined to matter.\ndesired_outcome: It is imagined to be right.\nconstraints: []\n\
         affected_areas: [imagined]\nrisks: []\nacceptance_criteria:\n  - It is right.\n\
         verification_criteria:\n  - The tests pass.\nrequires_deep_analysis: false\ndeep_analysis_reason: \"\"\n",
        events.join(", ")
    )
}

/// Six characters that no other number has soon.
fn file_id(number: u64) -> String {
    format!("{:06}", number % 1_000_000)
}

fn flat_stream(tree: &Tree) -> Stream {
    let read = check_exchange(tree).exchange;
    let stream = read.and_then(|mut exchange| exchange.streams.remove(FLAT_STREAM));
    stream.unwrap_or_default()
}
