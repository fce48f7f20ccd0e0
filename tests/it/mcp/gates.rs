//! Who may do what: read-only servers, lists of repositories, missing credentials, and the one-shot client.

use serde_json::json;

use super::host::{HANDSHAKE, TODAY, job, place};
use crate::support::Phileas;

#[test]
fn a_read_only_server_offers_nothing_that_writes() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &["--read-only"]);
    let tools = host.ask("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
    }
    for (tool, arguments) in [
        ("jules_create_job", job("No.")),
        ("jules_merge_pr", json!({"job_id": "1"})),
        ("run", json!({"repo": "acme/widget", "confirm": true})),
    ] {
        host.refused(tool, arguments, "read-only");
    }
    host.done("jules_list_jobs", json!({}));
    assert!(
        place
            .shared
            .lock_world()
            .complete_books()
            .sessions
            .is_empty()
    );
}

#[test]
fn what_is_not_allowed_is_neither_worked_on_nor_seen() {
    let place = place(Vec::new());
    let id = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Ours."));
    let id = id["job_id"].as_str().unwrap();
    let mut host = place.host(
        HANDSHAKE,
        &["--allow", "umbrella/*", "--allow", "acme/gadget"],
    );
    let allowed = "umbrella/*, acme/gadget";
    host.refused("jules_create_job", job("Theirs."), allowed);
    for tool in [
        "jules_get_job",
        "jules_get_messages",
        "jules_get_artifacts",
        "jules_approve_plan",
    ] {
        host.refused(tool, json!({"job_id": id}), allowed);
    }
    for tool in ["explain", "status"] {
        host.refused(tool, json!({"repo": "acme/widget"}), allowed);
    }
    host.refused(
        "jules_cancel_job",
        json!({"job_id": id, "confirm": true}),
        allowed,
    );
    assert_eq!(host.done("jules_list_jobs", json!({}))["jobs"], json!([]));
    assert_eq!(
        host.done("jules_list_sources", json!({}))["sources"],
        json!([])
    );
    let mut host = place.host(HANDSHAKE, &["--allow", "Acme/*"]);
    host.done("jules_get_job", json!({"job_id": id}));
    assert_eq!(
        host.done("jules_list_jobs", json!({}))["jobs"][0]["job_id"],
        id
    );
    place.program(&["--allow", "acme"]).run().expect(2);
}

/// Upstream defect 16: without a key, requests went out without one.
#[test]
fn defect_16_without_a_key_nothing_starts() {
    let ended = Phileas::new(&["mcp"]).run().expect(3);
    assert!(ended.err.contains("JULES_API_KEY"), "{ended}");
}

/// Options are heard wherever they stand.
#[test]
fn options_stand_before_and_after_the_tool() {
    let place = place(Vec::new());
    let file = |name: &str| place.files.path().join(name);
    let files = |name: &str| {
        let at = |kind: &str| file(&format!("{name}.{kind}")).to_str().unwrap().to_owned();
        [
            "--jobs".to_owned(),
            at("jobs"),
            "--events".to_owned(),
            at("events"),
        ]
    };
    let tool = |id: &str| {
        let arguments = json!({ "job_id": id }).to_string();
        ["jules_register_job".to_owned(), arguments]
    };
    let id = {
        let made = place.program(&["call", "jules_create_job", &job("By hand.").to_string()]);
        made.run().expect(0).lines()[0]["job_id"].clone()
    };
    let id = id.as_str().unwrap();
    let call = ["call".to_owned()];
    for (name, words) in [
        ("first", [&files("first")[..], &call, &tool(id)].concat()),
        ("middle", [&call[..], &files("middle"), &tool(id)].concat()),
        ("last", [&call[..], &tool(id), &files("last")].concat()),
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.program(&words).run().expect(0);
        let jobs = std::fs::read_to_string(file(&format!("{name}.jobs"))).unwrap_or_default();
        assert!(jobs.contains(id), "{name}: {jobs:?}");
    }
}

/// What asks Jules nothing needs no key, and a mistake is told before a key is missed.
#[test]
fn a_tool_that_needs_no_jules_is_called_without_a_key() {
    let place = place(Vec::new());
    let call = |words: &[&str]| {
        let words = [&["call"], words].concat();
        place.program(&words).without("JULES_API_KEY").run()
    };
    let next = call(&["pipeline_next", "{\"issue\": \"X-1\"}"]).expect(0);
    assert_eq!(next.lines()[0]["next"]["stage"], "plan", "{next}");
    for (words, said) in [
        (["jules_nope", "{}"], "jules_nope"),
        (["jules_get_job", "{"], "not JSON"),
        (["jules_get_job", "{\"repoo\": 1}"], "repoo"),
    ] {
        let wrong = call(&words).expect(2);
        assert!(wrong.err.contains(said), "{wrong}");
    }
    for tool in ["jules_list_jobs", "jules_list_sources"] {
        let missed = call(&[tool]).expect(3);
        assert!(missed.err.contains("no Jules API key"), "{missed}");
        assert!(!missed.err.contains("only a person"), "{missed}");
        let refused = place
            .program(&["call", tool])
            .env("JULES_API_KEY", "no-such-key");
        let refused = refused.run().expect(3);
        assert!(
            refused.err.contains("with another JULES_API_KEY"),
            "{refused}"
        );
    }
}

#[test]
fn one_tool_is_called_from_a_shell() {
    let place = place(Vec::new());
    let call = |words: &[&str]| {
        let words = [&["call"], words].concat();
        place.program(&words).run()
    };
    let made = call(&["jules_create_job", &job("By hand.").to_string()]).expect(0);
    let made = &made.lines()[0];
    let id = json!({"job_id": made["job_id"]}).to_string();
    let seen = call(&["jules_get_job", &id]).expect(0);
    assert_eq!(seen.lines()[0]["job_id"], made["job_id"]);
    assert_eq!(call(&["jules_list_jobs"]).expect(0).lines().len(), 1);
    assert!(
        call(&["jules_get_job", "[1]"])
            .expect(2)
            .err
            .contains("JSON object")
    );
    for (tool, arguments, said) in [
        (
            "jules_get_job",
            "{\"job_id\": 1}",
            "the arguments of jules_get_job are wrong: `job_id`: expected a text, found a whole number; write a text",
        ),
        (
            "jules_get_job",
            "{}",
            "the arguments of jules_get_job are wrong: `job_id` is missing; add it",
        ),
        (
            "jules_get_jobs",
            "{}",
            "there is no tool `jules_get_jobs`; did you mean `jules_get_job`?",
        ),
        (
            "nope",
            "{}",
            "there is no tool `nope`; the tools are jules_create_job, ",
        ),
        (
            "jules_get_job",
            "{\"job_id\": \"x\"}",
            "not the id of a job",
        ),
        (
            "jules_get_job",
            "{\"job_id\": \"404\"}",
            "Jules knows no job 404",
        ),
        ("status", "{}", "or set GITHUB_REPOSITORY"),
        (
            "jules_list_jobs",
            "{\"repo\": \"acme/nowhere\"}",
            "the list is empty: acme/nowhere is not connected to Jules",
        ),
    ] {
        let wrong = call(&[tool, arguments]).expect(2);
        assert!(wrong.err.contains(said) && wrong.out.is_empty(), "{wrong}");
    }
    let unsure = call(&["jules_cancel_job", &id]).expect(1);
    assert!(unsure.err.contains("confirm: true"), "{unsure}");
}

/// A tool about a repository ends with the exit code of the command of its name.
#[test]
fn tools_about_a_repository_end_as_the_commands_do() {
    let place = place(Vec::new());
    let call = |tool: &str, arguments: &str, variable: (&str, &str)| {
        let program = place.program(&["call", tool, arguments]);
        program.env(variable.0, variable.1).run()
    };
    let wrong = call("status", "{}", ("GITHUB_REPOSITORY", "widget")).expect(2);
    assert!(wrong.err.contains("GITHUB_REPOSITORY: `widget`"), "{wrong}");
    let here = ("GITHUB_REPOSITORY", "acme/widget");
    for tool in ["status", "explain"] {
        let seen = call(tool, "{}", here).expect(0);
        assert_eq!(seen.lines()[0]["repo"], "acme/widget");
        let named = "{\"repo\": \"acme/nowhere\"}";
        let unknown = call(tool, named, here).expect(2);
        assert!(
            unknown.err.contains("acme/nowhere") && unknown.out.is_empty(),
            "{unknown}"
        );
    }
    let unknown = call("explain", "{\"track\": \"nope\"}", here).expect(2);
    assert!(
        unknown.err.contains("there is no track `nope`"),
        "{unknown}"
    );
    call("explain", "{\"track\": \"default\"}", here).expect(0);
    // No user needs to confirm what does not exist.
    for (key, name) in [("persona", "persona"), ("track", "track")] {
        let unknown = call("run", &json!({key: "nope"}).to_string(), here).expect(2);
        let said = format!("there is no {name} `nope`");
        assert!(unknown.to_string().contains(&said), "{unknown}");
    }
    let refused = call(
        "explain",
        "{\"repo\": \"acme/widget\"}",
        ("GITHUB_TOKEN", "no-such-token"),
    );
    let refused = refused.expect(3);
    assert!(
        refused.err.contains("with another GITHUB_TOKEN"),
        "{refused}"
    );
    let run = |persona: &str| json!({"persona": persona, "confirm": true}).to_string();
    let unknown = call("run", &run("nope"), here).expect(2);
    assert_eq!(
        unknown.lines()[0]["lines"][0]["decision"],
        "refused",
        "{unknown}"
    );
    let repo = |persona: &str| {
        json!({"repo": "acme/widget", "persona": persona, "confirm": true}).to_string()
    };
    let paused = call("run", &repo("curator"), ("PHILEAS_PAUSED", "1")).expect(1);
    assert_eq!(
        paused.lines()[0]["lines"][0]["decision"],
        "paused",
        "{paused}"
    );
    call("run", &run("curator"), here).expect(0);
}
