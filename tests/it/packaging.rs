//! What is shipped beside the program, as far as it is read by others.

use serde_yaml::Value;

fn compose() -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("compose.yaml")).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Names of the secrets that the service gets, and that are declared; both must be the same, or compose does not start.
fn secrets(compose: &Value) -> Vec<String> {
    let given = compose["services"]["phileas"]["secrets"]
        .as_sequence()
        .unwrap();
    let given: Vec<String> = given
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let declared: Vec<String> = compose["secrets"]
        .as_mapping()
        .unwrap()
        .keys()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(given, declared);
    let variables = compose["services"]["phileas"]["environment"]
        .as_mapping()
        .unwrap();
    for (name, path) in variables {
        let Some(path) = path
            .as_str()
            .filter(|_| name.as_str().unwrap().ends_with("_FILE"))
        else {
            continue;
        };
        let secret = path.strip_prefix("/run/secrets/").unwrap();
        assert!(
            given.iter().any(|known| known == secret),
            "{name:?} is not given"
        );
    }
    given
}

/// The marks in compose.yaml say which lines belong to which kind of GitHub credential.
#[test]
fn the_marked_lines_of_the_compose_file_belong_together() {
    let compose = compose();
    assert_eq!(
        secrets(&parsed(&compose)),
        [
            "webhook_secret",
            "admin_token",
            "github_token",
            "jules_api_key"
        ]
    );
    let marked = |line: &str, mark: &str| line.trim_end().ends_with(&format!("# {mark}"));
    let without = |marks: &[&str]| {
        let kept = compose
            .lines()
            .filter(|line| !marks.iter().any(|mark| marked(line, mark)));
        kept.collect::<Vec<_>>().join("\n")
    };
    let made = parsed(&without(&["token", "webhook"]));
    assert_eq!(secrets(&made), ["admin_token", "jules_api_key"]);
    let named: Vec<String> = without(&["token"])
        .lines()
        .map(|line| match marked(line, "app") {
            true => line.replacen("# ", "", 1),
            false => line.to_owned(),
        })
        .collect();
    let named = parsed(&named.join("\n"));
    assert_eq!(
        secrets(&named),
        [
            "webhook_secret",
            "admin_token",
            "github_app_key",
            "jules_api_key"
        ]
    );
    let id = &named["services"]["phileas"]["environment"]["GITHUB_APP_ID"];
    assert!(id.is_string(), "{id:?}");
    let shared: Vec<String> = compose
        .lines()
        .map(|line| match marked(line, "database") {
            true => line.replacen("# ", "", 1),
            false => line.to_owned(),
        })
        .collect();
    let shared = parsed(&shared.join("\n"));
    assert_eq!(secrets(&shared).last().unwrap(), "database_url");
    let variables = &shared["services"]["phileas"]["environment"];
    for name in ["PHILEAS_DATABASE_URL_FILE", "PHILEAS_DRAIN"] {
        assert!(variables[name].is_string(), "{name}: {variables:?}");
    }
}

fn text(path: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What an image says of itself, and how it is run: without privileges, on a read-only file system.
fn image_is_bare(dockerfile: &str, compose: &Value) -> Result<(), &'static str> {
    let stages: Vec<&str> = dockerfile
        .lines()
        .filter_map(|line| line.strip_prefix("FROM "))
        .collect();
    if stages.last() != Some(&"scratch") {
        return Err("the last stage holds more than the program");
    }
    let user = dockerfile
        .lines()
        .find_map(|line| line.strip_prefix("USER "));
    let id = user.and_then(|user| user.split(':').next()?.parse::<u32>().ok());
    if id.is_none_or(|id| id == 0) {
        return Err("it runs as root, or as a name that cannot be looked up");
    }
    let service = &compose["services"]["phileas"];
    if service["read_only"] != Value::Bool(true) {
        return Err("its root file system can be written to");
    }
    Ok(())
}

/// What a release does: it is built from locked sources, lists what is in it, and says by a signature where it was built.
fn release_is_traceable(workflow: &Value) -> Result<(), &'static str> {
    let written = serde_yaml::to_string(workflow).unwrap();
    if !written.contains("--locked") || !written.contains("scripts/static") {
        return Err("the binaries are not built statically from locked sources");
    }
    if !written.contains("cyclonedx") {
        return Err("there is no bill of materials");
    }
    if !written.contains("SHA256SUMS") {
        return Err("there are no digests");
    }
    let jobs = workflow["jobs"].as_mapping().unwrap();
    let attests = |job: &Value| {
        let steps = job["steps"].as_sequence().into_iter().flatten();
        let mut uses = steps.filter_map(|step| step["uses"].as_str());
        uses.any(|action| action.starts_with("actions/attest@"))
    };
    for job in jobs.values().filter(|job| attests(job)) {
        let rights = &job["permissions"];
        if rights["id-token"] != "write" || rights["attestations"] != "write" {
            return Err("a statement of provenance cannot be signed");
        }
        // Its reviewers are the second pair of eyes.
        if job["environment"].is_null() {
            return Err("one person alone can release");
        }
    }
    if jobs.values().filter(|job| attests(job)).count() < 2 {
        return Err("the binaries or the image have no statement of provenance");
    }
    let push_by_digest = written.contains("subject-digest");
    push_by_digest
        .then_some(())
        .ok_or("the image is not named by its digest")
}

#[test]
fn r25_the_image_holds_the_program_alone_and_runs_without_rights_on_what_it_cannot_write() {
    let (dockerfile, compose) = (text("Dockerfile"), parsed(&compose()));
    assert_eq!(image_is_bare(&dockerfile, &compose), Ok(()));
    for (was, becomes) in [
        ("FROM scratch", "FROM debian"),
        ("USER 65532:65532", "USER root"),
        ("USER 65532:65532", "USER 0:0"),
    ] {
        let worse = dockerfile.replace(was, becomes);
        assert_ne!(worse, dockerfile);
        assert!(image_is_bare(&worse, &compose).is_err(), "{becomes}");
    }
    let mut writable = compose.clone();
    writable["services"]["phileas"]["read_only"] = Value::Bool(false);
    assert!(image_is_bare(&dockerfile, &writable).is_err());
}

#[test]
fn r25_a_release_is_locked_listed_signed_and_let_out_by_a_second_person() {
    let workflow = text(".github/workflows/release.yml");
    assert_eq!(release_is_traceable(&parsed(&workflow)), Ok(()));
    for (was, becomes) in [
        ("scripts/static", "scripts/other"),
        ("cyclonedx", "nothing"),
        ("SHA256SUMS", "SUMS"),
        ("actions/attest@", "actions/other@"),
        ("attestations: write", "attestations: read"),
        ("environment: release", "x-environment: release"),
        ("subject-digest", "subject"),
    ] {
        let worse = workflow.replace(was, becomes);
        assert_ne!(worse, workflow, "{was}");
        assert!(release_is_traceable(&parsed(&worse)).is_err(), "{was}");
    }
}
