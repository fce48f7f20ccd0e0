//! Tests that schema files of a repository are compared with what imports accept.

use phileas_domain::exchange::{CHANGE, CHANGES, EVENT, FEEDBACK, PERSPECTIVE, PERSPECTIVE_V1};

use crate::examples::{diagnostics_of, flat, streams, with};

#[test]
pub(crate) fn schema_files_of_a_repository_ask_for_what_is_taken() {
    let path = ".jules/layers/observers/schemas/event.yml";
    let template = EVENT.to_template();
    assert_eq!(diagnostics_of(&with(flat(), path, &template)), [""; 0]);
    for (from, to, word) in [
        (
            "confidence: low|medium|high",
            "confidence: low|sure",
            "agents are offered `sure`",
        ),
        ("title:", "headline:", "agents are asked for `headline`"),
        ("title:", "headline:", "agents are not asked for `title`"),
        (
            "schema_version: 1",
            "schema_version: 3",
            "another version than 1",
        ),
        (
            "schema_version: 1",
            "a: b: c",
            "not a template that can be read",
        ),
    ] {
        let found = diagnostics_of(&with(flat(), path, &template.replacen(from, to, 1)));
        assert!(
            found
                .iter()
                .any(|one| one.contains(word) && one.contains("warning")),
            "{word}: {found:#?}"
        );
    }
}

/// A decider also writes why it rejects an event.
#[test]
fn schema_files_of_rejections_ask_for_what_is_taken() {
    let template = FEEDBACK.to_template();
    for path in [
        ".jules/layers/decider/schemas/feedback.yml",
        ".jules/roles/deciders/schemas/feedback.yml",
    ] {
        assert_eq!(diagnostics_of(&with(flat(), path, &template)), [""; 0]);
        let other = template.replacen("guidance:", "advice:", 1);
        let found = diagnostics_of(&with(flat(), path, &other));
        for word in [
            "agents are asked for `advice`",
            "agents are not asked for `guidance`",
        ] {
            assert!(
                found.iter().any(|one| one.contains(word)),
                "{word}: {found:#?}"
            );
        }
    }
}

/// A narrator writes one summary for all, or one for each workstream.
#[test]
fn schema_files_of_summaries_ask_for_what_is_taken() {
    for (name, shape, (from, to)) in [
        ("change", &CHANGE, ("summary", "digest")),
        ("changes", &CHANGES, ("summaries", "digests")),
    ] {
        let path = format!(".jules/layers/narrator/schemas/{name}.yml");
        let template = shape.to_template();
        assert_eq!(diagnostics_of(&with(flat(), &path, &template)), [""; 0]);
        let other = template.replacen(&format!("{from}:"), &format!("{to}:"), 1);
        let found = diagnostics_of(&with(flat(), &path, &other));
        let asked = format!("agents are asked for `{to}`");
        assert!(found.iter().any(|one| one.contains(&asked)), "{found:#?}");
    }
}

/// A memory of an observer has another shape in each layout; workstreams also accept version 2.
#[test]
fn schema_files_of_memories_are_held_against_the_layout() {
    let path = ".jules/layers/observers/schemas/perspective.yml";
    let (of_flat, of_streams) = (PERSPECTIVE.to_template(), PERSPECTIVE_V1.to_template());
    assert_eq!(diagnostics_of(&with(flat(), path, &of_flat)), [""; 0]);
    assert_eq!(
        diagnostics_of(&with(streams(false), path, &of_streams)),
        [""; 0]
    );
    let of_both = of_flat.replace("observer:", "workstream: core\nobserver:");
    for template in [&of_flat, &of_both] {
        assert_eq!(
            diagnostics_of(&with(streams(false), path, template)),
            [""; 0]
        );
    }
    let newer = of_streams.replace("schema_version: 1", "schema_version: 3");
    for (files, template, version) in [
        (flat(), of_streams, "another version than 2"),
        (streams(false), newer, "another version than 1"),
    ] {
        let found = diagnostics_of(&with(files, path, &template));
        assert!(
            found.iter().any(|one| one.contains(version)),
            "{version}: {found:#?}"
        );
    }
}
