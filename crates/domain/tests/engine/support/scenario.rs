//! A scenario for decisions: one repository, one key, a clock that the test sets, and the runtime's protocol (commit,
//! execute, decide again) without failures of its own.

mod snapshot;
mod tick;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::Diagnostic;
use phileas_domain::engine::{
    Activity, Actor, Checks, Comment, CommentCoverage, Effect, FailedChecks, FurtherComments,
    Ledger, Line, MergeFacts, Notice, Outage, Permission, Pull, PullEvent, PullFile, Reason,
    Remark, Reviews, RunRequest, Session, Subject,
};
use phileas_domain::exchange::ChangedFile;
use phileas_domain::model::{Login, Oid, PullNumber, SessionId, TrackName, Tree};
use phileas_domain::plan::{self};
use phileas_domain::state::{Outcome, State};

/// What Jules answers to a create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    Session,
    /// The session is created, and the answer lost.
    Lost,
    /// Nothing is created, and the answer lost.
    LostBefore,
    Quota,
    /// The same, with Jules' retry time.
    QuotaUntil(Timestamp),
    Refused,
    /// The turn's content is refused.
    TurnRefused,
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
    /// GitHub is not called, or cannot do it at this moment.
    PutsOff(Option<Timestamp>),
}

pub(crate) struct Scenario {
    pub(crate) now: Timestamp,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) ledger: Ledger,
    pub(crate) head: u64,
    pub(crate) sessions: Vec<Session>,
    pub(crate) activities: BTreeMap<SessionId, Vec<Activity>>,
    /// Sessions whose activities Jules does not show.
    pub(crate) unread: BTreeMap<SessionId, Outage>,
    pub(crate) pulls: BTreeMap<PullNumber, Pull>,
    pub(crate) notices: Vec<Notice>,
    /// Issues and pull requests that have or had labels.
    pub(crate) subjects: BTreeMap<u64, Subject>,
    /// Labels whose events GitHub does not show.
    pub(crate) put_on_unseen: BTreeMap<u64, BTreeSet<String>>,
    /// Those that too many others were touched after, so that their labels are not listed.
    pub(crate) unlisted: BTreeSet<u64>,
    /// The permissions of accounts; others may not write.
    pub(crate) permissions: BTreeMap<Login, Permission>,
    /// Who phileas is.
    pub(crate) viewer: Option<Actor>,
    /// The status comments by their ids: their threads and texts.
    pub(crate) comments: BTreeMap<u64, (u64, String)>,
    /// People's comments, as far as they are shown.
    pub(crate) said: Vec<Comment>,
    /// How far back what is shown reaches.
    pub(crate) comment_coverage: CommentCoverage,
    /// What the second read of comments shows; `None`: it may not be made.
    pub(crate) further: Option<FurtherComments>,
    /// The accounts whose permission was read, in order.
    pub(crate) accounts_read: Vec<String>,
    /// The issues and pull requests that were read by themselves.
    pub(crate) subjects_read: BTreeSet<u64>,
    /// Since when comments were read by themselves, each time.
    pub(crate) comment_reads_since: Vec<Timestamp>,
    /// What got a reaction.
    pub(crate) eyes: Vec<(u64, Option<u64>)>,
    /// How many permissions were read.
    pub(crate) permission_reads: usize,
    pub(crate) answering: Answering,
    pub(crate) listing_works: bool,
    /// How old listings are when they are decided on.
    pub(crate) listing_age: SignedDuration,
    /// Listings leave the prompts out; a session by itself shows it.
    pub(crate) prompts_hidden: bool,
    /// Sessions that no listing shows, but Jules shows by their ids.
    pub(crate) left_out: Vec<SessionId>,
    /// No listing reaches further back.
    pub(crate) listings_reach: Option<SignedDuration>,
    /// Effects of these names are decided on and never happen.
    pub(crate) lost: Vec<&'static str>,
    /// Effects that GitHub refuses for their content.
    pub(crate) refused: Vec<&'static str>,
    pub(crate) public: bool,
    pub(crate) checks: Checks,
    pub(crate) paused_by_variable: Option<String>,
    pub(crate) ask: RunRequest,
    pub(crate) run: u64,
    pub(crate) effects: Vec<Effect>,
    pub(crate) lines: Vec<Line>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) headlines: Vec<String>,
    pub(crate) wake_at: Option<Timestamp>,
    /// How many listings were read.
    pub(crate) listings: usize,
    /// How many sessions were read one by one.
    pub(crate) session_reads: usize,
    /// The failed checks of commits.
    pub(crate) red: BTreeMap<Oid, FailedChecks>,
    /// People's remarks on pull requests.
    pub(crate) remarks: BTreeMap<PullNumber, Vec<Remark>>,
    /// The facts of pull requests right before their merge.
    pub(crate) facts: BTreeMap<PullNumber, MergeFacts>,
    /// How often that was read.
    pub(crate) last_looks: usize,
    /// The reviews of pull requests.
    pub(crate) reviews: BTreeMap<PullNumber, Reviews>,
    /// How often that was read.
    pub(crate) reviews_read: usize,
    /// What GitHub answers to a merge.
    pub(crate) merging: Merging,
    /// The files of the exchange on the ledger.
    pub(crate) exchange: Tree,
    /// What sessions wrote.
    pub(crate) written: BTreeMap<SessionId, Vec<ChangedFile>>,
    /// What pull requests change.
    pub(crate) pull_files: BTreeMap<PullNumber, Vec<PullFile>>,
    /// How often that was read.
    pub(crate) files_read: usize,
    /// Whether GitHub fails to answer.
    pub(crate) files_fail: bool,
    /// Comments that a person has hidden, by their numbers.
    pub(crate) hidden_comments: BTreeSet<u64>,
    /// Reviews of people with write access that request changes.
    pub(crate) change_requests: BTreeMap<PullNumber, Vec<String>>,
    /// GitHub does not answer when texts about refusals are read.
    pub(crate) texts_fail: bool,
    /// Of which pull requests they were read.
    pub(crate) texts_read: Vec<PullNumber>,
    /// How often work records were read.
    pub(crate) records_read: usize,
    /// What happened on pull requests since they were opened.
    pub(crate) pull_events: BTreeMap<PullNumber, Vec<PullEvent>>,
    /// Pull requests of which GitHub does not show what happened.
    pub(crate) unshown_activity: BTreeSet<PullNumber>,
    /// How often that was read.
    pub(crate) activity_read: usize,
    /// Whether phileas works with a person's token.
    pub(crate) as_person: bool,
    /// Files that each push to the default branch touches.
    pub(crate) touched: Vec<String>,
    /// Whether the commits that a comparison begins with exist.
    pub(crate) commits_exist: bool,
    /// Whether GitHub lists fewer files than commits touch.
    pub(crate) files_cut: bool,
    /// How many spans of commits were read.
    pub(crate) spans_read: usize,
    /// The id of the exchange's content, where it is known.
    pub(crate) exchange_id: Option<String>,
    /// How often the exchange was read.
    pub(crate) exchanges_read: usize,
    /// Which folders of tasks and sprints were read, read by read.
    pub(crate) folders_read: Vec<BTreeSet<String>>,
    /// Numbers of the issues that were opened for proposals, by marker.
    pub(crate) published: BTreeMap<String, u64>,
    /// The committer date of the plan's newest commit.
    pub(crate) plan_commit: Option<Timestamp>,
    /// How often that was read.
    pub(crate) plan_commits_read: usize,
    /// When this process last finished a tick.
    pub(crate) previous_tick: Option<Timestamp>,
    created: usize,
}

impl Scenario {
    /// A scenario at 2026-01-05T00:00:00Z with this plan and personas of these ids.
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
            comment_coverage: CommentCoverage::default(),
            further: None,
            accounts_read: Vec::new(),
            subjects_read: BTreeSet::new(),
            comment_reads_since: Vec::new(),
            eyes: Vec::new(),
            permission_reads: 0,
            answering: Answering::Session,
            listing_works: true,
            listing_age: SignedDuration::ZERO,
            prompts_hidden: false,
            left_out: Vec::new(),
            listings_reach: None,
            lost: Vec::new(),
            refused: Vec::new(),
            public: false,
            checks: Checks::None,
            paused_by_variable: None,
            ask: RunRequest::Due,
            run: 0,
            effects: Vec::new(),
            lines: Vec::new(),
            diagnostics: Vec::new(),
            headlines: Vec::new(),
            wake_at: None,
            listings: 0,
            session_reads: 0,
            red: BTreeMap::new(),
            remarks: BTreeMap::new(),
            facts: BTreeMap::new(),
            reviews: BTreeMap::new(),
            reviews_read: 0,
            last_looks: 0,
            merging: Merging::Merges,
            exchange: Tree::new(),
            written: BTreeMap::new(),
            pull_files: BTreeMap::new(),
            files_read: 0,
            files_fail: false,
            hidden_comments: BTreeSet::new(),
            change_requests: BTreeMap::new(),
            texts_fail: false,
            texts_read: Vec::new(),
            records_read: 0,
            pull_events: BTreeMap::new(),
            unshown_activity: BTreeSet::new(),
            activity_read: 0,
            as_person: false,
            touched: vec!["src/lib.rs".to_owned()],
            commits_exist: true,
            files_cut: false,
            spans_read: 0,
            exchange_id: None,
            exchanges_read: 0,
            folders_read: Vec::new(),
            published: BTreeMap::new(),
            plan_commit: None,
            plan_commits_read: 0,
            previous_tick: None,
            created: 0,
        }
    }

    /// Writes or replaces a persona's file.
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
