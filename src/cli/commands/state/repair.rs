//! `phileas state repair`: proposes a readable state for a corrupt one, and writes it with `--write`.

use std::io::Write;
use std::path::Path;

use phileas_domain::state::codec;
use phileas_domain::state::repair::{self, Origin, Proposal, ProposalLine};
use serde_json::json;

use super::repair_target::RepairTarget;
use super::state_text::{StateText, has_newer_format, newer_format_error, print_diagnostics};
use super::written_to::WrittenTo;
use crate::cli::arguments::StateSource;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::{self, Screen};

pub(super) async fn run(
    path: Option<&Path>,
    write: bool,
    source: &StateSource,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut target = RepairTarget::open_target(path, source).await?;
    if let Err(diagnostics) = codec::load(&target.current.text)
        && has_newer_format(&diagnostics)
    {
        // An earlier version would lose what the newer program wrote.
        print_diagnostics(&target.current, &diagnostics)?;
        return Err(newer_format_error(&target.current.place));
    }
    let past = target.earlier_versions().await;
    let proposal = repair::propose_repair(&target.current.text, &past.versions);
    let intact = proposal.origin == Origin::Intact && !target.misplaced;
    let unseen = past.read_error.filter(|_| !intact).map(|why| CliError {
        message: format!(
            "earlier versions of {} could not be read: {}",
            target.current.place, why.message
        ),
        ..why
    });
    match unseen {
        // A file that can be repaired from itself needs no earlier version.
        Some(why) if path.is_some() && proposal.state.is_some() => output::print_error(&format!(
            "{why}; what only they hold is not in the proposal"
        ))?,
        // A proposal for the branch's own file must not leave anything out, so its history is required.
        Some(why) => {
            print_diagnostics(&target.current, &proposal.diagnostics)?;
            return Err(why);
        }
        None => {}
    }
    let done = match &proposal.state {
        Some(state) if write && !intact => Some(target.write(codec::save(state)).await?),
        _ => None,
    };
    if source.json {
        screen.print_line(&proposal_json(&proposal, intact, done.as_ref()).to_string())?;
    } else {
        print_proposal(&target.current, &proposal, intact, screen)?;
    }
    if proposal.origin == Origin::Newer {
        return Err(newer_format_error(&target.current.place));
    }
    match (&proposal.state, done) {
        (None, _) if target.github.is_none() => Err(CliError::corrupt(format!(
            "nothing of {} can be saved by itself, and earlier versions were not read; name the repository \
             by `--repo OWNER/NAME`, or let `phileas state rebuild` propose a state from Jules' list",
            target.current.place
        ))),
        (None, _) => Err(CliError::corrupt(format!(
            "no earlier version of {} that can be read was found; `phileas state rebuild` proposes a state from \
             Jules' list",
            target.current.place
        ))),
        (Some(_), Some(done)) if !source.json => {
            screen.print_line(&done.to_string())?;
            Ok(Exit::Done)
        }
        (Some(_), None) if !source.json => {
            let last = match (intact, write) {
                (true, true) => "nothing is wrong with it, so nothing was written",
                (true, false) => "nothing is wrong with it",
                (false, _) => "nothing was written; `--write` accepts the proposal",
            };
            screen.print_line(last)?;
            Ok(Exit::Done)
        }
        _ => Ok(Exit::Done),
    }
}

fn print_proposal(
    found: &StateText,
    proposal: &Proposal,
    intact: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    print_diagnostics(found, &proposal.diagnostics)?;
    if intact {
        return Ok(());
    }
    let origin = match &proposal.origin {
        Origin::Intact | Origin::Newer | Origin::Nothing => return Ok(()),
        Origin::Sides(sides) => match sides.as_slice() {
            [only] => format!("the side {only} alone"),
            several => format!("the sides {} together", several.join(" and ")),
        },
        Origin::Earlier { oid, committed_at } => {
            format!("the version of {} UTC ({oid})", short_time(*committed_at))
        }
    };
    screen.print_line(&format!("proposal: {origin}"))?;
    if proposal.lines.is_empty() {
        screen.print_line(
            "  nothing is lost and nothing is gained against the newest version that can be read",
        )?;
    }
    for line in &proposal.lines {
        screen.print_line(&format!("  {line}"))?;
    }
    Ok(())
}

fn proposal_json(proposal: &Proposal, intact: bool, done: Option<&WrittenTo>) -> serde_json::Value {
    let origin = match &proposal.origin {
        Origin::Intact => json!({ "kind": "intact" }),
        Origin::Sides(sides) => json!({ "kind": "sides", "sides": sides }),
        Origin::Earlier { oid, committed_at } => json!({
            "kind": "earlier", "commit": oid.as_str(), "committed_at": committed_at.to_string(),
        }),
        Origin::Newer => json!({ "kind": "newer" }),
        Origin::Nothing => json!({ "kind": "nothing" }),
    };
    let lines: Vec<_> = proposal
        .lines
        .iter()
        .map(|line| {
            let (kind, text) = match line {
                ProposalLine::Gained(text) => ("gained", text),
                ProposalLine::Lost(text) => ("lost", text),
                ProposalLine::Moved(text) => ("moved", text),
                ProposalLine::Remark(text) => ("remark", text),
            };
            json!({ "kind": kind, "text": text })
        })
        .collect();
    let diagnostics: Vec<_> = proposal.diagnostics.iter().map(diagnostic_json).collect();
    let state: Option<serde_json::Value> = proposal
        .state
        .as_ref()
        .and_then(|state| serde_json::from_str(&codec::save(state)).ok());
    json!({
        "repaired": !intact && proposal.state.is_some(),
        "written": done.map(WrittenTo::written_json),
        "origin": origin,
        "lines": lines,
        "diagnostics": diagnostics,
        "state": state,
    })
}
