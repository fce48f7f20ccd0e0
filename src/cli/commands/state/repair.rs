//! `phileas state repair`: a whole file in place of one that cannot be read, shown first and written when told to.

use std::io::Write;
use std::path::Path;

use phileas_domain::state::codec;
use phileas_domain::state::repair::{self, Line, Origin, Proposal};
use serde_json::json;

use super::repair_target::Target;
use super::state_text::{Found, is_newer, newer, tell};
use super::written::Written;
use crate::cli::arguments::StateSource;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::diagnostics::diagnostic_json;
use crate::cli::terminal::output::{self, Screen};

pub(super) async fn run(
    path: Option<&Path>,
    write: bool,
    source: &StateSource,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let mut target = Target::of(path, source).await?;
    if let Err(diagnostics) = codec::load(&target.found.text)
        && is_newer(&diagnostics)
    {
        // An earlier version of it would be a step back behind what the newer program wrote.
        tell(&target.found, &diagnostics)?;
        return Err(newer(&target.found.place));
    }
    let past = target.past().await;
    let proposal = repair::propose(&target.found.text, &past.versions);
    let intact = proposal.origin == Origin::Intact && !target.misplaced;
    let unseen = past.unseen.filter(|_| !intact).map(|why| Stopped {
        message: format!(
            "earlier versions of {} could not be looked at: {}",
            target.found.place, why.message
        ),
        ..why
    });
    match unseen {
        // A file that can be mended from itself needs nobody else.
        Some(why) if path.is_some() && proposal.state.is_some() => output::beside(&format!(
            "{why}; what only they hold is not in the proposal"
        ))?,
        // Of the branch's own file nothing may be left out, so its history is waited for.
        Some(why) => {
            tell(&target.found, &proposal.diagnostics)?;
            return Err(why);
        }
        None => {}
    }
    let done = match &proposal.state {
        Some(state) if write && !intact => Some(target.write(codec::save(state)).await?),
        _ => None,
    };
    if source.json {
        screen.line(&document(&proposal, intact, done.as_ref()).to_string())?;
    } else {
        print(&target.found, &proposal, intact, screen)?;
    }
    if proposal.origin == Origin::Newer {
        return Err(newer(&target.found.place));
    }
    match (&proposal.state, done) {
        (None, _) if target.github.is_none() => Err(Stopped::corrupt(format!(
            "nothing of {} can be saved by itself, and earlier versions were not looked at; name the repository \
             by `--repo OWNER/NAME`, or let `phileas state rebuild` propose a state from Jules' list",
            target.found.place
        ))),
        (None, _) => Err(Stopped::corrupt(format!(
            "no earlier version of {} that can be read was found; `phileas state rebuild` proposes a state from \
             Jules' list",
            target.found.place
        ))),
        (Some(_), Some(done)) if !source.json => {
            screen.line(&done.to_string())?;
            Ok(Exit::Done)
        }
        (Some(_), None) if !source.json => {
            let last = match (intact, write) {
                (true, true) => "nothing is wrong with it, so nothing was written",
                (true, false) => "nothing is wrong with it",
                (false, _) => "nothing was written; `--write` accepts the proposal",
            };
            screen.line(last)?;
            Ok(Exit::Done)
        }
        _ => Ok(Exit::Done),
    }
}

fn print(
    found: &Found,
    proposal: &Proposal,
    intact: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    tell(found, &proposal.diagnostics)?;
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
            format!("the version of {} UTC ({oid})", short(*committed_at))
        }
    };
    screen.line(&format!("proposal: {origin}"))?;
    if proposal.lines.is_empty() {
        screen.line(
            "  nothing is lost and nothing is gained against the newest version that can be read",
        )?;
    }
    for line in &proposal.lines {
        screen.line(&format!("  {line}"))?;
    }
    Ok(())
}

fn document(proposal: &Proposal, intact: bool, done: Option<&Written>) -> serde_json::Value {
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
                Line::Gained(text) => ("gained", text),
                Line::Lost(text) => ("lost", text),
                Line::Moved(text) => ("moved", text),
                Line::Remark(text) => ("remark", text),
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
        "mended": !intact && proposal.state.is_some(),
        "written": done.map(Written::json),
        "origin": origin,
        "lines": lines,
        "diagnostics": diagnostics,
        "state": state,
    })
}
