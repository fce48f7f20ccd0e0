//! `phileas state rebuild`: rebuilds a lost or rolled back ledger from Jules' list of sessions.

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::engine::{
    self, Ledger, Listing, ListingNeed, PullState, Reason, SessionState, Sessions, Snapshot,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::rebuild::{
    PullOutcome, RebuildProposal, SessionEnd, SessionFact, SessionResult, catch_up, rebuild,
};
use phileas_domain::state::{STATE_PATH, codec, invariant};
use serde_json::json;

use super::ledger_commit::commit_state;
use super::state_text::{has_newer_format, newer_format_error};
use super::written_to::WrittenTo;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity::hex_text;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::runtime::ports::{LEDGER_BRANCH, ReadGitHub as _, ReadJules as _};

pub(super) async fn run(
    write: bool,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let snapshot = read_snapshot(&connection).await?;
    if let Ledger::Corrupt { diagnostics, .. } = &snapshot.ledger
        && has_newer_format(diagnostics)
    {
        let place = format!("{}, branch {LEDGER_BRANCH}, {STATE_PATH}", arguments.repo);
        return Err(newer_format_error(&place));
    }
    if let Some(why) = why_unneeded(&snapshot)? {
        if arguments.json {
            let document =
                json!({ "sessions": null, "notes": [why], "written": null, "state": null });
            screen.print_line(&document.to_string())?;
        } else {
            screen.print_line(&why)?;
        }
        return Ok(Exit::Done);
    }
    let facts = session_facts(&snapshot);
    let nonce = hex_text(&snapshot.entropy[..6]);
    let (id, now) = (snapshot.repository.id, snapshot.now);
    let (base, proposal) = match &snapshot.ledger {
        Ledger::Missing { head } => (head.clone(), rebuild(id, now, nonce, &facts)),
        Ledger::Corrupt { head, .. } => (Some(head.clone()), rebuild(id, now, nonce, &facts)),
        Ledger::Present { head, state } => {
            let proposal = catch_up(state, id, now, nonce, &facts);
            (Some(head.clone()), proposal)
        }
    };
    if let Some(first) = invariant::check_state(&proposal.state).first() {
        return Err(CliError::fault(format!(
            "the proposal would not be sound, so it is not made: {first}"
        )));
    }
    let text = codec::save(&proposal.state);
    let written = if write {
        let headline = "rebuild the state from Jules' list of sessions";
        let head = commit_state(&connection.github, base, headline, text.clone()).await?;
        Some(WrittenTo::Commit(head))
    } else {
        None
    };
    if arguments.json {
        let state: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| CliError::fault(error.to_string()))?;
        let document = json!({
            "sessions": facts.len(),
            "notes": proposal.notes,
            "written": written.as_ref().map(WrittenTo::written_json),
            "state": state,
        });
        screen.print_line(&document.to_string())?;
    } else {
        print_proposal(&proposal, facts.len(), written.as_ref(), screen)?;
    }
    Ok(Exit::Done)
}

/// What to do without a complete list.
const ALTERNATIVES: &str = "to continue, restore the newest commit of the branch `jules` if a clone still has it; or delete \
    sessions in Jules that are not needed (those of other repositories of this key count as well) and run this again; or \
    begin again with an empty ledger, the file `.jules/cycle_state.json` with the content \
    `{\"version\": 5, \"history\": {}}` on the branch `jules`, which forgets what ran before";

/// What a listing does not show; `None` for a complete one.
fn missing_sessions(sessions: &Sessions) -> Option<String> {
    let seen = sessions.sessions.len();
    let mut unseen = Vec::new();
    if let Some(since) = sessions.since {
        unseen.push(if since < sessions.taken_at {
            format!(
                "it goes on beyond what is read of it, so that sessions created before {} UTC were not seen ({seen} of \
                 this repository were)",
                short_time(since)
            )
        } else {
            format!(
                "it goes on beyond what is read of it, in no order, so that any session may be missing ({seen} of this \
                 repository were seen)"
            )
        });
    }
    if !sessions.archived {
        unseen.push("Jules does not show archived sessions to this key".to_owned());
    }
    (!unseen.is_empty()).then(|| unseen.join(", and "))
}

/// Reads everything that Jules and GitHub know about the repository's sessions.
async fn read_snapshot(connection: &Connection) -> Result<Snapshot, CliError> {
    let github = &connection.github;
    let mut snapshot = connection.observe().await?.snapshot;
    let mut sessions = connection
        .jules
        .list_sessions(&snapshot.repository, &ListingNeed::Everything, snapshot.now)
        .await?;
    // A session from before a rename is recognised by its turn in the ledger, which is missing here.
    sessions.sessions.retain(|session| !session.elsewhere);
    if let Some(unseen) = missing_sessions(&sessions) {
        return Err(CliError {
            exit: Exit::Unavailable,
            message: format!(
                "nothing can be proposed from Jules' list of sessions: {unseen}; {ALTERNATIVES}"
            ),
        });
    }
    let unread: BTreeSet<PullNumber> = sessions
        .sessions
        .iter()
        .flat_map(|session| session.pulls.iter().copied())
        .filter(|number| !snapshot.pulls.contains_key(number))
        .collect();
    if !unread.is_empty() {
        snapshot.pulls.extend(github.read_pulls(&unread).await?);
    }
    snapshot.sessions = Listing::Taken(sessions);
    Ok(snapshot)
}

/// A readable ledger that is up to date knows more than Jules. Then a rebuild is not needed, and this says why.
fn why_unneeded(snapshot: &Snapshot) -> Result<Option<String>, CliError> {
    let Ledger::Present { state, .. } = &snapshot.ledger else {
        return Ok(None);
    };
    let lines = engine::decide(snapshot, &[]).report.lines;
    if lines
        .iter()
        .any(|line| line.reason == Reason::LedgerRolledBack)
    {
        return Ok(None);
    }
    if let Some(line) = lines
        .iter()
        .find(|line| line.reason == Reason::LedgerCatchingUp)
    {
        return Err(CliError::usage(format!(
            "nothing is rebuilt: {}; try again after {} UTC",
            line.detail,
            line.until.map_or_else(String::new, short_time)
        )));
    }
    Ok(Some(format!(
        "nothing is rebuilt: the ledger can be read ({} entries of history) and knows every session of ours that Jules \
         shows; Jules does not know what it holds of schedules, requests and budgets",
        state.history.len()
    )))
}

fn session_facts(snapshot: &Snapshot) -> Vec<SessionFact> {
    let Listing::Taken(listing) = &snapshot.sessions else {
        return Vec::new();
    };
    let fact = |session: &engine::Session| {
        let pull = engine::pull_of_session(snapshot, session).map(|pull| {
            let fate = match pull.state {
                PullState::Open => PullOutcome::Open,
                PullState::Merged => PullOutcome::Merged,
                PullState::Closed => PullOutcome::Closed,
            };
            (pull.number, fate)
        });
        let how = match session.state {
            SessionState::Failed => Some(SessionResult::Failed),
            SessionState::Completed if session.has_changes => Some(SessionResult::Changes),
            SessionState::Completed => Some(SessionResult::Nothing),
            // An archived session is not waited for.
            _ if session.archived && session.has_changes => Some(SessionResult::Changes),
            _ if session.archived => Some(SessionResult::Nothing),
            _ => None,
        };
        let at = session.updated_at.unwrap_or(session.created_at);
        SessionFact {
            session_id: session.id.clone(),
            title: session.title.clone(),
            prompt: session.prompt.clone(),
            created_at: session.created_at,
            ended: how.map(|how| SessionEnd { at, result: how }),
            pull,
        }
    };
    listing.sessions.iter().map(fact).collect()
}

fn print_proposal(
    proposal: &RebuildProposal,
    sessions: usize,
    written: Option<&WrittenTo>,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    screen.print_line(&format!(
        "Jules shows {sessions} sessions of this repository; {} entries of history are proposed:",
        proposal.state.history.len()
    ))?;
    for (key, entry) in &proposal.state.history {
        let created = entry.created_at.map_or_else(String::new, short_time);
        let outcome = entry
            .outcome
            .as_ref()
            .map_or("at work", |outcome| outcome.as_str());
        let pull = entry
            .pr_number
            .map_or_else(String::new, |number| format!(" #{number}"));
        let session = entry
            .session_id
            .as_ref()
            .map_or("none", |session| session.as_str());
        screen.print_line(&format!(
            "  {key:>5}  {created}  {:<20} {:<16} session {session}  {outcome}{pull}",
            entry.track_name().to_string(),
            entry.persona_id.to_string(),
        ))?;
    }
    for note in &proposal.notes {
        screen.print_line(&format!("  ! {note}"))?;
    }
    let last = written.map_or_else(
        || "nothing was written; `--write` commits the proposal".to_owned(),
        WrittenTo::to_string,
    );
    screen.print_line(&last)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use phileas_domain::engine::KeyUsage;

    use super::*;

    #[test]
    fn gaps_of_a_listing_are_reported() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let listing = |since: Option<&str>, archived| Sessions {
            taken_at: at("2026-01-05T12:00:00Z"),
            since: since.map(at),
            archived,
            sessions: Vec::new(),
            key: KeyUsage::default(),
        };
        assert_eq!(missing_sessions(&listing(None, true)), None);
        let cut_off = missing_sessions(&listing(Some("2025-03-01T00:00:00Z"), true)).unwrap();
        assert!(
            cut_off.contains("created before 2025-03-01 00:00 UTC"),
            "{cut_off}"
        );
        let unordered = missing_sessions(&listing(Some("2026-01-05T12:00:00Z"), false)).unwrap();
        assert!(
            unordered.contains("any session may be missing"),
            "{unordered}"
        );
        assert!(unordered.contains("archived"), "{unordered}");
    }
}
