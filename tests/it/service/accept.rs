//! What is accepted, what is refused, and what is kept of it.

use phileas::server::public::listen::{HEAD_BYTES, MAX_HEADERS};
use tempfile::tempdir;

use super::client::{Line, Post, ask, get, until_ready_is};
use super::hook::{SECRET, sign};
use super::served::{Service, deliveries};

#[test]
fn a_delivery_is_stored_before_it_is_answered() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let post = Post::about("72d3162e-cc78-11e3-81ab-4c9367dc0958", 7);
    let first = ask(service.public, &post.bytes());
    assert_eq!(first.status, 202, "{first:?}");
    assert!(
        first
            .header("x-request-id")
            .is_some_and(|id| !id.is_empty())
    );
    // While the service runs.
    let [stored] = <[_; 1]>::try_from(deliveries(data.path())).unwrap();
    assert_eq!(stored["guid"], "72d3162e-cc78-11e3-81ab-4c9367dc0958");
    assert_eq!(stored["event"], "issues");
    assert_eq!(stored["action"], "labeled");
    assert_eq!(stored["repository_id"], 7);
    assert_eq!(stored["repository"], "acme/r7");
    assert_eq!(stored["subject_node_id"], "I_7");
    assert_eq!(stored["sender_id"], 5);
    assert_eq!(stored["outcome"], "pending");
    let again = ask(service.public, &post.bytes());
    assert_eq!(again.status, 200, "{again:?}");
    assert_eq!(deliveries(data.path()).len(), 1);
    assert_ne!(first.header("x-request-id"), again.header("x-request-id"));
}

#[test]
fn r1_what_is_not_signed_rightly_leaves_no_fact() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let good = Post::about("a", 7);
    let signature = sign(SECRET, &good.body);
    let mut flipped = good.clone();
    flipped.body[10] ^= 1;
    let wrong = [
        ("flipped", flipped),
        ("unsigned", good.clone().with("x-hub-signature-256", "")),
        (
            "another secret",
            good.clone()
                .with("x-hub-signature-256", &sign("another", &good.body)),
        ),
        (
            "short",
            good.clone()
                .with("x-hub-signature-256", &signature[..signature.len() - 2]),
        ),
        (
            "sha1",
            good.clone()
                .with("x-hub-signature-256", &signature.replace("256", "1")),
        ),
        (
            "old header",
            good.clone().with("x-hub-signature-256", "").with(
                "x-hub-signature",
                "sha1=0123456789012345678901234567890123456789",
            ),
        ),
        (
            "empty secret",
            good.clone()
                .with("x-hub-signature-256", &sign("", &good.body)),
        ),
    ];
    for (name, post) in wrong {
        let reply = ask(service.public, &post.bytes());
        assert_eq!((reply.status, reply.body.as_str()), (401, ""), "{name}");
    }
    assert_eq!(deliveries(data.path()), Vec::<serde_json::Value>::new());
    assert_eq!(ask(service.public, &good.bytes()).status, 202);
}

#[test]
fn r2_other_requests_are_answered_with_what_is_wrong() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let good = Post::about("a", 7);
    let form = "application/x-www-form-urlencoded";
    let cases = [
        (415, good.clone().with("content-type", form)),
        (415, good.clone().with("content-type", "")),
        (400, good.clone().with("x-github-event", "")),
        (400, good.clone().with("x-github-delivery", "")),
        (400, good.clone().with("x-github-delivery", "two words")),
        (400, Post::new("b", "issues", "payload=%7B%7D")),
        (401, Post::new("c", "issues", "")),
        (400, Post::new("d", "issues", "{\"action\": ")),
        (413, good.clone().with("content-length", "26214401")),
        (
            202,
            good.clone()
                .with("content-type", "Application/JSON; charset=utf-8"),
        ),
        (
            202,
            Post::new(
                "ping",
                "ping",
                r#"{"zen":"Keep it simple.","hook_id":1,"hook":{"id":1}}"#,
            ),
        ),
        (
            202,
            Post::new(
                "new",
                "holodeck",
                r#"{"action":"entered","repository":{"id":1}}"#,
            ),
        ),
        (202, Post::new("odd", "issues", r#"["no", "object"]"#)),
    ];
    for (status, post) in cases {
        let reply = ask(service.public, &post.bytes());
        assert_eq!(reply.status, status, "{post:?}: {reply:?}");
        assert!(!reply.body.contains("acme"), "{reply:?}");
    }
    let outcomes: Vec<_> = deliveries(data.path())
        .iter()
        .map(|one| format!("{} {}", one["guid"], one["outcome"]).replace('"', ""))
        .collect();
    assert_eq!(
        outcomes,
        ["a pending", "ping noted", "new noted", "odd noted"]
    );
}

#[test]
fn r26_the_public_listener_has_three_addresses() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    until_ready_is(service.public, 200);
    for (path, status) in [
        ("/healthz", 200),
        ("/webhook", 405),
        ("/", 404),
        ("/metrics", 404),
        ("/admin", 404),
        ("/webhook/", 404),
    ] {
        assert_eq!(get(service.public, path).status, status, "{path}");
    }
    until_ready_is(service.admin, 200);
    let post = Post::about("a", 7);
    assert_eq!(ask(service.admin, &post.bytes()).status, 404);
    // Heads have a limit, too.
    let long = "x".repeat(1_000_000);
    let reply = ask(service.public, &post.with("x-long", &long).bytes());
    assert_eq!(reply.status, 431);
}

/// A head of the documented size is taken, and one of a byte more is not, however it comes.
#[test]
fn the_limits_of_a_head_are_those_that_are_documented() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    for listener in [service.public, service.admin] {
        let head = |length: usize| {
            let bare = format!("GET /healthz HTTP/1.1\r\nhost: {listener}\r\nx-long: \r\n\r\n");
            bare.replace(
                "x-long: ",
                &format!("x-long: {}", "x".repeat(length - bare.len())),
            )
        };
        for (length, status) in [
            (HEAD_BYTES, 200),
            (HEAD_BYTES + 1, 431),
            (2 * HEAD_BYTES - 1, 431),
        ] {
            let head = head(length);
            assert_eq!(head.len(), length);
            assert_eq!(
                ask(listener, head.as_bytes()).status,
                status,
                "{length} at once"
            );
            let mut line = Line::open(listener).unwrap();
            for part in head.as_bytes().chunks(10_000) {
                // It may be refused before all of it is sent.
                let _refused = line.send(part);
            }
            let reply = line.reply().unwrap().expect("an answer");
            assert_eq!(reply.status, status, "{length} in parts");
        }
        let headers = |count: usize| {
            let more: Vec<String> = (1..count).map(|n| format!("x-{n}: 1\r\n")).collect();
            format!(
                "GET /healthz HTTP/1.1\r\nhost: {listener}\r\n{}\r\n",
                more.concat()
            )
        };
        for (count, status) in [(MAX_HEADERS, 200), (MAX_HEADERS + 1, 431)] {
            let reply = ask(listener, headers(count).as_bytes());
            assert_eq!(reply.status, status, "{count} headers");
        }
    }
}

/// GitHub holds one secret a hook: while it is changed, both count.
#[test]
fn r1_several_secrets_count_and_may_come_from_a_file() {
    let data = tempdir().unwrap();
    let file = data.path().join("secret");
    std::fs::write(
        &file,
        format!("new-secret-of-a-sufficient-length!!, {SECRET}\n"),
    )
    .unwrap();
    let service = Service::start_with(&data.path().join("data"), &[], |program| {
        program
            .without("PHILEAS_WEBHOOK_SECRET")
            .env("PHILEAS_WEBHOOK_SECRET_FILE", file.to_str().unwrap())
    });
    let old = Post::about("old", 7);
    assert_eq!(ask(service.public, &old.bytes()).status, 202);
    let new = Post::about("new", 7);
    let signature = sign("new-secret-of-a-sufficient-length!!", &new.body);
    let new = new.with("x-hub-signature-256", &signature);
    assert_eq!(ask(service.public, &new.bytes()).status, 202);
}

#[test]
fn r4_repositories_that_are_not_listed_are_ignored() {
    let data = tempdir().unwrap();
    let config = data.path().join("phileas.toml");
    std::fs::write(
        &config,
        "[[repository]]\nname = \"acme/renamed\"\nid = 7\n[[repository]]\nname = \"Acme/R8\"\n",
    )
    .unwrap();
    let folder = data.path().join("data");
    let more = ["--config", config.to_str().unwrap()];
    let service = Service::start_with(&folder, &more, |program| program);
    for (guid, repository) in [("by-id", 7), ("by-name", 8), ("outsider", 9)] {
        let reply = ask(service.public, &Post::about(guid, repository).bytes());
        assert_eq!(reply.status, 202, "{reply:?}");
        assert_eq!(reply.body.contains("ignored"), repository == 9, "{reply:?}");
    }
    let no_repository = Post::new("installed", "installation", r#"{"action":"created"}"#);
    assert_eq!(ask(service.public, &no_repository.bytes()).status, 202);
    let guids: Vec<_> = deliveries(&folder)
        .iter()
        .map(|one| one["guid"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(guids, ["by-id", "by-name", "installed"]);
}

/// A connection serves one request after another, and a body may come in pieces.
#[test]
fn connections_are_kept_and_bodies_may_be_chunked() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let mut line = Line::open(service.public).unwrap();
    for n in 0..20 {
        let post = Post::about(&format!("kept-{n}"), 7);
        let reply = line.ask(&post.bytes()).unwrap().unwrap();
        assert_eq!(reply.status, 202);
    }
    let post = Post::about("chunked", 7)
        .with("content-length", "")
        .with("transfer-encoding", "chunked");
    line.send(&post.head()).unwrap();
    for piece in post.body.chunks(10) {
        let size = format!("{:x}\r\n", piece.len());
        line.send(&[size.as_bytes(), piece, b"\r\n"].concat())
            .unwrap();
    }
    let reply = line.ask(b"0\r\n\r\n").unwrap().unwrap();
    assert_eq!(reply.status, 202);
    // As large as GitHub sends at most.
    let mut body = br#"{"action":"labeled","repository":{"id":7},"text":""#.to_vec();
    body.resize((25 << 20) - 2, b'x');
    body.extend(b"\"}");
    let largest = Post::new("largest", "issues", body);
    let reply = line.ask(&largest.bytes()).unwrap().unwrap();
    assert_eq!(reply.status, 202);
    assert_eq!(deliveries(data.path()).len(), 22);
}
