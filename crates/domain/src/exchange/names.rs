//! Checks the names of files and streams, and whether they match the content.

use super::artifact::{EventState, Filed, Memory, Proposal, WorkItem, file_stem};
use super::artifact_file::artifact_text;
use super::labels::Labels;
use super::layout::{Layout, Location, STREAMS_FOLDER};
use super::model::Exchange;
use super::{publish, values};
use crate::diagnostic::Diagnostic;
use crate::model::{Mode, Tree};
use crate::plan::suggest::{closest, either_of};

/// The prefix of a persona's proposal files, which contain no underscores.
pub fn proposal_prefix(persona: &str) -> String {
    format!("{}-", persona.replace('_', "-").to_ascii_lowercase())
}

/// Reports streams with invalid names.
pub(super) fn check_stream_names(exchange: &Exchange) -> Vec<Diagnostic> {
    let wrong = exchange.streams.iter();
    let wrong = wrong.filter(|(name, _)| !values::is_name(name));
    wrong
        .map(|(name, stream)| {
            let message = format!("`{}` cannot be a workstream", name.escape_debug());
            Diagnostic::error(&stream.home, message)
                .help("call its folder by letters, digits, `-` and `_`")
        })
        .collect()
}

/// Reports streams with files of both forms of the layout, because it is unclear which form counts.
pub(super) fn check_forms(exchange: &Exchange, tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, stream) in &exchange.streams {
        let plain = format!("{STREAMS_FOLDER}/{name}");
        if exchange.layout == Layout::Flat || stream.home == plain {
            continue;
        }
        let first = ["events", "feedback", "issues"]
            .into_iter()
            .filter_map(|folder| tree.below(&format!("{plain}/{folder}")).next())
            .next();
        if let Some((path, _)) = first {
            let message = format!(
                "the workstream `{name}` has files in `{}`, too",
                stream.home
            );
            let one = Diagnostic::error(path, message);
            found.push(one.help("`phileas exchange migrate` moves them into one place"));
        }
    }
    found
}

/// The warning about a file whose name is that of no artifact. A link may hide a folder of artifacts, which is an error.
pub(super) fn no_artifact(tree: &Tree, path: &str) -> Diagnostic {
    if tree.get(path).is_some_and(|entry| entry.mode == Mode::Link)
        && let Err(wrong) = artifact_text(tree, path)
    {
        return *wrong;
    }
    let message = "it is no artifact, because its name does not end in `.yml`";
    Diagnostic::warning(path, message)
        .help("phileas leaves it here; remove it, or move it out of the exchange")
}

/// The error for an event in a folder that is no state's.
pub(super) fn unknown_state(path: &str, state: &str) -> Option<Diagnostic> {
    if EventState::of(state).is_some() {
        return None;
    }
    let states = EventState::ALL.map(EventState::folder_name);
    let help = match closest(state, states) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("move it to {}", either_of(states)),
    };
    let message = format!("`{state}` is not a state of an event");
    Some(Diagnostic::error(path, message).help(help))
}

/// Checks a file's name and location.
pub(super) fn check_file_name(place: Location<'_>, path: &str, tree: &Tree) -> Vec<Diagnostic> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut found = Vec::new();
    match place {
        Location::NoArtifact => return vec![no_artifact(tree, path)],
        Location::Stray => found.push(
            Diagnostic::error(path, "nothing of the exchange belongs here")
                .help("move it to where artifacts of its kind lie, or remove it"),
        ),
        Location::Event { state, .. } => found.extend(unknown_state(path, state)),
        _ => {}
    }
    let mut wrong = |message: String, help: String| {
        found.push(Diagnostic::error(path, message).help(help));
    };
    let artifact = matches!(
        place,
        Location::Event { .. }
            | Location::Item { .. }
            | Location::Proposal { .. }
            | Location::Feedback { .. }
            | Location::RoleFeedback
            | Location::History { .. }
    );
    if artifact {
        let stem = file_stem(path);
        let free = matches!(place, Location::History { .. });
        if !free && !values::is_kebab(stem) {
            wrong(
                format!("`{stem}` is not kebab-case"),
                "call it by lower-case letters and digits, with one `-` between words and `.yml` at the end"
                    .to_owned(),
            );
        } else if let Some(start) = path.strip_suffix(".yaml") {
            wrong(
                format!("`{name}` does not end in `.yml`"),
                match tree.has(&format!("{start}.yml")) {
                    false => format!("call it `{stem}.yml`"),
                    true => format!(
                        "keep what still counts of it and of `{stem}.yml`, and remove the other"
                    ),
                },
            );
        }
    }
    if let Location::Memory { role, .. } | Location::History { role, .. } = place
        && !values::is_name(role)
    {
        wrong(
            format!("`{role}` cannot be a role"),
            "call the folder by letters, digits, `-` and `_`".to_owned(),
        );
    }
    found
}

/// Checks that a work item's label is known and matches its folder.
pub(super) fn check_label(
    item: &Filed<WorkItem>,
    folder: Option<&str>,
    labels: &Labels,
) -> Vec<Diagnostic> {
    let label = item.value.label.as_str();
    let (line, column) = item.key_position("label");
    let error = |message: String| {
        Diagnostic::error(&item.path, message)
            .at(line, column)
            .key("label")
    };
    let mut found = Vec::new();
    if values::is_name(label) && !labels.contains(label) {
        let help = match closest(label, labels.iter()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("write {}", either_of(labels.iter())),
        };
        found.push(error(format!("`{label}` is not a label of this repository")).help(help));
    }
    if let Some(folder) = folder.filter(|folder| !label.is_empty() && *folder != label) {
        found.push(
            error(format!("its label is `{label}`, and its folder `{folder}`"))
                .help(format!("write `{folder}`, or move it to `{label}/`")),
        );
    }
    if let Some(folder) = folder.filter(|folder| !labels.contains(folder)) {
        found.push(
            Diagnostic::error(&item.path, format!("its folder `{folder}` is not a label"))
                .help(format!("move it to {}", either_of(labels.iter()))),
        );
    }
    found
}

/// Checks that a proposal's file is named after its persona.
pub(super) fn check_proposal(proposal: &Filed<Proposal>) -> Vec<Diagnostic> {
    let persona = proposal.value.persona.as_str();
    let prefix = proposal_prefix(persona);
    let rest = proposal.file_stem().strip_prefix(&prefix);
    let (line, column) = proposal.key_position("persona");
    let error = |message: String, help: &str| {
        let one = Diagnostic::error(&proposal.path, message).at(line, column);
        one.key("persona").help(help)
    };
    let mut found = Vec::new();
    if !persona.is_empty() && rest.is_none_or(str::is_empty) {
        found.push(error(
            format!("a proposal of `{persona}` is called `{prefix}<slug>.yml`"),
            "call the file so, or write whose proposal it is",
        ));
    }
    if publish::persona_label(persona).is_none() {
        found.push(error(
            format!(
                "it cannot be published: no label of GitHub can be called `innovator/{persona}`"
            ),
            "give the persona a shorter name",
        ));
    }
    found
}

/// Checks that a memory belongs to the role of its folder.
pub(super) fn check_memory(
    memory: &Filed<Memory>,
    role: &str,
    stream: Option<&str>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut agree = |key: &str, said: &str, folder: &str, what: &str| {
        if !said.is_empty() && said != folder {
            let (line, column) = memory.key_position(key);
            let message = format!("it is `{said}`'s, and lies in the {what} `{folder}`");
            let one = Diagnostic::error(&memory.path, message).at(line, column);
            found.push(one.key(key).help(format!("write `{folder}`")));
        }
    };
    let key = if memory.value.innovator {
        "persona"
    } else {
        "observer"
    };
    agree(key, &memory.value.role, role, "folder");
    if let Some(stream) = stream {
        let said = memory.node.get("workstream").and_then(|node| node.text());
        agree("workstream", said.unwrap_or_default(), stream, "workstream");
    }
    found
}
