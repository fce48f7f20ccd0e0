//! `phileas schema`.

use std::path::{Path, PathBuf};

use phileas::server::config::File;
use phileas_domain::exchange::SHAPES;
use phileas_domain::pipeline::Artifact;

use super::bench::{alone, text_of};
use crate::support::Folder;

/// Editors fetch the schemas from the repository, so what lies there is what the program says.
#[test]
fn the_schemas_of_the_repository_are_those_of_the_program() {
    let artifacts = SHAPES.iter().map(|shape| shape.name);
    let names: Vec<&str> = ["schedules", "config", "phileas"]
        .into_iter()
        .chain(artifacts)
        .chain(Artifact::ALL.map(Artifact::schema_name))
        .collect();
    let stored = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas")).unwrap();
    assert_eq!(
        stored.count(),
        names.len(),
        "a schema that no command prints"
    );
    for name in names {
        let said = alone(&["schema", name]).done().out;
        let path = format!("{}/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        assert!(
            text_of(path.as_ref()) == said,
            "schemas/{name}.schema.json is old: phileas schema {name} > schemas/{name}.schema.json"
        );
        let schema: serde_json::Value = serde_json::from_str(&said).unwrap();
        let address = schema["$id"].as_str().unwrap();
        assert!(
            address.ends_with(&format!("/schemas/{name}.schema.json")),
            "{address}"
        );
        // Agents may say more in a pipeline than anybody knows; it is kept.
        let more = name.starts_with("pipeline-");
        assert_eq!(schema["additionalProperties"], more);
    }
    alone(&["schema", "nonsense"]).refused(2, "schedules");
}

/// The files that the schemas are tried on, of one kind.
fn tried(verdict: &str, name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parts/schemas");
    let files = std::fs::read_dir(folder.join(verdict)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|path| {
            let file = path.file_name().unwrap().to_str().unwrap();
            file.starts_with(&format!("{name}."))
        })
        .collect()
}

/// What a checker says of them by the schemas (`scripts/test schemas`), the program says by itself.
#[test]
fn schema_and_program_are_of_one_mind() {
    for (verdict, code) in [("right", 0), ("wrong", 1)] {
        let plans = tried(verdict, "schedules");
        assert!(!plans.is_empty());
        for plan in plans {
            let personas = ["a", "curator", "tester", "auditor"];
            let folder = Folder::repository(&text_of(&plan), &personas);
            let ran = alone(&["validate", folder.text()]);
            assert_eq!(ran.code, code, "{}: {ran:?}", plan.display());
        }
        let configs = tried(verdict, "config");
        assert!(!configs.is_empty());
        for config in configs {
            let folder = Folder::empty();
            folder.write(".jlo/config.toml", &text_of(&config));
            let ran = alone(&["validate", folder.text()]);
            assert_eq!(ran.code, code, "{}: {ran:?}", config.display());
        }
        let settings = tried(verdict, "phileas");
        assert!(!settings.is_empty());
        for file in settings {
            let (_, mistakes) = File::parse("phileas.toml", &text_of(&file));
            assert_eq!(
                mistakes.is_empty(),
                code == 0,
                "{}: {mistakes:?}",
                file.display()
            );
        }
        for artifact in Artifact::ALL {
            let files = tried(verdict, artifact.schema_name());
            assert!(!files.is_empty(), "{verdict}: {artifact:?}");
            for file in files {
                let folder = Folder::empty();
                folder.write(artifact.file_name(), &text_of(&file));
                let path = folder.join(artifact.file_name());
                let ran = alone(&["pipeline", "validate", path.to_str().unwrap()]);
                assert_eq!(ran.code, code, "{}: {ran:?}", file.display());
            }
        }
    }
}
