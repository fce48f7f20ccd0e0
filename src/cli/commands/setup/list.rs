//! `phileas setup list`: lists the available tools.

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::model::Tree;
use phileas_domain::plan::closest;
use phileas_domain::setup::{Catalogue, Class, Component, Layout, Origin, compile_setup};
use serde_json::{Value, json};

use crate::adapters::files;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::diagnostics::print_to_stderr;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::table::Table;

pub(super) fn run(
    dir: &Path,
    detail: Option<&str>,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let tree = files::read_tree(dir)?;
    let layout = Layout::detect(&tree).unwrap_or(Layout::Split);
    let (catalogue, found) = Catalogue::read_catalogue(&tree, layout);
    print_to_stderr(&found, json)?;
    let exit = if found.iter().any(Diagnostic::is_error) {
        Exit::Findings
    } else {
        Exit::Done
    };
    let chosen = chosen_tools(&tree);
    if let Some(name) = detail {
        let component = catalogue
            .get(name)
            .ok_or_else(|| unknown_tool(&catalogue, name))?;
        if json {
            screen.print_line(&tool_json(component, &chosen).to_string())?;
        } else {
            screen.print_lines(&print_details(component))?;
        }
        return Ok(exit);
    }
    let mut table = Table::new(["", "tool", "what it is", "needs"]).with_max_width(screen.width);
    for component in catalogue.components() {
        if json {
            screen.print_line(&tool_json(component, &chosen).to_string())?;
            continue;
        }
        let mark = if chosen.contains(&component.name) {
            "*"
        } else {
            ""
        };
        table.push_row([
            mark.to_owned(),
            component.name.clone(),
            component.summary.clone(),
            component.dependencies.join(", "),
        ]);
    }
    if !json {
        screen.print_lines(&table.table_text())?;
        if !chosen.is_empty() {
            screen.print_line("* is installed by the present tools.yml")?;
        }
    }
    Ok(exit)
}

/// The tools that the present `tools.yml` installs; none if it is missing or wrong.
fn chosen_tools(tree: &Tree) -> Vec<String> {
    let order = compile_setup(tree, &[])
        .map(|compiled| compiled.order)
        .unwrap_or_default();
    order.into_iter().map(|component| component.name).collect()
}

fn unknown_tool(catalogue: &Catalogue, name: &str) -> CliError {
    let help = match closest(name, catalogue.names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!(
            "there are {}",
            catalogue.names().collect::<Vec<_>>().join(", ")
        ),
    };
    CliError::usage(format!("there is no tool `{name}`; {help}"))
}

fn tool_json(component: &Component, chosen: &[String]) -> Value {
    let variables: Vec<_> = component
        .variables
        .iter()
        .map(|variable| {
            json!({
                "name": variable.name,
                "secret": variable.class == Class::Secret,
                "description": variable.description,
                "default": variable.default,
            })
        })
        .collect();
    json!({
        "name": component.name,
        "summary": component.summary,
        "dependencies": component.dependencies,
        "variables": variables,
        "paths": component.paths,
        "built_in": component.origin == Origin::BuiltIn,
        "installed": chosen.contains(&component.name),
        "script": component.fragment,
    })
}

fn print_details(component: &Component) -> String {
    let mut text = format!("{}: {}\n", component.name, component.summary);
    if !component.dependencies.is_empty() {
        text.push_str(&format!("needs {}\n", component.dependencies.join(", ")));
    }
    for variable in &component.variables {
        let kind = match variable.class {
            Class::Plain => "",
            Class::Secret => " (secret)",
        };
        text.push_str(&format!(
            "{}{kind}: {}\n",
            variable.name, variable.description
        ));
    }
    if !component.fragment.is_empty() {
        text.push_str(&format!("\n{}\n", component.fragment));
    }
    text.trim_end().to_owned()
}
