//! Which file of a crate uses which other one: paths are followed through re-exports to the file that defines the item.
//!
//! `scripts/imports` reads a crate in the same way. Test modules do not count, and neither do files that only declare
//! modules and re-export.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::references::{Name, module_of, tokens};

/// How many re-exports are followed from one path. No chain of ours is longer.
const MAX_REEXPORTS: usize = 9;

/// What the code of a file says about others.
#[derive(Debug, Default)]
struct File {
    path: String,
    defined: BTreeSet<String>,
    /// A path that is imported, and the name that it gets.
    uses: Vec<(Name, String)>,
    /// Paths of two words or more that stand in the code.
    named: BTreeSet<Name>,
}

/// The files of a crate by their modules.
#[derive(Debug)]
pub(crate) struct Crate(BTreeMap<Name, File>);

/// Which file uses which other ones, and for which items.
pub(crate) type Arrows = BTreeMap<Name, BTreeMap<Name, BTreeSet<String>>>;

impl Crate {
    /// Reads files, each with its path below `src/`.
    pub(crate) fn read(files: &[(String, String)]) -> Self {
        let files = files.iter().filter_map(|(path, text)| {
            let module = module_of(path);
            let is_test = module.iter().any(|part| part == "tests")
                || module.last().is_some_and(|last| last == "property");
            (!is_test).then(|| {
                let mut file = File::read(&without_tests(tokens(text)));
                file.path.clone_from(path);
                (module, file)
            })
        });
        Self(files.collect())
    }

    /// The path of a file below `src/`.
    pub(crate) fn path(&self, module: &Name) -> &str {
        self.0.get(module).map_or("", |file| &file.path)
    }

    /// The arrows between files that define something.
    pub(crate) fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (module, file) in self.0.iter().filter(|(_, file)| !file.defined.is_empty()) {
            let imported = file.uses.iter().map(|(path, _)| path);
            for path in imported.chain(&file.named) {
                let path = match path.split_last() {
                    Some((last, rest)) if last == "*" => rest,
                    _ => path,
                };
                let Some((end, item)) = self.resolve(module, path, 0) else {
                    continue;
                };
                let defines = self
                    .0
                    .get(&end)
                    .is_some_and(|file| !file.defined.is_empty());
                if defines && end != *module {
                    let ends = arrows.entry(module.clone()).or_default();
                    let item = item.unwrap_or_else(|| "the module".to_owned());
                    ends.entry(end).or_default().insert(item);
                }
            }
        }
        arrows
    }

    /// The file that defines what a path in a file means, and the item. `None`: it lies outside of the crate.
    fn resolve(
        &self,
        module: &Name,
        path: &[String],
        depth: usize,
    ) -> Option<(Name, Option<String>)> {
        let (first, mut rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => Name::new(),
            "self" | "super" => {
                let mut here = module.clone();
                rest = path;
                while let Some((first, more)) = rest.split_first() {
                    match first.as_str() {
                        "super" => drop(here.pop()),
                        "self" => {}
                        _ => break,
                    }
                    rest = more;
                }
                here
            }
            first if self.0.contains_key(&child(module, first)) => {
                rest = path;
                module.clone()
            }
            _ => return self.through_use(module, path, depth),
        };
        while let Some((first, more)) = rest.split_first() {
            let below = child(&here, first);
            if self.0.contains_key(&below) {
                (here, rest) = (below, more);
                continue;
            }
            let file = self.0.get(&here)?;
            if file.defined.contains(first) {
                return Some((here, Some(first.clone())));
            }
            let through = self.through_use(&here, rest, depth);
            return through.or_else(|| Some((here, Some(first.clone()))));
        }
        Some((here, None))
    }

    fn through_use(
        &self,
        module: &Name,
        path: &[String],
        depth: usize,
    ) -> Option<(Name, Option<String>)> {
        let file = self.0.get(module).filter(|_| depth < MAX_REEXPORTS)?;
        let (first, rest) = path.split_first()?;
        for (used, name) in &file.uses {
            if name == first && used != path {
                return self.resolve(module, &[used, rest].concat(), depth + 1);
            }
            let (last, folder) = used.split_last()?;
            let is_ours = matches!(used[0].as_str(), "crate" | "super" | "self");
            if last == "*" && is_ours {
                let item = [folder, std::slice::from_ref(first)].concat();
                let found = self.resolve(module, &item, depth + 1);
                let defines = |(end, _): &(Name, _)| {
                    self.0
                        .get(end)
                        .is_some_and(|file| file.defined.contains(first))
                };
                if let Some(found) = found.filter(defines) {
                    return Some(found);
                }
            }
        }
        None
    }
}

fn child(module: &Name, name: &str) -> Name {
    let mut child = module.clone();
    child.push(name.to_owned());
    child
}

impl File {
    fn read(tokens: &[String]) -> Self {
        let token = |at: usize| tokens.get(at).map_or("", String::as_str);
        let before = |at: usize| at.checked_sub(1).map_or("", token);
        let is_word = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let mut file = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            if token(at) == "use" && matches!(before(at), "" | ";" | "{" | "}" | ")" | "]" | "pub")
            {
                at = use_tree(tokens, at + 1, &Name::new(), &mut file.uses);
                continue;
            }
            let declares = [
                "fn", "struct", "enum", "trait", "type", "const", "static", "union",
            ];
            if declares.contains(&token(at)) {
                file.defined.insert(token(at + 1).to_owned());
            }
            if !is_word(token(at)) || matches!(before(at), "::" | ".") {
                at += 1;
                continue;
            }
            let mut path = vec![token(at).to_owned()];
            while token(at + 1) == "::" && is_word(token(at + 2)) {
                path.push(token(at + 2).to_owned());
                at += 2;
            }
            if path.len() > 1 {
                file.named.insert(path);
            }
            at += 1;
        }
        file
    }
}

/// Reads the paths of a `use` from a position on, and answers where it ends.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    before: &Name,
    found: &mut Vec<(Name, String)>,
) -> usize {
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut path = before.clone();
    loop {
        match token(at) {
            "" => return at,
            "{" => {
                at += 1;
                while !matches!(token(at), "}" | "") {
                    at = use_tree(tokens, at, &path, found);
                    at += usize::from(token(at) == ",");
                }
                return at + 1;
            }
            word => path.push(word.to_owned()),
        }
        at += 1;
        if token(at) != "::" {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if name == "self" {
        path.pop();
        name = path.last().cloned().unwrap_or_default();
    }
    if token(at) == "as" {
        name = token(at + 1).to_owned();
        at += 2;
    }
    found.push((path, name));
    at
}

/// The tokens without items that are compiled for tests alone.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    let mut ahead = Vec::new();
    while let Some(token) = tokens.next() {
        if token != TEST[ahead.len()] {
            kept.append(&mut ahead);
        }
        if token == TEST[ahead.len()] {
            ahead.push(token);
        } else {
            kept.push(token);
        }
        if ahead.len() == TEST.len() {
            ahead.clear();
            let mut depth = 0_usize;
            for token in tokens.by_ref() {
                match token.as_str() {
                    "{" => depth += 1,
                    "}" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && matches!(token.as_str(), ";" | "}") {
                    break;
                }
            }
        }
    }
    kept.append(&mut ahead);
    kept
}

/// Groups of files that reach each other by arrows: each file of a group is in an import circle.
pub(crate) fn circles(arrows: &Arrows) -> Vec<BTreeSet<Name>> {
    let mut groups: Vec<BTreeSet<Name>> = Vec::new();
    let reached: BTreeMap<&Name, BTreeSet<&Name>> = arrows
        .keys()
        .map(|start| (start, reach(start, arrows)))
        .collect();
    for (start, ends) in &reached {
        if !ends.contains(start) || groups.iter().any(|group| group.contains(*start)) {
            continue;
        }
        let back = |end: &&&Name| reached.get(**end).is_some_and(|ends| ends.contains(start));
        groups.push(ends.iter().filter(back).map(|end| (*end).clone()).collect());
    }
    groups
}

/// All files that a file uses, directly or by others.
fn reach<'a>(start: &Name, arrows: &'a Arrows) -> BTreeSet<&'a Name> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<&Name> = arrows
        .get(start)
        .into_iter()
        .flat_map(BTreeMap::keys)
        .collect();
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(arrows.get(next).into_iter().flat_map(BTreeMap::keys));
        }
    }
    found
}

/// The shortest circle of a group: each file uses the next one, and the last one uses the first.
pub(crate) fn shortest_circle(group: &BTreeSet<Name>, arrows: &Arrows) -> Vec<Name> {
    let circles = group
        .iter()
        .filter_map(|start| circle_through(start, group, arrows));
    circles.min_by_key(Vec::len).unwrap_or_default()
}

fn circle_through(start: &Name, group: &BTreeSet<Name>, arrows: &Arrows) -> Option<Vec<Name>> {
    let mut from: BTreeMap<&Name, &Name> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(at) = waiting.pop_front() {
        for next in arrows.get(at)?.keys() {
            if next == start {
                let mut circle = vec![at];
                while let Some(before) = from.get(circle[circle.len() - 1]) {
                    circle.push(before);
                }
                return Some(circle.into_iter().rev().cloned().collect());
            }
            if group.contains(next) && !from.contains_key(next) {
                from.insert(next, at);
                waiting.push_back(next);
            }
        }
    }
    None
}
