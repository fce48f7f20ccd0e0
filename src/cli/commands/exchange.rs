//! `phileas exchange`: what the layers hand to one another, checked, mended and shown.

mod migrate;

use std::io::Write;

use phileas_domain::exchange::{self, Checked, EventState, Exchange, Fix};
use phileas_domain::model::Tree;
use phileas_domain::{Diagnostic, Severity};
use serde_json::json;

use crate::adapters::files::{self, Wanted};
use crate::cli::arguments::{ExchangeCommand, ExchangePlace};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::diagnostics;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::plural::several;

pub(crate) fn run(
    command: &ExchangeCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        ExchangeCommand::Check { place, strict, fix } => check(place, *strict, *fix, screen),
        ExchangeCommand::Inspect { place, labels } => inspect(place, labels.as_deref(), screen),
        ExchangeCommand::Migrate {
            dir,
            to,
            stream,
            dry_run,
            json,
        } => {
            let to = to.map(|layout| (layout.into(), stream.as_str()));
            migrate::run(dir, to, *dry_run, *json, screen)
        }
        ExchangeCommand::Template { name } => {
            screen.document(&name.shape().template())?;
            Ok(Exit::Done)
        }
    }
}

fn check(
    place: &ExchangePlace,
    strict: bool,
    fix: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let mut tree = read(place)?;
    // A workstream that is missing fails before anything is mended.
    let mut checked = narrow(exchange::check(&tree), place)?;
    if fix {
        let fixes = fixes(&tree, place, &checked);
        let wanted = fixes.iter().map(|one| {
            let text = one.text.as_deref();
            (one.path.as_str(), text.map_or(Wanted::Gone, Wanted::Text))
        });
        files::change_together(&place.dir, &wanted.collect::<Vec<_>>())?;
        for one in &fixes {
            tell(one, place.json, screen)?;
        }
        if !fixes.is_empty() {
            tree = read(place)?;
            checked = narrow(exchange::check(&tree), place)?;
        }
    }
    diagnostics::print(&checked.found, place.json, screen)?;
    let errors = checked
        .found
        .iter()
        .filter(|one| counts(one, strict))
        .count();
    if !place.json {
        screen.line(&verdict(&checked, errors))?;
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Findings
    })
}

fn inspect(
    place: &ExchangePlace,
    labels: Option<&[String]>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let checked = narrow(exchange::check(&read(place)?), place)?;
    let Some(exchange) = checked.exchange else {
        // Without a layout there is nothing to tell of; the findings say why.
        diagnostics::print(&checked.found, place.json, screen)?;
        return if checked.found.is_empty() {
            Err(Stopped::usage(format!(
                "there is no exchange in {}: it has neither .jules/exchange nor .jules/workstreams",
                place.dir.display()
            )))
        } else {
            Ok(Exit::Findings)
        };
    };
    let seen = exchange::inspect(&exchange, labels);
    if place.json {
        screen.line(&seen.to_string())?;
    } else {
        let text = serde_json::to_string_pretty(&seen)
            .map_err(|error| Stopped::fault(error.to_string()))?;
        screen.json(&(text + "\n"))?;
    }
    Ok(Exit::Done)
}

fn read(place: &ExchangePlace) -> Result<Tree, Stopped> {
    Ok(files::read_tree(&place.dir)?)
}

fn narrow(checked: Checked, place: &ExchangePlace) -> Result<Checked, Stopped> {
    match &place.stream {
        Some(name) => checked
            .stream(name)
            .map_err(|error| Stopped::usage(error.to_string())),
        None => Ok(checked),
    }
}

/// What can be mended, in the stream that is looked at.
fn fixes(tree: &Tree, place: &ExchangePlace, checked: &Checked) -> Vec<Fix> {
    let homes = checked
        .exchange
        .iter()
        .flat_map(|exchange| exchange.streams.values());
    let homes: Vec<String> = homes.map(|stream| format!("{}/", stream.home)).collect();
    let here = |one: &Fix| homes.iter().any(|home| one.path.starts_with(home));
    let all = exchange::fix(tree).into_iter();
    all.filter(|one| place.stream.is_none() || here(one))
        .collect()
}

fn tell(one: &Fix, json: bool, screen: &mut Screen<impl Write>) -> Result<(), Stopped> {
    if json {
        screen.line(&json!({ "file": one.path, "fixed": one.done }).to_string())?;
    } else {
        screen.line(&format!("{}: mended: {}", one.path, one.done))?;
    }
    Ok(())
}

fn counts(one: &Diagnostic, strict: bool) -> bool {
    strict || one.severity == Severity::Error
}

fn verdict(checked: &Checked, errors: usize) -> String {
    let ok = if errors == 0 { "ok" } else { "not ok" };
    let bad = checked.found.iter().filter(|one| one.is_error()).count();
    let found = format!(
        "{}, {}",
        several(bad, "error"),
        several(checked.found.len() - bad, "warning")
    );
    match &checked.exchange {
        Some(exchange) => format!("{ok}: {}; {found}", contents(exchange)),
        None if checked.found.is_empty() => format!("{ok}: no exchange has begun here; {found}"),
        None => format!("{ok}: {found}"),
    }
}

fn contents(exchange: &Exchange) -> String {
    let streams = || exchange.streams.values();
    let events = |state| {
        streams()
            .map(|stream| stream.events_in(state).count())
            .sum()
    };
    format!(
        "{} layout, {}, {} pending, {} decided, {}, {}",
        exchange.layout.name(),
        several(streams().count(), "stream"),
        several(events(EventState::Pending), "event"),
        events(EventState::Decided),
        several(
            streams().map(|stream| stream.items.len()).sum(),
            "work item"
        ),
        several(
            streams().map(|stream| stream.proposals.len()).sum(),
            "proposal"
        ),
    )
}
