//! Tests of HTTP over TCP.

use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use phileas_world::http::{ClockMode, MAX_REQUEST_BODY};
use phileas_world::{Face, Fault, FaultPlan, FaultRule};

use crate::bench::{Served, read_reply, seeded_world, wait_until, write_request};

const TOKEN: &str = "authorization: Bearer gale-token\r\n";
const REPO: &str = "/repos/octo/garden";

fn always_fault(fault: Fault) -> FaultPlan {
    let rule = FaultRule {
        face: None,
        method: None,
        path: Some(REPO.to_owned()),
        body: None,
        nth: None,
        probability: None,
        from: None,
        until: None,
        fault,
    };
    FaultPlan { rules: vec![rule] }
}

#[test]
fn a_connection_takes_request_after_request() {
    let served = Served::serve_world(seeded_world().0);
    let mut stream = served.connect();
    write_request(&mut stream, "GET", REPO, TOKEN, b"");
    let full = read_reply(&mut stream, false).unwrap();
    assert_eq!(full.status, 200);
    assert_eq!(full.json()["full_name"], "octo/garden");
    let own = format!("http://{}{REPO}", served.address);
    assert_eq!(full.json()["url"], own.as_str(), "links lead here");
    assert_eq!(full.header("date"), Some("Mon, 05 Jan 2026 00:00:00 GMT"));

    write_request(&mut stream, "HEAD", REPO, TOKEN, b"");
    let head = read_reply(&mut stream, true).unwrap();
    assert_eq!(
        (head.status, head.header("content-length")),
        (200, full.header("content-length"))
    );

    let known = format!("{TOKEN}if-none-match: {}\r\n", full.header("etag").unwrap());
    write_request(&mut stream, "GET", REPO, &known, b"");
    let same = read_reply(&mut stream, false).unwrap();
    assert_eq!((same.status, same.header("content-type")), (304, None));
    assert!(same.body.is_empty());

    write_request(&mut stream, "GET", "/repos/octo/none", TOKEN, b"");
    assert_eq!(read_reply(&mut stream, false).unwrap().status, 404);
}

#[test]
fn a_dropped_request_closes_the_connection() {
    let (mut world, _) = seeded_world();
    world
        .faults_mut()
        .replace_plan(always_fault(Fault::DropAfter {}));
    let served = Served::serve_world(world);
    assert!(served.send_request("GET", REPO, TOKEN, b"").is_none());
    assert_eq!(served.world.lock().unwrap().books().requests.len(), 1);
}

#[test]
fn a_request_that_times_out_is_met_with_silence_until_the_server_ends() {
    let (mut world, _) = seeded_world();
    world
        .faults_mut()
        .replace_plan(always_fault(Fault::TimeoutAfter {}));
    let served = Served::serve_world(world);
    let mut silent = served.connect();
    write_request(&mut silent, "GET", REPO, TOKEN, b"");
    // Another connection is served meanwhile, and shows that the first request has arrived.
    wait_until("the request arrives", || {
        !served.world.lock().unwrap().books().requests.is_empty()
    });
    assert_eq!(
        served
            .send_request("GET", "/rate_limit", "", b"")
            .unwrap()
            .status,
        200
    );
    silent.set_nonblocking(true).unwrap();
    let nothing = silent.peek(&mut [0]).unwrap_err();
    assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    silent.set_nonblocking(false).unwrap();
    drop(served);
    assert!(read_reply(&mut silent, false).is_none());
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let served = Served::serve_world(seeded_world().0);
    let mut stream = served.connect();
    let length = MAX_REQUEST_BODY + 1;
    // The length alone is enough to be refused, and no client should have to send it all.
    let headers = format!("{TOKEN}content-length: {length}\r\n");
    write!(
        stream,
        "POST {REPO}/issues HTTP/1.1\r\nhost: world\r\n{headers}\r\n"
    )
    .unwrap();
    let reply = read_reply(&mut stream, false).unwrap();
    assert_eq!(
        (reply.status, reply.header("connection")),
        (413, Some("close"))
    );
    assert!(served.world.lock().unwrap().books().requests.is_empty());
}

#[test]
fn an_accelerated_world_moves_by_itself_and_really_waits() {
    let (mut world, _) = seeded_world();
    world
        .faults_mut()
        .replace_plan(always_fault(Fault::Slow { seconds: 600 }));
    let start = world.now();
    let clock = ClockMode::Accelerated { factor: 6_000.0 };
    let served = Served::serve_with(Arc::new(Mutex::new(world)), Face::Github, clock, None);
    let before = Instant::now();
    assert_eq!(
        served.send_request("GET", REPO, TOKEN, b"").unwrap().status,
        200
    );
    assert!(
        before.elapsed().as_millis() >= 100,
        "ten minutes at 6000 times the speed"
    );
    let an_hour = start + jiff::SignedDuration::from_hours(1);
    wait_until("an hour passes", || {
        served.world.lock().unwrap().now() >= an_hour
    });
}

#[test]
fn a_manual_world_stands_and_waits_for_nothing() {
    let (mut world, _) = seeded_world();
    world
        .faults_mut()
        .replace_plan(always_fault(Fault::Slow { seconds: 86_400 }));
    let start = world.now();
    let served = Served::serve_world(world);
    assert_eq!(
        served.send_request("GET", REPO, TOKEN, b"").unwrap().status,
        200
    );
    assert_eq!(served.world.lock().unwrap().now(), start);
}
