//! `phileas role`: lists roles, edits the roster, and creates a repository's own roles.

mod roster;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::diagnostic::Mistakes;
use phileas_domain::exchange::Layout;
use phileas_domain::layers::{
    Catalogue, FileChangeKind, HoldReason, Source, blank_role, is_role_name,
};
use phileas_domain::model::Tree;
use phileas_domain::plan::{
    self, CONFIG_PATH, Member, Plan, ROLE_LAYERS, Roster, SCHEDULES_PATH, Step, StepKind, closest,
};
use serde_json::json;

use super::upgrade;
use crate::adapters::files;
use crate::cli::arguments::{RoleCommand, RoleLayer, RoleRepository};
use crate::cli::context::file_changes::{self, FileChange};
use crate::cli::context::target::confirm;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;
use roster::RosterConfig;

pub(crate) fn run(
    command: &RoleCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    match command {
        RoleCommand::List { layer, place } => list_roles(*layer, place, screen),
        RoleCommand::Add {
            layer,
            roles,
            copy,
            sensitive,
            place,
        } => RosterEditor::open_roster(place)?.add_roles(
            layer.layer_name(),
            &roles.0,
            *copy,
            *sensitive,
            screen,
        ),
        RoleCommand::Create { layer, role, place } => {
            RosterEditor::open_roster(place)?.create_role(layer.layer_name(), role, screen)
        }
        RoleCommand::Delete {
            layer,
            role,
            keep,
            yes,
            place,
        } => RosterEditor::open_roster(place)?.delete_role(
            layer.layer_name(),
            role,
            *keep,
            *yes,
            screen,
        ),
    }
}

/// The files of a folder that concern roles.
struct FolderRoles {
    tree: Tree,
    catalogue: Catalogue,
    plan: Plan,
    /// The errors in the plan.
    errors: Vec<Diagnostic>,
}

impl FolderRoles {
    fn read_folder(dir: &Path) -> Result<Self, CliError> {
        let tree = files::read_tree(dir)?;
        let layout = Layout::detect(&tree).ok().flatten().unwrap_or(Layout::Flat);
        let catalogue = Catalogue::of(&tree, layout);
        let (plan, mut errors) = plan::read(&tree);
        errors.retain(Diagnostic::is_error);
        Ok(Self {
            tree,
            catalogue,
            plan,
            errors,
        })
    }

    fn config_errors(&self) -> Vec<Diagnostic> {
        let errors = self.errors.iter().filter(|one| one.file == CONFIG_PATH);
        errors.cloned().collect()
    }
}

/// A repository whose roster is edited.
struct RosterEditor<'a> {
    place: &'a RoleRepository,
    tree: Tree,
    catalogue: Catalogue,
    roster: Roster,
    config: RosterConfig,
}

impl<'a> RosterEditor<'a> {
    fn open_roster(place: &'a RoleRepository) -> Result<Self, CliError> {
        let roles = FolderRoles::read_folder(&place.dir)?;
        let text = roles.tree.text(CONFIG_PATH);
        let Some(config) = text.and_then(RosterConfig::parse_config) else {
            let errors = roles.config_errors();
            return Err(CliError::usage(match errors.is_empty() {
                true => format!(
                    "there is no {CONFIG_PATH} in {}; write it with phileas init --layers",
                    place.dir.display()
                ),
                false => Mistakes(errors).error_lines(),
            }));
        };
        Ok(Self {
            place,
            tree: roles.tree,
            catalogue: roles.catalogue,
            roster: roles.plan.roster,
            config,
        })
    }

    fn add_roles(
        mut self,
        layer: &str,
        roles: &[String],
        copy: bool,
        sensitive: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, CliError> {
        let mut files = Vec::new();
        let mut pinned = self.tree.clone();
        for (place, role) in roles.iter().enumerate() {
            if roles[..place].contains(role) {
                continue;
            }
            let Some(known) = self.catalogue.role(layer, role) else {
                return Err(unknown_role(&self.catalogue, layer, role));
            };
            let member = Member {
                role: role.clone(),
                enabled: true,
                sensitive: sensitive && known.sensitive,
            };
            self.config
                .put_member(layer, &member, self.roster.of(layer))?;
            if copy && known.source == Source::BuiltIn {
                let path = role_path(layer, role);
                let text = Catalogue::built_in_role(layer, role).unwrap_or_default();
                let pin = upgrade::pin_with(&pinned, &path, text)?;
                if let FileChangeKind::Write(text) | FileChangeKind::Replace(text) = &pin.kind {
                    pinned.insert_text(pin.path.clone(), text);
                }
                files.push(file_changes::own_file(&self.tree, &path, text.to_owned()));
                files.retain(|one: &FileChange| one.path != pin.path);
                files.push(pin);
            }
        }
        let json = self.place.json;
        let notes = self.added_notes(layer, roles, !files.is_empty());
        let exit = self.write_changes(files, screen)?;
        for note in notes {
            screen.print_line(&match json {
                true => json!({ "note": note }).to_string(),
                false => note,
            })?;
        }
        Ok(exit)
    }

    /// What a person should know, or do next, about roles that were added. `copied`: whether a text was copied.
    fn added_notes(&self, layer: &str, roles: &[String], copied: bool) -> Vec<String> {
        let mut tree = self.tree.clone();
        tree.insert_text(CONFIG_PATH, &self.config.config_text());
        let (plan, mut errors) = plan::read(&tree);
        errors.retain(Diagnostic::is_error);
        let mut notes: Vec<String> = idle_reason(&tree, &plan, &errors, layer)
            .map(|why| format!("{layer}: {why}"))
            .into_iter()
            .collect();
        for one in self.catalogue.role_statuses(&plan.roster, layer, true) {
            let name = &one.role;
            let Some(held) = one.held.filter(|_| roles.contains(name)) else {
                continue;
            };
            let role = self.catalogue.role(layer, name);
            let file = role.and_then(|role| role.source.path());
            notes.push(match (held, file) {
                (HoldReason::Broken, Some(file)) => format!(
                    "fill in or correct {file}, then check it with phileas validate; until then the role {name} does not work"
                ),
                (HoldReason::Sensitive, _) => format!(
                    "in a public repository the role {name} does not work: {}",
                    held.explanation()
                ),
                _ => format!("the role {name} does not work: {}", held.explanation()),
            });
        }
        if copied {
            notes.push(format!(
                "change the copied text as you like, and look at it with phileas prompt render {layer} --role NAME"
            ));
        }
        notes
    }

    fn create_role(
        mut self,
        layer: &str,
        role: &str,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, CliError> {
        if !is_role_name(role) {
            return Err(CliError::usage(format!(
                "`{}` cannot be a role: it has letters, digits, `-` and `_`, and begins with a letter or digit",
                role.escape_debug()
            )));
        }
        for one in ROLE_LAYERS {
            if self.catalogue.role(one, role).is_some() {
                let help = if one == layer {
                    format!(
                        "phileas role add {layer} {role} --copy writes its text into the repository"
                    )
                } else {
                    "two roles of one name would have one memory; take another name".to_owned()
                };
                return Err(CliError::usage(format!(
                    "the layer `{one}` has a role `{role}` already; {help}"
                )));
            }
        }
        let member = Member {
            enabled: false,
            ..Member::enabled(role)
        };
        self.config
            .put_member(layer, &member, self.roster.of(layer))?;
        let path = role_path(layer, role);
        let file = file_changes::own_file(&self.tree, &path, blank_role(layer, role));
        let json = self.place.json;
        let exit = self.write_changes(vec![file], screen)?;
        if !json {
            screen.print_line(&format!(
                "fill in {path}, look at it with phileas prompt render {layer} --role {role}, and turn it on: phileas role add {layer} {role}"
            ))?;
        }
        Ok(exit)
    }

    fn delete_role(
        mut self,
        layer: &str,
        role: &str,
        keep: bool,
        yes: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, CliError> {
        let was_there = self
            .config
            .take_member(layer, role, self.roster.of(layer))?;
        let known = self.catalogue.role(layer, role);
        if !was_there && known.is_none() {
            return Err(unknown_role(&self.catalogue, layer, role));
        }
        let own = known
            .and_then(|known| known.source.path())
            .filter(|_| !keep)
            .map(str::to_owned);
        let mut files = Vec::new();
        if let Some(path) = own {
            let text = self
                .tree
                .text(&path)
                .unwrap_or_default()
                .replace("\r\n", "\n");
            let untouched = Catalogue::built_in_role(layer, role) == Some(text.as_str())
                || text == blank_role(layer, role);
            if !untouched
                && !yes
                && !confirm(
                    &format!("Delete {path}, which people have written?"),
                    screen,
                )?
            {
                screen.print_line("nothing was changed")?;
                return Ok(Exit::Done);
            }
            files.extend(upgrade::pin_without(&self.tree, &path)?);
            files.push(FileChange {
                path,
                kind: FileChangeKind::Remove,
            });
        }
        self.write_changes(files, screen)
    }

    /// Writes the roster and its files.
    fn write_changes(
        self,
        mut files: Vec<FileChange>,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, CliError> {
        files.insert(
            0,
            file_changes::own_file(&self.tree, CONFIG_PATH, self.config.config_text()),
        );
        file_changes::apply_changes(&self.place.dir, &files)?;
        for one in &files {
            let action = match one.kind {
                FileChangeKind::Same => continue,
                FileChangeKind::Remove => "remove",
                _ => "write",
            };
            let line = if self.place.json {
                json!({ "file": one.path, "action": action }).to_string()
            } else {
                format!("  {action:<7} {}", one.path)
            };
            screen.print_line(&line)?;
        }
        if !self.place.json && files.iter().all(|one| one.kind == FileChangeKind::Same) {
            screen.print_line("nothing is to be changed: the plan says so already")?;
        }
        Ok(Exit::Done)
    }
}

/// The error for a role that a layer does not have.
pub(super) fn unknown_role(catalogue: &Catalogue, layer: &str, role: &str) -> CliError {
    let roles = || catalogue.roles().iter();
    let names = roles().filter(|one| one.layer == layer);
    let meant = closest(role, names.map(|one| one.name.as_str()));
    let elsewhere = roles().find(|one| one.name == role);
    let help = match (elsewhere, meant) {
        (Some(known), _) => format!("`{role}` is a role of `{}`", known.layer),
        (None, Some(meant)) => format!("did you mean `{meant}`?"),
        (None, None) => format!(
            "phileas role list --layer {layer} tells which there are, and phileas role create begins one"
        ),
    };
    CliError::usage(format!(
        "the layer `{layer}` has no role `{}`; {help}",
        role.escape_debug()
    ))
}

fn role_path(layer: &str, role: &str) -> String {
    format!(".jlo/roles/{layer}/{role}/role.yml")
}

/// The source of a role, in one word.
fn source_text(source: &Source) -> &'static str {
    match source {
        Source::BuiltIn => "built-in",
        Source::Overridden(_) => "overridden",
        Source::Own(_) => "own",
    }
}

/// Whether a role works, and why not. `held`: `None` where it is not on the roster. `broken`: a part of the roster may be
/// unread.
fn role_state(
    held: Option<Option<HoldReason>>,
    idle: Option<&'static str>,
    broken: bool,
) -> (&'static str, &'static str) {
    match held {
        None if broken => (
            "off",
            "whether it is on the roster is not known, because .jlo/config.toml has mistakes; correct that file",
        ),
        None => ("off", "it is not on the roster"),
        Some(Some(held @ HoldReason::Broken)) => ("broken", held.explanation()),
        Some(Some(held)) if held != HoldReason::Sensitive => ("off", held.explanation()),
        // A role on the roster works only where its layer does.
        Some(_) if idle.is_some() => ("off", idle.unwrap_or_default()),
        Some(Some(held)) => ("private", held.explanation()),
        Some(None) => ("on", ""),
    }
}

/// Lists the roles. Mistakes in a repository's own roles are findings.
fn list_roles(
    layer: Option<RoleLayer>,
    place: &RoleRepository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let roles = FolderRoles::read_folder(&place.dir)?;
    let FolderRoles {
        tree,
        catalogue,
        plan,
        errors,
    } = &roles;
    let mut found = roles.config_errors();
    let layers = ROLE_LAYERS
        .into_iter()
        .filter(|one| layer.is_none_or(|layer| layer.layer_name() == *one));
    let headings = ["layer", "role", "state", "from", "description"];
    let mut table = Table::new(headings).with_max_width(screen.width);
    for layer in layers {
        // Permission to work in a public repository matters here.
        let standing = catalogue.role_statuses(&plan.roster, layer, true);
        let idle = idle_reason(tree, plan, errors, layer);
        if let Some(why) = idle.filter(|_| !place.json) {
            screen.print_line(&format!("{layer}: {why}"))?;
        }
        for role in catalogue.roles().iter().filter(|role| role.layer == layer) {
            let held = standing
                .iter()
                .find(|one| one.role == role.name)
                .map(|one| one.held);
            let (state, why) = role_state(held, idle, !found.is_empty());
            let source = source_text(&role.source);
            if place.json {
                let document = json!({
                    "layer": layer, "role": role.name, "description": role.description, "state": state, "why": why,
                    "source": source, "file": role.source.path(), "sensitive": role.sensitive,
                });
                screen.print_line(&document.to_string())?;
            } else {
                table.push_row([
                    layer.to_owned(),
                    role.name.clone(),
                    state.to_owned(),
                    source.to_owned(),
                    role.description.clone(),
                ]);
            }
        }
    }
    if !place.json {
        screen.print_lines(&table.table_text())?;
    }
    found.extend_from_slice(catalogue.diagnostics());
    print_diagnostics(&found, place.json, screen)?;
    Ok(if found.is_empty() {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// Why a layer does not work by itself in a repository, if so. `errors`: those of the plan.
fn idle_reason(
    tree: &Tree,
    plan: &Plan,
    errors: &[Diagnostic],
    layer: &str,
) -> Option<&'static str> {
    let of_layer = |step: &Step| matches!(&step.kind, StepKind::Layer(name) if name == layer);
    let mut steps = plan.tracks.values().flat_map(|track| &track.steps);
    if steps.any(of_layer) {
        return None;
    }
    let config = tree.text(CONFIG_PATH);
    let has_error = |file: &str| errors.iter().any(|one| one.file == file);
    Some(if has_error(CONFIG_PATH) {
        "whether its layer runs is not known, because .jlo/config.toml has mistakes; correct that file"
    } else if config.is_none() {
        "no layer works in this repository: there is no .jlo/config.toml; phileas init --layers writes it"
    } else if config.is_some_and(roster::turns_layers_off) {
        "`enabled = false` in `[workflow]` of .jlo/config.toml turns all layers off"
    } else if has_error(SCHEDULES_PATH) {
        "whether its layer runs is not known, because .jules/schedules.toml has mistakes; correct that file: phileas validate"
    } else {
        "the plan does not have its layer, because no role of it is on, or `layers` in .jlo/config.toml leaves it out"
    })
}
