//! Tests of gates that cut the connection at a chosen request.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;
use phileas_world::Face;
use phileas_world::http::{ClockMode, Gate, GateDecision};

use crate::bench::{Served, seeded_world};

/// Cuts before or after one request, and remembers all.
struct Cutter {
    before: Option<u64>,
    after: Option<u64>,
    seen: Mutex<Vec<(u64, Face, String)>>,
}

impl Cutter {
    fn new(before: Option<u64>, after: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            before,
            after,
            seen: Mutex::default(),
        })
    }
}

impl Gate for Cutter {
    fn before_effect(&self, n: u64, face: Face, request: &Request<Bytes>) -> GateDecision {
        let path = request.uri().path().to_owned();
        self.seen.lock().unwrap().push((n, face, path));
        if self.before == Some(n) {
            GateDecision::Cut
        } else {
            GateDecision::Go
        }
    }

    fn before_reply(&self, n: u64, _: Face, _: &Request<Bytes>) -> GateDecision {
        if self.after == Some(n) {
            GateDecision::Cut
        } else {
            GateDecision::Go
        }
    }
}

const TOKEN: &str = "authorization: Bearer gale-token\r\n";

fn open_issue(served: &Served, title: &str) -> Option<u16> {
    let body = format!("{{\"title\":\"{title}\"}}");
    served
        .send_request("POST", "/repos/octo/garden/issues", TOKEN, body.as_bytes())
        .map(|reply| reply.status)
}

fn session_titles(served: &Served) -> Vec<String> {
    let world = served.world.lock().unwrap();
    let repo = world.github().repository_by_name("octo", "garden").unwrap();
    world
        .github()
        .issues(repo)
        .map(|issue| issue.title.clone())
        .collect()
}

#[test]
fn a_cut_before_leaves_no_effect_and_a_cut_after_leaves_it() {
    let (world, _) = seeded_world();
    let gate = Cutter::new(Some(2), Some(3));
    let served = Served::serve_with(
        Arc::new(Mutex::new(world)),
        Face::Github,
        ClockMode::Manual,
        Some(gate),
    );
    assert_eq!(open_issue(&served, "one"), Some(201));
    assert_eq!(open_issue(&served, "two"), None);
    assert_eq!(open_issue(&served, "three"), None);
    assert_eq!(open_issue(&served, "four"), Some(201));
    assert_eq!(session_titles(&served), ["one", "three", "four"]);
    let world = served.world.lock().unwrap();
    let statuses: Vec<_> = world
        .books()
        .requests
        .iter()
        .map(|request| request.status)
        .collect();
    assert_eq!(statuses, [Some(201), None, Some(201)]);
}

#[test]
fn requests_are_counted_over_both_faces_and_control_is_not() {
    let (world, _) = seeded_world();
    let world = Arc::new(Mutex::new(world));
    let gate = Cutter::new(None, None);
    let both = [Face::Github, Face::Jules].map(|face| {
        let gate: Arc<dyn Gate> = gate.clone();
        Served::serve_with(Arc::clone(&world), face, ClockMode::Manual, Some(gate))
    });
    both[0].send_request("GET", "/rate_limit", "", b"").unwrap();
    both[0].post_control("now", "");
    both[1]
        .send_request("GET", "/v1alpha/sessions", "", b"")
        .unwrap();
    both[0].send_request("GET", "/rate_limit", "", b"").unwrap();
    let seen = gate.seen.lock().unwrap();
    let seen: Vec<_> = seen
        .iter()
        .map(|(n, face, path)| (*n, *face, path.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (1, Face::Github, "/rate_limit"),
            (2, Face::Jules, "/v1alpha/sessions"),
            (3, Face::Github, "/rate_limit")
        ]
    );
    let refused = both[1]
        .send_request("GET", "/__world/now", "", b"")
        .unwrap();
    assert_eq!(refused.status, 404, "Jules' face is not steered");
}
