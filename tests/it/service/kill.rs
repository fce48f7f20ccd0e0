//! SIGKILL under load: every id that was answered 202 is there afterwards. `scripts/test intake` does it 200 times, and
//! takes the power away, too, which a kill cannot show.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::tempdir;

use super::client::{Line, Post};
use super::served::{Service, deliveries};
use crate::support::{held, print_line};

const ROUNDS: usize = 5;
const SENDERS: usize = 8;
/// How many answers a round waits for before it kills.
const ANSWERS: usize = 150;

#[test]
fn what_was_answered_survives_a_kill() {
    let data = tempdir().unwrap();
    let answered = Arc::new(Mutex::new(BTreeSet::new()));
    for round in 0..ROUNDS {
        let service = Service::start(data.path());
        let address = service.public;
        let count = Arc::new(AtomicUsize::new(0));
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (answered, count) = (Arc::clone(&answered), Arc::clone(&count));
                std::thread::spawn(move || {
                    let Ok(mut line) = Line::open(address) else {
                        return;
                    };
                    for n in 0.. {
                        let guid = format!("{round}-{sender}-{n}");
                        let post = Post::about(&guid, n % 40);
                        // The service dies at any of these; what was not answered may or may not be stored.
                        let Ok(Some(reply)) = line.ask(&post.bytes()) else {
                            return;
                        };
                        assert_eq!(reply.status, 202);
                        held(&answered).insert(guid);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        while count.load(Ordering::Relaxed) < ANSWERS {
            assert!(!senders.iter().all(std::thread::JoinHandle::is_finished));
            std::thread::yield_now();
        }
        service.kill();
        for sender in senders {
            sender.join().unwrap();
        }
    }
    let stored: BTreeSet<String> = deliveries(data.path())
        .iter()
        .map(|one| one["guid"].as_str().unwrap().to_owned())
        .collect();
    let answered = held(&answered);
    let lost: Vec<_> = answered.difference(&stored).collect();
    assert!(lost.is_empty(), "answered 202 and lost: {lost:?}");
    print_line(&format!(
        "kill: {ROUNDS} rounds, {} deliveries answered 202, {} stored, 0 lost",
        answered.len(),
        stored.len()
    ));
}
