//! A desk to try decisions on: one repository, one key, a clock that is moved by hand, and the protocol of the runtime
//! (commit, execute, decide again) without anything that could fail by itself.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::Diagnostic;
use phileas_domain::board;
use phileas_domain::engine::{
    Activity, ActivityKind, Actor, Ask, Checks, Comment, Commit, Commits, CreateFailure,
    CreateSession, Decision, Effect, Event, ExchangeRead, Heard, KeyUse, Ledger, Line, Listing,
    ListingNeed, MergeFacts, MergeStands, Mergeable, Notice, Outage, Papers, Permission, Pull,
    PullState, Reason, RedChecks, Remark, Repository, Reviews, Session, SessionState, Sessions,
    Snapshot, Subject, Verdict, Written, decide, needs,
};
use phileas_domain::exchange::Changed;
use phileas_domain::model::{Login, Oid, PullNumber, RepositoryId, SessionId, TrackName, Tree};
use phileas_domain::plan::{self, Driver};
use phileas_domain::state::{Outcome, State, invariant};

/// What Jules answers to a create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    Session,
    /// The session is created, and the answer lost.
    Lost,
    /// Nothing is created, and the answer lost.
    LostBefore,
    Quota,
    /// The same, with Jules' own word about when to come back.
    QuotaUntil(Timestamp),
    Refused,
    /// It is not sent at all.
    NotSent,
    /// Jules takes the key for everything but this.
    Denied,
    /// The process dies after its commit.
    Dies,
}

/// What GitHub answers to a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    Merges,
    /// It is merged, and the answer lost.
    Lost,
    /// Nothing is merged, and the answer lost.
    LostBefore,
    Refuses,
    /// What is merged makes all others conflict.
    MergesAlone,
    /// GitHub is not asked, or cannot do it at this moment.
    PutsOff(Option<Timestamp>),
}

pub(crate) struct Desk {
    pub(crate) now: Timestamp,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) ledger: Ledger,
    pub(crate) head: u64,
    pub(crate) sessions: Vec<Session>,
    pub(crate) activities: BTreeMap<SessionId, Vec<Activity>>,
    /// Sessions whose activities Jules does not tell.
    pub(crate) unread: BTreeMap<SessionId, Outage>,
    pub(crate) pulls: BTreeMap<PullNumber, Pull>,
    pub(crate) notices: Vec<Notice>,
    /// Issues and pull requests that bear labels, or bore some.
    pub(crate) subjects: BTreeMap<u64, Subject>,
    /// Labels whose events GitHub does not show.
    pub(crate) put_on_unseen: BTreeMap<u64, BTreeSet<String>>,
    /// Those that too many others were touched after, so that their labels are not listed.
    pub(crate) unlisted: BTreeSet<u64>,
    /// What each account may do; nobody may write who is not here.
    pub(crate) permissions: BTreeMap<Login, Permission>,
    /// Who phileas is.
    pub(crate) viewer: Option<Actor>,
    /// The status comments by their ids: where, and what they say.
    pub(crate) comments: BTreeMap<u64, (u64, String)>,
    /// What people said, as far as it is shown.
    pub(crate) said: Vec<Comment>,
    /// How far back what is shown reaches.
    pub(crate) heard: Heard,
    /// What was looked at with eyes.
    pub(crate) eyes: Vec<(u64, Option<u64>)>,
    /// How many accounts were asked about.
    pub(crate) asked_about: usize,
    pub(crate) answering: Answering,
    pub(crate) listing_works: bool,
    /// Listings leave the prompts out; a session by itself shows it.
    pub(crate) prompts_hidden: bool,
    /// Sessions that no listing shows; by their ids Jules tells of them.
    pub(crate) left_out: Vec<SessionId>,
    /// No listing reaches further back.
    pub(crate) listings_reach: Option<SignedDuration>,
    /// Effects of these names are decided on and never happen.
    pub(crate) lost: Vec<&'static str>,
    pub(crate) public: bool,
    pub(crate) checks: Checks,
    pub(crate) paused_by_variable: Option<String>,
    pub(crate) ask: Ask,
    pub(crate) run: u64,
    pub(crate) effects: Vec<Effect>,
    pub(crate) lines: Vec<Line>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) headlines: Vec<String>,
    pub(crate) wake_at: Option<Timestamp>,
    /// How many listings were asked for.
    pub(crate) listings: usize,
    /// How many sessions were looked at by themselves.
    pub(crate) looks: usize,
    /// What is told of the checks of commits.
    pub(crate) red: BTreeMap<Oid, RedChecks>,
    /// What people said of pull requests.
    pub(crate) remarks: BTreeMap<PullNumber, Vec<Remark>>,
    /// What is told of pull requests right before they are merged.
    pub(crate) facts: BTreeMap<PullNumber, MergeFacts>,
    /// How often that was read.
    pub(crate) last_looks: usize,
    /// What reviewers of pull requests said.
    pub(crate) reviews: BTreeMap<PullNumber, Reviews>,
    /// How often that was read.
    pub(crate) reviews_read: usize,
    /// What GitHub answers to a merge.
    pub(crate) merging: Merging,
    /// The files of the exchange on the ledger.
    pub(crate) exchange: Tree,
    /// What sessions wrote.
    pub(crate) written: BTreeMap<SessionId, Vec<Changed>>,
    /// Files that each push to the default branch touches.
    pub(crate) touched: Vec<String>,
    /// How often the exchange was read.
    pub(crate) exchanges_read: usize,
    /// Which folders of tasks and papers were read, read by read.
    pub(crate) folders_read: Vec<BTreeSet<String>>,
    /// Numbers of the issues that were opened for proposals, by marker.
    pub(crate) published: BTreeMap<String, u64>,
    created: usize,
}

impl Desk {
    /// A desk at 2026-01-05T00:00:00Z with this plan and personas of these ids.
    pub(crate) fn new(schedules: &str, personas: &[&str]) -> Self {
        let mut files = BTreeMap::from([(plan::SCHEDULES_PATH.to_owned(), schedules.to_owned())]);
        for id in personas {
            let text = format!("---\nid: {id}\nemoji: \"🔧\"\n---\nDo the work of {id}.\n");
            files.insert(format!(".jules/personas/{id}/prompt.md"), text);
        }
        Self {
            now: "2026-01-05T00:00:00Z".parse().unwrap(),
            files,
            ledger: Ledger::Missing { head: None },
            head: 1,
            sessions: Vec::new(),
            activities: BTreeMap::new(),
            unread: BTreeMap::new(),
            pulls: BTreeMap::new(),
            notices: Vec::new(),
            subjects: BTreeMap::new(),
            put_on_unseen: BTreeMap::new(),
            unlisted: BTreeSet::new(),
            permissions: BTreeMap::new(),
            viewer: None,
            comments: BTreeMap::new(),
            said: Vec::new(),
            heard: Heard::default(),
            eyes: Vec::new(),
            asked_about: 0,
            answering: Answering::Session,
            listing_works: true,
            prompts_hidden: false,
            left_out: Vec::new(),
            listings_reach: None,
            lost: Vec::new(),
            public: false,
            checks: Checks::None,
            paused_by_variable: None,
            ask: Ask::Due,
            run: 0,
            effects: Vec::new(),
            lines: Vec::new(),
            diagnostics: Vec::new(),
            headlines: Vec::new(),
            wake_at: None,
            listings: 0,
            looks: 0,
            red: BTreeMap::new(),
            remarks: BTreeMap::new(),
            facts: BTreeMap::new(),
            reviews: BTreeMap::new(),
            reviews_read: 0,
            last_looks: 0,
            merging: Merging::Merges,
            exchange: Tree::new(),
            written: BTreeMap::new(),
            touched: vec!["src/lib.rs".to_owned()],
            exchanges_read: 0,
            folders_read: Vec::new(),
            published: BTreeMap::new(),
            created: 0,
        }
    }

    /// Writes a persona's file, or writes it anew.
    pub(crate) fn persona(&mut self, id: &str, frontmatter: &str) {
        let text = format!("---\nid: {id}\n{frontmatter}\n---\nDo the work of {id}.\n");
        self.files
            .insert(format!(".jules/personas/{id}/prompt.md"), text);
    }

    pub(crate) fn pass(&mut self, span: SignedDuration) {
        self.now = self.now.checked_add(span).unwrap();
    }

    pub(crate) fn minutes(&mut self, minutes: i64) {
        self.pass(SignedDuration::from_mins(minutes));
    }

    pub(crate) fn hours(&mut self, hours: i64) {
        self.pass(SignedDuration::from_hours(hours));
    }

    /// The default branch moves.
    pub(crate) fn push(&mut self) {
        self.head += 1;
    }

    pub(crate) fn state(&self) -> &State {
        match &self.ledger {
            Ledger::Present { state, .. } => state,
            other => panic!("no state: {other:?}"),
        }
    }

    pub(crate) fn set_state(&mut self, state: State) {
        self.ledger = Ledger::Present {
            head: Oid::from("ledger-0"),
            state: Box::new(state),
        };
    }

    /// A person cancels the turn that lives, the first one of several.
    pub(crate) fn cancel_first(&mut self) {
        let mut state = self.state().clone();
        let tracks = state.tracks.values_mut();
        let turn = tracks.flat_map(|track| track.turns.values_mut()).next();
        turn.unwrap().cancel = true;
        self.set_state(state);
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let papers = [board::TASKS_FOLDER, board::SPRINTS_FOLDER];
        let is_paper = |path: &str| papers.iter().any(|folder| path.starts_with(folder));
        let files = self.files.iter().filter(|(path, _)| !is_paper(path));
        let tree = Tree::of_texts(files.map(|(path, text)| (path.clone(), text.as_str())));
        let there = papers.into_iter().filter(|folder| {
            let inside = |path: &String| path.starts_with(&format!("{folder}/"));
            self.files.keys().any(inside)
        });
        let there = there.map(str::to_owned).collect();
        let (plan, plan_diagnostics) = plan::read(&tree);
        Snapshot {
            now: self.now,
            entropy: [7; 32],
            holder: format!("test:{}", self.run).as_str().into(),
            driver: Driver::Server,
            repository: Repository {
                id: RepositoryId(42),
                name: "acme/widget".parse().unwrap(),
                public: self.public,
                archived: false,
                default_branch: "main".into(),
                default_head: Some(Oid::new(format!("{:040x}", self.head))),
                default_checks: self.checks,
            },
            ledger: self.ledger.clone(),
            plan,
            plan_diagnostics,
            tree,
            pulls: self.pulls.clone(),
            missing_pulls: BTreeSet::new(),
            sessions: Listing::NotTaken,
            activities: BTreeMap::new(),
            unread: self.unread.clone(),
            missing_sessions: BTreeSet::new(),
            notices: self.notices.clone(),
            dashboards: self.dashboards(),
            paused_by_variable: self.paused_by_variable.clone(),
            paused_by_label: None,
            labelled: self.labelled(),
            comments: self.said.clone(),
            heard: self.heard.clone(),
            subjects: BTreeMap::new(),
            permissions: BTreeMap::new(),
            viewer: None,
            red: BTreeMap::new(),
            merges: BTreeMap::new(),
            remarks: BTreeMap::new(),
            reviews: BTreeMap::new(),
            alone: BTreeMap::new(),
            papers: Papers {
                there,
                ..Papers::default()
            },
            exchange: None,
            exchange_id: None,
            layers_read: false,
            written: BTreeMap::new(),
            commits: None,
            ask: self.ask.clone(),
        }
    }

    /// What the engine sees after everything it asked for was read.
    pub(crate) fn look(&mut self) -> Snapshot {
        let mut snapshot = self.snapshot();
        self.look_further(&mut snapshot);
        snapshot
    }

    fn look_further(&mut self, snapshot: &mut Snapshot) {
        for _ in 0..8 {
            let needs = needs(snapshot);
            if needs.is_empty() {
                return;
            }
            if let Some(need) = needs.listing {
                self.listings += 1;
                snapshot.sessions = self.list(need);
            }
            for id in needs.sessions {
                let whole = self.sessions.iter().find(|one| one.id == id).cloned();
                let Listing::Taken(listing) = &mut snapshot.sessions else {
                    panic!("{id} is asked for before a listing was taken");
                };
                listing.sessions.retain(|one| one.id != id);
                match whole {
                    Some(whole) => listing.sessions.push(whole),
                    None => {
                        snapshot.missing_sessions.insert(id);
                    }
                }
                listing.sessions.sort_by_key(|one| one.created_at);
            }
            for id in needs.alone {
                self.looks += 1;
                match self.sessions.iter().find(|one| one.id == id) {
                    Some(found) => {
                        snapshot.alone.insert(id, found.clone());
                    }
                    None => {
                        snapshot.missing_sessions.insert(id);
                    }
                }
            }
            for folder in &needs.folders {
                let inside = self.files.iter().filter(|(path, _)| {
                    path.strip_prefix(folder.as_str())
                        .is_some_and(|rest| rest.starts_with('/'))
                });
                for (path, text) in inside {
                    snapshot.tree.insert_text(path.clone(), text);
                }
            }
            if !needs.folders.is_empty() {
                snapshot.papers.read.extend(needs.folders.iter().cloned());
                self.folders_read.push(needs.folders);
            }
            for oid in needs.red {
                let known = self.red.get(&oid).cloned().unwrap_or_default();
                snapshot.red.insert(oid, known);
            }
            for number in needs.merges {
                self.last_looks += 1;
                let known = self.facts.get(&number).cloned();
                snapshot.merges.insert(number, known);
            }
            for number in needs.remarks {
                let said = self.remarks.get(&number).cloned().unwrap_or_default();
                snapshot.remarks.insert(number, said);
            }
            for number in needs.reviews {
                self.reviews_read += 1;
                let known = self.reviews.get(&number).cloned();
                snapshot.reviews.insert(number, known);
            }
            for number in needs.pulls {
                match self.pulls.get(&number) {
                    Some(pull) => {
                        snapshot.pulls.insert(number, pull.clone());
                    }
                    None => {
                        snapshot.missing_pulls.insert(number);
                    }
                }
            }
            if !needs.subjects.is_empty() {
                snapshot.viewer = self.viewer.clone();
            }
            for number in needs.subjects {
                let found = self.subjects.get(&number).cloned();
                let found = found.map(|subject| Subject {
                    labels: self.bears(number),
                    ..subject
                });
                snapshot.subjects.insert(number, found);
            }
            for login in needs.permissions {
                self.asked_about += 1;
                let known = self.permissions.get(&login).copied();
                let nobody = Permission {
                    id: None,
                    writes: false,
                };
                snapshot.permissions.insert(login, known.unwrap_or(nobody));
            }
            if needs.exchange {
                self.exchanges_read += 1;
                let head = match &self.ledger {
                    Ledger::Present { head, .. } => head.clone(),
                    other => panic!("there is nothing to read: {other:?}"),
                };
                let tree = self.exchange.clone();
                snapshot.exchange = Some(ExchangeRead { head, tree });
            }
            snapshot.layers_read |= needs.layers;
            for id in needs.written.into_keys() {
                let files = self.written.get(&id).cloned().unwrap_or_default();
                let found = Vec::new();
                snapshot.written.insert(id, Written { files, found });
            }
            if let Some(span) = needs.commits {
                let newest = vec![Commit {
                    oid: span.until.clone(),
                    at: Some(self.now),
                    subject: "Count words".to_owned(),
                }];
                snapshot.commits = Some(Commits {
                    span,
                    whole: true,
                    total: 1,
                    newest,
                    files: self.touched.clone(),
                    cut: false,
                    lines: (3, 1),
                });
            }
            for id in needs.activities {
                let known = self.activities.get(&id).cloned().unwrap_or_default();
                snapshot.activities.insert(id, known);
            }
        }
        panic!("the needs do not converge: {:?}", needs(snapshot));
    }

    fn list(&self, need: ListingNeed) -> Listing {
        if !self.listing_works {
            return Listing::Failed(Outage {
                detail: "503".to_owned(),
                retry_at: None,
                credential: false,
            });
        }
        let (since, archived) = match need {
            ListingNeed::Since(since) => (Some(since), false),
            ListingNeed::CompleteSince(since) => (Some(since), true),
            ListingNeed::Everything => (None, true),
        };
        let limit = self
            .listings_reach
            .and_then(|reach| self.now.checked_sub(reach).ok());
        let since = since.max(limit);
        let day = SignedDuration::from_hours(24);
        // The key's use is counted over a day, so a listing reaches back at least that far.
        let reached = |one: &&Session| {
            since.is_none_or(|since| {
                one.created_at >= since || self.now.duration_since(one.created_at) < day
            })
        };
        let count = |wanted: &dyn Fn(&&Session) -> bool| {
            let counted = self.sessions.iter().filter(reached).filter(wanted);
            u32::try_from(counted.count()).unwrap()
        };
        Listing::Taken(Sessions {
            taken_at: self.now,
            since,
            archived,
            sessions: self
                .sessions
                .iter()
                .filter(reached)
                .filter(|one| (archived || !one.archived) && !self.left_out.contains(&one.id))
                .cloned()
                .map(|one| Session {
                    prompt: one.prompt.filter(|_| !self.prompts_hidden),
                    ..one
                })
                .collect(),
            key: KeyUse {
                active: count(&|one| one.state.is_live() && !one.archived),
                created_last_day: count(&|one| self.now.duration_since(one.created_at) < day),
            },
        })
    }

    /// One tick: look, decide, commit, execute, and again.
    pub(crate) fn tick(&mut self) -> &mut Self {
        self.run += 1;
        self.effects.clear();
        self.lines.clear();
        self.diagnostics.clear();
        let mut snapshot = self.look();
        let mut events = Vec::new();
        for _ in 0..8 {
            let decision = decide(&snapshot, &events);
            assert_eq!(
                decision,
                decide(&snapshot, &events),
                "the same snapshot must give the same decision"
            );
            let Decision {
                change,
                effects,
                report,
                wake_at,
            } = decision;
            self.wake_at = wake_at;
            self.lines
                .retain(|line| line.verdict != Verdict::Waiting && line.verdict != Verdict::Held);
            self.lines.extend(report.lines);
            self.diagnostics.extend(report.diagnostics);
            let quiet = change.is_none() && effects.is_empty();
            if let Some(change) = change {
                self.check(&change.state);
                let head = Oid::new(format!("ledger-{}", self.headlines.len() + 1));
                self.exchange = self.exchange.with(&change.files);
                // The runtime keeps what it has read in step with its own commits.
                let at_head = match (&snapshot.exchange, &change.base) {
                    (Some(read), Some(base)) => read.head == *base,
                    (_, base) => base.is_none(),
                };
                snapshot.exchange = at_head.then(|| ExchangeRead {
                    head: head.clone(),
                    tree: self.exchange.clone(),
                });
                self.headlines.push(change.headline);
                self.ledger = Ledger::Present {
                    head,
                    state: change.state,
                };
                snapshot.ledger = self.ledger.clone();
            }
            if quiet {
                break;
            }
            if self.answering == Answering::Dies {
                break;
            }
            events = effects
                .iter()
                .filter_map(|effect| self.carry_out(effect))
                .collect();
            snapshot.labelled = self.labelled();
            let merges = |effect: &Effect| matches!(effect, Effect::MergePull { .. });
            if effects.iter().any(merges) {
                snapshot.merges.clear();
                self.look_further(&mut snapshot);
            }
            self.effects.extend(effects);
            if events.is_empty() {
                break;
            }
        }
        self
    }

    /// What the runtime checks before every commit.
    fn check(&self, next: &State) {
        let mut broken = invariant::check(next);
        if let Ledger::Present { state, .. } = &self.ledger {
            broken.extend(invariant::check_step(state, next));
        }
        assert_eq!(broken, [], "at {}", self.now);
    }

    fn carry_out(&mut self, effect: &Effect) -> Option<Event> {
        if self.lost.contains(&effect.name()) {
            return None;
        }
        match effect {
            Effect::CreateSession(create) => Some(self.create(create)),
            Effect::SendMessage { session, text, .. } => {
                let at = self.now;
                self.say(session, at, ActivityKind::UserMessaged(text.clone()));
                None
            }
            Effect::TellPull {
                pull,
                session,
                marker,
                text,
                ..
            } => {
                let at = self.now;
                self.say(session, at, ActivityKind::UserMessaged(text.clone()));
                Some(Event::PullTold {
                    pull: *pull,
                    marker: marker.clone(),
                })
            }
            Effect::ArchiveSession { session } => {
                // Jules answers 404 for one that a person has deleted.
                let mut sessions = self.sessions.iter_mut();
                if let Some(one) = sessions.find(|one| one.id == *session) {
                    one.archived = true;
                }
                None
            }
            Effect::OpenNotice { key, .. } => {
                let number = 100 + self.notices.len() as u64;
                self.notices.push(Notice {
                    number,
                    key: key.to_string(),
                });
                None
            }
            Effect::CloseNotice { number, .. } => {
                self.notices.retain(|notice| notice.number != *number);
                None
            }
            Effect::CloseOffer { number, .. } => {
                if let Some(subject) = self.subjects.get_mut(number) {
                    subject.open = false;
                }
                Some(Event::OfferClosed { number: *number })
            }
            Effect::ApprovePlan { session } => {
                let at = self.now;
                self.say(session, at, ActivityKind::PlanApproved);
                None
            }
            Effect::AddReaction { thread, comment } => {
                if !self.eyes.contains(&(*thread, *comment)) {
                    self.eyes.push((*thread, *comment));
                }
                None
            }
            Effect::RemoveLabel { thread, label } => {
                self.unlabel(*thread, label);
                None
            }
            Effect::TellStatus {
                request,
                thread,
                comment_id,
                digest,
                body,
                ..
            } => {
                let found = self.comments.iter().find(|(_, (on, _))| on == thread);
                let known = comment_id.filter(|id| self.comments.contains_key(id));
                let id = known.or(found.map(|(id, _)| *id));
                let id = id.unwrap_or(900 + self.comments.len() as u64);
                self.comments.insert(id, (*thread, body.clone()));
                Some(Event::StatusTold {
                    request: request.clone(),
                    digest: digest.clone(),
                    comment_id: id,
                })
            }
            Effect::RemindPeople {
                pull, marker, body, ..
            } => {
                let id = 900 + self.comments.len() as u64;
                self.comments.insert(id, (pull.0, body.clone()));
                Some(Event::PullTold {
                    pull: *pull,
                    marker: marker.clone(),
                })
            }
            Effect::MarkReady { pull } => {
                self.pulls.get_mut(pull).unwrap().draft = false;
                Some(Event::PullReadied { pull: *pull })
            }
            Effect::MergePull {
                request,
                pull,
                head,
                ..
            } => self.merges(request, *pull, head),
            Effect::PublishProposal { key, marker, .. } => {
                let next = 700 + self.published.len() as u64;
                let number = *self.published.entry(marker.clone()).or_insert(next);
                let key = key.clone();
                Some(Event::ProposalPublished { key, number })
            }
            Effect::OfferWork {
                key,
                title,
                body,
                marker,
                ..
            } => {
                let next = 700 + self.published.len() as u64;
                let number = *self.published.entry(marker.clone()).or_insert(next);
                self.show(number, title, body);
                let key = key.clone();
                Some(Event::WorkOffered { key, number })
            }
            Effect::OpenDashboard { known, body, .. } => Some(self.open_dashboard(*known, body)),
            Effect::EditDashboard {
                number, seen, body, ..
            } => {
                self.edit_dashboard(*number, seen, body);
                None
            }
            Effect::RetargetPull { pull, base } => {
                self.pulls.get_mut(pull).unwrap().base = base.clone();
                None
            }
        }
    }

    /// GitHub merges the commit that it is given, and no other.
    fn merges(&mut self, request: &str, pull: PullNumber, head: &Oid) -> Option<Event> {
        let request = request.to_owned();
        if self.merging == Merging::LostBefore {
            return None;
        }
        if let Merging::PutsOff(retry_at) = self.merging {
            return Some(Event::MergePutOff { request, retry_at });
        }
        // The last look is newer than the first.
        let newest = self.facts.get(&pull).map(|facts| &facts.head);
        let is_same = newest.unwrap_or(&self.pulls[&pull].head_oid) == head;
        if self.merging == Merging::Refuses || !is_same {
            let detail = "405: not today, @ada".to_owned();
            return Some(Event::MergeRefused { request, detail });
        }
        self.merge(pull);
        if self.merging == Merging::MergesAlone {
            for (number, facts) in &mut self.facts {
                if *number != pull {
                    facts.stands = MergeStands::Conflicting;
                }
            }
            return Some(Event::PullMerged { request });
        }
        (self.merging == Merging::Merges).then_some(Event::PullMerged { request })
    }

    fn create(&mut self, create: &CreateSession) -> Event {
        let failed = |failure| Event::SessionNotCreated {
            track: create.track.clone(),
            slot: create.slot.clone(),
            marker: create.marker.clone(),
            failure,
        };
        let lost = || CreateFailure::Unknown {
            detail: "no answer".to_owned(),
        };
        match self.answering {
            Answering::Quota => return failed(CreateFailure::Quota { retry_at: None }),
            Answering::QuotaUntil(at) => {
                return failed(CreateFailure::Quota { retry_at: Some(at) });
            }
            Answering::Refused => {
                return failed(CreateFailure::Refused {
                    detail: "400".to_owned(),
                });
            }
            Answering::Denied => {
                return failed(CreateFailure::Credential {
                    detail: "403".to_owned(),
                });
            }
            Answering::NotSent => {
                return failed(CreateFailure::NotSent {
                    detail: "the deadline had passed".to_owned(),
                });
            }
            Answering::LostBefore => return failed(lost()),
            Answering::Session | Answering::Lost | Answering::Dies => {}
        }
        let session = Session {
            id: SessionId::new(format!("{:017}", 1000 + self.created)),
            state: SessionState::Queued,
            title: create.title.clone(),
            prompt: Some(create.prompt.clone()),
            source: Some(create.source.clone()),
            created_at: self.now,
            updated_at: Some(self.now),
            archived: false,
            pulls: Vec::new(),
            has_changes: false,
        };
        self.created += 1;
        self.sessions.push(session.clone());
        if self.answering == Answering::Lost {
            return failed(lost());
        }
        Event::SessionCreated {
            track: create.track.clone(),
            slot: create.slot.clone(),
            marker: create.marker.clone(),
            session,
        }
    }

    pub(crate) fn say(&mut self, session: &SessionId, at: Timestamp, kind: ActivityKind) {
        let log = self.activities.entry(session.clone()).or_default();
        // Jules' own log never goes back, whatever our clock does.
        let at = log.last().map_or(at, |last| last.at.max(at));
        log.push(Activity {
            id: format!("a{}", log.len()),
            at,
            kind,
            has_changes: false,
        });
    }

    /// The newest session changes its state.
    pub(crate) fn becomes(&mut self, state: SessionState) -> SessionId {
        let now = self.now;
        let session = self.sessions.last_mut().expect("a session");
        session.state = state.clone();
        session.updated_at = Some(now);
        let id = session.id.clone();
        match state {
            SessionState::Completed => self.say(&id, now, ActivityKind::Completed),
            SessionState::Failed => self.say(&id, now, ActivityKind::Failed("it broke".to_owned())),
            SessionState::AwaitingUserFeedback => {
                self.say(&id, now, ActivityKind::AgentMessaged("which?".to_owned()))
            }
            SessionState::AwaitingPlanApproval => self.say(&id, now, ActivityKind::PlanGenerated),
            _ => {}
        }
        id
    }

    /// The newest session ends with a pull request.
    pub(crate) fn opens_pull(&mut self) -> PullNumber {
        let index = self.sessions.len() - 1;
        self.opens_pull_of(index)
    }

    pub(crate) fn opens_pull_of(&mut self, index: usize) -> PullNumber {
        let number = PullNumber(1 + self.pulls.len() as u64);
        let now = self.now;
        let session = &mut self.sessions[index];
        session.state = SessionState::Completed;
        session.updated_at = Some(now);
        session.pulls.push(number);
        session.has_changes = true;
        let pull = Pull {
            number,
            state: PullState::Open,
            draft: false,
            title: "work".to_owned(),
            body: String::new(),
            author: "google-labs-jules[bot]".into(),
            head: format!("work-{}", session.id).into(),
            head_oid: "00".into(),
            same_repository: true,
            base: "main".into(),
            created_at: now,
            closed_at: None,
            reviewed: false,
            checks: Checks::None,
            mergeable: Mergeable::Yes,
        };
        self.pulls.insert(number, pull);
        number
    }

    pub(crate) fn merge(&mut self, number: PullNumber) {
        self.pulls.get_mut(&number).unwrap().state = PullState::Merged;
        self.push();
    }

    pub(crate) fn close(&mut self, number: PullNumber) {
        self.pulls.get_mut(&number).unwrap().state = PullState::Closed;
    }

    /// The reasons of this tick's lines about a track.
    pub(crate) fn reasons(&self, track: &str) -> Vec<Reason> {
        let track = TrackName::from(track);
        self.lines
            .iter()
            .filter(|line| line.track.as_ref() == Some(&track))
            .map(|line| line.reason)
            .collect()
    }

    pub(crate) fn all_reasons(&self) -> Vec<Reason> {
        self.lines.iter().map(|line| line.reason).collect()
    }

    pub(crate) fn personas_run(&self) -> Vec<String> {
        self.state()
            .history
            .values()
            .map(|entry| entry.persona_id.to_string())
            .collect()
    }

    pub(crate) fn outcomes(&self) -> Vec<Option<Outcome>> {
        self.state()
            .history
            .values()
            .map(|entry| entry.outcome.clone())
            .collect()
    }
}
