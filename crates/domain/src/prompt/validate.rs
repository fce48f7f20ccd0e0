//! Checks that a persona's prompt can be rendered, before its turn.

use super::error::RenderError;
use super::render::{OUR_NAMES, render_prompt};
use super::rendering::{RenderPrompts, RenderRequest, SourceFiles, is_plain};
use super::request::{OpenPull, Rendered, Request};
use crate::Diagnostic;
use crate::model::{PullNumber, RepositoryName, TrackName};
use crate::plan::Persona;

/// Renders the persona's prompt twice, with and without open pull requests, sprint and notes, so that both branches of
/// conditions are tried. Returns each mistake once.
#[must_use]
pub fn validate_prompt(
    persona: &Persona,
    files: &SourceFiles,
    renderer: &(impl RenderPrompts + ?Sized),
) -> Vec<Diagnostic> {
    let mut said: Vec<Diagnostic> = both_ways(persona, files, renderer)
        .into_iter()
        .filter_map(|rendered| rendered.err().map(RenderError::into_diagnostics))
        .flatten()
        .collect();
    if !persona.path.ends_with(".j2")
        && (persona.body.contains("{{") || persona.body.contains("{%"))
    {
        said.push(
            Diagnostic::warning(
                &persona.path,
                "the prompt looks like a template, but is sent to Jules as it stands",
            )
            .help(format!(
                "rename it to `{}.j2`",
                persona.path.rsplit('/').next().unwrap_or_default()
            )),
        );
    }
    said.extend(shadowed_names(persona));
    said.sort();
    said.dedup();
    said
}

/// The keys of the frontmatter in whose place a template would otherwise get a value from phileas.
fn shadowed_names(persona: &Persona) -> impl Iterator<Item = Diagnostic> {
    let shadows = |name: &&str| persona.frontmatter.contains_key(*name);
    let names = OUR_NAMES.into_iter().filter(|_| !is_plain(persona));
    names.filter(shadows).map(|name| {
        let message = format!("the key hides the value `{name}` that phileas gives to templates");
        Diagnostic::warning(&persona.path, message)
            .key(name)
            .help("give the key another name, unless that is meant")
    })
}

/// Whether files must be read before [`validate_prompt`] can decide, if the tree was read in parts.
#[must_use]
pub fn unread_sources(
    persona: &Persona,
    files: &SourceFiles,
    renderer: &(impl RenderPrompts + ?Sized),
) -> std::collections::BTreeSet<String> {
    let unread = |rendered: Result<Rendered, RenderError>| match rendered {
        Err(RenderError::Unread(paths)) => paths,
        _ => Default::default(),
    };
    both_ways(persona, files, renderer)
        .into_iter()
        .flat_map(unread)
        .collect()
}

fn both_ways(
    persona: &Persona,
    files: &SourceFiles,
    renderer: &(impl RenderPrompts + ?Sized),
) -> Vec<Result<Rendered, RenderError>> {
    let repository = RepositoryName {
        owner: "octocat".to_owned(),
        name: "hello-world".to_owned(),
    };
    let track = TrackName::from("default");
    let open_pulls = [OpenPull {
        number: PullNumber(1),
        title: "Tidy the parser".to_owned(),
        author: "octocat".to_owned(),
        head: "tidy-parser".to_owned(),
        draft: false,
    }];
    let notes = ["an example of a note".to_owned()];
    let busy = Request {
        repository: &repository,
        persona,
        tree: files.tree(),
        track: &track,
        open_pulls: &open_pulls,
        sprint: Some(1),
        entropy: &[0; 32],
        notes: &notes,
        work: &[],
        subject: Some(super::Subject {
            number: 2,
            title: "an example of an issue",
            body: "It describes what is wanted.",
            head: None,
        }),
    };
    let quiet = Request {
        open_pulls: &[],
        sprint: None,
        notes: &[],
        work: &[],
        subject: None,
        ..busy
    };
    if is_plain(persona) {
        return [busy, quiet].iter().map(render_prompt).collect();
    }
    let requests = [busy, quiet].map(|request| RenderRequest::for_persona(&request, files));
    let answers = renderer.render(&requests).into_iter();
    answers.map(|answer| answer.into_persona()).collect()
}
