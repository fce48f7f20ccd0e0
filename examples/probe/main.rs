//! Asks the real services the questions that their documentation leaves open.
//!
//! ```text
//! cargo run --example probe -- --repo acme/widget --out answers.toml
//! ```
//!
//! The answers can be written as a fault plan, so that the sandbox behaves as the real services did on that day.

#![expect(clippy::print_stdout, reason = "it prints what it finds")]

mod questions;

use std::path::PathBuf;

use clap::Parser;
use phileas_domain::model::RepositoryName;
use questions::{Error, Finding, Services};
use serde_json::{Value, json};

/// Asks the real services the questions that their documentation leaves open.
#[derive(Debug, Parser)]
struct Arguments {
    /// The repository that is asked about
    #[arg(long, env = "GITHUB_REPOSITORY", value_name = "OWNER/NAME")]
    repo: RepositoryName,
    /// Also start a session and write to a scratch branch: costs quota, use a scratch repository
    #[arg(long)]
    write: bool,
    /// Print JSON for programs, one document a line
    #[arg(long)]
    json: bool,
    /// Write the answers as a fault plan that `phileas sandbox --faults` replays
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    let services = services_of_environment(arguments.repo)?;
    let findings = questions::ask_all(services, arguments.write).await?;
    for finding in &findings {
        if arguments.json {
            println!("{}", finding_json(finding));
        } else {
            println!("{}", finding_text(finding));
        }
    }
    let answered = findings.iter().filter(|one| one.answer.is_some()).count();
    if !arguments.json {
        println!("{answered} of {} questions answered", findings.len());
    }
    if let Some(path) = &arguments.out {
        std::fs::write(path, questions::fault_plan_toml(&findings)?)?;
    }
    Ok(())
}

fn services_of_environment(repository: RepositoryName) -> Result<Services, Error> {
    let needed = |name: &str| std::env::var(name).map_err(|_| format!("error: {name} is not set"));
    let address = |name: &str, default: &str| {
        let text = std::env::var(name).unwrap_or_else(|_| default.to_owned());
        text.trim_end_matches('/').to_owned()
    };
    Ok(Services {
        repository,
        github: address("GITHUB_API_URL", "https://api.github.com"),
        graphql: address("GITHUB_GRAPHQL_URL", "https://api.github.com/graphql"),
        github_token: needed("GITHUB_TOKEN")?,
        jules: address("JULES_API_BASE", "https://jules.googleapis.com/v1alpha"),
        jules_key: needed("JULES_API_KEY")?,
    })
}

/// Several lines for people.
fn finding_text(finding: &Finding) -> String {
    let mut text = format!(
        "{}\n  {}",
        finding.question,
        finding.answer.as_deref().unwrap_or("not found out")
    );
    for one in &finding.evidence {
        let status = one
            .status
            .map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        text.push_str(&format!("\n    {}: {status} {}", one.request, one.text));
    }
    text
}

fn finding_json(finding: &Finding) -> Value {
    let evidence: Vec<Value> = finding
        .evidence
        .iter()
        .map(|one| json!({ "request": one.request, "status": one.status, "text": one.text }))
        .collect();
    let knobs: serde_json::Map<String, Value> = finding
        .knobs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({
        "id": finding.id,
        "question": finding.question,
        "answer": finding.answer,
        "evidence": evidence,
        "knobs": knobs,
    })
}
