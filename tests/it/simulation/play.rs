//! A case is played: replicas of the service and runs of the workflow over one world, until its time is over.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::body::Body;
use http::Request;
use jiff::{SignedDuration, Timestamp};
use phileas::adapters::inbox::memory::MemoryInbox;
use phileas::runtime::inbox::Inbox as _;
use phileas::runtime::{TickError, TickReport};
use phileas::sandbox::{Shared, scene};
use phileas_domain::model::RepositoryName;
use phileas_world::chance::{Chance, Stream};
use phileas_world::github::RepoId;
use phileas_world::jules::Installed;
use phileas_world::{FaultPlan, Knobs, WebhookDelivery};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use super::case::Case;
use super::course::{Course, Process};
use super::sabotage::Sabotage;
use super::stage::{self, Replica, drawn};
use super::troubles;
use super::verdict::{IN_BOOKS, Verdict, judge, secrets};

/// Replicas of the service.
const REPLICAS: usize = 3;
/// The minute of each hour at which the workflow's cron comes.
const CRON_MINUTE: i64 = 17;
/// How much room the inbox has, and where there is little, at least and for each hour at most besides: in a long case
/// it is full sooner or later.
const ROOM: usize = 100_000;
const LITTLE_ROOM: u64 = 60;
const LITTLE_ROOM_AN_HOUR: u64 = 20;
/// The name of the first repository while it is another.
const RENAMED: &str = "sprocket";
/// What somebody else writes to the ledger's branch.
const STRANGERS_FILE: &str = "notes/stranger.md";
pub(super) const TAKE_A_NOTE: &str = "Take a note";
/// What the inbox says of a repository that was parked because its processes died.
const DIED: &str = "never came back";
/// No case goes through more steps than this.
const MOST_STEPS: usize = 20_000_000;
/// How often everybody gets their turn before time goes on: far more than any chain of wake-ups has links, where each
/// turn runs whoever is ready.
const TURNS: usize = 12;

/// What came of a case.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) verdict: Verdict,
    pub(super) kills: u64,
    /// How often a repository was parked because too many processes had died at it, and a person resumed it.
    pub(super) resumed: u64,
    pub(super) workflow_runs: u64,
    pub(super) lost_races: usize,
    pub(super) requests: usize,
    /// Of the world's books.
    pub(super) digest: String,
}

/// Something that is to happen to the actors.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// A replica hears that the inbox has changed.
    Hear(usize),
    /// A replica is started.
    Start(usize),
    /// A replica is told to end, and another takes its place.
    Leave,
    /// The workflow's cron comes.
    Cron,
    /// Somebody stands still.
    Stall,
    /// Somebody's clock is set.
    SetClock,
    Rename,
    /// A person asks for something by a label.
    Wish,
    /// Somebody writes to the ledger's branch.
    Stranger,
    /// All troubles are over.
    Calm,
}

/// A delivery that somebody is about to answer.
struct Post {
    id: u64,
    /// Of whom it was brought to.
    life: u64,
    answer: JoinHandle<Option<u16>>,
}

/// One run of the workflow, with what it ends.
type Run = JoinHandle<Result<TickReport, TickError>>;

struct Play<'a> {
    case: &'a Case,
    sabotage: Option<Sabotage>,
    world: Shared,
    course: Arc<Course>,
    repositories: Vec<RepoId>,
    inbox: Arc<MemoryInbox>,
    news: watch::Receiver<u64>,
    replicas: Vec<Option<Replica>>,
    workflow: Option<(Arc<Process>, Run)>,
    /// Whether the workflow is to run once more when its run has ended.
    queued: bool,
    agenda: BTreeMap<(Timestamp, u64), Act>,
    posts: Vec<Post>,
    /// The events of which somebody was told.
    heard: BTreeSet<String>,
    chance: Stream,
    count: u64,
    calm: bool,
    kills: u64,
    resumed: u64,
    workflow_runs: u64,
    lost_races: usize,
}

/// Plays a case from its beginning to its end and judges it. A panic, of the models as of the program, is a finding of
/// its case: the other cases are played all the same.
pub(super) fn play(case: &Case, sabotage: Option<Sabotage>) -> Played {
    catch_unwind(AssertUnwindSafe(|| played(case, sabotage))).unwrap_or_else(|panic| {
        let mut played = Played::default();
        let text = format!("the play panicked: {}", words(&*panic));
        played.verdict.findings.push(text);
        played
    })
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it did not say why")
}

fn played(case: &Case, sabotage: Option<Sabotage>) -> Played {
    // What the adapters draw for their jitter.
    fastrand::seed(case.seed);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut play = Play::new(case, sabotage);
        play.run().await;
        play.end()
    })
}

impl<'a> Play<'a> {
    fn new(case: &'a Case, sabotage: Option<Sabotage>) -> Self {
        let (world, repositories) = stage::world(case);
        let chance = Chance::new(case.seed);
        let room = match case.is_turned(troubles::INBOX_FULL) {
            true => {
                let most = LITTLE_ROOM + LITTLE_ROOM_AN_HOUR * case.hours.unsigned_abs();
                chance.stream("room").between(LITTLE_ROOM, most) as usize
            }
            false => ROOM,
        };
        let inbox = Arc::new(MemoryInbox::new(room));
        let mut play = Self {
            case,
            sabotage,
            course: Course::new(world.clone(), &chance),
            world,
            repositories,
            news: inbox.news(),
            inbox,
            replicas: (0..REPLICAS).map(|_| None).collect(),
            workflow: None,
            queued: false,
            agenda: BTreeMap::new(),
            posts: Vec::new(),
            heard: BTreeSet::new(),
            chance: chance.stream("play"),
            count: 0,
            calm: false,
            kills: 0,
            resumed: 0,
            workflow_runs: 0,
            lost_races: 0,
        };
        for who in 0..REPLICAS {
            play.soon(0, 60, Act::Start(who));
        }
        play.plan(Act::Cron, play.until_cron());
        play.plan(Act::Calm, SignedDuration::from_hours(case.hours));
        play.soon(3_600, 8 * 3_600, Act::Leave);
        play.soon(600, 6 * 3_600, Act::Wish);
        for (name, act) in [
            (troubles::STALLS, Act::Stall),
            (troubles::CLOCK_STEPS, Act::SetClock),
            (troubles::RENAMES, Act::Rename),
            (troubles::STRANGERS_COMMITS, Act::Stranger),
        ] {
            if case.is_turned(name) {
                play.soon(600, 4 * 3_600, act);
            }
        }
        play
    }

    fn plan(&mut self, act: Act, after: SignedDuration) {
        self.count += 1;
        let at = self.course.now() + after;
        self.agenda.insert((at, self.count), act);
    }

    fn soon(&mut self, least: u64, most: u64, act: Act) {
        let after = drawn(&mut self.chance, least, most);
        self.plan(act, after);
    }

    fn until_cron(&self) -> SignedDuration {
        const HOUR: i64 = 60 * 60;
        let into = (self.course.now().as_second() - CRON_MINUTE * 60).rem_euclid(HOUR);
        SignedDuration::from_secs(HOUR - into)
    }

    async fn run(&mut self) {
        let hours = SignedDuration::from_hours(self.case.hours + self.case.calm_hours());
        let end = self.course.now() + hours;
        for _ in 0..MOST_STEPS {
            settle().await;
            for (who, life) in self.course.doomed() {
                self.kill(who, life).await;
            }
            self.collect().await;
            self.resume_parked().await;
            self.spread_news();
            let now = self.course.now();
            let waiting = self.course.next();
            let planned = self.agenda.keys().next().map(|(at, _)| *at);
            let moving = self.world.world().next_due();
            // What is due now and has not happened needs the clock to move.
            let moving = moving.map(|at| at.max(now + SignedDuration::from_millis(1)));
            let next = [waiting, planned, moving].into_iter().flatten().min();
            let next = next.unwrap_or(end);
            if next >= end {
                return;
            }
            if next > now {
                self.world.world().advance_to(next);
            }
            self.deliver();
            if planned.is_some_and(|at| at <= next) {
                if let Some((_, act)) = self.agenda.pop_first() {
                    self.act(act);
                }
            } else if waiting.is_some_and(|at| at <= next) {
                self.course.let_go();
            }
        }
        self.course.own_fault("the play did not end".to_owned());
    }

    fn act(&mut self, act: Act) {
        let again = match act {
            Act::Hear(who) => {
                if let Some(replica) = &self.replicas[who] {
                    replica.desk.tell();
                }
                return;
            }
            Act::Start(who) => return self.start(who),
            Act::Cron => {
                self.plan(Act::Cron, self.until_cron());
                return self.ask_workflow();
            }
            Act::Calm => return self.calm_down(),
            Act::Wish if self.calm => return,
            Act::Wish => {
                self.wish();
                8 * 3_600
            }
            _ if self.calm => return,
            Act::Leave => {
                let who = self.chance.below(REPLICAS as u64) as usize;
                if let Some(replica) = &self.replicas[who] {
                    replica.end.now();
                }
                12 * 3_600
            }
            Act::Stall => {
                let length = drawn(&mut self.chance, 5, 8 * 60);
                if let Some(process) = self.anybody() {
                    process.stand_still(length);
                }
                4 * 3_600
            }
            Act::SetClock => {
                let step = [1, 30, 100, 3_600][self.chance.below(4) as usize];
                let step = drawn(&mut self.chance, 0, step);
                let step = if self.chance.happens(0.5) {
                    step
                } else {
                    -step
                };
                if let Some(process) = self.anybody() {
                    let back = process.ahead() != SignedDuration::ZERO;
                    process.set_ahead(if back { SignedDuration::ZERO } else { step });
                }
                2 * 3_600
            }
            Act::Rename => {
                self.rename();
                16 * 3_600
            }
            Act::Stranger => {
                self.write_as_stranger();
                8 * 3_600
            }
        };
        self.soon(60, again, act);
    }

    /// A process that lives.
    fn anybody(&mut self) -> Option<Arc<Process>> {
        let replicas = self.replicas.iter().flatten();
        let mut all: Vec<_> = replicas.map(|one| Arc::clone(&one.process)).collect();
        all.extend(
            self.workflow
                .as_ref()
                .map(|(process, _)| Arc::clone(process)),
        );
        let which = self.chance.below(all.len() as u64) as usize;
        all.get(which).cloned()
    }

    /// At which of its steps a process dies. In the days of a long case that is later: a replica that has come up reads
    /// three days of deliveries, and whoever is killed all the time does little else.
    fn fate(&mut self, steps: u64) -> Option<u64> {
        let times = match (
            self.case.is_short(),
            self.case.is_turned(troubles::MANY_KILLS),
        ) {
            (true, true) => 1,
            (true, false) => 8,
            (false, true) => 3,
            (false, false) => 5,
        };
        let at = self.chance.between(1, times * steps);
        (!self.calm).then_some(at)
    }

    fn process(&mut self, who: usize, steps: u64) -> Arc<Process> {
        self.count += 1;
        let entropy = Chance::new(self.case.seed).stream(&format!("entropy {}", self.count));
        let dies_at = self.fate(steps);
        Process::new(who, self.count, &self.course, dies_at, entropy)
    }

    fn start(&mut self, who: usize) {
        let process = self.process(who, 400);
        let replica = Replica::start(process, &self.inbox, self.sabotage);
        self.replicas[who] = Some(replica);
    }

    /// Ends a process where it stands. One that has ended meanwhile only leaves its last answers unsaid.
    async fn kill(&mut self, who: usize, life: u64) {
        if let Some(place) = self.replicas.get_mut(who) {
            if let Some(replica) = place.take_if(|replica| replica.process.life == life) {
                replica.driver.abort();
                self.kills += 1;
                self.soon(1, 600, Act::Start(who));
            }
        } else if let Some((_, run)) = self.workflow.take_if(|(one, _)| one.life == life) {
            run.abort();
            self.kills += 1;
        }
        // Whoever it was answering hears nothing.
        let (lost, others) = std::mem::take(&mut self.posts)
            .into_iter()
            .partition(|post| post.life == life);
        self.posts = others;
        let lost: Vec<Post> = lost;
        for post in lost {
            post.answer.abort();
            self.world.world().delivery_done(post.id, None);
        }
        settle().await;
    }

    /// Whoever was parked is seen by a person once the troubles are over. By itself it is tried once a day.
    async fn resume_parked(&mut self) {
        if !self.calm {
            return;
        }
        let now = self.course.now();
        for parked in self.inbox.parked().await.unwrap() {
            // That its processes died is the play's doing; anything else is told, as `phileas park list` does.
            if let Some(parked) = parked
                .parked
                .filter(|parked| !parked.because.contains(DIED))
            {
                self.course.own_fault(parked.because);
            }
            let resumed = self.inbox.resume(parked.repository, now).await.unwrap();
            self.resumed += u64::from(resumed);
        }
    }

    /// Takes in what has ended.
    async fn collect(&mut self) {
        if let Some((_, run)) = self.workflow.take_if(|(_, run)| run.is_finished()) {
            match run.await {
                Ok(Ok(report)) => self.lost_races += report.lost_races,
                // It says so, and the next one sees for itself.
                Ok(Err(TickError::Outside(_) | TickError::Contended(_))) => {}
                Ok(Err(error @ TickError::Invariant(_))) => {
                    self.course.own_fault(error.to_string())
                }
                Err(panic) => self
                    .course
                    .own_fault(format!("the workflow panicked: {panic}")),
            }
            if std::mem::take(&mut self.queued) {
                self.ask_workflow();
            }
        }
        for who in 0..REPLICAS {
            let ended = self.replicas[who].take_if(|replica| replica.driver.is_finished());
            if let Some(replica) = ended {
                if let Err(panic) = replica.driver.await {
                    let text = format!("replica {who} panicked: {panic}");
                    self.course.own_fault(text);
                }
                self.soon(1, 60, Act::Start(who));
            }
        }
        let (done, under_way) = std::mem::take(&mut self.posts)
            .into_iter()
            .partition(|post| post.answer.is_finished());
        self.posts = under_way;
        let done: Vec<Post> = done;
        for post in done {
            let status = post.answer.await.unwrap_or_else(|panic| {
                self.course
                    .own_fault(format!("an answer to a delivery panicked: {panic}"));
                None
            });
            self.world.world().delivery_done(post.id, status);
        }
    }

    /// Whatever has changed in the inbox, its replicas hear within a second, each at its own time.
    fn spread_news(&mut self) {
        if self.news.has_changed().unwrap() {
            self.news.mark_unchanged();
            for who in 0..REPLICAS {
                let after = self.chance.between(1, 1_000);
                let after = SignedDuration::from_millis(after as i64);
                self.plan(Act::Hear(who), after);
            }
        }
    }

    /// Hands over the deliveries that are due, each to any replica that lives. Some start the workflow, too.
    fn deliver(&mut self) {
        let due = self.world.world().take_due_deliveries();
        for delivery in due {
            // What the service is told once more starts no workflow once more.
            if self.heard.insert(delivery.guid.clone()) && self.chance.happens(0.2) {
                self.ask_workflow();
            }
            let living = self.replicas.iter().enumerate();
            let living: Vec<usize> = living
                .filter_map(|(who, replica)| replica.as_ref().map(|_| who))
                .collect();
            let which = self.chance.below(living.len() as u64) as usize;
            let replica = living
                .get(which)
                .and_then(|who| self.replicas[*who].as_ref());
            let Some(replica) = replica else {
                self.world.world().delivery_done(delivery.id, None);
                continue;
            };
            let id = delivery.id;
            self.posts.push(Post {
                id,
                life: replica.process.life,
                answer: tokio::spawn(post(replica.webhook.clone(), delivery)),
            });
        }
    }

    /// The workflow runs one at a time; one more waits.
    fn ask_workflow(&mut self) {
        if self.workflow.is_some() {
            self.queued = true;
            return;
        }
        self.workflow_runs += 1;
        let process = self.process(REPLICAS, 60);
        let name = self.world.world().github().full_name(self.repositories[0]);
        let name: RepositoryName = name.parse().unwrap();
        let entropy = Sha256::new()
            .chain_update(self.case.seed.to_be_bytes())
            .chain_update(self.count.to_be_bytes())
            .finalize()
            .into();
        let run = stage::workflow(
            Arc::clone(&process),
            name,
            self.count,
            self.sabotage,
            entropy,
            self.count,
        );
        self.workflow = Some((process, run));
    }

    fn wish(&mut self) {
        let which = self.chance.below(self.repositories.len() as u64) as usize;
        let repo = self.repositories[which];
        let mut world = self.world.world();
        let now = world.now();
        let github = world.github_mut();
        let issue = github.open_issue(repo, "It is slow", "Very.", &[], "visitor", now);
        github.add_label(repo, issue, "phileas:fixer", "maintainer", now);
    }

    fn rename(&mut self) {
        let repo = self.repositories[0];
        let mut world = self.world.world();
        let now = world.now();
        let github = world.github_mut();
        let name = match github.full_name(repo).ends_with(RENAMED) {
            true => scene::NAME,
            false => RENAMED,
        };
        github.rename_repository(repo, name, "maintainer", now);
        let installed = Installed::new(scene::OWNER, name);
        world.jules_mut().install("maintainer", installed);
    }

    /// Adds a file of no business of ours to the ledger's branch, as an agent might that disobeys.
    fn write_as_stranger(&mut self) {
        let repo = self.repositories[0];
        let mut world = self.world.world();
        let now = world.now();
        let github = world.github_mut();
        if let Some(head) = github.branch_head(repo, "jules") {
            let text = format!("It is {now}.\n");
            let files = [(STRANGERS_FILE.to_owned(), Some(text.into()))];
            let note = github.commit_files(repo, Some(head), &files, "stranger", TAKE_A_NOTE, now);
            github.move_branch(repo, "jules", note, "stranger", now);
        }
    }

    /// Nothing goes wrong any more, and everybody lives.
    fn calm_down(&mut self) {
        self.calm = true;
        {
            let mut world = self.world.world();
            *world.knobs_mut() = Knobs::documented();
            world.faults_mut().replace(FaultPlan::default());
        }
        let replicas = self.replicas.iter().flatten().map(|one| &one.process);
        for process in replicas.chain(self.workflow.as_ref().map(|(process, _)| process)) {
            process.spare();
            process.set_ahead(SignedDuration::ZERO);
        }
    }

    fn end(self) -> Played {
        let world = self.world.world();
        let books = world.complete_books();
        let written = serde_json::to_string(&books).unwrap();
        let digest = Sha256::digest(&written);
        let mut verdict = judge(
            &world,
            &books,
            &self.repositories,
            stage::allowed(self.case),
        );
        let faults = self.course.own_faults();
        verdict.findings.extend(faults.findings(self.case));
        let told = secrets(&written).map(|name| format!("{name} {IN_BOOKS}"));
        verdict.findings.extend(told);
        Played {
            verdict,
            kills: self.kills,
            resumed: self.resumed,
            workflow_runs: self.workflow_runs,
            lost_races: self.lost_races,
            requests: books.requests.len(),
            digest: data_encoding::HEXLOWER.encode(&digest),
        }
    }
}

/// Lets everybody run until they wait.
async fn settle() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Brings a delivery to a webhook.
async fn post(webhook: axum::Router, delivery: WebhookDelivery) -> Option<u16> {
    let mut request = Request::post("/webhook")
        .body(Body::from(delivery.body))
        .ok()?;
    *request.headers_mut() = delivery.headers;
    let answer = webhook.oneshot(request).await.ok()?;
    Some(answer.status().as_u16())
}
