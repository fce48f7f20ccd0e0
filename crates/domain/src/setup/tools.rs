//! Reads `tools.yml`: the tools to install.

use super::Catalogue;
use super::limits::TOOLS_LIMIT;
use crate::Diagnostic;
use crate::plan::closest;
use crate::yaml::{self, Node, Value};

const SHAPE: &str = "write `tools:` and below it a list, such as `  - gh`";

/// The tools that a file names, each once, in its order. Mistakes are told all at once; only a list without errors
/// may be used.
pub(super) fn read_tools(
    file: &str,
    text: &str,
    catalogue: &Catalogue,
) -> (Vec<String>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let (root, mistakes) = yaml::parse(text);
    if !mistakes.is_empty() {
        let said = mistakes.into_iter().map(|wrong| wrong.diagnostic(file));
        return (Vec::new(), said.collect());
    }
    let no_tools =
        || Diagnostic::error(file, "no tool is named, so there is nothing to install").help(SHAPE);
    let map = match root.as_ref().map(|root| (root, &root.value)) {
        Some((_, Value::Map(map))) => map,
        None | Some((_, Value::Null)) => return (Vec::new(), vec![no_tools()]),
        Some((root, _)) => {
            let said = Diagnostic::error(file, "this is not a list of `key: value`").help(SHAPE);
            return (Vec::new(), vec![said.at(root.line, root.column)]);
        }
    };
    let mut items: &[Node] = &[];
    for (key, value) in map {
        match (key.text(), &value.value) {
            (Some("tools"), Value::List(list)) => items = list,
            (Some("tools"), Value::Null) => {}
            (Some("tools"), _) => {
                let said = Diagnostic::error(file, "this is not a list").key("tools");
                found.push(said.at(value.line, value.column).help(SHAPE));
                return (Vec::new(), found);
            }
            (name, _) => {
                let shown = name.unwrap_or("?");
                let said = Diagnostic::error(file, format!("unknown key `{shown}`"));
                let said = said.at(key.line, key.column).key(shown);
                found.push(said.help("the only key is `tools`"));
            }
        }
    }
    if items.is_empty() {
        found.push(no_tools().key("tools"));
    } else if items.len() > TOOLS_LIMIT {
        let many = format!("{} tools, more than {TOOLS_LIMIT}", items.len());
        found.push(
            Diagnostic::error(file, many)
                .key("tools")
                .help("name fewer"),
        );
        return (Vec::new(), found);
    }
    let mut tools: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let key = format!("tools[{index}]");
        let here = |said: Diagnostic| said.at(item.line, item.column).key(&key);
        match item.text() {
            None => found.push(here(
                Diagnostic::error(file, "this is not a tool's name").help(SHAPE),
            )),
            Some(name) if tools.iter().any(|known| known == name) => found.push(here(
                Diagnostic::warning(file, format!("`{name}` is named twice"))
                    .help("remove one of the two"),
            )),
            Some(name) if catalogue.is_broken(name) => {}
            Some(name) if catalogue.get(name).is_none() => {
                found.push(here(unknown_tool(file, name, catalogue)));
            }
            Some(name) => tools.push(name.to_owned()),
        }
    }
    (tools, found)
}

fn unknown_tool(file: &str, name: &str, catalogue: &Catalogue) -> Diagnostic {
    let names: Vec<&str> = catalogue.names().collect();
    let help = match closest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!(
            "there are {}; a tool of your own is a folder `components/{name}` with meta.toml and install.sh",
            names.join(", ")
        ),
    };
    Diagnostic::error(file, format!("there is no tool `{}`", name.escape_debug())).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics_of(text: &str) -> (Vec<String>, Vec<String>) {
        let (tools, found) = read_tools("tools.yml", text, &Catalogue::built_in());
        (tools, found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_list_of_known_tools_is_taken() {
        for text in ["tools: [uv, gh]", "tools:\n  - uv\n  - gh\n"] {
            assert_eq!(
                diagnostics_of(text),
                (vec!["uv".to_owned(), "gh".to_owned()], Vec::new())
            );
        }
    }

    #[test]
    fn every_mistake_has_its_place() {
        for (text, begins, has) in [
            (
                "tools:\n- gh\n- jusst\n",
                "tools.yml:3:3: error: there is no tool `jusst` (at tools[1])",
                "did you mean `just`?",
            ),
            (
                "tools: [gh, cobol-85]",
                "tools.yml:1:13: error",
                "components/cobol-85",
            ),
            (
                "tools: [gh, gh]",
                "tools.yml:1:13: warning: `gh` is named twice",
                "remove",
            ),
            (
                "tools: [gh, 7]",
                "tools.yml:1:13: error: this is not a tool's name",
                "- gh",
            ),
            (
                "tools: gh",
                "tools.yml:1:8: error: this is not a list",
                "- gh",
            ),
            ("tools: []", "tools.yml: error: no tool is named", "- gh"),
            ("tools:\n", "tools.yml: error: no tool is named", "- gh"),
            ("", "tools.yml: error: no tool is named", "- gh"),
            (
                "- gh\n",
                "tools.yml:1:1: error: this is not a list of `key: value`",
                "- gh",
            ),
            (
                "tools: [gh]\ntoolz: [uv]\n",
                "tools.yml:2:1: error: unknown key `toolz`",
                "only key",
            ),
            (
                "tools: [gh\n",
                "tools.yml:2:1: error: this is not YAML",
                "quote",
            ),
        ] {
            let (_, found) = diagnostics_of(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(begins), "{text}: {}", found[0]);
            assert!(found[0].contains(has), "{text}: {}", found[0]);
        }
        let many = vec!["gh"; TOOLS_LIMIT + 1].join(", ");
        let said = format!("{} tools, more than {TOOLS_LIMIT}", TOOLS_LIMIT + 1);
        assert!(diagnostics_of(&format!("tools: [{many}]")).1[0].contains(&said));
    }
}
