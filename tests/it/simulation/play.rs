//! A case is played: replicas of the service and runs of the workflow over one world, until its time is over.

mod events;
mod lives;
mod people;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::inbox::Inbox as _;
use phileas::runtime::{TickError, TickReport};
use phileas::sandbox::SharedWorld;
use phileas_world::chance::{Chance, Stream};
use phileas_world::github::RepoId;
use phileas_world::knob_uses::KnobUses;
use phileas_world::{Books, Face, FaultPlan, Knobs};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::case::Case;
use super::course::{Course, Process};
use super::credentials::{self, Credential};
use super::disturbances;
use super::sabotage::Sabotage;
use super::stage::{self, Replica, drawn};
use super::verdict::{IN_BOOKS, PersonMessage, Reply, Verdict, judge, judge_messages, secrets};
use crate::support::memory_inbox::MemoryInbox;

/// Replicas of the service.
const REPLICAS: usize = 3;
/// The minute of each hour at which the workflow's cron comes.
const CRON_MINUTE: i64 = 17;
/// How much room the inbox has, and where there is little, at least and for each hour at most besides: in a long case
/// it is full sooner or later.
const ROOM: usize = 100_000;
const LITTLE_ROOM: u64 = 60;
const LITTLE_ROOM_AN_HOUR: u64 = 20;
/// By when each trouble of a process has struck once, in seconds: also in the shortest case.
const EARLY: u64 = 100 * 60;
pub(super) const TAKE_A_NOTE: &str = "Take a note";
/// No case goes through more steps than this.
const MOST_STEPS: usize = 20_000_000;
/// How often each task runs before time goes on: far more than any chain of wake-ups has links, where each
/// round runs the tasks that are ready.
const TURNS: usize = 12;

/// What came of a case.
#[derive(Debug, Default)]
pub(super) struct Played {
    pub(super) verdict: Verdict,
    pub(super) kills: u64,
    /// How often a repository was suspended because too many processes had died at it, and a person resumed it.
    pub(super) resumed: u64,
    pub(super) workflow_runs: u64,
    pub(super) lost_races: usize,
    pub(super) requests: usize,
    /// How many messages people sent to sessions, and how many of them a queued session did not take at first.
    pub(super) messages: (usize, usize),
    /// How often each knob of the models has acted before the faults ended.
    pub(super) acted: BTreeMap<&'static str, u64>,
    /// How often each trouble has struck.
    pub(super) strokes: BTreeMap<String, u64>,
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
    /// A process stands still.
    Stall,
    /// A process' clock is set.
    SetClock,
    Rename,
    /// A person asks for something by a label.
    Request,
    /// People look at the plans that wait for them.
    Approve,
    /// A person sends a message to a session: the one with this number in the list of messages.
    Message(usize),
    /// A credential is refused from now on, or taken again.
    Refuse(Credential, bool),
    /// The inbox is away.
    TakeInbox,
    /// A person writes to the ledger's branch.
    UntrustedCommit,
    /// All troubles are over.
    EndFaults,
}

/// A delivery that a process is about to answer.
struct Post {
    id: u64,
    /// The process that it was brought to.
    life: u64,
    answer: JoinHandle<Option<u16>>,
}

/// One run of the workflow, with what it ends.
type Run = JoinHandle<Result<TickReport, TickError>>;

struct Play<'a> {
    case: &'a Case,
    sabotage: Option<Sabotage>,
    world: SharedWorld,
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
    /// How many sessions people have seen begin.
    sessions_seen: usize,
    /// What people say to sessions, and which of it is on its way.
    messages: Vec<PersonMessage>,
    sending: Vec<(usize, JoinHandle<Reply>)>,
    /// What people draw.
    people: Stream,
    /// The events of which an agent was told.
    notified_events: BTreeSet<String>,
    chance: Stream,
    count: u64,
    faults_ended: bool,
    start: Timestamp,
    /// When a person approved the plan of a session.
    approved: BTreeMap<String, Timestamp>,
    acted: KnobUses,
    strokes: BTreeMap<String, u64>,
    kills: u64,
    resumed: u64,
    /// When a person last resumed a repository, by its number.
    resumed_at: BTreeMap<u64, Timestamp>,
    workflow_runs: u64,
    lost_races: usize,
}

/// Plays a case from its beginning to its end and judges it. A panic, of the models as of the program, is a finding of
/// its case: the other cases are played all the same.
pub(super) fn play(case: &Case, sabotage: Option<Sabotage>) -> Played {
    catch_unwind(AssertUnwindSafe(|| played(case, sabotage))).unwrap_or_else(|panic| {
        let mut played = Played::default();
        let text = format!("the play panicked: {}", panic_text(&*panic));
        played.verdict.findings.push(text);
        played
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("the panic has no message")
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
        let room = match case.is_turned(disturbances::INBOX_FULL) {
            true => {
                let most = LITTLE_ROOM + LITTLE_ROOM_AN_HOUR * case.hours.unsigned_abs();
                chance.stream("room").draw_between(LITTLE_ROOM, most) as usize
            }
            false => ROOM,
        };
        let inbox = Arc::new(MemoryInbox::new(room));
        let start = world.world_time();
        let acted = world.lock_world().knobs().acted.clone();
        let mut play = Self {
            case,
            sabotage,
            course: Course::new(world.clone(), &chance),
            world,
            repositories,
            news: inbox.watch_changes(),
            inbox,
            replicas: (0..REPLICAS).map(|_| None).collect(),
            workflow: None,
            queued: false,
            agenda: BTreeMap::new(),
            posts: Vec::new(),
            sessions_seen: 0,
            messages: Vec::new(),
            sending: Vec::new(),
            people: chance.stream("people"),
            notified_events: BTreeSet::new(),
            chance: chance.stream("play"),
            count: 0,
            faults_ended: false,
            start,
            approved: BTreeMap::new(),
            acted,
            strokes: BTreeMap::new(),
            kills: 0,
            resumed: 0,
            resumed_at: BTreeMap::new(),
            workflow_runs: 0,
            lost_races: 0,
        };
        for who in 0..REPLICAS {
            play.soon(0, 60, Act::Start(who));
        }
        play.plan(Act::Cron, play.until_cron());
        play.plan(Act::EndFaults, SignedDuration::from_hours(case.hours));
        play.soon(3_600, 8 * 3_600, Act::Leave);
        play.soon(600, 6 * 3_600, Act::Request);
        play.soon(600, 1_800, Act::Approve);
        for (credential, from, until) in credentials::windows(case, start) {
            let after = |at: Timestamp| at.duration_since(start);
            play.plan(Act::Refuse(credential, true), after(from));
            play.plan(Act::Refuse(credential, false), after(until));
        }
        for (name, act) in [
            (disturbances::INBOX_AWAY, Act::TakeInbox),
            (disturbances::STALLS, Act::Stall),
            (disturbances::CLOCK_STEPS, Act::SetClock),
            (disturbances::RENAMES, Act::Rename),
            (disturbances::UNTRUSTED_COMMITS, Act::UntrustedCommit),
        ] {
            if case.is_turned(name) {
                play.soon(600, EARLY, act);
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
        let hours = SignedDuration::from_hours(self.case.hours + self.case.quiet_hours());
        let end = self.course.now() + hours;
        for _ in 0..MOST_STEPS {
            settle().await;
            for (who, life) in self.course.doomed() {
                self.kill(who, life).await;
            }
            self.collect().await;
            self.collect_replies().await;
            self.notice_sessions();
            self.resume_suspended().await;
            self.spread_news();
            let now = self.course.now();
            let waiting = self.course.next();
            let planned = self.agenda.keys().next().map(|(at, _)| *at);
            let moving = self.world.lock_world().next_due();
            // What is due now and has not happened needs the clock to move.
            let moving = moving.map(|at| at.max(now + SignedDuration::from_millis(1)));
            let next = [waiting, planned, moving].into_iter().flatten().min();
            let next = next.unwrap_or(end);
            if next >= end {
                return;
            }
            if next > now {
                self.world.lock_world().advance_to(next);
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
                    replica.inbox.notify_change();
                }
                return;
            }
            Act::Start(who) => return self.start(who),
            Act::Cron => {
                self.plan(Act::Cron, self.until_cron());
                return self.ask_workflow();
            }
            Act::EndFaults => return self.end_faults(),
            Act::Approve => {
                self.approve();
                return self.soon(600, 2_400, Act::Approve);
            }
            Act::Message(which) => return self.send_message(which),
            Act::Request if self.faults_ended => return,
            Act::Request => {
                self.add_request_label();
                8 * 3_600
            }
            _ if self.faults_ended => return,
            Act::Refuse(credential, refused) => {
                return credential.set_refused(&mut self.world.lock_world(), refused);
            }
            Act::TakeInbox => {
                let length = drawn(&mut self.chance, 5, 10 * 60);
                self.course.take_inbox(self.course.now() + length);
                3 * 3_600
            }
            Act::Leave => {
                let who = self.chance.draw_below(REPLICAS as u64) as usize;
                if let Some(replica) = &self.replicas[who] {
                    replica.end.request_shutdown();
                }
                12 * 3_600
            }
            Act::Stall => {
                let length = drawn(&mut self.chance, 5, 8 * 60);
                if let Some(process) = self.any_process() {
                    process.stand_still(length);
                    self.course.struck(disturbances::STALLS);
                }
                4 * 3_600
            }
            Act::SetClock => {
                let step = [1, 30, 100, 3_600][self.chance.draw_below(4) as usize];
                let step = drawn(&mut self.chance, 0, step);
                let step = if self.chance.happens(0.5) {
                    step
                } else {
                    -step
                };
                if let Some(process) = self.any_process() {
                    let back = process.ahead() != SignedDuration::ZERO;
                    process.set_ahead(if back { SignedDuration::ZERO } else { step });
                    self.course.struck(disturbances::CLOCK_STEPS);
                }
                2 * 3_600
            }
            Act::Rename => {
                self.rename();
                self.course.struck(disturbances::RENAMES);
                16 * 3_600
            }
            Act::UntrustedCommit => {
                self.write_as_another();
                8 * 3_600
            }
        };
        self.soon(60, again, act);
    }

    /// Nothing goes wrong any more, and every process lives.
    fn end_faults(&mut self) {
        self.faults_ended = true;
        self.course.take_inbox(self.course.now());
        {
            let mut world = self.world.lock_world();
            for credential in Credential::ALL {
                credential.set_refused(&mut world, false);
            }
            let struck = world.faults_mut().applied_counts().to_vec();
            self.strokes = disturbances::strokes(self.case, self.start, &struck);
            *world.knobs_mut() = Knobs::documented();
            world.faults_mut().replace_plan(FaultPlan::default());
        }
        let replicas = self.replicas.iter().flatten().map(|one| &one.process);
        for process in replicas.chain(self.workflow.as_ref().map(|(process, _)| process)) {
            process.spare();
            process.set_ahead(SignedDuration::ZERO);
        }
    }

    fn end(self) -> Played {
        let world = self.world.lock_world();
        let books = world.complete_books();
        let written = serde_json::to_string(&books).unwrap();
        let digest = Sha256::digest(&written);
        let mut verdict = judge(
            &world,
            &books,
            &self.repositories,
            stage::allowed(self.case),
            &self.resumed_at,
        );
        judge_messages(&self.messages, &books, &mut verdict);
        let faults = self.course.own_faults();
        verdict.findings.extend(faults.findings(self.case));
        let told = secrets(&written).map(|name| format!("{name} {IN_BOOKS}"));
        verdict.findings.extend(told);
        let mut strokes = self.strokes;
        for (trouble, count) in self.course.strokes() {
            *strokes.entry(trouble).or_default() += count;
        }
        if self.case.is_turned(disturbances::MANY_KILLS) {
            strokes.insert(disturbances::MANY_KILLS.to_owned(), self.kills);
        }
        if self.case.is_turned(disturbances::RETRIES) {
            let again = verdict.second_attempts as u64;
            strokes.insert(disturbances::RETRIES.to_owned(), again);
        }
        if self.case.is_turned(disturbances::UNWANTED_WORK) {
            let met = [
                ("labels", verdict.marked_pulls),
                ("plans", verdict.plans_turned_down),
            ];
            strokes.extend(met.map(|(what, count)| {
                let name = format!("{}: {what}", disturbances::UNWANTED_WORK);
                (name, count as u64)
            }));
        }
        if self.case.is_turned(disturbances::SMALL_ACCOUNT) {
            strokes.insert(disturbances::SMALL_ACCOUNT.to_owned(), beyond_quota(&books));
        }
        let queued = self.messages.iter().filter(|one| one.was_queued());
        let queued = queued.count();
        Played {
            acted: self.acted.use_counts(),
            strokes,
            verdict,
            kills: self.kills,
            resumed: self.resumed,
            workflow_runs: self.workflow_runs,
            lost_races: self.lost_races,
            requests: books.requests.len(),
            messages: (self.messages.len(), queued),
            digest: data_encoding::HEXLOWER.encode(&digest),
        }
    }
}

/// Whether the runs of the workflow bear this number, and not a replica.
pub(super) fn is_workflow(who: usize) -> bool {
    who == REPLICAS
}

/// How many sessions Jules refused, or let wait, that nothing else befell: there were too many.
fn beyond_quota(books: &Books) -> u64 {
    let creates = books.requests.iter().filter(|one| {
        one.face == Face::Jules && one.method == "POST" && one.route.ends_with("/sessions")
    });
    let refused = creates.filter(|one| {
        one.fault.is_none()
            && one.identity.is_some()
            && one.status.is_some_and(|status| status >= 400)
    });
    refused.count() as u64
}

/// Lets every task run until it waits.
async fn settle() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}
