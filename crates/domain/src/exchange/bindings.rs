//! Checks which stream a role works for. The role's own file, a roster, or both say so, and they must agree.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::{FLAT_STREAM, Layout};
use super::model::Exchange;
use crate::diagnostic::Diagnostic;
use crate::layers::is_own_copy;
use crate::model::Tree;
use crate::plan::suggest::{closest, either_of};
use crate::yaml::{self, Node};

/// The key that binds a role to a stream.
const KEY: &str = "workstream";

/// The stream that a role's file names.
struct Binding<'t> {
    file: &'t str,
    layer: &'static str,
    role: &'t str,
    stream: String,
    at: (u32, u32),
}

/// An observer or decider whose own file names its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundRole {
    /// The layer, in the plural: `observers` or `deciders`.
    pub layer: &'static str,
    /// The role.
    pub role: String,
    /// The stream.
    pub stream: String,
    /// The file that names the stream.
    pub file: String,
}

/// The roles whose own files name their streams, in the order of the files. For each role the first file counts.
#[must_use]
pub fn bound_roles(tree: &Tree) -> Vec<BoundRole> {
    let mut all: Vec<BoundRole> = Vec::new();
    for (file, _) in tree.iter() {
        let Some(Owner::Role { layer, role }) = prompt_owner(file) else {
            continue;
        };
        let Some((stream, _)) = stream_of(tree, file) else {
            continue;
        };
        if !all.iter().any(|one| one.layer == layer && one.role == role) {
            all.push(BoundRole {
                layer,
                role: role.to_owned(),
                stream,
                file: file.to_owned(),
            });
        }
    }
    all
}

/// All disagreements between files and rosters.
pub(super) fn check_bindings(tree: &Tree, exchange: &Exchange) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut bound: BTreeMap<(&str, &str), Binding<'_>> = BTreeMap::new();
    let mut on_disk: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (file, _) in tree.iter() {
        let Some(owner) = prompt_owner(file) else {
            continue;
        };
        if let Owner::Role { layer, role } = owner {
            on_disk.entry(layer).or_default().insert(role);
        }
        let Some((stream, at)) = stream_of(tree, file) else {
            continue;
        };
        let (layer, role) = match owner {
            Owner::Role { layer, role } => (layer, role),
            Owner::Single(layer) => {
                let message = format!(
                    "the layer {layer} has no workstream: the path of the work item decides"
                );
                let one = Diagnostic::error(file, message).at(at.0, at.1).key(KEY);
                found.push(one.help("remove the key"));
                continue;
            }
        };
        let binding = Binding {
            file,
            layer,
            role,
            stream,
            at,
        };
        found.extend(unfit_binding(&binding, exchange));
        match bound.get(&(layer, role)) {
            Some(first) if first.stream != binding.stream => {
                let message = format!(
                    "`{role}` works for `{}` here, and for `{}` by `{}`",
                    binding.stream, first.stream, first.file
                );
                let one = Diagnostic::error(file, message).at(at.0, at.1).key(KEY);
                found.push(one.help("name the same workstream in both, or in one only"));
            }
            Some(_) => {}
            None => {
                bound.insert((layer, role), binding);
            }
        }
    }
    found.extend(check_rosters(tree, exchange, &on_disk));
    found
}

/// The mistake of a single binding.
fn unfit_binding(binding: &Binding<'_>, exchange: &Exchange) -> Option<Diagnostic> {
    let Binding {
        file,
        layer,
        role,
        stream,
        at,
    } = binding;
    let error = |message: String, help: String| {
        Some(
            Diagnostic::error(*file, message)
                .at(at.0, at.1)
                .key(KEY)
                .help(help),
        )
    };
    if exchange.layout == Layout::Flat {
        return if stream == FLAT_STREAM {
            None
        } else {
            error(
                format!("there is no workstream `{stream}`: the exchange is flat"),
                "remove the key".to_owned(),
            )
        };
    }
    let Some(there) = exchange.streams.get(stream) else {
        let help = match closest(stream, exchange.streams.keys().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!(
                "make the folder .jules/workstreams/{stream}, or name {}",
                either_of(exchange.streams.keys().map(String::as_str))
            ),
        };
        return error(format!("there is no workstream `{stream}`"), help);
    };
    let lists = |name: &str| {
        let roster = exchange
            .streams
            .get(name)
            .and_then(|stream| stream.roster.as_ref());
        roster.is_some_and(|roster| {
            let roles = if *layer == "observers" {
                &roster.observers
            } else {
                &roster.deciders
            };
            roles.iter().any(|one| one == role)
        })
    };
    let others: Vec<&str> = exchange
        .streams
        .keys()
        .map(String::as_str)
        .filter(|name| name != stream && lists(name))
        .collect();
    if let Some(other) = others.first() {
        return error(
            format!("`{role}` works for `{stream}` here, and stands on the roster of `{other}`"),
            format!("name `{other}` here, or take `{role}` off its roster"),
        );
    }
    if there.roster.is_some() && !lists(stream) {
        // A role that no roster lists does not run, which is allowed.
        let message = format!("`{role}` is not on the roster of `{stream}`, so it never runs");
        let one = Diagnostic::warning(*file, message).at(at.0, at.1).key(KEY);
        return Some(one.help(format!(
            "add it to `{layer}.roles` of .jules/workstreams/{stream}/scheduled.toml, or remove the key"
        )));
    }
    None
}

/// Roles in rosters without a file, and files without a roster entry. Checked only if the tree has files of the layer.
fn check_rosters(
    tree: &Tree,
    exchange: &Exchange,
    on_disk: &BTreeMap<&str, BTreeSet<&str>>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if exchange.layout == Layout::Flat {
        return found;
    }
    for (layer, described) in on_disk {
        let mut listed = BTreeSet::new();
        let mut any = false;
        for (name, stream) in &exchange.streams {
            let Some(roster) = &stream.roster else {
                continue;
            };
            any = true;
            let roles = if *layer == "observers" {
                &roster.observers
            } else {
                &roster.deciders
            };
            for (index, role) in roles.iter().enumerate() {
                listed.insert(role.as_str());
                if !described.contains(role.as_str()) {
                    let file = format!(".jules/workstreams/{name}/scheduled.toml");
                    let one = Diagnostic::error(
                        file,
                        format!("there is no role `{role}` among the {layer}"),
                    );
                    found.push(one.key(format!("{layer}.roles[{index}]")).help(
                        match closest(role, described.iter().copied()) {
                            Some(meant) => format!("did you mean `{meant}`?"),
                            None => format!("write .jules/roles/{layer}/{role}/role.yml"),
                        },
                    ));
                }
            }
        }
        for role in described
            .iter()
            .filter(|role| any && !listed.contains(**role))
        {
            let file = format!(".jules/roles/{layer}/{role}");
            // `bootstrap` copies the whole catalogue for people to read.
            if is_own_copy(tree, &format!("{file}/role.yml")) {
                continue;
            }
            let one =
                Diagnostic::warning(file, format!("`{role}` is on no roster, so it never runs"));
            found.push(one.help("add it to a `scheduled.toml`, or remove it"));
        }
    }
    found
}

/// The role that a file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner<'p> {
    Role { layer: &'static str, role: &'p str },
    Single(&'static str),
}

fn prompt_owner(file: &str) -> Option<Owner<'_>> {
    let parts: Vec<&str> = file.split('/').collect();
    let rest = match parts.as_slice() {
        [".jules", "roles" | "layers", rest @ ..] | [".jlo", "roles", rest @ ..] => rest,
        _ => return None,
    };
    let (layer, rest) = rest.split_first()?;
    let layer = match *layer {
        "observers" => "observers",
        "decider" | "deciders" => "deciders",
        "narrator" => "narrator",
        "planner" | "planners" => "planners",
        "implementer" | "implementers" => "implementers",
        _ => return None,
    };
    let many = matches!(layer, "observers" | "deciders");
    match rest {
        [role, "prompt.yml" | "role.yml"] | ["roles", role, "prompt.yml" | "role.yml"] if many => {
            Some(Owner::Role { layer, role })
        }
        ["prompt.yml"] if !many => Some(Owner::Single(layer)),
        _ => None,
    }
}

fn stream_of(tree: &Tree, file: &str) -> Option<(String, (u32, u32))> {
    // Other mistakes of the file are reported by the check of roles.
    let (root, _) = yaml::parse(tree.text(file)?);
    let root = root?;
    let node = root.get(KEY)?;
    let name = node
        .text()
        .map_or_else(|| node.json().to_string(), str::to_owned);
    // A prompt for all roles of a layer contains `{{workstream}}`, which binds no role.
    let template = name.contains("{{");
    (!template).then_some((name, node_position(node)))
}

fn node_position(node: &Node) -> (u32, u32) {
    (node.line, node.column)
}
