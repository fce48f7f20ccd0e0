//! What an imagined session of a layer writes: each observer finds one thing, the decider makes one work item of all that
//! waits, nothing needs a planner, and what is planned is clear.

use crate::engine::lookup::slot::Seat;
use crate::exchange::{Changed, Content, EventState, FLAT_STREAM, Layout, Stream, check};
use crate::model::Tree;
use crate::plan::Roster;

/// The label of an imagined work item where all labels go on by themselves.
const LABEL: &str = "bugs";

/// How many proposals an innovator makes.
const PROPOSALS: u64 = 3;

/// How many themes a summary has.
const THEMES: usize = 5;

/// Whether what layers hand to one another can be imagined: in the flat layout.
pub(crate) fn can_be_imagined(tree: &Tree) -> bool {
    matches!(Layout::detect(tree), Ok(None | Some(Layout::Flat)))
}

/// What a session of a slot writes. `number`: no other session has it.
pub(crate) fn wrote(
    seat: &Seat,
    tree: &Tree,
    roster: &Roster,
    (number, day): (u64, &str),
) -> Vec<Changed> {
    let id = id(number);
    let stream = stream(tree);
    let file = |path: String, text: String| Changed {
        path,
        content: Content::Text(text),
    };
    let home = ".jules/exchange";
    match seat {
        Seat::Narrator => {
            let theme = "  - title: Imagined\n    scope: Everywhere.\n    impact: None.\n";
            let text = format!(
                "schema_version: 1\ncreated_at: \"{day}T00:00:00Z\"\nsummaries:\n{}",
                theme.repeat(THEMES)
            );
            vec![file(format!("{home}/changes.yml"), text)]
        }
        Seat::Observer { role, .. } => {
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
        Seat::Decider { .. } => {
            let pending = stream.events_in(EventState::Pending);
            let events: Vec<String> = pending
                .map(|event| format!("\"{}\"", event.value.id))
                .collect();
            let labels = roster.labels.as_deref().and_then(<[String]>::first);
            let label = labels.map_or(LABEL, String::as_str);
            let text = format!(
                "schema_version: 2\nid: \"{id}\"\nsource_events: [{}]\ntitle: Imagined work {id}\nlabel: {label}\npriority: medium\n\
                 summary: What was found is put right.\ngoal: It is right.\nproblem: Something is imagined to be wrong.\n\
                 impact: It is imagined to matter.\ndesired_outcome: It is imagined to be right.\nconstraints: []\n\
                 affected_areas: [imagined]\nrisks: []\nacceptance_criteria:\n  - It is right.\n\
                 verification_criteria:\n  - The tests pass.\nrequires_deep_analysis: false\ndeep_analysis_reason: \"\"\n",
                events.join(", ")
            );
            vec![file(format!("{home}/requirements/imagined-{id}.yml"), text)]
        }
        Seat::Planner { item, .. } => {
            let items = stream.items.iter();
            let own = items.filter(|filed| filed.value.id == *item);
            let clear = own.filter_map(|filed| {
                let text = tree.text(&filed.path)?;
                let flag = "requires_deep_analysis: ";
                let text = text.replace(&format!("{flag}true"), &format!("{flag}false"));
                Some(file(filed.path.clone(), text))
            });
            clear.collect()
        }
        Seat::Innovator { role } => {
            let prefix = crate::exchange::proposal_prefix(role);
            let proposal = |which: u64| {
                let name = format!("{prefix}imagined-{id}-{which}");
                let text = format!(
                    "schema_version: 1\nid: \"{}\"\npersona: {role}\ncreated_at: {day}\ntitle: Imagined {id} {which}\n\
                     problem: Something is imagined.\nintroduction: Something else.\nimportance: It is imagined to matter.\n\
                     impact_surface: [imagined]\nimplementation_cost: A day.\nconsistency_risks: [None is known.]\n\
                     verification_signals: [It is seen.]\n",
                    self::id(number * PROPOSALS + which)
                );
                file(format!("{home}/proposals/{name}.yml"), text)
            };
            (0..PROPOSALS).map(proposal).collect()
        }
        Seat::Implementer { .. } | Seat::Integrator => Vec::new(),
    }
}

/// Six characters that no other number gives soon.
fn id(number: u64) -> String {
    format!("{:06}", number % 1_000_000)
}

fn stream(tree: &Tree) -> Stream {
    let read = check(tree).exchange;
    let stream = read.and_then(|mut exchange| exchange.streams.remove(FLAT_STREAM));
    stream.unwrap_or_default()
}
