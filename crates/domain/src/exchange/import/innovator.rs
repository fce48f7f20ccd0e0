//! Imports an innovator's proposals and memory.

use std::collections::BTreeSet;

use super::importer::{Importer, Incoming};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::{Filed, Memory, Proposal, file_stem};
use crate::exchange::layout::Location;
use crate::exchange::limits::PROPOSALS_PER_SESSION;
use crate::exchange::memory::{self, Owner};
use crate::exchange::shapes::{INNOVATOR_PERSPECTIVE, PROPOSAL};
use crate::exchange::{edit, names, publish, values};
use crate::yaml;

pub(super) fn import_innovator(importer: &mut Importer<'_>, role: &str) {
    let proposals = importer.take_incoming(|place| matches!(place, Location::Proposal { .. }));
    if publish::persona_label(role).is_none() {
        let folder = format!("{}/proposals", importer.own_stream().home);
        let message = format!(
            "no label of GitHub can be called `innovator/{role}`, so nothing of `{role}` can be published"
        );
        return importer
            .report(Diagnostic::error(folder, message).help("give the persona a shorter name"));
    }
    if proposals.len() != PROPOSALS_PER_SESSION {
        let folder = format!("{}/proposals", importer.own_stream().home);
        let message = format!(
            "an innovator brings {PROPOSALS_PER_SESSION} proposals; these are {}",
            proposals.len()
        );
        importer.report(
            Diagnostic::warning(folder, message).help("what is sound of the first three was taken"),
        );
    }
    let path = format!(
        "{}/{role}/perspective.yml",
        importer.own_stream().workstations
    );
    let before: Vec<String> = importer
        .own_stream()
        .memories
        .iter()
        .filter(|memory| memory.path == path)
        .flat_map(|memory| memory.value.recent_proposals.clone())
        .collect();
    let mut ids: BTreeSet<String> = importer
        .own_stream()
        .proposals
        .iter()
        .map(|one| one.value.id.clone())
        .collect();
    let mut titles = Vec::new();
    for (index, one) in proposals.into_iter().enumerate() {
        if index >= PROPOSALS_PER_SESSION {
            let message = format!("this is one proposal more than {PROPOSALS_PER_SESSION}");
            importer.report(Diagnostic::error(one.path, message).help("keep the strongest"));
            continue;
        }
        import_proposal(importer, role, one, &before, &mut ids, &mut titles);
    }
    let own = |place: Location<'_>| matches!(place, Location::Memory { role: folder, .. } if folder == role);
    let given = importer.take_incoming(own).into_iter().next();
    update_memory(importer, role, &path, given, &titles, &before);
}

fn import_proposal(
    importer: &mut Importer<'_>,
    role: &str,
    one: Incoming<'_>,
    before: &[String],
    ids: &mut BTreeSet<String>,
    titles: &mut Vec<String>,
) {
    let Some(root) = importer.parse_file(one) else {
        return;
    };
    let known = |filed: &Filed<Proposal>| Importer::is_same_but(&filed.node, &root, &["id"]);
    if let Some(title) = importer
        .own_stream()
        .proposals
        .iter()
        .find(|filed| known(filed))
        .map(|filed| filed.value.title.clone())
    {
        return titles.push(title);
    }
    let text = importer.with_id(one.text, &root, ids);
    let Some(filed) = importer.read_sound(&PROPOSAL, one.path, &text, Proposal::of) else {
        return;
    };
    let Proposal {
        id, persona, title, ..
    } = filed.value.clone();
    let error = |key: &str, message: String| {
        let (line, column) = filed.key_position(key);
        Diagnostic::error(one.path, message)
            .at(line, column)
            .key(key)
    };
    if persona != role {
        let wrong = error("persona", format!("it says that `{persona}` proposes it"));
        return importer.report(wrong.help(format!("write `{role}`")));
    }
    let same = |other: &String| other.trim().eq_ignore_ascii_case(title.trim());
    if before.iter().chain(titles.iter()).any(same) {
        let wrong = error("title", format!("`{title}` was proposed before"));
        return importer.report(wrong.help("propose something else, or write fewer"));
    }
    let path = proposal_path(importer, role, one.path, &id);
    ids.insert(id.clone());
    titles.push(title);
    importer.write_file(&path, text, Some(format!("proposal {id}")));
}

/// A free path for a proposal that a session wrote as `given`.
fn proposal_path(importer: &Importer<'_>, role: &str, given: &str, id: &str) -> String {
    let prefix = names::proposal_prefix(role);
    let name = file_stem(given);
    let name = match name.strip_prefix(&prefix) {
        Some(slug) if values::is_kebab(slug) => name.to_owned(),
        _ if values::is_kebab(name) => format!("{prefix}{name}"),
        _ => format!("{prefix}{id}"),
    };
    let folder = format!("{}/proposals", importer.own_stream().home);
    let path = importer.free_path(&folder, &name, id);
    // A proposal's file is removed when it is published, and its name belongs to that issue for good.
    let key = publish::publication_key(file_stem(&path));
    match importer.request.published.contains_key(&key) {
        true => format!("{folder}/{name}-{id}.yml"),
        false => path,
    }
}

/// Updates the innovator's memory with its proposals, whether or not it recorded them.
fn update_memory(
    importer: &mut Importer<'_>,
    role: &str,
    path: &str,
    given: Option<Incoming<'_>>,
    titles: &[String],
    before: &[String],
) {
    let mut text = None;
    if let Some(one) = given
        && let Some(filed) =
            importer.read_sound(&INNOVATOR_PERSPECTIVE, one.path, one.text, Memory::of)
    {
        let foreign = names::check_memory(&filed, role, None);
        if foreign.is_empty() {
            text = Some(one.text.to_owned());
        }
        for wrong in foreign {
            importer.report(wrong);
        }
    }
    let written = text.is_some();
    if titles.is_empty() && !written {
        return;
    }
    let present = importer.current_text(path).map(str::to_owned);
    let sound = |text: &String| INNOVATOR_PERSPECTIVE.validate(path, text).is_empty();
    let text = match (text, present) {
        (Some(text), _) => text,
        (None, Some(present)) if sound(&present) => present,
        (None, Some(_)) => {
            let one = Diagnostic::warning(
                path,
                "the proposals could not be noted, because this memory has mistakes",
            );
            return importer.report(one.help(
                    "`phileas exchange check` names them; correct them, and add the titles to `recent_proposals`",
                ));
        }
        (None, None) => memory::seed_text(Owner::Innovator(role), importer.request.session_created),
    };
    let Some(mut root) = yaml::parse(&text).0 else {
        return;
    };
    let text = if memory::note_proposals(&mut root, titles, before) {
        edit::emit_yaml(&root)
    } else {
        text
    };
    importer.write_file(path, text, Some(format!("memory of {role}")));
}
