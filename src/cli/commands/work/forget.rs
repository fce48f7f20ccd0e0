//! `phileas work forget`: withdraws the refusal of a pull request, or takes merged work out of what counts.

use std::io::Write;

use phileas_domain::engine;
use phileas_domain::model::PullNumber;
use phileas_domain::state::State;
use phileas_domain::work::{HOT_PATH, segment_path};
use serde_json::json;

use super::records::Records;
use crate::cli::arguments::OneRecord;
use crate::cli::context::clients;
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::EditError;

/// What is remembered of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remembered {
    /// Its refusal.
    Refusal,
    /// That it was closed without a merge.
    Closing,
    /// That it was merged.
    Merge,
}

/// What is remembered. `None`: nothing that could be forgotten.
fn remembered(records: &Records, state: &State, number: u64) -> Option<Remembered> {
    let number_of_it = PullNumber(number);
    if state.work.refused.contains_key(&number_of_it) {
        return Some(Remembered::Refusal);
    }
    let (_, record) = records.find(number)?;
    let is_forgotten = record.forgotten || state.work.forgotten.contains(&number_of_it);
    let novelty = &records.plan.novelty;
    if is_forgotten || !record.is_remembered(records.now, novelty.remember()) {
        return None;
    }
    let outcome = record.outcome.as_ref()?;
    match &record.refused {
        _ if record.is_merged_within(records.now, novelty.count_merged()) => {
            Some(Remembered::Merge)
        }
        _ if !outcome.is_closed_unmerged() => None,
        Some(_) => Some(Remembered::Refusal),
        None => Some(Remembered::Closing),
    }
}

pub(super) async fn run(
    arguments: &OneRecord,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let number = arguments.pull;
    let json = arguments.repository.json;
    let github = clients::github_client(&arguments.repository.repo)?;
    let records = Records::read(&github, &[HOT_PATH, &segment_path(number)]).await?;
    let headline = format!("forget the refusal of #{number}");
    let edited = edit_ledger(&github, &headline, |state, _| {
        let remembered = remembered(&records, state, number);
        let remembered = remembered.ok_or_else(|| no_record_text(number))?;
        engine::withdraw_refusal(state, PullNumber(number));
        Ok(remembered)
    })
    .await;
    let remembered = match edited {
        Ok(remembered) => Some(remembered),
        Err(EditError::Refused(_)) if records.find(number).is_some() => None,
        Err(other) => return Err(other.into()),
    };
    let line = match remembered {
        _ if json => json!({ "pr": number, "forgotten": remembered.is_some() }).to_string(),
        Some(Remembered::Refusal) => format!(
            "#{number} forgotten: no prompt names it as refused; it stays closed, and the next tick changes its record"
        ),
        Some(Remembered::Closing) => format!(
            "#{number} forgotten: it has no refusal, and no prompt names it as closed without a merge; the next tick changes \
             its record"
        ),
        Some(Remembered::Merge) => format!(
            "#{number} forgotten: the same work may be done again; the next tick changes its record"
        ),
        None => format!(
            "nothing to forget: no prompt names #{number} as refused or as closed without a merge, and it is not merged work that \
             counts"
        ),
    };
    screen.print_line(&line)?;
    Ok(Exit::Done)
}

fn no_record_text(number: u64) -> String {
    format!("#{number} has no record; `phileas work list` lists the records")
}
