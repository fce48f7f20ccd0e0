//! `phileas role`: who there is, who works, and roles of a repository's own.

mod roster;

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::exchange::Layout;
use phileas_domain::layers::{Catalogue, Fate, Held, Source, blank_role, is_role_name};
use phileas_domain::model::Tree;
use phileas_domain::plan::{
    self, CONFIG_PATH, Member, Plan, ROLE_LAYERS, Roster, Step, StepKind, closest,
};
use serde_json::json;

use super::upgrade;
use crate::adapters::files;
use crate::cli::arguments::{RoleCommand, RoleLayer, RolePlace};
use crate::cli::context::file_changes::{self, Written};
use crate::cli::context::target::agreed;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics::print;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize;
use roster::Config;

pub(crate) fn run(command: &RoleCommand, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    match command {
        RoleCommand::List { layer, place } => list(*layer, place, screen),
        RoleCommand::Add {
            layer,
            roles,
            copy,
            sensitive,
            place,
        } => Desk::open(place)?.add(layer.name(), roles, *copy, *sensitive, screen),
        RoleCommand::Create { layer, role, place } => {
            Desk::open(place)?.create(layer.name(), role, screen)
        }
        RoleCommand::Delete {
            layer,
            role,
            keep,
            yes,
            place,
        } => Desk::open(place)?.delete(layer.name(), role, *keep, *yes, screen),
    }
}

fn read(dir: &Path) -> Result<(Tree, Catalogue, Roster), Stopped> {
    let tree = files::read_tree(dir)?;
    let layout = Layout::detect(&tree).ok().flatten().unwrap_or(Layout::Flat);
    let catalogue = Catalogue::of(&tree, layout);
    let (plan, _) = plan::read(&tree);
    Ok((tree, catalogue, plan.roster))
}

/// A repository whose roster is edited.
struct Desk<'a> {
    place: &'a RolePlace,
    tree: Tree,
    catalogue: Catalogue,
    roster: Roster,
    config: Config,
}

impl<'a> Desk<'a> {
    fn open(place: &'a RolePlace) -> Result<Self, Stopped> {
        let (tree, catalogue, roster) = read(&place.dir)?;
        let text = tree.text(CONFIG_PATH).ok_or_else(|| {
            Stopped::usage(format!(
                "there is no {CONFIG_PATH} in {}; write it with phileas init --layers",
                place.dir.display()
            ))
        })?;
        let config = Config::read(text)?;
        Ok(Self {
            place,
            tree,
            catalogue,
            roster,
            config,
        })
    }

    fn add(
        mut self,
        layer: &str,
        roles: &[String],
        copy: bool,
        sensitive: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, Stopped> {
        let mut files = Vec::new();
        let mut pinned = self.tree.clone();
        for (place, role) in roles.iter().enumerate() {
            if roles[..place].contains(role) {
                continue;
            }
            let Some(known) = self.catalogue.role(layer, role) else {
                return Err(self.unknown(layer, role));
            };
            let member = Member {
                role: role.clone(),
                enabled: true,
                sensitive: sensitive && known.sensitive,
            };
            self.config.put(layer, &member, self.roster.of(layer))?;
            if copy && known.source == Source::Catalogue {
                let path = path_of(layer, role);
                let text = Catalogue::built_in_role(layer, role).unwrap_or_default();
                let pin = upgrade::noted(&pinned, &path, text)?;
                if let Fate::Write(text) | Fate::Replace(text) = &pin.fate {
                    pinned.insert_text(pin.path.clone(), text);
                }
                files.push(file_changes::of_text(&self.tree, &path, text.to_owned()));
                files.retain(|one: &Written| one.path != pin.path);
                files.push(pin);
            }
        }
        self.close(files, screen)
    }

    fn create(
        mut self,
        layer: &str,
        role: &str,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, Stopped> {
        if !is_role_name(role) {
            return Err(Stopped::usage(format!(
                "`{}` can be no role: it has letters, digits, `-` and `_`, and begins with a letter or digit",
                role.escape_debug()
            )));
        }
        for one in ROLE_LAYERS {
            if self.catalogue.role(one, role).is_some() {
                let mend = if one == layer {
                    format!(
                        "phileas role add {layer} {role} --copy writes its text into the repository"
                    )
                } else {
                    "two roles of one name would have one memory; take another name".to_owned()
                };
                return Err(Stopped::usage(format!(
                    "the layer `{one}` has a role `{role}` already; {mend}"
                )));
            }
        }
        let member = Member {
            enabled: false,
            ..Member::enabled(role)
        };
        self.config.put(layer, &member, self.roster.of(layer))?;
        let path = path_of(layer, role);
        let file = file_changes::of_text(&self.tree, &path, blank_role(layer, role));
        let json = self.place.json;
        let exit = self.close(vec![file], screen)?;
        if !json {
            screen.line(&format!(
                "fill in {path}, look at it with phileas prompt render {layer} --role {role}, and turn it on: phileas role add {layer} {role}"
            ))?;
        }
        Ok(exit)
    }

    fn delete(
        mut self,
        layer: &str,
        role: &str,
        keep: bool,
        yes: bool,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, Stopped> {
        let was_there = self.config.take(layer, role, self.roster.of(layer))?;
        let known = self.catalogue.role(layer, role);
        if !was_there && known.is_none() {
            return Err(self.unknown(layer, role));
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
                && !agreed(
                    &format!("Delete {path}, which people have written?"),
                    screen,
                )?
            {
                screen.line("nothing was changed")?;
                return Ok(Exit::Done);
            }
            files.extend(upgrade::forgotten(&self.tree, &path)?);
            files.push(Written {
                path,
                fate: Fate::Remove,
            });
        }
        self.close(files, screen)
    }

    /// Writes the roster and what belongs to it.
    fn close(
        self,
        mut files: Vec<Written>,
        screen: &mut Screen<impl Write>,
    ) -> Result<Exit, Stopped> {
        files.insert(
            0,
            file_changes::of_text(&self.tree, CONFIG_PATH, self.config.text()),
        );
        file_changes::apply(&self.place.dir, &files)?;
        for one in &files {
            let action = match one.fate {
                Fate::Same => continue,
                Fate::Remove => "remove",
                _ => "write",
            };
            let line = if self.place.json {
                json!({ "file": one.path, "action": action }).to_string()
            } else {
                format!("  {action:<7} {}", one.path)
            };
            screen.line(&line)?;
        }
        if !self.place.json && files.iter().all(|one| one.fate == Fate::Same) {
            screen.line("nothing is to be changed: the plan says so already")?;
        }
        Ok(Exit::Done)
    }

    fn unknown(&self, layer: &str, role: &str) -> Stopped {
        let names = self
            .catalogue
            .roles()
            .iter()
            .filter(|one| one.layer == layer);
        let mend = match closest(role, names.map(|one| one.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!(
                "phileas role list {layer} tells which there are, and phileas role create begins one"
            ),
        };
        Stopped::usage(format!(
            "the layer `{layer}` has no role `{}`; {mend}",
            role.escape_debug()
        ))
    }
}

fn path_of(layer: &str, role: &str) -> String {
    format!(".jlo/roles/{layer}/{role}/role.yml")
}

/// Who there is. Mistakes in a repository's own roles are findings.
fn list(
    layer: Option<RoleLayer>,
    place: &RolePlace,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let (tree, catalogue, roster) = read(&place.dir)?;
    // A roster that cannot be read is not the one that is shown.
    let (plan, found) = plan::read(&tree);
    let layers = ROLE_LAYERS
        .into_iter()
        .filter(|one| layer.is_none_or(|layer| layer.name() == *one));
    for layer in layers {
        // Whether it may work in a public repository counts here: that is where it matters.
        let standing = catalogue.standing(&roster, layer, true);
        let idle = idle(&tree, &plan, layer);
        if let Some(why) = idle.filter(|_| !place.json) {
            screen.line(&format!("{layer:<11} {why}"))?;
        }
        for role in catalogue.roles().iter().filter(|role| role.layer == layer) {
            let held = standing
                .iter()
                .find(|one| one.role == role.name)
                .map(|one| one.held);
            let (state, why) = match held {
                None => ("off", "it is not on the roster"),
                Some(Some(held)) if held != Held::Sensitive => ("off", held.why()),
                // Whoever stands on it works only where its layer does.
                Some(_) if idle.is_some() => ("off", idle.unwrap_or_default()),
                Some(Some(held)) => ("private", held.why()),
                Some(None) => ("on", ""),
            };
            let source = match &role.source {
                Source::Catalogue => "catalogue",
                Source::Overlaid(_) => "overlaid",
                Source::Own(_) => "own",
            };
            if place.json {
                let document = json!({
                    "layer": layer, "role": role.name, "description": role.description, "state": state, "why": why,
                    "source": source, "file": role.source.path(), "sensitive": role.sensitive,
                });
                screen.line(&document.to_string())?;
            } else {
                screen.line(&format!(
                    "{layer:<11} {:<20} {state:<8} {source:<10} {}",
                    role.name,
                    sanitize::line(&role.description)
                ))?;
            }
        }
    }
    let mut found: Vec<Diagnostic> = found
        .into_iter()
        .filter(|one| one.is_error() && one.file == CONFIG_PATH)
        .collect();
    found.extend_from_slice(catalogue.found());
    print(&found, place.json, screen)?;
    Ok(if found.is_empty() {
        Exit::Done
    } else {
        Exit::Findings
    })
}

/// Why nobody of a layer works by itself in a repository, if so.
fn idle(tree: &Tree, plan: &Plan, layer: &str) -> Option<&'static str> {
    let of_layer = |step: &Step| matches!(&step.kind, StepKind::Layer(name) if name == layer);
    let mut steps = plan.tracks.values().flat_map(|track| &track.steps);
    if steps.any(of_layer) {
        return None;
    }
    Some(if tree.get(CONFIG_PATH).is_none() {
        "no layer works in this repository: there is no .jlo/config.toml; phileas init --layers writes it"
    } else {
        "the plan does not have its layer, so that it does not work by itself; phileas validate tells more"
    })
}
