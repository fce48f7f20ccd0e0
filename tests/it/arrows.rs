//! Which module may use which other one. These arrows keep the core pure and the judge independent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use phileas_domain::engine::Reason;

use crate::support::imports::{Arrows, Crate, circles, shortest_circle};
use crate::support::references::{Name, module_of, references, sources};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a module may not name, and what to do instead; `None` when the arrow is allowed.
fn forbidden(from: &[String], to: &[String]) -> Option<&'static str> {
    let part = |name: &[String], place: usize| name.get(place).cloned().unwrap_or_default();
    let (area, aim) = (part(from, 0), part(to, 0));
    match (area.as_str(), aim.as_str()) {
        ("runtime", "runtime" | "phileas_domain") => None,
        ("runtime", "adapters") => {
            Some("say in src/runtime/ports.rs what is needed, and let the adapter implement it")
        }
        ("runtime", "phileas_world") => {
            Some("a model is put behind the ports by src/sandbox, never named in here")
        }
        ("runtime", _) => {
            Some("let the caller give it as a value; the runtime is used by the others")
        }
        ("adapters", "phileas_domain") => None,
        ("adapters", "runtime") if matches!(part(to, 1).as_str(), "ports" | "inbox") => None,
        ("adapters", "runtime") => {
            Some("an adapter knows the ports only (src/runtime/ports.rs, src/runtime/inbox.rs)")
        }
        ("adapters", "adapters") => between_adapters(&part(from, 1), &part(to, 1)),
        ("adapters", "phileas_world") => {
            Some("a model is reached through a Transport, which src/sandbox or a test gives")
        }
        ("adapters", _) => {
            Some("let the caller give it as a value; adapters know nothing of who starts them")
        }
        ("action", "action" | "runtime" | "phileas_domain") => None,
        ("action", _) => {
            Some("take it as a value; src/cli/commands/action.rs asks, reads and writes")
        }
        ("jobs", "jobs" | "runtime" | "phileas_domain") => None,
        ("jobs", _) => Some(
            "say in src/runtime/ports/account.rs what is needed; src/cli/commands/jobs/clients.rs makes the clients",
        ),
        ("starter", "cli" | "server" | "mcp" | "sandbox" | "action" | "jobs") => Some(
            "take it as a value: the starter writes files, and does not know which command does",
        ),
        ("mcp", "cli" | "server" | "sandbox" | "action") => {
            Some("say as a trait in src/mcp what is needed; the command line implements it")
        }
        ("server", "cli" | "mcp" | "sandbox" | "action") => {
            Some("take it as a value; src/cli/commands/serve.rs starts the service")
        }
        // The command line starts everything, and the sandbox plays the whole program.
        _ => None,
    }
}

/// What serves all adapters: how a request travels, which certificates are trusted, how one waits and knows for how long,
/// and how their tests hear what they log.
const GROUND: [&str; 5] = ["transport", "trust", "pause", "stopwatch", "log_capture"];

fn between_adapters(from: &str, to: &str) -> Option<&'static str> {
    if from == to || GROUND.contains(&to) {
        None
    } else if GROUND.contains(&from) {
        Some("what serves all adapters knows none of them")
    } else if matches!(from, "" | "repository") {
        // `adapters/mod.rs` lists them; `repository` is where GitHub and the ledger meet.
        None
    } else {
        Some(
            "adapters do not use one another; let src/adapters/repository.rs or the runtime bring them together",
        )
    }
}

#[test]
fn the_arrows_between_packages_point_inwards() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in sources(&root().join("src")) {
        let module = module_of(&path);
        for name in references(&text, &module) {
            seen += 1;
            if let Some(help) = forbidden(&module, &name) {
                wrong.push(format!("src/{path} uses {}: {help}", name.join("::")));
            }
        }
    }
    for (package, foreign, help) in [
        (
            "domain",
            ["phileas", "phileas_world"],
            "take the value as a field of the snapshot, or move the code to src/",
        ),
        (
            "world",
            ["phileas", "phileas_domain"],
            "write the value down a second time: the models judge the program, and share no type with it",
        ),
    ] {
        for (path, text) in sources(&root().join("crates").join(package).join("src")) {
            for name in references(&text, &module_of(&path)) {
                seen += 1;
                if foreign.contains(&name[0].as_str()) {
                    let name = name.join("::");
                    wrong.push(format!("crates/{package}/src/{path} uses {name}: {help}"));
                }
            }
        }
    }
    assert!(seen > 2_000, "only {seen} paths were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The stages of a decision. `decide.rs` calls them in order, and hands on what they return.
const STAGES: [&str; 6] = [
    "ledger", "requests", "turns", "pulls", "dispatch", "publish",
];
/// What stands below the stages, from top to bottom: each may use those behind it.
const BELOW: [&str; 6] = ["view", "record", "lookup", "output", "input", "text"];

/// Why a part of the engine may not name another one, and what to do instead.
fn forbidden_in_engine(from: &str, to: &str) -> Option<&'static str> {
    let below = |part: &str| BELOW.iter().position(|name| *name == part);
    match (below(from), below(to)) {
        _ if from == to => None,
        (Some(from), Some(to)) if from < to => None,
        (Some(_), _) => Some(
            "move the item down to where both can see it, or take the value as an argument: view, record, lookup, output, \
             input and text each use only those behind them",
        ),
        (None, Some(_)) => None,
        (None, None) if STAGES.contains(&from) && STAGES.contains(&to) => Some(
            "stages do not use each other: return the value, and let decide.rs hand it on; or move what both need to \
             record/ or lookup/",
        ),
        (None, None) if STAGES.contains(&from) => {
            Some("a stage does not know what calls it: take the value as an argument")
        }
        (None, None) => None,
    }
}

/// The files of the engine by their modules, without their test modules.
fn engine_files() -> Vec<(Name, BTreeSet<Name>)> {
    let files = sources(&root().join("crates/domain/src"));
    let files = files.iter().filter(|(path, _)| {
        path.starts_with("engine/") && !path.contains("tests") && path != "engine/mod.rs"
    });
    files
        .map(|(path, text)| {
            let code = text.split("\n#[cfg(test)]\n").next().unwrap_or_default();
            let module = module_of(path);
            let names = references(code, &module);
            (module, names)
        })
        .collect()
}

#[test]
fn stages_of_the_engine_do_not_use_each_other() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    let area = |name: &[String]| name.get(1).cloned().unwrap_or_default();
    let files = engine_files();
    let areas: BTreeSet<String> = files.iter().map(|(module, _)| area(module)).collect();
    for (module, names) in files {
        for name in names.iter().filter(|name| name[0] == "engine") {
            seen += 1;
            let why = if areas.contains(&area(name)) {
                forbidden_in_engine(&area(&module), &area(name))
            } else {
                Some("name the item where it is defined, not by the list of engine/mod.rs")
            };
            wrong.extend(why.map(|why| {
                let path = module.join("/");
                format!(
                    "crates/domain/src/{path}.rs uses {}: {why}",
                    name.join("::")
                )
            }));
        }
    }
    assert!(seen > 500, "only {seen} paths were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (from, to, is_wrong) in [
        ("turns", "pulls", true),
        ("turns", "record", false),
        ("record", "turns", true),
        ("output", "lookup", true),
        ("lookup", "output", false),
        ("text", "input", true),
        ("publish", "decide", true),
        ("decide", "publish", false),
        ("simulate", "decide", false),
    ] {
        assert_eq!(
            forbidden_in_engine(from, to).is_some(),
            is_wrong,
            "{from} -> {to}"
        );
    }
}

/// Folders in which no two files may import each other, directly or in a circle.
const NO_CIRCLES: [&str; 3] = ["src", "crates/domain/src", "crates/world/src"];

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for folder in NO_CIRCLES {
        let files = Crate::read(&sources(&root().join(folder)));
        let arrows = files.arrows();
        let count: usize = arrows.values().map(BTreeMap::len).sum();
        assert!(count > 400, "only {count} arrows were read in {folder}");
        let path = |module: &Name| format!("{folder}/{}", files.path(module));
        for group in circles(&arrows) {
            let circle = shortest_circle(&group, &arrows);
            let nexts = circle.iter().cycle().skip(1);
            let steps = circle.iter().zip(nexts).map(|(from, to)| {
                let items: Vec<&str> = arrows[from][to].iter().map(String::as_str).collect();
                format!("{} uses {} of {}", path(from), items.join(", "), path(to))
            });
            let steps: Vec<String> = steps.collect();
            wrong.push(format!(
                "{} files import each other: {}; move what both need to a file of its own, or pass it as an argument",
                group.len(),
                steps.join("; ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn arrows_of(files: &[(&str, &str)]) -> Arrows {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Crate::read(&files.collect::<Vec<_>>()).arrows()
}

#[test]
fn arrows_are_followed_through_reexports_and_circles_are_found() {
    let arrows = arrows_of(&[
        ("lib.rs", "mod a; mod b; pub use b::inner::Thing;"),
        (
            "a.rs",
            "use crate::Thing; pub fn run(_: Thing) { crate::b::help() }",
        ),
        (
            "b/mod.rs",
            "mod inner; pub fn help() { inner::Thing::new() }",
        ),
        (
            "b/inner.rs",
            "pub struct Thing; #[cfg(test)] mod tests { use crate::a::run; fn test() {} }",
        ),
    ]);
    let shown: Vec<String> = arrows
        .iter()
        .flat_map(|(from, ends)| {
            ends.iter().map(move |(to, items)| {
                format!(
                    "{} -> {}: {}",
                    from.join("/"),
                    to.join("/"),
                    Vec::from_iter(items.clone()).join(", ")
                )
            })
        })
        .collect();
    assert_eq!(
        shown,
        ["a -> b: help", "a -> b/inner: Thing", "b -> b/inner: Thing"]
    );
    assert!(circles(&arrows).is_empty());

    let arrows = arrows_of(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use super::b::f; pub fn e() { f() }"),
        ("b.rs", "pub fn f() { crate::c::g() } pub struct B;"),
        ("c.rs", "use crate::b::*; pub fn g(_: B) {}"),
        ("d.rs", "pub fn h() { crate::a::e() }"),
    ]);
    let groups = circles(&arrows);
    let name = |text: &str| vec![text.to_owned()];
    assert_eq!(groups, [BTreeSet::from([name("b"), name("c")])]);
    assert_eq!(shortest_circle(&groups[0], &arrows), [name("b"), name("c")]);
}

/// The checker itself must see what people write.
#[test]
fn paths_are_found_however_they_are_written() {
    let text = r##"
        use crate::adapters::{github::{self, Client}, jules as other, ledger};
        use super::edit; // use crate::comment;
        fn f<'a>(x: &'a str) -> char { crate::cli::run("crate::text", r#"crate::"raw" "#); '"' }
        mod tests { use super::super::sandbox; fn g() { phileas_world::World::new } }
        use super::ports;
        pub(in super::super) fn h() {}
    "##;
    let module = ["runtime".to_owned(), "tick".to_owned()];
    let found: Vec<String> = references(text, &module)
        .iter()
        .map(|name| name.join("::"))
        .collect();
    let wanted = [
        "adapters::github",
        "adapters::github::Client",
        "adapters::jules",
        "adapters::ledger",
        "cli::run",
        "phileas_world::World::new",
        "runtime::edit",
        "runtime::ports",
        "runtime::sandbox",
    ];
    assert_eq!(found, wanted);
    let name = |text: &str| -> Name { text.split("::").map(str::to_owned).collect() };
    for (from, to, wrong) in [
        ("runtime::tick", "adapters::github", true),
        ("runtime::tick", "runtime::ports", false),
        ("adapters::github::read", "adapters::jules", true),
        ("adapters::github::read", "adapters::github::write", false),
        ("adapters::repository", "adapters::ledger", false),
        ("adapters::transport::http", "adapters::github", true),
        ("adapters::jules::client", "adapters::pause::Pause", false),
        ("adapters::jules", "runtime::tick", true),
        ("adapters::jules", "runtime::ports::Failure", false),
        ("adapters::inbox::memory", "runtime::inbox::Inbox", false),
        ("adapters::jules", "cli::terminal::decision_line", true),
        ("adapters::jules", "phileas_world::World", true),
        ("sandbox::timeline", "cli::terminal::decision_line", false),
        ("action::summary", "runtime::TickReport", false),
        ("action::event", "cli::context::clients", true),
        ("jobs::monitor", "adapters::jules", true),
        ("jobs::monitor", "runtime::ports::account", false),
        ("server::webhook", "cli::commands", true),
        ("mcp::tools", "server::app", true),
        ("mcp::tools", "jobs::monitor", false),
        ("starter::plan", "cli::terminal", true),
    ] {
        assert_eq!(
            forbidden(&name(from), &name(to)).is_some(),
            wrong,
            "{from} -> {to}"
        );
    }
}

/// Names of all packages that a manifest depends on, whatever for.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    fn collect(table: &toml::Table, found: &mut BTreeSet<String>) {
        for (key, value) in table {
            let Some(inner) = value.as_table() else {
                continue;
            };
            if key.ends_with("dependencies") {
                for (name, how) in inner {
                    let package = how.get("package").and_then(toml::Value::as_str);
                    found.insert(package.unwrap_or(name).to_owned());
                }
            } else if key == "target"
                || table.contains_key("dependencies")
                || key.starts_with("cfg")
            {
                collect(inner, found);
            }
        }
    }
    let text = std::fs::read_to_string(root().join(manifest)).unwrap();
    let mut found = BTreeSet::new();
    collect(&toml::from_str(&text).unwrap(), &mut found);
    found
}

#[test]
fn the_core_is_pure_and_the_judge_is_independent() {
    for manifest in ["crates/domain/Cargo.toml", "crates/world/Cargo.toml"] {
        let found = dependencies(manifest);
        assert!(found.contains("jiff"), "{manifest} was not read: {found:?}");
        let ours: Vec<_> = found
            .iter()
            .filter(|name| name.starts_with("phileas"))
            .collect();
        assert!(
            ours.is_empty(),
            "{manifest} depends on {ours:?}: the core and the models share no type with anything of ours; write the \
             value down again, or move the code to src/"
        );
    }
    let outside = [
        "tokio",
        "octocrab",
        "axum",
        "reqwest",
        "sqlx",
        "hyper",
        "rusqlite",
        "getrandom",
        "fastrand",
        "tracing",
    ];
    let found = dependencies("crates/domain/Cargo.toml");
    for name in outside {
        assert!(
            !found.contains(name),
            "crates/domain depends on {name}: it does no input or output and draws no randomness; take the value as a \
             field of the snapshot, and read it in src/"
        );
    }
}

/// People look a code up in the reference; it lists every one, and none that does not exist.
#[test]
fn the_reference_explains_every_reason_code() {
    let page = std::fs::read_to_string(root().join("docs/reference/reason-codes.md")).unwrap();
    let section = page.split("\n## ").next().unwrap();
    let listed: BTreeSet<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(code, _)| code)
        .collect();
    let known: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    let missing: Vec<_> = known.difference(&listed).collect();
    let unknown: Vec<_> = listed.difference(&known).collect();
    assert!(
        missing.is_empty(),
        "add to the table in docs/reference/reason-codes.md: {missing:?}"
    );
    assert!(
        unknown.is_empty(),
        "remove from the table in docs/reference/reason-codes.md, or keep the code: {unknown:?}"
    );
}
