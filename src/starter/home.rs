//! Where phileas and its schemas are published.

/// Where phileas is at home: the action, the documentation and the schemas.
pub const HOME: &str = "phileas/phileas";

/// Where the JSON Schema of a file is published.
#[must_use]
pub fn schema_address(name: &str) -> String {
    format!("https://raw.githubusercontent.com/{HOME}/main/schemas/{name}.schema.json")
}
