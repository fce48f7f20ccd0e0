//! In which order tools are installed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Catalogue, Component};
use crate::Diagnostic;

/// The wanted tools and all that they depend on: each after what it needs, and those that could come at the same time
/// in the order of their names.
///
/// # Errors
///
/// A circle, as a path.
pub(super) fn sort_by_dependency<'c>(
    catalogue: &'c Catalogue,
    wanted: &[String],
) -> Result<Vec<&'c Component>, Diagnostic> {
    let mut needed = BTreeMap::new();
    let sorted: BTreeSet<&str> = wanted.iter().map(String::as_str).collect();
    for name in sorted {
        visit_component(catalogue, name, &mut Vec::new(), &mut needed)?;
    }
    let mut order: Vec<&Component> = Vec::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    while !needed.is_empty() {
        let ready: Vec<&str> = needed
            .iter()
            .filter(|(_, component)| {
                let mut dependencies = component.dependencies.iter();
                // What is not in the catalogue was complained about before.
                dependencies
                    .all(|name| done.contains(name.as_str()) || !needed.contains_key(name.as_str()))
            })
            .map(|(name, _)| *name)
            .collect();
        assert!(!ready.is_empty(), "a circle was found before");
        for name in ready {
            order.extend(needed.remove(name));
            done.insert(name);
        }
    }
    Ok(order)
}

/// Adds a tool and what it needs. Its depth is bounded by the number of tools.
fn visit_component<'c>(
    catalogue: &'c Catalogue,
    name: &str,
    path: &mut Vec<&'c str>,
    needed: &mut BTreeMap<&'c str, &'c Component>,
) -> Result<(), Diagnostic> {
    let Some(component) = catalogue.get(name) else {
        return Ok(());
    };
    if let Some(first) = path.iter().position(|above| *above == name) {
        return Err(circle_error(catalogue, &path[first..]));
    }
    if needed.contains_key(name) {
        return Ok(());
    }
    path.push(&component.name);
    for dependency in &component.dependencies {
        visit_component(catalogue, dependency, path, needed)?;
    }
    path.pop();
    needed.insert(&component.name, component);
    Ok(())
}

/// Says a circle from its alphabetically first tool on, at the last dependency of it that the repository declares.
fn circle_error(catalogue: &Catalogue, path: &[&str]) -> Diagnostic {
    let first = (0..path.len()).min_by_key(|at| path[*at]).unwrap_or(0);
    let ring: Vec<&str> = (0..=path.len())
        .map(|at| path[(first + at) % path.len()])
        .collect();
    let message = format!(
        "tools depend on each other in a circle: {}",
        ring.join(" -> ")
    );
    let edge = ring.windows(2).rev().find_map(|pair| {
        let kept = catalogue.find_kept(pair[0])?;
        let own = kept.component.origin == super::Origin::Repository;
        let index = kept
            .component
            .dependencies
            .iter()
            .position(|name| name == pair[1])?;
        own.then_some((kept, index))
    });
    let Some((kept, index)) = edge else {
        return Diagnostic::error("the catalogue", message);
    };
    let (line, column) = kept.dependencies_at[index];
    Diagnostic::error(&kept.file, message)
        .at(line, column)
        .key(format!("dependencies[{index}]"))
        .help("remove this dependency, or another one of the circle")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Tree;
    use crate::setup::Layout;

    /// A catalogue of these tools and those of phileas.
    fn catalogue(tools: &[(&str, &[&str])]) -> Catalogue {
        let files = tools.iter().flat_map(|(name, dependencies)| {
            let folder = format!(".jlo/setup/components/{name}");
            [
                (
                    format!("{folder}/meta.toml"),
                    format!("dependencies = {dependencies:?}"),
                ),
                (format!("{folder}/install.sh"), String::new()),
            ]
        });
        let (catalogue, found) = Catalogue::read_catalogue(&Tree::from_texts(files), Layout::Split);
        assert_eq!(found, []);
        catalogue
    }

    fn names(catalogue: &Catalogue, wanted: &[&str]) -> Result<Vec<String>, String> {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let order = sort_by_dependency(catalogue, &wanted).map_err(|said| said.to_string())?;
        Ok(order.iter().map(|one| one.name.clone()).collect())
    }

    #[test]
    fn dependencies_come_first_and_the_alphabet_decides_the_rest() {
        let catalogue = catalogue(&[("z", &[]), ("a", &["z"]), ("b", &["a", "gh"]), ("m", &[])]);
        for wanted in [&["b", "m", "just"][..], &["just", "m", "b", "gh"]] {
            let order = names(&catalogue, wanted).unwrap();
            assert_eq!(order, ["gh", "just", "m", "z", "a", "b"]);
        }
    }

    #[test]
    fn a_circle_is_shown_as_a_path_with_its_place() {
        let tools: &[(&str, &[&str])] = &[
            ("c", &["a"]),
            ("b", &["gh", "c"]),
            ("a", &["b"]),
            ("x", &["c"]),
        ];
        let catalogue = catalogue(tools);
        let said = names(&catalogue, &["x"]).unwrap_err();
        assert_eq!(
            said,
            ".jlo/setup/components/c/meta.toml:1:17: error: tools depend on each other in a circle: a -> b -> c -> a \
             (at dependencies[0]); remove this dependency, or another one of the circle"
        );
        assert_eq!(names(&catalogue, &["gh"]).unwrap(), ["gh"]);
    }

    #[test]
    fn the_smallest_circle_and_one_through_a_tool_of_phileas_are_found() {
        let own = catalogue(&[("a", &["a"])]);
        assert!(names(&own, &["a"]).unwrap_err().contains("a -> a (at"));
        let through = catalogue(&[("uv", &["python"])]);
        let said = names(&through, &["python"]).unwrap_err();
        assert!(
            said.contains("python -> uv -> python") && said.contains("components/uv"),
            "{said}"
        );
    }

    proptest! {
        /// Tools that depend on earlier ones only have no circle; each stands once, after all that it needs.
        #[test]
        fn every_order_holds(edges in proptest::collection::vec((0usize..12, 0usize..12), 0..40)) {
            let names_of: Vec<String> = (0..12).map(|n| format!("t{n:02}")).collect();
            let mut needs: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); 12];
            for (one, other) in edges {
                if one != other {
                    needs[one.max(other)].insert(&names_of[one.min(other)]);
                }
            }
            let lists: Vec<Vec<&str>> = needs.iter().map(|set| set.iter().copied().collect()).collect();
            let tools: Vec<(&str, &[&str])> =
                names_of.iter().zip(&lists).map(|(name, list)| (name.as_str(), list.as_slice())).collect();
            let all: Vec<&str> = names_of.iter().map(String::as_str).collect();
            let order = names(&catalogue(&tools), &all).unwrap();
            prop_assert_eq!(order.len(), 12);
            for (at, name) in order.iter().enumerate() {
                let index = names_of.iter().position(|known| known == name).unwrap();
                prop_assert!(needs[index].iter().all(|need| order[..at].iter().any(|before| before == need)));
            }
        }
    }
}
