//! `phileas state rebuild`: a ledger out of Jules' own list of sessions, for one that is lost or was put back.

use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::engine::{
    self, Ledger, Listing, ListingNeed, PullState, Reason, RunRequest, SessionState, Sessions,
    Snapshot,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::rebuild::{
    Ending, PullFate, Rebuilt, SessionEnd, SessionFact, catch_up, rebuild,
};
use phileas_domain::state::{STATE_PATH, codec, invariant};
use serde_json::json;

use super::ledger_commit::commit;
use super::state_text::{is_newer, newer};
use super::written::Written;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity::hex;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::runtime::ports::{LEDGER_BRANCH, ReadGitHub as _, ReadJules as _};

pub(super) async fn run(
    write: bool,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let snapshot = look(&connection).await?;
    if let Ledger::Corrupt { diagnostics, .. } = &snapshot.ledger
        && is_newer(diagnostics)
    {
        let place = format!("{}, branch {LEDGER_BRANCH}, {STATE_PATH}", arguments.repo);
        return Err(newer(&place));
    }
    if let Some(why) = whole(&snapshot)? {
        if arguments.json {
            let document =
                json!({ "sessions": null, "notes": [why], "written": null, "state": null });
            screen.line(&document.to_string())?;
        } else {
            screen.line(&why)?;
        }
        return Ok(Exit::Done);
    }
    let facts = facts(&snapshot);
    let nonce = hex(&snapshot.entropy[..6]);
    let (id, now) = (snapshot.repository.id, snapshot.now);
    let (base, proposal) = match &snapshot.ledger {
        Ledger::Missing { head } => (head.clone(), rebuild(id, now, nonce, &facts)),
        Ledger::Corrupt { head, .. } => (Some(head.clone()), rebuild(id, now, nonce, &facts)),
        Ledger::Present { head, state } => {
            let proposal = catch_up(state, id, now, nonce, &facts);
            (Some(head.clone()), proposal)
        }
    };
    if let Some(first) = invariant::check(&proposal.state).first() {
        return Err(Stopped::fault(format!(
            "the proposal would not be sound, so it is not made: {first}"
        )));
    }
    let text = codec::save(&proposal.state);
    let written = if write {
        let headline = "rebuild the state from Jules' list of sessions";
        let head = commit(&connection.github, base, headline, text.clone()).await?;
        Some(Written::Commit(head))
    } else {
        None
    };
    if arguments.json {
        let state: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| Stopped::fault(error.to_string()))?;
        let document = json!({
            "sessions": facts.len(),
            "notes": proposal.notes,
            "written": written.as_ref().map(Written::json),
            "state": state,
        });
        screen.line(&document.to_string())?;
    } else {
        print(&proposal, facts.len(), written.as_ref(), screen)?;
    }
    Ok(Exit::Done)
}

/// How to go on without a whole list.
const GO_ON: &str = "to go on, put the newest commit of the branch `jules` back if anybody still has it; or delete \
    sessions in Jules that nobody needs (those of other repositories of this key count as well) and run this again; or \
    begin anew with an empty ledger, the file `.jules/cycle_state.json` with the content \
    `{\"version\": 5, \"history\": {}}` on the branch `jules`, which forgets what ran before";

/// What a listing does not show; nothing for a whole one.
fn unseen(sessions: &Sessions) -> Option<String> {
    let seen = sessions.sessions.len();
    let mut unseen = Vec::new();
    if let Some(since) = sessions.since {
        unseen.push(if since < sessions.taken_at {
            format!(
                "it goes on beyond what is read of it, so that sessions created before {} UTC were not seen ({seen} of \
                 this repository were)",
                short(since)
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

/// Everything that Jules and GitHub know of the repository's sessions.
async fn look(connection: &Connection) -> Result<Snapshot, Stopped> {
    let settings = connection.settings(RunRequest::Due)?;
    let github = &connection.github;
    let sight =
        crate::runtime::look(github, &connection.jules, &connection.stopwatch, &settings).await?;
    let mut snapshot = sight.snapshot;
    let mut sessions = connection
        .jules
        .list(&snapshot.repository, &ListingNeed::Everything, snapshot.now)
        .await?;
    // A name from before a rename is told from another repository's by the turn that is sought, and none is here.
    sessions.sessions.retain(|session| !session.elsewhere);
    if let Some(unseen) = unseen(&sessions) {
        return Err(Stopped {
            exit: Exit::Unavailable,
            message: format!(
                "nothing can be proposed from Jules' list of sessions: {unseen}; {GO_ON}"
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

/// A ledger that can be read and is not behind says more than Jules does: then nothing is to be done, and this says why.
fn whole(snapshot: &Snapshot) -> Result<Option<String>, Stopped> {
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
        return Err(Stopped::usage(format!(
            "nothing is rebuilt: {}; look again after {} UTC",
            line.detail,
            line.until.map_or_else(String::new, short)
        )));
    }
    Ok(Some(format!(
        "nothing is rebuilt: the ledger can be read ({} entries of history) and knows every session of ours that Jules \
         shows; Jules does not know what it holds of schedules, requests and budgets",
        state.history.len()
    )))
}

fn facts(snapshot: &Snapshot) -> Vec<SessionFact> {
    let Listing::Taken(listing) = &snapshot.sessions else {
        return Vec::new();
    };
    let fact = |session: &engine::Session| {
        let pull = engine::pull_of_session(snapshot, session).map(|pull| {
            let fate = match pull.state {
                PullState::Open => PullFate::Open,
                PullState::Merged => PullFate::Merged,
                PullState::Closed => PullFate::Closed,
            };
            (pull.number, fate)
        });
        let how = match session.state {
            SessionState::Failed => Some(Ending::Failed),
            SessionState::Completed if session.has_changes => Some(Ending::Changes),
            SessionState::Completed => Some(Ending::Nothing),
            // Whoever archived it does not wait for it.
            _ if session.archived && session.has_changes => Some(Ending::Changes),
            _ if session.archived => Some(Ending::Nothing),
            _ => None,
        };
        let at = session.updated_at.unwrap_or(session.created_at);
        SessionFact {
            session_id: session.id.clone(),
            title: session.title.clone(),
            prompt: session.prompt.clone(),
            created_at: session.created_at,
            ended: how.map(|how| SessionEnd { at, how }),
            pull,
        }
    };
    listing.sessions.iter().map(fact).collect()
}

fn print(
    proposal: &Rebuilt,
    sessions: usize,
    written: Option<&Written>,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    screen.line(&format!(
        "Jules shows {sessions} sessions of this repository; {} entries of history are proposed:",
        proposal.state.history.len()
    ))?;
    for (key, entry) in &proposal.state.history {
        let created = entry.created_at.map_or_else(String::new, short);
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
        screen.line(&format!(
            "  {key:>5}  {created}  {:<20} {:<16} session {session}  {outcome}{pull}",
            entry.track_name().to_string(),
            entry.persona_id.to_string(),
        ))?;
    }
    for note in &proposal.notes {
        screen.line(&format!("  ! {note}"))?;
    }
    let last = written.map_or_else(
        || "nothing was written; `--write` commits the proposal".to_owned(),
        Written::to_string,
    );
    screen.line(&last)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use phileas_domain::engine::KeyUsage;

    use super::*;

    #[test]
    fn what_a_listing_does_not_show_is_named() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let listing = |since: Option<&str>, archived| Sessions {
            taken_at: at("2026-01-05T12:00:00Z"),
            since: since.map(at),
            archived,
            sessions: Vec::new(),
            key: KeyUsage::default(),
        };
        assert_eq!(unseen(&listing(None, true)), None);
        let cut_off = unseen(&listing(Some("2025-03-01T00:00:00Z"), true)).unwrap();
        assert!(
            cut_off.contains("created before 2025-03-01 00:00 UTC"),
            "{cut_off}"
        );
        let unordered = unseen(&listing(Some("2026-01-05T12:00:00Z"), false)).unwrap();
        assert!(
            unordered.contains("any session may be missing"),
            "{unordered}"
        );
        assert!(unordered.contains("archived"), "{unordered}");
    }
}
