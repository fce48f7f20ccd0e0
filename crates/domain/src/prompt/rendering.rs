//! Defines prompts as requests that another process can answer.
//!
//! A repository's template can take unlimited memory and time with one filter or one comparison: the engine's fuel
//! counts instructions, and the limit of the output counts what is printed. So the decision does not render the
//! templates of a repository. It asks for the prompt by a [`RenderRequest`], and the runtime renders it in a child
//! process with limits of memory and time. A request owns everything that it needs, can be sent to another process, and
//! has a [key](RenderRequest::key): the same key means the same answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::assembly::{Assembled, Assembly, Attached, assemble_on};
use super::error::RenderError;
use super::files::{is_on_the_ledger, is_source, is_written_by_agents};
use super::limits::{RENDER_FILES_LIMIT_BYTES, STACK_BYTES, TEMPLATE_LIMIT_BYTES};
use super::render::render_on;
use super::request::{EarlierWork, OpenPull, Rendered, Request, Subject};
use crate::layers::Brief;
use crate::model::{PersonaId, RepositoryName, TrackName, Tree};
use crate::plan::Persona;

/// Whether a persona's prompt and title are sent literally, so that no template is rendered for them.
#[must_use]
pub fn is_plain(persona: &Persona) -> bool {
    !persona.path.ends_with(".j2") && persona.title.is_none()
}

/// Renders prompts. The program sends the requests to a child process with limits; [`InProcess`] does not.
pub trait RenderPrompts {
    /// The answers, in the order of the requests.
    fn render(&self, requests: &[RenderRequest]) -> Vec<RenderAnswer>;
}

/// Renders in this process, without limits of memory and time. For tests, and for simulations of repositories that
/// phileas wrote itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl RenderPrompts for InProcess {
    fn render(&self, requests: &[RenderRequest]) -> Vec<RenderAnswer> {
        let answers = requests.iter().map(|request| request.answer(STACK_BYTES));
        answers.collect()
    }
}

/// The files that prompts of one commit can use. A clone shares them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFiles {
    digest: String,
    /// Sent separately, once for all requests that share it.
    #[serde(skip)]
    tree: Arc<Tree>,
}

impl SourceFiles {
    /// The files of the default branch.
    #[must_use]
    pub fn of_default_branch(tree: &Tree) -> Self {
        Self::new(tree.only(is_source))
    }

    /// The files of the ledger.
    #[must_use]
    pub fn of_ledger(tree: &Tree) -> Self {
        Self::new(tree.only(is_on_the_ledger))
    }

    /// Drops texts that no prompt may use, and texts of agents if all together exceed the limit.
    fn new(mut tree: Tree) -> Self {
        let texts = tree.iter().filter_map(|(path, entry)| {
            let length = entry.text.as_ref()?.len();
            Some((path.to_owned(), length))
        });
        let texts: Vec<(String, usize)> = texts.collect();
        let mut sum: usize = 0;
        for (path, length) in &texts {
            if *length > TEMPLATE_LIMIT_BYTES {
                leave_behind(&mut tree, path);
            } else {
                sum = sum.saturating_add(*length);
            }
        }
        for (path, length) in texts.iter().filter(|(path, _)| is_written_by_agents(path)) {
            if sum <= RENDER_FILES_LIMIT_BYTES {
                break;
            }
            if *length <= TEMPLATE_LIMIT_BYTES {
                leave_behind(&mut tree, path);
                sum -= length;
            }
        }
        Self {
            digest: tree.digest(),
            tree: Arc::new(tree),
        }
    }

    /// The digest of these files.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The files.
    #[must_use]
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }
}

fn leave_behind(tree: &mut Tree, path: &str) {
    if let Some(entry) = tree.get(path).cloned() {
        // Mark it as read, so that it is not requested again.
        tree.note_read(path);
        tree.insert(
            path,
            crate::model::Entry {
                text: None,
                ..entry
            },
        );
    }
}

/// A request for a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderRequest {
    /// A persona's prompt.
    Persona(Box<PersonaPrompt>),
    /// A layer's prompt.
    Layer(Box<LayerPrompt>),
}

/// Everything that a persona's prompt is made from: an owned [`Request`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaPrompt {
    repository: RepositoryName,
    id: PersonaId,
    emoji: String,
    description: String,
    path: String,
    body: String,
    body_line: u32,
    title: Option<String>,
    frontmatter: Map<String, Value>,
    track: TrackName,
    open_pulls: Vec<OpenPull>,
    sprint: Option<u64>,
    entropy: [u8; 32],
    notes: Vec<String>,
    work: Vec<EarlierWork>,
    subject: Option<OwnedSubject>,
    files: SourceFiles,
}

/// An owned [`Subject`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OwnedSubject {
    number: u64,
    title: String,
    body: String,
    head: Option<String>,
}

/// Everything that a layer's prompt is made from: an owned [`Assembly`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerPrompt {
    layer: String,
    variables: BTreeMap<String, String>,
    task: Option<String>,
    /// The heading, what the text is, and the text.
    attached: Vec<(String, String, String)>,
    turn: String,
    now: Timestamp,
    entropy: [u8; 32],
    files: SourceFiles,
    ledger: SourceFiles,
}

impl RenderRequest {
    /// A request for a persona's prompt, with the files of the request's tree.
    #[must_use]
    pub fn for_persona(request: &Request<'_>, files: &SourceFiles) -> Self {
        let persona = request.persona;
        Self::Persona(Box::new(PersonaPrompt {
            repository: request.repository.clone(),
            id: persona.id.clone(),
            emoji: persona.emoji.clone(),
            description: persona.description.clone(),
            path: persona.path.clone(),
            body: persona.body.clone(),
            body_line: persona.body_line,
            title: persona.title.clone(),
            frontmatter: persona.frontmatter.clone(),
            track: request.track.clone(),
            open_pulls: request.open_pulls.to_vec(),
            sprint: request.sprint,
            entropy: *request.entropy,
            notes: request.notes.to_vec(),
            work: request.work.to_vec(),
            subject: request.subject.map(|subject| OwnedSubject {
                number: subject.number,
                title: subject.title.to_owned(),
                body: subject.body.to_owned(),
                head: subject.head.map(str::to_owned),
            }),
            files: files.clone(),
        }))
    }

    /// A request for a layer's prompt, with the files of the request's trees.
    #[must_use]
    pub fn for_layer(request: &Assembly<'_>, files: &SourceFiles, ledger: &SourceFiles) -> Self {
        let attached = request.attached.iter();
        Self::Layer(Box::new(LayerPrompt {
            layer: request.layer.to_owned(),
            variables: request.variables.clone(),
            task: request.task.map(str::to_owned),
            attached: attached
                .map(|one| {
                    (
                        one.title.to_owned(),
                        one.what.to_owned(),
                        one.text.to_owned(),
                    )
                })
                .collect(),
            turn: request.turn.to_owned(),
            now: request.now,
            entropy: *request.entropy,
            files: files.clone(),
            ledger: ledger.clone(),
        }))
    }

    /// A request for the prompt of a brief.
    #[must_use]
    pub fn for_brief(
        brief: &Brief,
        (files, ledger): (&SourceFiles, &SourceFiles),
        (turn, now): (&str, Timestamp),
        entropy: &[u8; 32],
    ) -> Self {
        let attached: Vec<Attached<'_>> = brief
            .sections
            .iter()
            .map(|one| Attached {
                title: &one.title,
                what: &one.what,
                text: &one.text,
            })
            .collect();
        let assembly = Assembly {
            layer: brief.layer,
            tree: files.tree(),
            ledger: ledger.tree(),
            variables: &brief.variables,
            task: brief.task.as_deref(),
            attached: &attached,
            turn,
            now,
            entropy,
        };
        Self::for_layer(&assembly, files, ledger)
    }

    /// The key of this request: the SHA-256 of everything that the prompt is made from, in lower-case hexadecimal.
    #[must_use]
    pub fn key(&self) -> String {
        // This could fail only for maps with keys that are no texts, and it has none.
        let whole = serde_json::to_vec(self).unwrap_or_default();
        HEXLOWER.encode(&Sha256::digest(whole))
    }

    /// What tells this request from others, apart from its turn, its time and its entropy: two attempts at the same prompt
    /// share it.
    #[must_use]
    pub fn key_of_inputs(&self) -> String {
        let mut inputs = self.clone();
        match &mut inputs {
            Self::Persona(persona) => persona.entropy = [0; 32],
            Self::Layer(layer) => {
                layer.entropy = [0; 32];
                layer.turn.clear();
                layer.now = Timestamp::UNIX_EPOCH;
            }
        }
        inputs.key()
    }

    /// The persona or layer, for messages: ``persona `curator` ``.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Persona(persona) => format!("persona `{}`", persona.id),
            Self::Layer(layer) => match layer.variables.get("role") {
                Some(role) => format!("layer `{}`, role `{role}`", layer.layer),
                None => format!("layer `{}`", layer.layer),
            },
        }
    }

    /// The file with which its prompt begins.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Persona(persona) => persona.path.clone(),
            Self::Layer(layer) => super::assembly::entry_path(layer.files.tree(), &layer.layer),
        }
    }

    /// The files that it can use.
    pub fn files(&self) -> impl Iterator<Item = &SourceFiles> {
        let (first, second) = match self {
            Self::Persona(persona) => (&persona.files, None),
            Self::Layer(layer) => (&layer.files, Some(&layer.ledger)),
        };
        [Some(first), second].into_iter().flatten()
    }

    /// Adds the files that were sent separately. `None`: one of them is missing.
    #[must_use]
    pub fn with_files(mut self, tree: impl Fn(&str) -> Option<Arc<Tree>>) -> Option<Self> {
        match &mut self {
            Self::Persona(persona) => persona.files.tree = tree(&persona.files.digest)?,
            Self::Layer(layer) => {
                layer.files.tree = tree(&layer.files.digest)?;
                layer.ledger.tree = tree(&layer.ledger.digest)?;
            }
        }
        Some(self)
    }

    /// Renders it in this process, on a stack of the given size, without limits of memory and time.
    #[must_use]
    pub fn answer(&self, stack: usize) -> RenderAnswer {
        match self {
            Self::Persona(persona) => match persona.render(stack) {
                Ok(rendered) => RenderAnswer::Persona(rendered),
                Err(error) => RenderAnswer::Failed(error),
            },
            Self::Layer(layer) => match layer.assemble(stack) {
                Ok(assembled) => RenderAnswer::Layer(assembled),
                Err(error) => RenderAnswer::Failed(error),
            },
        }
    }
}

impl PersonaPrompt {
    fn render(&self, stack: usize) -> Result<Rendered, RenderError> {
        let persona = Persona {
            id: self.id.clone(),
            emoji: self.emoji.clone(),
            description: self.description.clone(),
            path: self.path.clone(),
            body: self.body.clone(),
            body_line: self.body_line,
            scheduled: true,
            title: self.title.clone(),
            plan_approval: None,
            automation: None,
            branch: None,
            priority: None,
            sensitive: None,
            paths: Vec::new(),
            frontmatter: self.frontmatter.clone(),
        };
        let subject = self.subject.as_ref();
        let request = Request {
            repository: &self.repository,
            persona: &persona,
            tree: &self.files.tree,
            track: &self.track,
            open_pulls: &self.open_pulls,
            sprint: self.sprint,
            entropy: &self.entropy,
            notes: &self.notes,
            work: &self.work,
            subject: subject.map(|subject| Subject {
                number: subject.number,
                title: &subject.title,
                body: &subject.body,
                head: subject.head.as_deref(),
            }),
        };
        render_on(stack, &request)
    }
}

impl LayerPrompt {
    fn assemble(&self, stack: usize) -> Result<Assembled, RenderError> {
        let attached = self.attached.iter();
        let attached: Vec<Attached<'_>> = attached
            .map(|(title, what, text)| Attached { title, what, text })
            .collect();
        let request = Assembly {
            layer: &self.layer,
            tree: &self.files.tree,
            ledger: &self.ledger.tree,
            variables: &self.variables,
            task: self.task.as_deref(),
            attached: &attached,
            turn: &self.turn,
            now: self.now,
            entropy: &self.entropy,
        };
        assemble_on(stack, &request)
    }
}

/// The result of a [`RenderRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderAnswer {
    /// A persona's prompt.
    Persona(Rendered),
    /// A layer's prompt.
    Layer(Assembled),
    /// No prompt.
    Failed(RenderError),
}

impl RenderAnswer {
    /// The persona's prompt.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn into_persona(self) -> Result<Rendered, RenderError> {
        match self {
            Self::Persona(rendered) => Ok(rendered),
            Self::Layer(_) => Err(RenderError::Unavailable(OTHER_KIND.to_owned())),
            Self::Failed(error) => Err(error),
        }
    }

    /// The layer's prompt.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn into_layer(self) -> Result<Assembled, RenderError> {
        match self {
            Self::Layer(assembled) => Ok(assembled),
            Self::Persona(_) => Err(RenderError::Unavailable(OTHER_KIND.to_owned())),
            Self::Failed(error) => Err(error),
        }
    }

    /// Why there is no prompt.
    #[must_use]
    pub fn error(&self) -> Option<&RenderError> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Persona(_) | Self::Layer(_) => None,
        }
    }
}

/// The error if a renderer answers a persona's request with a layer's prompt, or the reverse.
const OTHER_KIND: &str = "the answer belongs to another request";

/// Renders one persona's prompt, with the renderer only if it is a template.
///
/// # Errors
///
/// Those of [`render_prompt`](super::render_prompt), and that this machine could not render it.
pub fn render_by(
    request: &Request<'_>,
    files: &SourceFiles,
    renderer: &(impl RenderPrompts + ?Sized),
) -> Result<Rendered, RenderError> {
    if is_plain(request.persona) {
        return super::render_prompt(request);
    }
    first_answer(renderer.render(&[RenderRequest::for_persona(request, files)])).into_persona()
}

/// Renders one layer's prompt with the renderer.
///
/// # Errors
///
/// Those of [`assemble_prompt`](super::assemble_prompt), and that this machine could not render it.
pub fn assemble_by(
    request: RenderRequest,
    renderer: &(impl RenderPrompts + ?Sized),
) -> Result<Assembled, RenderError> {
    first_answer(renderer.render(&[request])).into_layer()
}

fn first_answer(answers: Vec<RenderAnswer>) -> RenderAnswer {
    let none = || RenderAnswer::Failed(RenderError::Unavailable("there is no answer".to_owned()));
    answers.into_iter().next().unwrap_or_else(none)
}
