//! `phileas schema`: prints the JSON Schema of a file that people or agents write.

use std::io::Write;

use phileas_domain::plan;
use serde_json::Value;

use crate::cli::arguments::SchemaName;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::server::config;
use crate::starter::schema_address;

pub(crate) fn run(name: SchemaName, screen: &mut Screen<impl Write>) -> Result<Exit, CliError> {
    let text = serde_json::to_string_pretty(&schema_with_address(name))
        .map_err(|error| CliError::fault(error.to_string()))?;
    screen.print_document(&(text + "\n"))?;
    Ok(Exit::Done)
}

/// The schema with its address, by which editors know it.
fn schema_with_address(name: SchemaName) -> Value {
    let (name, schema) = match name {
        SchemaName::Schedules => ("schedules", plan::schema()),
        SchemaName::Config => ("config", plan::config_schema()),
        SchemaName::Phileas => ("phileas", config::config_schema()),
        SchemaName::Artifact(artifact) => (artifact.name, artifact.to_schema()),
        SchemaName::Pipeline(artifact) => (artifact.schema_name(), artifact.schema()),
    };
    let mut whole = serde_json::Map::new();
    whole.insert("$schema".to_owned(), schema["$schema"].clone());
    whole.insert("$id".to_owned(), schema_address(name).into());
    if let Value::Object(rest) = schema {
        whole.extend(rest);
    }
    whole.into()
}
