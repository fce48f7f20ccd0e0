//! `phileas work forget`: withdraws the refusal of a pull request.

use std::io::Write;

use phileas_domain::engine;
use phileas_domain::model::PullNumber;
use phileas_domain::state::{Outcome, State};
use phileas_domain::work::{HOT_PATH, segment_path};
use serde_json::json;

use super::records::Records;
use crate::cli::arguments::OneRecord;
use crate::cli::context::clients;
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::EditError;

pub(super) async fn run(
    arguments: &OneRecord,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let number = arguments.pull;
    let github = clients::github_client(&arguments.repository.repo)?;
    let records = Records::read(&github, &[HOT_PATH, &segment_path(number)]).await?;
    let refused = |state: &State| {
        let recorded = records.find(number).map(|(_, record)| record);
        recorded.is_some_and(|record| {
            record
                .outcome
                .as_ref()
                .is_some_and(Outcome::is_closed_unmerged)
                && !record.forgotten
        }) || state.work.refused.contains_key(&PullNumber(number))
    };
    let headline = format!("forget the refusal of #{number}");
    let edited = edit_ledger(&github, &headline, |state, _| match refused(state) {
        true => {
            engine::withdraw_refusal(state, PullNumber(number));
            Ok(())
        }
        false => Err(format!(
            "#{number} has no record of a refusal; `phileas work list` lists the records"
        )),
    })
    .await;
    edited.map_err(|error| match error {
        EditError::Refused(why) => CliError::finding(why),
        other => other.into(),
    })?;
    if arguments.repository.json {
        screen.print_line(&json!({ "pr": number, "forgotten": true }).to_string())?;
    } else {
        screen.print_line(&format!(
            "#{number} forgotten: no prompt names it as refused; it stays closed, and the next tick changes its record"
        ))?;
    }
    Ok(Exit::Done)
}
