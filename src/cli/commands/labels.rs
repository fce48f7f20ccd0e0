//! `phileas labels`: the labels that people use to make requests.

use std::io::Write;

use phileas_domain::Diagnostic;
use phileas_domain::model::{RepositoryName, Tree};
use phileas_domain::plan::{self, read_personas};
use serde_json::json;

use crate::adapters::github::{Client, Label};
use crate::cli::arguments::LabelsCommand;
use crate::cli::context::clients;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;
use crate::runtime::ports::ReadGitHub as _;
use crate::starter::{changes, has_work, wanted};

/// How labels are synchronized.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LabelOptions {
    /// Also delete labels of removed personas.
    pub(crate) prune: bool,
    /// Print the changes, and make none.
    pub(crate) dry_run: bool,
    /// Print one JSON object a label.
    pub(crate) json: bool,
}

pub(crate) async fn run(
    command: &LabelsCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let LabelsCommand::Sync {
        prune,
        dry_run,
        repository,
    } = command;
    let client = clients::github_client(&repository.repo)?;
    let seen = client.observe_repository().await?;
    let how = LabelOptions {
        prune: *prune,
        dry_run: *dry_run,
        json: repository.json,
    };
    let broken = sync_labels(&client, &seen.tree, how, screen).await?;
    Ok(if broken { Exit::Findings } else { Exit::Done })
}

/// Synchronizes the labels with the personas of a tree. Returns whether some personas cannot be read.
pub(crate) async fn sync_labels(
    client: &Client,
    tree: &Tree,
    how: LabelOptions,
    screen: &mut Screen<impl Write>,
) -> Result<bool, CliError> {
    let (personas, found) = read_personas(tree);
    for one in found.iter().filter(|one| one.is_error()) {
        output::print_error(&one.to_string())?;
    }
    let changes = changes(
        &wanted(&personas, has_work(&plan::read(tree).0)),
        &client.list_labels().await?,
        tree,
    );
    let (mut created, mut updated, mut pruned) = (0, 0, 0);
    for label in &changes.create {
        if !how.dry_run {
            client.create_label(label).await?;
        }
        created += 1;
        print_label(how, screen, &label.name, "created", "create")?;
    }
    for (current, label) in &changes.change {
        if !how.dry_run {
            client.update_label(current, label).await?;
        }
        updated += 1;
        print_label(how, screen, &label.name, "updated", "update")?;
    }
    for name in &changes.gone {
        if !how.prune {
            print_left_label(how, screen, name)?;
            continue;
        }
        if !how.dry_run {
            client.delete_label(name).await?;
        }
        pruned += 1;
        print_label(how, screen, name, "deleted", "delete")?;
    }
    if how.json {
        let summary = json!({ "summary": {
            "created": created, "updated": updated, "deleted": pruned, "right": changes.right, "dry_run": how.dry_run,
        }});
        screen.print_line(&summary.to_string())?;
    } else {
        let would = if how.dry_run { "would be " } else { "" };
        screen.print_line(&format!(
            "{}: {created} {would}created, {updated} {would}updated, {pruned} {would}deleted, {} as they should be",
            pluralize(created + updated + pruned + changes.right, "label"),
            changes.right
        ))?;
    }
    Ok(found.iter().any(Diagnostic::is_error))
}

/// The labels of a repository on GitHub.
pub(crate) struct ExistingLabels {
    client: Client,
    labels: Vec<Label>,
}

impl ExistingLabels {
    pub(crate) async fn read_labels(repository: &RepositoryName) -> Result<Self, CliError> {
        let client = clients::github_client(repository)?;
        let labels = client.list_labels().await?;
        Ok(Self { client, labels })
    }

    /// Deletes the unchanged labels of the personas of a tree.
    pub(crate) async fn remove_labels(
        &self,
        tree: &Tree,
        how: LabelOptions,
        screen: &mut Screen<impl Write>,
    ) -> Result<(), CliError> {
        let ours = wanted(&read_personas(tree).0, has_work(&plan::read(tree).0));
        let named = |name: &str| ours.iter().find(|one| one.name.eq_ignore_ascii_case(name));
        for label in &self.labels {
            let Some(wanted) = named(&label.name) else {
                continue;
            };
            if is_same(wanted, label) {
                if !how.dry_run {
                    self.client.delete_label(&label.name).await?;
                }
                print_label(how, screen, &label.name, "deleted", "delete")?;
            } else {
                print_kept_label(how, screen, &label.name)?;
            }
        }
        Ok(())
    }
}

fn is_same(wanted: &Label, there: &Label) -> bool {
    wanted.color == there.color && wanted.description == there.description
}

fn print_label(
    how: LabelOptions,
    screen: &mut Screen<impl Write>,
    name: &str,
    done: &str,
    would: &str,
) -> Result<(), CliError> {
    if how.json {
        let what = if how.dry_run { would } else { done };
        screen.print_line(
            &json!({ "label": name, "action": what, "dry_run": how.dry_run }).to_string(),
        )?;
    } else if how.dry_run {
        screen.print_line(&format!("would {would} the label {name}"))?;
    } else {
        screen.print_line(&format!("{done} the label {name}"))?;
    }
    Ok(())
}

fn print_left_label(
    how: LabelOptions,
    screen: &mut Screen<impl Write>,
    name: &str,
) -> Result<(), CliError> {
    if how.json {
        let help = "--prune deletes it";
        screen.print_line(&json!({ "label": name, "action": "left", "help": help }).to_string())?;
    } else {
        screen.print_line(&format!(
            "left the label {name}: its persona is gone; --prune deletes it"
        ))?;
    }
    Ok(())
}

fn print_kept_label(
    how: LabelOptions,
    screen: &mut Screen<impl Write>,
    name: &str,
) -> Result<(), CliError> {
    if how.json {
        let document = json!({ "label": name, "action": "left", "why": "it was changed" });
        screen.print_line(&document.to_string())?;
    } else {
        screen.print_line(&format!("left the label {name}: it was changed"))?;
    }
    Ok(())
}
