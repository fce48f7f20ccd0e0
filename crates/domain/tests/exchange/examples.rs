//! Provides valid exchanges of both layouts.

use phileas_domain::exchange::check_exchange;
use phileas_domain::model::Tree;

pub(crate) const PENDING: &str = ".jules/exchange/events/pending/dead-code.yml";
pub(crate) const DECIDED: &str = ".jules/exchange/events/decided/two-names.yml";
pub(crate) const REQUIREMENT: &str = ".jules/exchange/requirements/one-name.yml";
pub(crate) const PROPOSAL: &str = ".jules/exchange/proposals/leverage-architect-fewer-parts.yml";
pub(crate) const CHANGES: &str = ".jules/exchange/changes.yml";
pub(crate) const OBSERVER: &str = ".jules/workstations/taxonomy/perspective.yml";
pub(crate) const INNOVATOR: &str = ".jules/workstations/leverage_architect/perspective.yml";

pub(crate) fn event(id: &str, issue: &str) -> String {
    format!(
        "schema_version: 1\nid: \"{id}\"\nissue_id: \"{issue}\"\ncreated_at: 2026-01-05\nauthor_role: taxonomy\nconfidence: high\n\
         title: Two names for one thing\nstatement: The parser calls it a step, and the runner calls it a stage.\n\
         evidence:\n  - path: src/parser.rs\n    loc: [12, \"20-30\", parse]\n    note: It is called a step here.\n"
    )
}

fn work(id: &str, event: &str) -> String {
    format!(
        "schema_version: 2\nid: \"{id}\"\nsource_events: [\"{event}\"]\ntitle: One name for a step\nlabel: refacts\npriority: medium\n\
         summary: Call a step a step everywhere.\nproblem: Readers look for a stage and find a step.\n\
         impact: Every newcomer loses an hour over the two names.\ndesired_outcome: One name is used in code, docs and messages.\n\
         constraints: []\naffected_areas: [src/parser.rs]\nrisks: []\nacceptance_criteria:\n  - No stage is left in the code.\n"
    )
}

pub(crate) fn requirement(id: &str, event: &str) -> String {
    work(id, event)
        + "goal: One name for one thing.\nverification_criteria:\n  - The tests pass.\nrequires_deep_analysis: false\ndeep_analysis_reason: \"\"\n"
}

pub(crate) fn issue(id: &str, event: &str) -> String {
    work(id, event) + "verification_commands:\n  - cargo test\n"
}

pub(crate) fn proposal(id: &str) -> String {
    format!(
        "schema_version: 1\nid: \"{id}\"\npersona: leverage_architect\ncreated_at: 2026-01-05\ntitle: Fewer parts\n\
         problem: There are too many parts.\nintroduction: Put two of them together.\nimportance: Each part costs time.\n\
         impact_surface: [src]\nimplementation_cost: A day.\nconsistency_risks: [Names could clash.]\nverification_signals: [Builds get faster.]\n"
    )
}

pub(crate) fn changes() -> String {
    let theme = "  - title: Names\n    scope: The parser.\n    impact: It reads better.\n";
    format!(
        "schema_version: 1\ncreated_at: \"2026-01-05T10:00:00Z\"\nsummaries:\n{}",
        theme.repeat(5)
    )
}

/// A valid flat exchange.
pub(crate) fn flat() -> Vec<(String, String)> {
    let files = [
        (PENDING, event("pend01", "")),
        (DECIDED, event("deci01", "item01")),
        (REQUIREMENT, requirement("item01", "deci01")),
        (PROPOSAL, proposal("prop01")),
        (CHANGES, changes()),
        (
            OBSERVER,
            "schema_version: 2\nobserver: taxonomy\nupdated_at: 2026-01-05T10:00:00Z\ngoals: [Find doubled names.]\nrules: []\nignore: []\n\
             log:\n  - at: 2026-01-05T10:00:00Z\n    summary: Two events.\n"
                .to_owned(),
        ),
        (
            INNOVATOR,
            "schema_version: 1\npersona: leverage_architect\nfocus: What little would change much.\nrecent_proposals: [Fewer parts]\n".to_owned(),
        ),
    ];
    files.map(|(path, text)| (path.to_owned(), text)).to_vec()
}

/// Valid workstreams, in the form with `exchange/` or the one without.
pub(crate) fn streams(nested: bool) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (stream, seed) in [("core", 'c'), ("docs", 'd')] {
        let root = format!(".jules/workstreams/{stream}");
        let home = if nested {
            format!("{root}/exchange")
        } else {
            root.clone()
        };
        let (event_id, item_id) = (format!("{seed}event"), format!("{seed}item0"));
        files.extend([
            (format!("{home}/events/pending/new.yml"), event(&format!("{seed}pend0"), "")),
            (format!("{home}/events/decided/old.yml"), event(&event_id, &item_id)),
            (format!("{home}/issues/refacts/one-name.yml"), issue(&item_id, &event_id)),
            (
                format!("{home}/issues/index.md"),
                "# Issues\n\n| [One name](./refacts/one-name.yml) | x |\n".to_owned(),
            ),
            (
                format!("{root}/scheduled.toml"),
                format!("version = 1\nenabled = true\n[observers]\nroles = [\"taxonomy\"]\n[deciders]\nroles = [\"triage_{stream}\"]\n"),
            ),
            (
                format!("{root}/workstations/taxonomy/perspective.yml"),
                format!(
                    "schema_version: 1\nobserver: taxonomy\nworkstream: {stream}\nupdated_at: 2026-01-05T10:00:00Z\ngoals: {{short_term: []}}\n\
                     biases: {{assumptions: [], blind_spots: [], heuristics: []}}\nrecent_runs: []\nlearned_exclusions: []\n"
                ),
            ),
        ]);
    }
    files.push((
        ".jules/changes/latest.yml".to_owned(),
        "schema_version: 1\nid: \"change\"\ncreated_at: 2026-01-05T10:00:00Z\nrange:\n  from_commit: 4c1d2e3\n  to_commit: 5d2e3f4\n  \
         selection_mode: incremental\n  excluded_paths: [.jules/]\nstats: {commits_total: 1, commits_included: 1, files_changed: 2, insertions: 3, deletions: 4}\n\
         commits:\n  - {sha: 5d2e3f4, subject: Name it}\nsummary:\n  overview: Names were put right.\n"
            .to_owned(),
    ));
    files
}

/// The diagnostics of files, one a line.
pub(crate) fn diagnostics_of(files: &[(String, String)]) -> Vec<String> {
    let tree = Tree::from_texts(
        files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let checked = check_exchange(&tree);
    crate::every_check::keep(&checked);
    checked
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Files with one of them replaced, added, or (by an empty text) removed.
pub(crate) fn with(
    mut files: Vec<(String, String)>,
    path: &str,
    text: &str,
) -> Vec<(String, String)> {
    files.retain(|(other, _)| other != path);
    if !text.is_empty() {
        files.push((path.to_owned(), text.to_owned()));
    }
    files
}

#[test]
pub(crate) fn nothing_is_wrong_with_sound_exchanges() {
    assert_eq!(diagnostics_of(&[]), [""; 0]);
    assert_eq!(diagnostics_of(&flat()), [""; 0]);
    assert_eq!(diagnostics_of(&streams(true)), [""; 0]);
    assert_eq!(diagnostics_of(&streams(false)), [""; 0]);
}

#[test]
pub(crate) fn a_finding_reads_as_it_was_written() {
    let files = flat();
    let tree = Tree::from_texts(files.iter().map(|(path, text)| (path, text.as_str())));
    let exchange = check_exchange(&tree).exchange.unwrap();
    let event = &exchange.streams["generic"].events[0].value;
    assert_eq!(event.author_role, "taxonomy");
    // Lines, ranges and names are all locations, whatever type YAML gives them.
    assert_eq!(event.evidence[0].loc, ["12", "20-30", "parse"]);
}
