//! `phileas serve --check`: checks credentials and permissions with GitHub, Jules and the database.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::repositories;
use crate::adapters::inbox::postgres::DatabaseUrl;
use crate::adapters::inbox::sqlite::DataDirectory;
use crate::cli::context::env_var::env_value;
use crate::cli::context::github_server::github_server;
use crate::cli::context::service_config::{self, ADMIN_LISTEN_SETTING, LISTEN_SETTING};
use crate::cli::context::{bind, database_url};
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::server::accounts::app::{APP_FILE, origin_of_identity};
use crate::server::admin::check::{
    CheckResult, CheckSettings, Finding, Grade, check_key, check_service,
};
use crate::server::config::{Config, read_secret};

/// The time limit for the database, GitHub and Jules together.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Prints the findings, the most severe last.
pub(super) async fn run(
    config: &Config,
    mcp: bool,
    database: Option<&DatabaseUrl>,
    inbox: &str,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let mut findings = vec![
        result_finding(
            "webhook secret",
            service_config::webhook_secrets(config).map(|_| "there is one"),
        ),
        result_finding("admin listener", check_admin_listener(config, mcp)),
        result_finding("data directory", check_data_dir(config)),
    ];
    // Ask both at once, so that one without an answer does not delay the other.
    let outside = CheckResult::default();
    let (inbox, asked) = tokio::join!(
        check_inbox(database, inbox),
        timeout(ANSWER_LIMIT, check_credentials(config, &outside)),
    );
    findings.push(inbox);
    findings.extend(check_ports(config));
    if let Some(name) = repositories::ignored_app_variable(config) {
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
                ANSWER_LIMIT.as_secs()
            ),
        });
    }
    findings.sort_by_key(|finding| finding.grade);
    print_findings(&findings, json, screen)?;
    Ok(match findings.last().map(|finding| finding.grade) {
        Some(Grade::Credential) => Exit::Credential,
        Some(Grade::Configuration) => Exit::Usage,
        Some(Grade::Unavailable) => Exit::Unavailable,
        Some(Grade::Good | Grade::Hint) | None => Exit::Done,
    })
}

/// Checks the inbox; `inbox` is its name for a person.
async fn check_inbox(database: Option<&DatabaseUrl>, inbox: &str) -> Finding {
    let Some(url) = database else {
        // The check of the data directory says whether it can be written.
        return result_finding("inbox", Ok(format!("{inbox}: for this service alone")));
    };
    let reached = timeout(ANSWER_LIMIT, database_url::check_database(url))
        .await
        .unwrap_or_else(|_| {
            Err(CliError {
                exit: Exit::Unavailable,
                message: format!("no answer within {} s", ANSWER_LIMIT.as_secs()),
            })
        });
    let named = reached
        .map(|text| format!("{inbox}: {text}"))
        .map_err(|stopped| CliError {
            message: format!("{inbox}: {}", stopped.message),
            ..stopped
        });
    result_finding("inbox", named)
}

fn print_findings(
    findings: &[Finding],
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    for Finding { grade, about, text } in findings {
        let word = match grade {
            Grade::Good => "ok",
            Grade::Hint => "hint",
            Grade::Unavailable => "unavailable",
            Grade::Configuration => "configuration",
            Grade::Credential => "missing",
        };
        screen.print_line(&if json {
            json!({"grade": word, "about": about, "text": text}).to_string()
        } else {
            format!("{word}: {about}: {text}")
        })?;
    }
    Ok(())
}

/// Checks whether GitHub and Jules accept the credentials. If one of the two is missing or unreadable, the other is
/// checked all the same, so that one run reports everything to fix.
///
/// Findings that exist when this future is dropped count.
async fn check_credentials(config: &Config, findings: &CheckResult) {
    let outside = match repositories::external_services() {
        Ok(outside) => outside,
        Err(stopped) => return findings.add_finding(refused_finding("addresses", stopped)),
    };
    let key = repositories::default_jules_key();
    let is_broken = key.is_err();
    let key = key.unwrap_or_else(|stopped| {
        findings.add_finding(refused_finding("Jules key", stopped));
        None
    });
    let is_told = key.is_some() || is_broken || config.jules_keys_dir.is_some();
    let told = CheckSettings {
        jules: key.clone(),
        identity: origin_of_identity(env_value),
        public_url: config.public_url.clone(),
        github: github_server(),
    };
    let shared = key.as_ref().map(|(_, key)| key.clone());
    let changed = Arc::new(Notify::new());
    let members = match repositories::build_repositories(config, outside.clone(), changed, shared) {
        Ok(Some(repositories)) => {
            check_service(&repositories, &told, findings).await;
            repositories.list_members().len()
        }
        other => {
            findings.add_finding(match other {
                Err(stopped) => refused_finding("GitHub", stopped),
                Ok(_) => missing_finding(
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
    // Repositories without a key are reported by name.
    if !is_told && members == 0 {
        findings.add_finding(missing_finding(
            "Jules key",
            "there is none; set JULES_API_KEY, or name a folder of keys with --jules-keys-dir",
        ));
    }
}

fn missing_finding(about: &str, text: &str) -> Finding {
    Finding {
        grade: Grade::Credential,
        about: about.to_owned(),
        text: text.to_owned(),
    }
}

/// A finding with the text of the error that `serve` would end with.
fn result_finding(about: &str, result: Result<impl Into<String>, CliError>) -> Finding {
    match result {
        Ok(text) => Finding {
            grade: Grade::Good,
            about: about.to_owned(),
            text: text.into(),
        },
        Err(stopped) => refused_finding(about, stopped),
    }
}

fn refused_finding(about: &str, stopped: CliError) -> Finding {
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

/// Checks whether the admin listener may be opened.
fn check_admin_listener(config: &Config, mcp: bool) -> Result<&'static str, CliError> {
    let guarded = read_secret(service_config::ADMIN_TOKEN_VARIABLE, env_value)?.is_some();
    service_config::admin_access(config, mcp)?;
    Ok(if guarded {
        "it asks for the token"
    } else {
        "every account of this machine has access"
    })
}

/// Checks whether the data directory can be used. A running service holds it, which is fine.
fn check_data_dir(config: &Config) -> Result<&'static str, CliError> {
    let path = &config.data_dir;
    DataDirectory::could_be(path)?;
    Ok(if path.exists() {
        "it can be written to"
    } else {
        "it is made at the start"
    })
}

/// Checks whether the ports are free.
fn check_ports(config: &Config) -> Vec<Finding> {
    let public = TcpListener::bind(config.listen);
    // The first one stays open, because they may exclude each other.
    let admin = TcpListener::bind(config.admin_listen);
    let mut findings = Vec::new();
    if let Err(error) = &public {
        findings.push(port_finding(
            "--listen",
            LISTEN_SETTING,
            config.listen,
            error,
        ));
    }
    if let Err(error) = &admin {
        let excluded = bind::excluded_listener(config.listen, config.admin_listen, error)
            .filter(|_| public.is_ok() || config.listen == config.admin_listen);
        findings.push(match excluded {
            Some(text) => Finding {
                grade: Grade::Configuration,
                about: "--admin-listen".to_owned(),
                text,
            },
            None => port_finding(
                "--admin-listen",
                ADMIN_LISTEN_SETTING,
                config.admin_listen,
                error,
            ),
        });
    }
    findings
}

fn port_finding(option: &str, said_by: &str, address: SocketAddr, error: &io::Error) -> Finding {
    let taken = error.kind() == ErrorKind::AddrInUse;
    let (grade, text) = if taken {
        let text =
            format!("{address} is in use, by phileas where it is running, or by another program");
        (Grade::Hint, text)
    } else {
        let text = format!("{address}: {error}; {}", bind::bind_help(error, said_by));
        (Grade::Configuration, text)
    };
    Finding {
        grade,
        about: option.to_owned(),
        text,
    }
}
