//! Hostile clients: slow, oversized, truncated, endless, many. Nothing of it fills the memory or keeps honest
//! deliveries out.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use phileas::server::public::listen::{BODY_TIMEOUT, HEAD_TIMEOUT, MAX_CONNECTIONS};
use phileas::server::public::webhook::{MAX_BODY, SMALL_BODY};
use tempfile::tempdir;

use super::client::{Line, Post, ask, get, until_ready_is};
use super::hook::sign;
use super::served::Service;
use crate::support::print_line;

/// What the service may take at any time of these tests, in MiB. A debug build of it starts with about 20.
const MEMORY: u64 = 200;
/// What is granted to a busy machine on top of a time limit.
const GRACE: Duration = Duration::from_secs(45);
/// How often a measurement that shows a fault is repeated.
const MEASURED_AGAIN: usize = 4;
/// How many MiB an endless body would have: the limit of 25, and far more than a system's buffers take.
const MANY: usize = 200;
/// How long GitHub waits for an answer.
const GITHUB_WAITS: Duration = Duration::from_secs(10);

/// The shortest of some measurements, the first of which mostly does. Other load may slow down one of them, but a service
/// that waits until silent clients leave by themselves takes as long as they do each time.
#[track_caller]
fn sooner_than(limit: Duration, measure: impl Fn() -> Duration) -> Duration {
    let mut all = Vec::new();
    for _ in 0..=MEASURED_AGAIN {
        let took = measure();
        if took < limit {
            return took;
        }
        all.push(took);
    }
    panic!("never sooner than {limit:?}: {all:?}");
}

#[test]
fn r2_slow_clients_are_cut_off_and_others_are_served() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let post = Post::about("slow", 7);
    let started = Instant::now();
    let mut heads: Vec<Line> = (0..60)
        .map(|_| Line::open(service.public).unwrap())
        .collect();
    for line in &mut heads {
        line.send(b"POST /webhook HTTP/1.1\r\nhost: ").unwrap();
    }
    let mut bodies: Vec<Line> = (0..60)
        .map(|_| Line::open(service.public).unwrap())
        .collect();
    for line in &mut bodies {
        line.send(&[post.head(), b"{".to_vec()].concat()).unwrap();
    }
    // Beside the honest deliveries, whose own time must not count.
    let cut_off = std::thread::spawn(move || {
        for line in &mut heads {
            // hyper may say why before it closes, and need not.
            let reply = line.reply().unwrap();
            assert!(
                reply.is_none_or(|reply| reply.status == 408),
                "a slow head is not a request"
            );
        }
        for line in &mut bodies {
            let reply = line.reply().unwrap();
            assert!(
                reply.is_some_and(|reply| reply.status == 408),
                "a slow body is told so"
            );
        }
        started.elapsed()
    });
    let mut slowest = Duration::ZERO;
    for n in 0..50 {
        let sent = Instant::now();
        let honest = Post::about(&format!("honest-{n}"), 7);
        assert_eq!(ask(service.public, &honest.bytes()).status, 202);
        slowest = slowest.max(sent.elapsed());
    }
    let over = cut_off.join().unwrap();
    assert!(
        over >= Duration::from_secs(9) && over < Duration::from_secs(10) + GRACE,
        "{over:?}"
    );
    let (peak, _) = service.load();
    print_line(&format!(
        "slow-loris: 120 slow connections cut off after {:.1} s; slowest of 50 honest deliveries meanwhile {} ms; peak {} MiB",
        over.as_secs_f64(),
        slowest.as_millis(),
        peak >> 10
    ));
}

#[test]
fn r2_oversized_truncated_and_senseless_requests_leave_it_standing() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let post = Post::about("a", 7);
    // Announced: refused by its head alone.
    let announced = post.clone().with("content-length", "99999999999");
    assert_eq!(ask(service.public, &announced.head()).status, 413);
    // Not announced: refused where it passes the limit, many at a time.
    let endless = post
        .clone()
        .with("content-length", "")
        .with("transfer-encoding", "chunked");
    let flood: Vec<_> = (0..8)
        .map(|_| {
            let (address, head) = (service.public, endless.head());
            std::thread::spawn(move || {
                let mut line = Line::open(address).unwrap();
                line.send(&head).unwrap();
                let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
                // The service stops reading and closes; how much the system takes before is its own affair.
                (0..MANY).take_while(|_| line.send(&chunk).is_ok()).count()
            })
        })
        .collect();
    let sent: Vec<usize> = flood.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(sent.iter().all(|sent| *sent < MANY), "{sent:?}");
    for piece in [20, post.head().len() + 1, post.bytes().len() - 1] {
        let mut line = Line::open(service.public).unwrap();
        line.send(&post.bytes()[..piece]).unwrap();
        line.end();
        let reply = line.reply().unwrap();
        assert!(
            reply.is_none_or(|reply| reply.status == 400),
            "cut at {piece}"
        );
    }
    let garbage: [&[u8]; 5] = [
        b"\0\x01\x02\x03\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /webhook HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /webhook HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ];
    for bytes in garbage {
        let mut line = Line::open(service.public).unwrap();
        line.send(bytes).unwrap();
        line.end();
        let reply = line.reply().unwrap();
        assert!(reply.is_none_or(|reply| (400..600).contains(&reply.status)));
    }
    assert_eq!(ask(service.public, &post.bytes()).status, 202);
    let (peak, _) = service.load();
    assert!(peak >> 10 < MEMORY, "{} MiB", peak >> 10);
    print_line(&format!(
        "oversized: 8 endless bodies at once, cut off after at most {} MiB sent; peak {} MiB",
        sent.iter().max().unwrap(),
        peak >> 10
    ));
}

#[test]
fn r2_a_flood_of_connections_leaves_room_for_the_rest() {
    sooner_than(GITHUB_WAITS, || {
        let data = tempdir().unwrap();
        let service = Service::start(data.path());
        let (_, files_before) = service.load();
        let started = Instant::now();
        let clients: Vec<_> = (0..MAX_CONNECTIONS + 200)
            .map(|_| Line::open(service.public).unwrap())
            .collect();
        // Silent clients hold all connections; the one that has been silent for longest makes room.
        assert_eq!(
            ask(service.public, &Post::about("patient", 7).bytes()).status,
            202
        );
        let waited = started.elapsed();
        let (peak, files) = service.load();
        assert!(files <= files_before + MAX_CONNECTIONS, "{files}");
        assert!(peak >> 10 < MEMORY, "{} MiB", peak >> 10);
        drop(clients);
        until_ready_is(service.public, 200);
        print_line(&format!(
            "flood: {} silent connections; an honest delivery behind them was answered {:.2} s after the first; peak {} MiB, {files} files",
            MAX_CONNECTIONS + 200,
            waited.as_secs_f64(),
            peak >> 10
        ));
        waited
    });
}

#[test]
fn many_clients_that_keep_their_bodies_back_keep_no_other_out() {
    const CLIENTS: usize = MAX_CONNECTIONS + 100;
    // A head costs nothing, and it can be made up without the secret.
    let forged = Post::about("forged", 7).with("x-hub-signature-256", &sign("wrong", b""));
    let slowest = sooner_than(GITHUB_WAITS, || {
        let data = tempdir().unwrap();
        let service = Service::start(data.path());
        let _clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let mut line = Line::open(service.public).unwrap();
                // A client that was evicted meanwhile may find the connection closed.
                let _gone = line.send(&[forged.head(), b"{".to_vec()].concat());
                line
            })
            .collect();
        let mut slowest = Duration::ZERO;
        for n in 0..20 {
            let sent = Instant::now();
            let honest = Post::about(&format!("honest-{n}"), 7);
            assert_eq!(ask(service.public, &honest.bytes()).status, 202);
            slowest = slowest.max(sent.elapsed());
        }
        slowest
    });
    print_line(&format!(
        "{CLIENTS} bodies kept back, in {MAX_CONNECTIONS} places: slowest of 20 honest deliveries {} ms",
        slowest.as_millis()
    ));
}

#[test]
fn what_is_announced_and_not_sent_takes_no_room() {
    let announcing = Post::about("announced", 7).with("content-length", &MAX_BODY.to_string());
    let large = format!("{{\"filler\": \"{}\"}}", "x".repeat(4 * SMALL_BODY));
    let large = Post::new("large", "issues", large);
    // The other connections' time is longer: they were there first, and are there still.
    sooner_than(BODY_TIMEOUT, || {
        let data = tempdir().unwrap();
        let service = Service::start(data.path());
        let _clients: Vec<_> = (0..20)
            .map(|_| {
                let mut line = Line::open(service.public).unwrap();
                line.send(&[announcing.head(), b"{".to_vec()].concat())
                    .unwrap();
                line
            })
            .collect();
        let started = Instant::now();
        assert_eq!(ask(service.public, &large.bytes()).status, 202);
        started.elapsed()
    });
}

#[test]
fn a_body_that_never_comes_ends_on_the_admin_listener_too() {
    let data = tempdir().unwrap();
    let service = Service::start(data.path());
    let mut line = Line::open(service.admin).unwrap();
    let head = "POST /login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n";
    line.send(head.as_bytes()).unwrap();
    let reply = line.reply().unwrap().expect("an answer");
    assert!((400..500).contains(&reply.status), "{reply:?}");
}

/// How many connections of a listener the service has not accepted yet. <https://man7.org/linux/man-pages/man5/proc_pid_net.5.html>
fn unaccepted(listener: SocketAddr) -> u32 {
    const LISTENS: &str = "0A";
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let own = format!(":{:04X}", listener.port());
    let mut lines = table
        .lines()
        .map(|line| Vec::from_iter(line.split_whitespace()));
    let line = lines
        .find(|fields| fields[1].ends_with(&own) && fields[3] == LISTENS)
        .expect("the service listens");
    let (_sent, waiting) = line[4].split_once(':').unwrap();
    u32::from_str_radix(waiting, 16).unwrap()
}

/// Connections of both listeners share the file descriptors of the process.
#[test]
fn silent_connections_that_take_all_descriptors_keep_no_request_out() {
    for silent_on_admin in [false, true] {
        // By themselves they would leave after this time.
        sooner_than(HEAD_TIMEOUT, || {
            requests_past_silent_connections(silent_on_admin)
        });
    }
}

/// How long it takes until silent connections have taken all descriptors and some requests were answered.
fn requests_past_silent_connections(silent_on_admin: bool) -> Duration {
    const DESCRIPTORS: usize = 64;
    let data = tempdir().unwrap();
    let log = data.path().join("log");
    let stderr = File::create(&log).unwrap();
    let service = Service::start_with(&data.path().join("data"), &[], |program| {
        let limit = format!("--nofile={DESCRIPTORS}");
        program.limited(&limit).logging_to(stderr)
    });
    let flooded = if silent_on_admin {
        service.admin
    } else {
        service.public
    };
    let clients: Vec<_> = (0..2 * DESCRIPTORS)
        .map(|_| Line::open(flooded).unwrap())
        .collect();
    let started = Instant::now();
    // While silent ones are still accepted, one with a request that comes late could be the most silent one.
    while unaccepted(flooded) > 0 {
        assert!(started.elapsed() < HEAD_TIMEOUT + GRACE);
        std::thread::yield_now();
    }
    for n in 0..5 {
        let honest = Post::about(&format!("honest-{n}"), 7);
        assert_eq!(ask(service.public, &honest.bytes()).status, 202);
        assert_eq!(get(service.admin, "/healthz").status, 200);
    }
    let waited = started.elapsed();
    drop(clients);
    let said = fs::read_to_string(&log).unwrap();
    let warnings = said.matches("no file descriptor is free").count();
    assert_eq!(warnings, 1, "{said}");
    waited
}

/// A limit of the size of files is as good as a full disk, and no reason to die.
#[test]
fn a_limit_of_file_size_refuses_deliveries_and_ends_nothing() {
    let data = tempdir().unwrap();
    let service = Service::start_with(data.path(), &[], |program| {
        program.limited("--fsize=262144")
    });
    let mut refused = 0;
    for n in 0..500 {
        let reply = ask(service.public, &Post::about(&format!("{n}"), n).bytes());
        refused += usize::from(reply.status == 503);
        assert!([202, 503].contains(&reply.status), "{reply:?}");
        if refused == 3 {
            break;
        }
    }
    assert_eq!(refused, 3);
    assert_eq!(get(service.public, "/healthz").status, 200);
    until_ready_is(service.admin, 503);
    assert_eq!(service.terminate().code(), Some(0));
}
