//! `phileas serve --check`: credentials and permissions, asked of those who decide them.

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::fleet;
use crate::adapters::inbox::postgres::DatabaseUrl;
use crate::adapters::inbox::sqlite::DataDirectory;
use crate::cli::context::env_var::variable;
use crate::cli::context::service_config::{self, ADMIN_LISTEN, LISTEN};
use crate::cli::context::{bind, database_url};
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::server::accounts::app::{APP_FILE, origin_of_identity};
use crate::server::admin::check::{Finding, Found, Grade, Told, check, check_key};
use crate::server::admin::setup::GITHUB;
use crate::server::config::{Config, secret};

/// How long is waited for the database, GitHub and Jules in all.
const LIMIT: Duration = Duration::from_secs(10);

/// Prints what was found, the gravest last.
pub(super) async fn run(
    config: &Config,
    mcp: bool,
    database: Option<&DatabaseUrl>,
    inbox: &str,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let mut findings = vec![
        found(
            "webhook secret",
            service_config::secrets(config).map(|_| "there is one"),
        ),
        found("admin listener", admin(config, mcp)),
        found("data directory", data_dir(config)),
    ];
    let inbox = |text: &str| format!("{inbox}: {text}");
    // Both at once, so that one that does not answer holds up nothing else.
    let outside = Found::default();
    let (reached, asked) = tokio::join!(
        async {
            match database {
                Some(url) => Some(timeout(LIMIT, database_url::reached(url)).await),
                None => None,
            }
        },
        timeout(LIMIT, credentials(config, &outside)),
    );
    findings.push(match reached {
        Some(reached) => {
            let reached = reached.unwrap_or_else(|_| {
                Err(Stopped {
                    exit: Exit::Unavailable,
                    message: format!("no answer within {} s", LIMIT.as_secs()),
                })
            });
            let refused = |stopped: Stopped| Stopped {
                message: inbox(&stopped.message),
                ..stopped
            };
            found("inbox", reached.map(inbox).map_err(refused))
        }
        // Whether it can be written is what the data directory tells.
        None => found("inbox", Ok(inbox("for this service alone"))),
    });
    findings.extend(port("--listen", LISTEN, config.listen));
    findings.extend(port("--admin-listen", ADMIN_LISTEN, config.admin_listen));
    if let Some(name) = fleet::passed_over(config) {
        findings.push(Finding {
            grade: Grade::Hint,
            about: "GitHub".to_owned(),
            text: format!(
                "{APP_FILE} keeps an App, and {name} counts before it; unset {name} to be that App"
            ),
        });
    }
    findings.extend(outside.into_findings());
    if asked.is_err() {
        findings.push(Finding {
            grade: Grade::Unavailable,
            about: "GitHub and Jules".to_owned(),
            text: format!(
                "they did not answer all questions within {} s, so the rest is not checked; is there a proxy or a firewall \
                 between?",
                LIMIT.as_secs()
            ),
        });
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
        let Finding { about, text, .. } = finding;
        screen.line(&if json {
            json!({"grade": word, "about": about, "text": text}).to_string()
        } else {
            format!("{word}: {about}: {text}")
        })?;
    }
    Ok(match findings.last().map(|finding| finding.grade) {
        Some(Grade::Credential) => Exit::Credential,
        Some(Grade::Configuration) => Exit::Usage,
        Some(Grade::Unavailable) => Exit::Unavailable,
        Some(Grade::Good | Grade::Hint) | None => Exit::Done,
    })
}

/// Whether GitHub and Jules take what the service has. Where one of the two is missing or cannot be read, the other is
/// asked all the same, so that all that is to be mended is told at once.
///
/// What was found when this is dropped counts.
async fn credentials(config: &Config, findings: &Found) {
    let outside = match fleet::outside() {
        Ok(outside) => outside,
        Err(stopped) => return findings.add(refused("addresses", stopped)),
    };
    let key = fleet::jules_key();
    let is_broken = key.is_err();
    let key = key.unwrap_or_else(|stopped| {
        findings.add(refused("Jules key", stopped));
        None
    });
    let is_told = key.is_some() || is_broken || config.jules_keys_dir.is_some();
    let told = Told {
        jules: key.clone(),
        identity: origin_of_identity(variable),
        public_url: config.public_url.clone(),
        github: variable("GITHUB_SERVER_URL").unwrap_or_else(|| GITHUB.to_owned()),
    };
    let shared = key.as_ref().map(|(_, key)| key.clone());
    let changed = Arc::new(Notify::new());
    let members = match fleet::repositories(config, outside.clone(), changed, shared) {
        Ok(Some(repositories)) => {
            check(&repositories, &told, findings).await;
            repositories.members().len()
        }
        other => {
            findings.add(match other {
                Err(stopped) => refused("GitHub", stopped),
                Ok(_) => missing(
                    "GitHub",
                    "there is no credential; set GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, or GITHUB_TOKEN, or make an \
                     App with `phileas serve --setup`",
                ),
            });
            if let Some((name, key)) = key {
                check_key(&outside, &name, key, findings).await;
            }
            0
        }
    };
    // Of repositories without a key each is told by its name.
    if !is_told && members == 0 {
        findings.add(missing(
            "Jules key",
            "there is none; set JULES_API_KEY, or name a folder of keys with --jules-keys-dir",
        ));
    }
}

fn missing(about: &str, text: &str) -> Finding {
    Finding {
        grade: Grade::Credential,
        about: about.to_owned(),
        text: text.to_owned(),
    }
}

/// A finding of something that `serve` would refuse in the same words.
fn found(about: &str, result: Result<impl Into<String>, Stopped>) -> Finding {
    match result {
        Ok(text) => Finding {
            grade: Grade::Good,
            about: about.to_owned(),
            text: text.into(),
        },
        Err(stopped) => refused(about, stopped),
    }
}

fn refused(about: &str, stopped: Stopped) -> Finding {
    let grade = match stopped.exit {
        Exit::Credential => Grade::Credential,
        Exit::Unavailable => Grade::Unavailable,
        _ => Grade::Configuration,
    };
    Finding {
        grade,
        about: about.to_owned(),
        text: stopped.message,
    }
}

/// Whether the admin listener would be opened.
fn admin(config: &Config, mcp: bool) -> Result<&'static str, Stopped> {
    let guarded = secret(service_config::ADMIN_TOKEN, variable)?.is_some();
    service_config::admin_access(config, mcp)?;
    Ok(if guarded {
        "it asks for the token"
    } else {
        "whoever reaches it on this machine is let in"
    })
}

/// Whether the data directory could be used. A service that runs holds it, which is as it should be.
fn data_dir(config: &Config) -> Result<&'static str, Stopped> {
    let path = &config.data_dir;
    DataDirectory::could_be(path)?;
    Ok(if path.exists() {
        "it can be written to"
    } else {
        "it is made at the start"
    })
}

/// Whether a port could be listened at.
fn port(option: &str, said_by: &str, address: SocketAddr) -> Option<Finding> {
    let error = std::net::TcpListener::bind(address).err()?;
    let taken = error.kind() == ErrorKind::AddrInUse;
    let (grade, text) = if taken {
        let text =
            format!("{address} is in use, by phileas where it is running, or by another program");
        (Grade::Hint, text)
    } else {
        let text = format!("{address}: {error}; {}", bind::mend(&error, said_by));
        (Grade::Configuration, text)
    };
    Some(Finding {
        grade,
        about: option.to_owned(),
        text,
    })
}
