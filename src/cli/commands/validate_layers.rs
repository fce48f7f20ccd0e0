//! Checks the layers of a repository: roles, rosters and prompts.

use phileas_domain::exchange::{FLAT_STREAM, Layout};
use phileas_domain::layers::{Catalogue, Job, Source, check_layer_files};
use phileas_domain::model::Tree;
use phileas_domain::plan::{CONFIG_PATH, Plan, ROLE_LAYERS, Roster, StepKind};
use phileas_domain::prompt::{self, RenderError, RenderRequest, SourceFiles};
use phileas_domain::{Diagnostic, Severity};

use crate::adapters::renderer;
use crate::cli::context::placeholder_name;

/// All mistakes in roles and layers. Those in `.jlo/config.toml` come with the plan.
pub(crate) fn check_layers(tree: &Tree, plan: &Plan) -> Vec<Diagnostic> {
    let layout = Layout::detect(tree).ok().flatten().unwrap_or(Layout::Flat);
    let catalogue = Catalogue::of(tree, layout);
    let mut found = check_texts(tree, &catalogue, &plan.roster);
    // Without a layer in the plan its roles do not matter.
    let steps = plan.tracks.values().flat_map(|track| &track.steps);
    let names: Vec<&str> = steps
        .filter_map(|step| match &step.kind {
            StepKind::Layer(layer) => Some(layer.as_str()),
            StepKind::Persona(_) => None,
        })
        .collect();
    if tree.get(CONFIG_PATH).is_some() {
        for role in catalogue.roles() {
            let Source::Own(path) = &role.source else {
                continue;
            };
            if plan.roster.member(role.layer, &role.name).is_none() {
                let warning =
                    Diagnostic::warning(path, "the role is on no roster, so it never works");
                found.push(warning.help(format!(
                    "phileas role add {} {}, or remove the file",
                    role.layer, role.name
                )));
            }
        }
    }
    for layer in names {
        found.extend(check_prompts(&catalogue, &plan.roster, layer));
    }
    found
}

/// The mistakes in a repository's own roles, contracts and tasks. Those of a role that is turned off are warnings.
pub(crate) fn check_texts(tree: &Tree, catalogue: &Catalogue, roster: &Roster) -> Vec<Diagnostic> {
    let mut found = catalogue.diagnostics().to_vec();
    for one in found
        .iter_mut()
        .filter(|one| is_of_idle_role(one, catalogue, roster))
    {
        one.severity = Severity::Warning;
    }
    found.extend(check_layer_files(tree));
    found
}

/// Whether a mistake is in a role that is turned off, such as a draft.
fn is_of_idle_role(one: &Diagnostic, catalogue: &Catalogue, roster: &Roster) -> bool {
    let roles = catalogue.roles().iter();
    let mut roles = roles.filter(|role| role.source.path() == Some(one.file.as_str()));
    roles.any(|role| {
        let member = roster.member(role.layer, &role.name);
        !member.is_some_and(|member| member.enabled)
    })
}

/// What keeps the prompts of a layer from being assembled.
fn check_prompts(catalogue: &Catalogue, roster: &Roster, layer: &str) -> Vec<Diagnostic> {
    let jobs: Vec<Job<'_>> = match layer {
        "narrator" => vec![Job::Narrator { commits: None }],
        "decider" => vec![Job::Decider],
        "planner" => vec![Job::Planner(None)],
        "observers" => enabled_roles(roster, layer).map(Job::Observer).collect(),
        "innovators" => enabled_roles(roster, layer).map(Job::Innovator).collect(),
        // An implementer's task depends on the work item.
        _ => Vec::new(),
    };
    let ledger = Tree::new();
    let now = jiff::Timestamp::UNIX_EPOCH; // Nothing of it is kept.
    let Ok(name) = placeholder_name::placeholder_name() else {
        return Vec::new();
    };
    let files = SourceFiles::of_default_branch(catalogue.tree());
    let ledger_files = SourceFiles::of_ledger(&ledger);
    let renderer = renderer::shared_renderer();
    // A missing role is reported with the roster.
    let briefs = jobs
        .into_iter()
        .filter_map(|job| catalogue.brief(&name, &ledger, None, FLAT_STREAM, job).ok());
    briefs
        .filter_map(|brief| {
            let of = (&files, &ledger_files);
            let request = RenderRequest::for_brief(&brief, of, ("", now), &[0; 32]);
            prompt::assemble_by(request, &*renderer).err()
        })
        .flat_map(RenderError::into_diagnostics)
        .collect()
}

fn enabled_roles<'r>(roster: &'r Roster, layer: &str) -> impl Iterator<Item = &'r str> {
    let members = roster.of(layer).iter().filter(|member| member.enabled);
    members.map(|member| member.role.as_str())
}

/// Whether a layer can start a session by itself.
pub(crate) fn can_run(roster: &Roster, layer: &str) -> bool {
    !ROLE_LAYERS.contains(&layer) || enabled_roles(roster, layer).next().is_some()
}
