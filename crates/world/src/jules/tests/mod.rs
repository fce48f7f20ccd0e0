//! The model as a client sees it: each scenario from the first request to the last.

use bytes::Bytes;
use http::{Method, Request};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::*;
use crate::books::Books;
use crate::chance::Chance;
use crate::github::{self, RepoId};
use crate::knobs::*;
use crate::seed::{Seed, files};

mod limits;
mod outcomes;
mod people;
mod reading;
mod worlds;

const KEY: &str = "test-key";

struct Bench {
    jules: Model,
    github: github::Model,
    knobs: Knobs,
    books: Books,
    now: Timestamp,
    repo: RepoId,
}

impl Bench {
    fn new(scenarios: Vec<Scenario>) -> Bench {
        let now = "2026-01-14T10:00:00Z".parse().unwrap();
        let chance = Chance::new(11);
        let mut github = github::Model::new(chance.stream("github"));
        let tree = files(&[
            ("README.md", "# Widget\n\nA widget.\n"),
            ("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ]);
        let repo = github.seed(&Seed::new("acme", "widget", tree), now);
        let mut account = Account::new("octocat", KEY);
        account.tier = Tier::Pro;
        account.installed.push(Installed::new("acme", "widget"));
        let config = Config {
            accounts: vec![account],
            scenarios,
            asks: 0.0,
            weights: Weights::only_changes(),
            ..Config::default()
        };
        let jules = Model::new(config, chance.stream("jules"));
        Bench {
            jules,
            github,
            knobs: Knobs {
                empty_progress: 0.0,
                ..Knobs::documented()
            },
            books: Books::default(),
            now,
            repo,
        }
    }

    fn send_request(&mut self, method: Method, path: &str, body: &str) -> (u16, Bytes) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("X-Goog-Api-Key", KEY)
            .body(Bytes::copy_from_slice(body.as_bytes()))
            .unwrap();
        let reply = self.jules.handle_request(
            &request,
            self.now,
            &mut self.github,
            &self.knobs,
            &mut self.books,
        );
        (reply.status().as_u16(), reply.into_body())
    }

    fn get(&mut self, path: &str) -> Value {
        let (status, body) = self.send_request(Method::GET, path, "");
        assert_eq!(status, 200, "{path}: {body:?}");
        serde_json::from_slice(&body).unwrap()
    }

    fn get_status(&mut self, path: &str) -> u16 {
        self.send_request(Method::GET, path, "").0
    }

    fn post_json(&mut self, path: &str, body: &Value) -> u16 {
        self.send_request(Method::POST, path, &body.to_string()).0
    }

    fn try_create(&mut self, title: &str, more: Value) -> (u16, Value) {
        let mut body = json!({"prompt": format!("Do {title}"), "title": title, "automationMode": "AUTO_CREATE_PR",
            "sourceContext": {"source": "sources/github/acme/widget", "githubRepoContext": {"startingBranch": "main"}}});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let (status, body) =
            self.send_request(Method::POST, "/v1alpha/sessions", &body.to_string());
        (status, serde_json::from_slice(&body).unwrap())
    }

    fn create_session(&mut self, title: &str, more: Value) -> String {
        let (status, session) = self.try_create(title, more);
        assert_eq!(status, 200, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    fn pass_time(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.jules
            .advance(self.now, &mut self.github, &self.knobs, &mut self.books);
    }

    fn get_session(&mut self, id: &str) -> Value {
        self.get(&format!("/v1alpha/sessions/{id}"))
    }

    fn get_state(&mut self, id: &str) -> String {
        self.get_session(id)["state"].as_str().unwrap().to_owned()
    }

    fn list_activities(&mut self, id: &str) -> Vec<Value> {
        let page = self.get(&format!("/v1alpha/sessions/{id}/activities?pageSize=100"));
        page["activities"].as_array().cloned().unwrap_or_default()
    }

    fn count_activities(&mut self, id: &str, kind: &str) -> usize {
        self.list_activities(id)
            .iter()
            .filter(|activity| activity.get(kind).is_some())
            .count()
    }

    /// Passes time until the session is in this state.
    fn wait_for_state(&mut self, id: &str, state: &str) {
        const MOST_MINUTES: usize = 600;
        for _ in 0..MOST_MINUTES {
            if self.get_state(id) == state {
                return;
            }
            self.pass_time(10);
        }
        panic!("{id} never was {state} but {}", self.get_state(id));
    }
}

fn scripted_bench(ending: Ending) -> Bench {
    Bench::new(vec![Scenario::with_ending(ending).with_minutes(10.0)])
}
