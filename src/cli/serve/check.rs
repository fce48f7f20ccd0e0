//! `phileas serve --check`: credentials and permissions, asked of those who decide them.

use std::io::Write;
use std::sync::Arc;

use tokio::sync::Notify;

use super::super::exit::{Exit, Stopped};
use super::super::output::Screen;
use super::fleet;
use crate::server::check::{Finding, Grade, check};
use crate::server::config::Config;

/// Prints what was found, the gravest last.
pub(super) async fn run(config: &Config, screen: &mut Screen<impl Write>) -> Result<Exit, Stopped> {
    let mut findings = Vec::new();
    match super::secrets(config) {
        Ok(_) => findings.push(Finding {
            grade: Grade::Good,
            about: "webhook secret".to_owned(),
            text: "there is one".to_owned(),
        }),
        Err(stopped) => findings.push(Finding {
            grade: Grade::Credential,
            about: "webhook secret".to_owned(),
            text: stopped.message,
        }),
    }
    match fleet::repositories(config, Arc::new(Notify::new()))? {
        Some(repositories) => findings.extend(check(&repositories).await),
        None => findings.push(Finding {
            grade: Grade::Credential,
            about: "GitHub".to_owned(),
            text: "there is no credential; set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or make an \
                   App with `phileas serve --setup`"
                .to_owned(),
        }),
    }
    findings.sort_by_key(|finding| finding.grade);
    for finding in &findings {
        let word = match finding.grade {
            Grade::Good => "ok",
            Grade::Hint => "hint",
            Grade::Unavailable => "unavailable",
            Grade::Configuration => "configuration",
            Grade::Credential => "missing",
        };
        screen.line(&format!("{word}: {}: {}", finding.about, finding.text))?;
    }
    Ok(match findings.last().map(|finding| finding.grade) {
        Some(Grade::Credential) => Exit::Credential,
        Some(Grade::Configuration) => Exit::Usage,
        Some(Grade::Unavailable) => Exit::Unavailable,
        Some(Grade::Good | Grade::Hint) | None => Exit::Done,
    })
}
