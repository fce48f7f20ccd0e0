//! The model of Jules: accounts, sessions, and the calendar of what is due.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::account::{Account, Installed};
use super::beat_plan::{self, Circumstances};
use super::config::Config;
use super::ideas::Ideas;
use super::perform::{BeatContext, later_by_seconds};
use super::quota::Usage;
use super::record::{SessionRecord, Via};
use super::request_body::NewSession;
use super::scenario::{Playbook, Scenario};
use super::session::{Session, draw_timestamp};
use super::state::State;
use super::work::Worker;
use crate::books::{self, Books};
use crate::chance::{Chance, Stream};
use crate::github::{self, RepoId};
use crate::knobs::Knobs;

/// The smallest session id: 17 decimal digits.
const SMALLEST_ID: u64 = 10_000_000_000_000_000;

/// A stateful model of the Jules API and of the service behind it.
#[derive(Debug)]
pub struct Model {
    pub(super) config: Config,
    pub(super) usage: Vec<Usage>,
    pub(super) sessions: Vec<Session>,
    pub(super) by_id: BTreeMap<String, usize>,
    /// Sessions of each account in the order of their creation.
    pub(super) of_account: Vec<Vec<usize>>,
    pub(super) draws: Stream,
    due: BTreeSet<(Timestamp, usize)>,
    changed: BTreeSet<usize>,
    waiting: BTreeSet<usize>,
    revision: u64,
    playbook: Playbook,
    worker: Option<Box<dyn Worker>>,
    chance: Chance,
}

impl Model {
    /// A service with these accounts and no sessions.
    pub fn new(config: Config, mut chance: Stream) -> Model {
        let seed = chance.random_bits();
        let chance = Chance::new(seed);
        Model {
            usage: vec![Usage::default(); config.accounts.len()],
            of_account: vec![Vec::new(); config.accounts.len()],
            playbook: Playbook::new(config.scenarios.clone()),
            draws: chance.stream("requests"),
            config,
            sessions: Vec::new(),
            by_id: BTreeMap::new(),
            due: BTreeSet::new(),
            changed: BTreeSet::new(),
            waiting: BTreeSet::new(),
            revision: 0,
            worker: None,
            chance,
        }
    }

    /// Adds an account and returns its number.
    pub fn add_account(&mut self, account: Account) -> usize {
        self.config.accounts.push(account);
        self.usage.push(Usage::default());
        self.of_account.push(Vec::new());
        self.config.accounts.len() - 1
    }

    /// From here on sessions have ideas of their own.
    pub fn set_ideas(&mut self, ideas: Ideas) {
        self.config.ideas = Some(ideas);
    }

    /// Registers an API key with the account of this login, which is created if missing.
    pub fn add_key(&mut self, key: &str, login: &str) -> usize {
        match self
            .config
            .accounts
            .iter()
            .position(|account| account.login == login)
        {
            Some(account) => {
                self.config.accounts[account].keys.push(key.to_owned());
                account
            }
            None => self.add_account(Account::new(login, key)),
        }
    }

    /// The account of a login.
    pub fn account_mut(&mut self, login: &str) -> Option<&mut Account> {
        self.config
            .accounts
            .iter_mut()
            .find(|account| account.login == login)
    }

    /// Installs the app of an account on a repository.
    pub fn install_app(&mut self, login: &str, installed: Installed) -> bool {
        self.account_mut(login)
            .map(|account| account.installed.push(installed))
            .is_some()
    }

    /// Adds a script before all others, for sessions that are created from now on.
    pub fn add_script(&mut self, scenario: Scenario) {
        self.playbook.put_first(scenario);
    }

    /// Sets the worker that does the work of unscripted sessions.
    pub fn set_worker(&mut self, worker: Box<dyn Worker>) {
        self.worker = Some(worker);
    }

    /// Every session that was ever created, in order, deleted ones too.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.iter()
    }

    /// A session, deleted ones too.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.by_id.get(id).map(|index| &self.sessions[*index])
    }

    /// The books about every session, in the order of their creation.
    pub fn records(&self) -> impl Iterator<Item = &SessionRecord> {
        self.sessions.iter().map(Session::record)
    }

    /// Counts changes of sessions; the same number means that nothing has changed.
    pub fn change_count(&self) -> u64 {
        self.revision
    }

    /// The sessions that wait for a person, and since when.
    pub fn waiting_sessions(&self) -> impl Iterator<Item = (&Session, Timestamp)> {
        self.waiting.iter().filter_map(|index| {
            let session = &self.sessions[*index];
            session
                .record
                .states
                .last()
                .map(|(since, _)| (session, *since))
        })
    }

    /// The session that opened a pull request.
    pub fn session_of_pull(
        &self,
        repo: RepoId,
        number: u64,
        github: &github::Model,
    ) -> Option<&Session> {
        let branch = &github.pull(repo, number)?.head.branch;
        self.sessions.iter().rev().find(|session| {
            session.record.pull == Some(number)
                && session.record.branch.as_ref() == Some(branch)
                && session
                    .checkout
                    .as_ref()
                    .is_some_and(|checkout| checkout.repo == repo)
        })
    }

    /// How many sessions were created with this text in the title or prompt that was sent.
    pub fn created_with(&self, marker: &str) -> usize {
        self.records()
            .filter(|record| record.mentions(marker))
            .count()
    }

    /// Creates a session and plans its beats. Its random values come from a stream of its own.
    #[expect(
        clippy::too_many_arguments,
        reason = "the facts of one create, used here alone"
    )]
    pub(super) fn insert_session(
        &mut self,
        account: usize,
        key: &str,
        new: NewSession,
        via: Via,
        held: bool,
        now: Timestamp,
        knobs: &Knobs,
    ) -> usize {
        let index = self.sessions.len();
        let id = self.new_id(index);
        let mut chance = self.chance.stream(&format!("session/{id}"));
        let (source, starting_branch) = new.context.unwrap_or_default();
        let owner = &self.config.accounts[account];
        let stored = match owner.find_installation(&source) {
            Some(installed)
                if knobs.count_use("source-case-changed", knobs.source_case_changed) =>
            {
                installed.in_other_case().source_name()
            }
            Some(installed) => installed.source_name(),
            None => source.clone(),
        };
        let scenario = self.playbook.choose_scenario(
            &new.title,
            &new.prompt,
            Some(&source).filter(|s| !s.is_empty()).map(String::as_str),
        );
        let circumstances = Circumstances {
            has_source: !source.is_empty(),
            auto_create_pull: new.auto_create_pull,
            scenario: &scenario,
        };
        let beats = beat_plan::compose_beats(&circumstances, &self.config, knobs, &mut chance);
        let unknown = knobs.unknown_kinds && chance.happens(0.1);
        knobs.count_use("unknown-kinds", unknown);
        let record = SessionRecord {
            id: id.clone(),
            account: owner.login.clone(),
            key: key.to_owned(),
            via,
            source,
            starting_branch,
            title: new.title,
            prompt: new.prompt,
            require_plan_approval: new.require_plan_approval,
            auto_create_pull: new.auto_create_pull,
            environment_variables: new.environment_variables,
            created: draw_timestamp(now, &mut chance),
            refused_after_effect: false,
            states: vec![(now, State::Queued)],
            acts: Vec::new(),
            branch: None,
            pull: None,
            ideas: Vec::new(),
            commits: Vec::new(),
        };
        let mut session = Session::new(record, account, stored, chance);
        session.unknown_state = scenario
            .unknown_state
            .clone()
            .or_else(|| unknown.then(|| "REVIEWING".to_owned()));
        session.scenario = scenario;
        session.beats = beats;
        session.held = held;
        session.schedule_next(now);
        self.sessions.push(session);
        self.by_id.insert(id, index);
        self.of_account[account].push(index);
        self.usage[account].count_create(now);
        self.update_calendar(index, None);
        index
    }

    fn new_id(&self, index: usize) -> String {
        let mut draws = self.chance.stream(&format!("id/{index}"));
        loop {
            // Few values are too small or in use, so this loop ends soon.
            let id = draws.random_bits().max(SMALLEST_ID).to_string();
            if !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }

    /// Updates the calendar after a session changed; `before` is its previous due time.
    pub(super) fn update_calendar(&mut self, index: usize, before: Option<Timestamp>) {
        let session = &self.sessions[index];
        let now_due = session.due;
        let waits = matches!(
            session.state(),
            State::AwaitingPlanApproval | State::AwaitingUserFeedback
        );
        if waits && !session.deleted {
            self.waiting.insert(index);
        } else {
            self.waiting.remove(&index);
        }
        self.changed.insert(index);
        self.revision += 1;
        if before == now_due {
            if let Some(due) = now_due {
                self.due.insert((due, index));
            }
            return;
        }
        if let Some(due) = before {
            self.due.remove(&(due, index));
        }
        if let Some(due) = now_due {
            self.due.insert((due, index));
        }
    }

    /// Changes a session and updates the calendar; starts a held session when this frees capacity.
    pub(super) fn change_session<T>(
        &mut self,
        index: usize,
        now: Timestamp,
        change: impl FnOnce(&mut Session) -> T,
    ) -> T {
        let session = &mut self.sessions[index];
        let before = session.due;
        let occupied = session.takes_capacity();
        let result = change(session);
        let freed = occupied && !session.takes_capacity();
        let account = session.account;
        self.update_calendar(index, before);
        if freed {
            self.start_held(account, now);
        }
        result
    }

    fn start_held(&mut self, account: usize, now: Timestamp) {
        let held = self.of_account[account].iter().copied().find(|index| {
            let session = &self.sessions[*index];
            session.held && !session.deleted && session.state().is_active()
        });
        if let Some(index) = held {
            self.change_session(index, now, |session| {
                session.held = false;
                session.schedule_next(now);
            });
        }
    }

    /// How many sessions of an account count as running.
    pub(super) fn active_sessions(&self, account: usize) -> usize {
        self.of_account[account]
            .iter()
            .filter(|index| self.sessions[**index].takes_capacity())
            .count()
    }

    /// The next instant at which something is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(due, _)| *due)
    }

    /// Performs everything that is due, in order of time.
    pub fn advance(
        &mut self,
        now: Timestamp,
        github: &mut github::Model,
        knobs: &Knobs,
        books: &mut Books,
    ) {
        while let Some((due, index)) = self.due.first().copied() {
            if due > now {
                break;
            }
            self.due.pop_first();
            let mut worker = self.worker.take();
            let login = self.config.accounts[self.sessions[index].account]
                .login
                .clone();
            let mut context = BeatContext {
                github,
                knobs,
                worker: worker.as_mut(),
                ideas: self.config.ideas.as_ref(),
                login: &login,
                ordinal: index + 1,
            };
            self.sessions[index].due = None;
            let occupied = self.sessions[index].takes_capacity();
            self.sessions[index].perform_due(due, &mut context);
            self.worker = worker;
            self.update_calendar(index, None);
            let session = &self.sessions[index];
            if occupied && !session.takes_capacity() {
                self.start_held(session.account, due);
            }
        }
        self.write_books(books);
    }

    /// Records the changes since the last call in the books.
    pub(crate) fn write_books(&mut self, books: &mut Books) {
        for index in std::mem::take(&mut self.changed) {
            let session = &self.sessions[index];
            if books.sessions.len() <= index {
                books.sessions.push(books::Session::default());
            }
            if let Some(entry) = books.sessions.get_mut(index) {
                session.write_into(entry);
            }
            self.sessions[index].write_questions(&mut books.questions);
        }
    }
}

/// Whether an instant lies within this many seconds after another one.
pub(super) fn is_within(now: Timestamp, since: Timestamp, seconds: u64) -> bool {
    seconds > 0 && now < later_by_seconds(since, seconds as f64)
}
