//! `phileas state show`: prints the state as version 5, and a summary for people to standard error.

use std::io::Write;
use std::path::Path;

use phileas_domain::Diagnostic;
use phileas_domain::state::codec::{self, Loaded};
use phileas_domain::state::{Outcome, State, repair};

use super::repair_target::{self, EarlierVersions};
use super::source::read_state_text;
use super::state_text::{StateText, newer_format_error, print_diagnostics};
use crate::cli::arguments::StateSource;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::{self, Screen};
use crate::cli::terminal::plural::pluralize;

pub(super) async fn run(
    file: Option<&Path>,
    source: &StateSource,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let found = read_state_text(file, source).await?;
    let loaded = match codec::load(&found.text) {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            print_diagnostics(&found, &diagnostics)?;
            return Err(unreadable_error(&found, &diagnostics, file, source).await);
        }
    };
    print_diagnostics(&found, &loaded.warnings)?;
    screen.print_json(&codec::save(&loaded.state))?;
    screen.flush()?;
    // On standard error, so that it is not part of the document.
    if !source.json {
        for line in summary_lines(&found.place, &loaded) {
            output::print_error(&line)?;
        }
    }
    Ok(Exit::Done)
}

/// The error for an unreadable state. It advises only commands that would succeed.
async fn unreadable_error(
    found: &StateText,
    diagnostics: &[Diagnostic],
    file: Option<&Path>,
    source: &StateSource,
) -> CliError {
    let place = &found.place;
    if diagnostics.iter().any(Diagnostic::is_newer_format) {
        return newer_format_error(&found.place);
    }
    let named = match (file, &source.repo) {
        (Some(path), Some(repo)) => format!(" {} --repo {repo}", path.display()),
        (Some(path), None) => format!(" {}", path.display()),
        (None, Some(repo)) => format!(" --repo {repo}"),
        (None, None) => String::new(),
    };
    let past = match repair_target::RepairTarget::open_target(file, source).await {
        Ok(mut target) => target.earlier_versions().await,
        Err(stopped) => EarlierVersions {
            versions: Vec::new(),
            read_error: Some(stopped),
        },
    };
    let advice = if repair::propose_repair(&found.text, &past.versions)
        .state
        .is_some()
    {
        format!("`phileas state repair{named}` proposes a whole file")
    } else if let Some(why) = past.read_error {
        format!(
            "nothing of it can be saved by itself, and earlier versions could not be read: {}; when that is fixed, \
             `phileas state repair{named}` looks for one",
            why.message
        )
    } else if source.repo.is_none() {
        format!(
            "nothing of it can be saved by itself; `phileas state repair{named} --repo OWNER/NAME` looks for an earlier version"
        )
    } else {
        "no earlier version that can be read was found; `phileas state rebuild` proposes a state from Jules' list"
            .to_owned()
    };
    CliError::corrupt(format!("{place} cannot be read; {advice}"))
}

/// A summary for people, line by line.
fn summary_lines(place: &str, loaded: &Loaded) -> Vec<String> {
    let state = &loaded.state;
    let mut lines = vec![place.to_owned()];
    let mut line = |name: &str, said: String| lines.push(format!("  {name:<10} {said}"));
    if loaded.version < phileas_domain::state::STATE_VERSION {
        line("version", format!("{}, shown as version 5", loaded.version));
    }
    line("born", birth_text(state));
    line("history", history_text(state));
    line("open", open_pulls_text(state));
    if let Some(pause) = &state.paused {
        let by = pause.by.as_deref().map(|by| format!("by {by}: "));
        let why = pause.reason.as_deref().unwrap_or("no reason was given");
        line("paused", format!("{}{why}", by.unwrap_or_default()));
    }
    for (name, track) in &state.tracks {
        let last = track.persona_id.as_ref().map_or_else(
            || "no persona has run yet".to_owned(),
            |persona| format!("{persona} was last"),
        );
        let turns = pluralize(usize::try_from(track.seq).unwrap_or(usize::MAX), "turn");
        let live = match track.turns.len() {
            0 => String::new(),
            1 => ", one turn under way".to_owned(),
            count => format!(", {count} turns under way"),
        };
        let paused = if track.paused.is_some() {
            ", paused"
        } else {
            ""
        };
        line("track", format!("{name}: {last}, {turns}{live}{paused}"));
    }
    lines
}

fn birth_text(state: &State) -> String {
    match &state.genesis {
        Some(genesis) => format!(
            "{} UTC, for repository {} (nonce {})",
            short_time(genesis.born_at),
            genesis.repository_id,
            genesis.nonce
        ),
        None => "by an older program; phileas adds it with the next write".to_owned(),
    }
}

fn history_text(state: &State) -> String {
    let first = state.history.first_key_value();
    let archived = match first {
        Some((0, _)) | None => String::new(),
        Some((first, _)) => format!(", {first} more in the archive"),
    };
    let entries = match state.history.len() {
        1 => "1 entry".to_owned(),
        several => format!("{several} entries"),
    };
    format!("{entries}{archived}")
}

fn open_pulls_text(state: &State) -> String {
    let numbers: Vec<String> = state
        .history
        .values()
        .filter(|entry| entry.outcome == Some(Outcome::PrOpen))
        .filter_map(|entry| Some(format!("#{}", entry.pr_number?)))
        .collect();
    if numbers.is_empty() {
        "no pull request waits".to_owned()
    } else {
        format!("pull requests {}", numbers.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_the_main_facts() {
        let text = include_str!("../../../../tests/fixtures/state/v4-dict.json");
        let loaded = codec::load(text).unwrap();
        let said = summary_lines("a file", &loaded).join("\n");
        assert!(said.starts_with("a file\n"), "{said}");
        assert!(said.contains("4, shown as version 5"), "{said}");
        assert!(said.contains("by an older program"), "{said}");
        let entries = format!("{} entries", loaded.state.history.len());
        assert!(said.contains(&entries), "{said}");
    }
}
