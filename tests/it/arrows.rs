//! Who may use whom. The arrows are what keeps the core pure and the judge independent, so they are checked.

use std::collections::BTreeSet;
use std::path::Path;

use phileas_domain::engine::Reason;

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
        ("action", _) => Some("take it as a value; src/cli/action.rs asks, reads and writes"),
        ("jobs", "jobs" | "runtime" | "phileas_domain") => None,
        ("jobs", _) => Some(
            "say in src/runtime/ports/account.rs what is needed; src/cli/jobs/reach.rs makes the clients",
        ),
        // How people and programs reach it may use all below; nothing below uses it.
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
fn the_arrows_of_src_point_inwards() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (path, text) in sources(&root().join("src")) {
        let module = module_of(&path);
        for name in references(&text, &module) {
            seen += 1;
            if let Some(mend) = forbidden(&module, &name) {
                wrong.push(format!("src/{path} uses {}: {mend}", name.join("::")));
            }
        }
    }
    assert!(seen > 200, "only {seen} paths were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        ("adapters::jules", "cli::lines", true),
        ("adapters::jules", "phileas_world::World", true),
        ("sandbox::days", "cli::lines", false),
        ("action::summary", "runtime::TickReport", false),
        ("action::event", "cli::connect", true),
        ("jobs::monitor", "adapters::jules", true),
        ("jobs::monitor", "runtime::ports::account", false),
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
             value down anew, or move the code to src/"
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

/// People look a code up in the README; it lists every one, and none that does not exist.
#[test]
fn the_readme_explains_every_reason_code() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, section) = readme
        .split_once("## Reason codes")
        .expect("README.md has a section `## Reason codes`");
    let section = section.split("\n## ").next().unwrap();
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
        "add to the table in README.md: {missing:?}"
    );
    assert!(
        unknown.is_empty(),
        "remove from the table in README.md, or keep the code: {unknown:?}"
    );
}
