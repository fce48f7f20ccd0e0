//! `phileas labels`: the labels by which people speak to phileas.

use std::io::Write;

use phileas_domain::Diagnostic;
use phileas_domain::model::Tree;
use phileas_domain::plan::{self, read_personas};
use serde_json::json;

use crate::adapters::github::{Client, Label};
use crate::cli::arguments::LabelsCommand;
use crate::cli::context::clients;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::several;
use crate::runtime::ports::ReadGitHub as _;
use crate::starter::{changes, has_work, wanted};

/// How labels are brought in order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Labels of personas that are gone go, too.
    pub(crate) prune: bool,
    /// Nothing is done; what would be is told.
    pub(crate) dry_run: bool,
    /// One JSON object a label.
    pub(crate) json: bool,
}

pub(crate) async fn run(
    command: &LabelsCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let LabelsCommand::Sync {
        prune,
        dry_run,
        repository,
    } = command;
    let client = clients::github(&repository.repo)?;
    let seen = client.observe().await?;
    let how = How {
        prune: *prune,
        dry_run: *dry_run,
        json: repository.json,
    };
    let broken = sync(&client, &seen.tree, how, screen).await?;
    Ok(if broken { Exit::Findings } else { Exit::Done })
}

/// Brings the labels in order for the personas of a tree, and tells whether some of those cannot be read.
pub(crate) async fn sync(
    client: &Client,
    tree: &Tree,
    how: How,
    screen: &mut Screen<impl Write>,
) -> Result<bool, Stopped> {
    let (personas, found) = read_personas(tree);
    for one in found.iter().filter(|one| one.is_error()) {
        output::beside(&one.to_string())?;
    }
    let changes = changes(
        &wanted(&personas, has_work(&plan::read(tree).0)),
        &client.labels().await?,
        tree,
    );
    let (mut created, mut mended, mut pruned) = (0, 0, 0);
    for label in &changes.create {
        if !how.dry_run {
            client.create_label(label).await?;
        }
        created += 1;
        say(how, screen, &label.name, "created", "create")?;
    }
    for (current, label) in &changes.mend {
        if !how.dry_run {
            client.update_label(current, label).await?;
        }
        mended += 1;
        say(how, screen, &label.name, "mended", "mend")?;
    }
    for name in &changes.gone {
        if !how.prune {
            say_left(how, screen, name)?;
            continue;
        }
        if !how.dry_run {
            client.delete_label(name).await?;
        }
        pruned += 1;
        say(how, screen, name, "deleted", "delete")?;
    }
    if how.json {
        let summary = json!({ "summary": {
            "created": created, "mended": mended, "deleted": pruned, "right": changes.right, "dry_run": how.dry_run,
        }});
        screen.line(&summary.to_string())?;
    } else {
        let would = if how.dry_run { "would be " } else { "" };
        screen.line(&format!(
            "{}: {created} {would}created, {mended} {would}mended, {pruned} {would}deleted, {} as they should be",
            several(created + mended + pruned + changes.right, "label"),
            changes.right
        ))?;
    }
    Ok(found.iter().any(Diagnostic::is_error))
}

/// Deletes the labels that phileas makes for the personas of a tree, as far as nobody has changed them.
pub(crate) async fn remove(
    client: &Client,
    tree: &Tree,
    how: How,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    let ours = wanted(&read_personas(tree).0, has_work(&plan::read(tree).0));
    let there = client.labels().await?;
    let named = |name: &str| ours.iter().find(|one| one.name.eq_ignore_ascii_case(name));
    for label in &there {
        let Some(wanted) = named(&label.name) else {
            continue;
        };
        if is_same(wanted, label) {
            if !how.dry_run {
                client.delete_label(&label.name).await?;
            }
            say(how, screen, &label.name, "deleted", "delete")?;
        } else {
            say_kept(how, screen, &label.name)?;
        }
    }
    Ok(())
}

fn is_same(wanted: &Label, there: &Label) -> bool {
    wanted.color == there.color && wanted.description == there.description
}

fn say(
    how: How,
    screen: &mut Screen<impl Write>,
    name: &str,
    done: &str,
    would: &str,
) -> Result<(), Stopped> {
    if how.json {
        let what = if how.dry_run { would } else { done };
        screen
            .line(&json!({ "label": name, "action": what, "dry_run": how.dry_run }).to_string())?;
    } else if how.dry_run {
        screen.line(&format!("would {would} the label {name}"))?;
    } else {
        screen.line(&format!("{done} the label {name}"))?;
    }
    Ok(())
}

fn say_left(how: How, screen: &mut Screen<impl Write>, name: &str) -> Result<(), Stopped> {
    if how.json {
        let mend = "--prune deletes it";
        screen.line(&json!({ "label": name, "action": "left", "mend": mend }).to_string())?;
    } else {
        screen.line(&format!(
            "left the label {name}: its persona is gone; --prune deletes it"
        ))?;
    }
    Ok(())
}

fn say_kept(how: How, screen: &mut Screen<impl Write>, name: &str) -> Result<(), Stopped> {
    if how.json {
        let document = json!({ "label": name, "action": "left", "why": "it was changed" });
        screen.line(&document.to_string())?;
    } else {
        screen.line(&format!("left the label {name}: it was changed"))?;
    }
    Ok(())
}
