//! Workers and determinism.

use super::*;

#[derive(Debug)]
struct Scribe;

impl Worker for Scribe {
    fn work(&mut self, task: &Task<'_>, _: &github::Model) -> Option<FileTexts> {
        task.prompt
            .contains("scribe")
            .then(|| FileTexts::from([("x.yml".to_owned(), Some("id: 1\n".to_owned()))]))
    }
}

#[test]
fn a_worker_may_do_the_work() {
    let mut bench = scripted(Ending::Changes);
    bench.jules.employ(Box::new(Scribe));
    let id = bench.create("scribe", json!({}));
    bench.until(&id, "COMPLETED");
    let head = bench.github.pull(bench.repo, 1).unwrap().head.oid;
    assert_eq!(
        bench.github.read_file(bench.repo, head, "x.yml").unwrap(),
        "id: 1\n"
    );
}

#[test]
fn one_session_more_does_not_change_the_others() {
    let play = |more: bool| {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        let first = bench.create("a", json!({}));
        if more {
            bench.create("b", json!({}));
        }
        bench.pass(7200);
        bench.activities(&first)
    };
    assert_eq!(play(false), play(true));
}

#[test]
fn worlds_of_one_seed_are_the_same() {
    let play = || {
        let mut bench = Bench::new(vec![]);
        bench.jules.config.weights = Weights::default();
        bench.knobs = Knobs {
            create_burst: 0,
            fresh_session_404_seconds: 0,
            ..Knobs::worst()
        };
        for n in 0..10 {
            bench.try_create(&format!("t{n}"), json!({}));
            bench.pass(600);
        }
        bench.pass(86_400);
        serde_json::to_string(&bench.books).unwrap()
    };
    assert_eq!(play(), play());
}
