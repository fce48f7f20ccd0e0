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

/// The marks in compose.yaml say which lines belong to which way of being somebody to GitHub.
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
}
