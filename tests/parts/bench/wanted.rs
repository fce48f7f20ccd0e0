//! Days of an agent that repeats its ideas, under each setting of `[novelty]`.
//!
//! `wanted FILE SEEDS DAYS`: appends one JSON document a line to FILE for each run. A run that FILE has already is not played
//! again, so a measurement that was cut off goes on. Seed by seed, so that what is there covers each setting alike.

#![expect(clippy::print_stdout, reason = "its lines are its output")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::{SignedDuration, Timestamp};
use phileas::sandbox::{SharedWorld, Timeline, WorldSetup, world_setup};
use phileas_domain::model::Tree;
use phileas_domain::plan::{self, SCHEDULES_PATH};
use phileas_world::World;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::{Pull, RepoId, State};
use phileas_world::jules::{Ideas, Rewritten, Weights};
use phileas_world::maintainer::ReviewPolicy;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const MODES: [&str; 4] = ["off", "prompt", "label", "close"];
const HEEDED: [f64; 3] = [0.0, 0.3, 0.6];
/// Share of titles that the maintainer does not want.
const REFUSED: f64 = 0.4;
const MARK: &str = "phileas:duplicate";

/// What one run is given.
#[derive(Debug, Clone, Copy)]
struct Case {
    mode: &'static str,
    plan: bool,
    /// Whether the same work is a repeat for 30 days after a merge.
    count_merged: bool,
    heeds: f64,
    rewritten: Rewritten,
    seed: u64,
    days: i64,
}

impl Case {
    fn to_json(self) -> Value {
        json!({
            "mode": self.mode, "plan": self.plan, "count_merged": self.count_merged, "heeds": self.heeds,
            "rewritten": self.rewritten, "seed": self.seed, "days": self.days,
        })
    }

    /// Five personas, one session a day each. Limits that would keep the agent from working stay out of the way.
    fn schedules(self) -> String {
        let Self { mode, plan, .. } = self;
        let count_merged = if self.count_merged { "30d" } else { "0" };
        format!(
            "[budget]\ntier = \"pro\"\nmax_active = 5\ndaily_sessions = 20\nmax_open_pulls = 20\n\n[defaults]\nskip_unchanged = false\n\
             rest_after = 0\n\n[novelty]\nmode = \"{mode}\"\nplan = {plan}\n\
             count_merged = \"{count_merged}\"\n\n\
             [schedules]\nauditor = \"0 1 * * *\"\ncurator = \"0 6 * * *\"\nfixer = \"0 11 * * *\"\nrefactor = \"0 16 * * *\"\n\
             tester = \"0 21 * * *\"\n"
        )
    }

    /// Whether phileas does all that the plan says; it warns of keys that have no effect yet.
    fn is_built(self) -> bool {
        let (_, found) = plan::read(&Tree::from_texts([(SCHEDULES_PATH, self.schedules())]));
        !found.iter().any(|one| one.key.starts_with("novelty"))
    }

    fn world(self) -> Result<(World, RepoId), String> {
        let mut setup = WorldSetup::new(self.seed);
        setup
            .texts
            .insert(SCHEDULES_PATH.to_owned(), self.schedules());
        setup.jules.asks = 0.0;
        setup.jules.weights = Weights::only_changes();
        setup.jules.ideas = Some(Ideas {
            heeds_prompt: self.heeds,
            rewritten: self.rewritten,
            ..Ideas::default()
        });
        setup.review_policy = ReviewPolicy {
            refuses: REFUSED,
            merges: 1,
            asks_for_changes: 0,
            closes: 0,
            ignores: 0,
            // Without plan approval no plan waits; with it, phileas approves.
            approves_plans: 0.0,
            pushes_a_day: 0.0,
            tidies_a_day: 0.0,
            ..ReviewPolicy::usual()
        };
        let (mut world, repo) = setup.build_world()?;
        // That of a workflow: Jules takes what a person's token writes for a task, so phileas would comment nowhere.
        let rights = permissions(&[
            ("contents", Access::Write),
            ("issues", Access::Write),
            ("pull_requests", Access::Write),
            ("checks", Access::Read),
            ("statuses", Access::Read),
        ]);
        let github = world.github_mut();
        github.add_actions_token(world_setup::GITHUB_TOKEN, repo, rights);
        Ok((world, repo))
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, seeds, days] = arguments.as_slice() else {
        return Err("wanted FILE SEEDS DAYS".into());
    };
    let known = match std::fs::read_to_string(path) {
        Ok(text) => played(&text),
        Err(_) => BTreeSet::new(),
    };
    let cases = cases(seeds.parse()?, days.parse()?);
    let open: Vec<Case> = cases
        .into_iter()
        .filter(|case| !known.contains(&case.to_json().to_string()))
        .collect();
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let (file, next) = (Mutex::new(file), AtomicUsize::new(0));
    let workers = std::thread::available_parallelism()?.get();
    let work = || -> Result<(), Failure> {
        while let Some(case) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let line = json!({ "case": case.to_json(), "counts": play(*case)? });
            println!("{line}");
            let mut file = file.lock().map_err(|_| "a run has panicked")?;
            writeln!(file, "{line}")?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|_| Err("a run has panicked".into()))
        })
    })
}

/// The cases of which a file has the counts.
fn played(text: &str) -> BTreeSet<String> {
    let documents = text.lines().map(serde_json::from_str::<Value>);
    let cases = documents.filter_map(|one| Some(one.ok()?.get("case")?.to_string()));
    cases.collect()
}

/// All cases whose settings phileas has, seed by seed.
fn cases(seeds: u64, days: i64) -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 0..seeds {
        for mode in MODES {
            for (plan, count_merged) in [(false, false), (true, false), (false, true), (true, true)]
            {
                for heeds in HEEDED {
                    for rewritten in [Rewritten::Scattered, Rewritten::Together] {
                        cases.push(Case {
                            mode,
                            plan,
                            count_merged,
                            heeds,
                            rewritten,
                            seed,
                            days,
                        });
                    }
                }
            }
        }
    }
    cases.retain(|case| {
        // Without a section in the prompt there is nothing to heed.
        let differs = case.mode != "off" || case.heeds == 0.0 && !case.plan && !case.count_merged;
        // Prompts name merged work in any case.
        let is_new = !case.count_merged || case.mode == "label";
        let is_shown =
            case.rewritten == Rewritten::Scattered || case.mode == "off" || case.heeds == 0.6;
        differs && is_new && is_shown && case.is_built()
    });
    cases
}

fn play(case: Case) -> Result<Value, Failure> {
    let (world, repo) = case.world()?;
    let shared = SharedWorld::new(world);
    let span = SignedDuration::from_hours(24 * case.days);
    let name = world_setup::repository_name();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (ticks, failed) = runtime.block_on(async {
        // Its clients need the runtime.
        let mut timeline = Timeline::new(shared.clone(), name, span, case.seed);
        let mut failed = 0_u64;
        while let Some(ticked) = timeline.next().await {
            failed += u64::from(ticked.result.is_err());
        }
        (timeline.tick_count(), failed)
    });
    let world = shared.lock_world();
    let mut counts = count(&world, repo);
    counts["ticks"] = ticks.into();
    counts["failed_ticks"] = failed.into();
    Ok(counts)
}

/// What became of the sessions.
fn count(world: &World, repo: RepoId) -> Value {
    let books = world.books();
    let pulls: BTreeMap<u64, &Pull> = world
        .github()
        .pulls(repo)
        .map(|pull| (pull.number, pull))
        .collect();
    let opened: BTreeMap<u64, &Pull> = books
        .sessions
        .iter()
        .filter_map(|session| Some((session.pull?, *pulls.get(&session.pull?)?)))
        .collect();
    let is_repeat = |title: &str, at: Timestamp| {
        let mut earlier = opened.values();
        earlier.any(|pull| pull.title == title && pull.created_at < at)
    };
    let repeats: BTreeSet<u64> = opened
        .iter()
        .filter(|(_, pull)| is_repeat(&pull.title, pull.created_at))
        .map(|(number, _)| *number)
        .collect();
    // What became of the idea before the copy came: only open and refused pull requests forbid one.
    let is_after_merge = |pull: &Pull| {
        let merged = opened
            .values()
            .filter_map(|one| Some((&one.title, one.merged.as_ref()?)));
        let mut merged = merged.filter(|(title, _)| **title == pull.title);
        merged.any(|(_, merge)| merge.at < pull.created_at)
    };
    let after_merge = repeats
        .iter()
        .filter(|number| is_after_merge(opened[*number]));
    let judged: BTreeSet<u64> = books
        .reviews
        .iter()
        .filter(|review| review.verdict != "closed-marked")
        .map(|review| review.number)
        .collect();
    let by_person: BTreeSet<u64> = books.reviews.iter().map(|review| review.number).collect();
    let is_suppressed = |pull: &Pull| {
        let is_marked = pull.labels.iter().any(|label| label == MARK);
        let is_closed = pull.state == State::Closed && pull.merged.is_none();
        is_marked || is_closed && !by_person.contains(&pull.number)
    };
    let fresh: Vec<&&Pull> = opened
        .iter()
        .filter(|(number, _)| !repeats.contains(number))
        .map(|(_, pull)| pull)
        .collect();
    // Plans that were turned down, and were about nothing that was there when the session began.
    let mut turned_down = (0, 0);
    for session in &books.sessions {
        let kept = usize::from(session.pull.is_some() || !session.archived);
        let refused = session.ideas.len().saturating_sub(kept);
        let at = session.created_at.unwrap_or(Timestamp::MIN);
        for title in session.ideas.iter().take(refused) {
            match is_repeat(title, at) {
                true => turned_down.0 += 1,
                false => turned_down.1 += 1,
            }
        }
    }
    json!({
        "sessions": books.sessions.len(),
        "opened": opened.len(),
        "repeats": repeats.len(),
        "repeats_of_merged": after_merge.count(),
        "costly": repeats.intersection(&judged).count(),
        "merged": opened.values().filter(|pull| pull.merged.is_some()).count(),
        "fresh": fresh.len() + turned_down.1,
        "fresh_suppressed": fresh.iter().filter(|pull| is_suppressed(pull)).count() + turned_down.1,
        "marked": opened.values().filter(|pull| pull.labels.iter().any(|label| label == MARK)).count(),
        "plans_turned_down": turned_down.0,
    })
}
