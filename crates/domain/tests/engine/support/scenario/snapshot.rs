//! Builds the snapshot of a scenario, and does the reads that the engine requests.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use phileas_domain::board;
use phileas_domain::engine::{
    Commit, Commits, Event, ExchangeRead, FurtherComments, KeyUsage, Ledger, Listing, ListingNeed,
    Outage, Permission, PlanCommit, PullActivity, PullFile, ReadReach, RefusalTexts, Repository,
    Session, SessionFiles, Sessions, Snapshot, Subject, WorkFilesRead, WorkingDocs,
    prompts_to_render, read_requests,
};
use phileas_domain::model::{Oid, PullNumber, RepositoryId, Tree};
use phileas_domain::plan::{self, Driver};
use phileas_domain::prompt::{InProcess, RenderPrompts as _};

use super::Scenario;

/// Renders the prompts that a decision requests, as the runtime does before it decides.
pub(super) fn render(snapshot: &mut Snapshot, events: &[Event]) {
    for _ in 0..100 {
        let wanted = prompts_to_render(snapshot, events);
        if wanted.is_empty() {
            return;
        }
        for (key, request) in wanted {
            let answer = InProcess.render(&[request]).remove(0);
            snapshot.prompts.insert(key, answer);
        }
    }
    panic!("the prompts do not converge");
}

/// The file of a pull request that no other one changes.
fn own_file(number: PullNumber) -> PullFile {
    PullFile {
        path: format!("src/work-{number}.rs"),
        added: 1,
        removed: 0,
        patch: Some(format!("@@ -0,0 +1 @@\n+work {number}\n")),
    }
}

impl Scenario {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let folders = [board::TASKS_FOLDER, board::SPRINTS_FOLDER];
        let is_working_file = |path: &str| folders.iter().any(|folder| path.starts_with(folder));
        let files = self.files.iter().filter(|(path, _)| !is_working_file(path));
        let tree = Tree::from_texts(files.map(|(path, text)| (path.clone(), text.as_str())));
        let there = folders.into_iter().filter(|folder| {
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
            comment_coverage: self.comment_coverage.clone(),
            subjects: BTreeMap::new(),
            permissions: BTreeMap::new(),
            viewer: None,
            failed_checks: BTreeMap::new(),
            merges: BTreeMap::new(),
            pull_files: BTreeMap::new(),
            unread_pull_files: BTreeSet::new(),
            pull_activity: BTreeMap::new(),
            refusal_texts: BTreeMap::new(),
            work_files: None,
            remarks: BTreeMap::new(),
            reviews: BTreeMap::new(),
            single_sessions: BTreeMap::new(),
            working_docs: WorkingDocs {
                there,
                ..WorkingDocs::default()
            },
            exchange: None,
            exchange_id: self.exchange_id.clone(),
            layers_read: false,
            session_files: BTreeMap::new(),
            commits: Vec::new(),
            plan_commit: PlanCommit::Unread,
            previous_tick: self.previous_tick,
            prompts: BTreeMap::new(),
            run_request: self.ask.clone(),
        }
    }

    /// The snapshot after all requested reads.
    pub(crate) fn full_snapshot(&mut self) -> Snapshot {
        let mut snapshot = self.snapshot();
        self.complete_reads(&mut snapshot);
        render(&mut snapshot, &[]);
        snapshot
    }

    pub(super) fn complete_reads(&mut self, snapshot: &mut Snapshot) {
        let mut asked = Default::default();
        for _ in 0..8 {
            let mut needs = read_requests(snapshot);
            needs.prompts.clear();
            // The runtime does not request twice what it could not read.
            let is_limited = self.listings_reach.is_some() || self.texts_fail;
            if needs.is_empty() || (is_limited && needs == asked) {
                return;
            }
            asked = needs.clone();
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
            for id in needs.single_sessions {
                self.session_reads += 1;
                match self.sessions.iter().find(|one| one.id == id) {
                    Some(found) => {
                        snapshot.single_sessions.insert(id, found.clone());
                    }
                    None => {
                        snapshot.missing_sessions.insert(id);
                    }
                }
            }
            for folder in &needs.folders {
                let inside = self.files.iter().filter(|(path, _)| {
                    path.strip_prefix(folder.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                });
                for (path, text) in inside {
                    snapshot.tree.insert_text(path.clone(), text);
                }
            }
            if !needs.folders.is_empty() {
                snapshot
                    .working_docs
                    .read
                    .extend(needs.folders.iter().cloned());
                self.folders_read.push(needs.folders);
            }
            for oid in needs.failed_checks {
                let known = self.red.get(&oid).cloned().unwrap_or_default();
                snapshot.failed_checks.insert(oid, known);
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
            for number in needs.pull_files {
                self.files_read += 1;
                if self.files_fail {
                    snapshot.unread_pull_files.insert(number);
                    continue;
                }
                let files = self.pull_files.get(&number).cloned();
                let files = files.unwrap_or_else(|| vec![own_file(number)]);
                snapshot.pull_files.insert(number, Some(files));
            }
            for number in needs.pull_activity {
                self.activity_read += 1;
                let activity = self.pull_activity(number);
                snapshot.pull_activity.insert(number, activity);
            }
            for number in needs.refusal_texts {
                self.texts_read.push(number);
                if !self.texts_fail {
                    let texts = self.refusal_texts(number);
                    snapshot.refusal_texts.insert(number, Some(texts));
                }
            }
            if !needs.work_files.is_empty() {
                self.read_work(snapshot, needs.work_files);
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
            self.subjects_read.extend(&needs.subjects);
            for number in needs.subjects {
                let found = self.subjects.get(&number).cloned();
                let found = found.map(|subject| Subject {
                    labels: self.bears(number),
                    ..subject
                });
                snapshot.subjects.insert(number, found);
            }
            if let Some(since) = needs.comments {
                self.comment_reads_since.push(since);
                let nowhere = FurtherComments {
                    comments: Vec::new(),
                    reach: ReadReach::Nowhere,
                };
                snapshot.comment_coverage.further = Some(self.further.clone().unwrap_or(nowhere));
            }
            for login in needs.permissions {
                self.permission_reads += 1;
                self.accounts_read.push(login.to_string());
                let known = self.permissions.get(&login).copied();
                let no_permission = Permission {
                    id: None,
                    writes: false,
                };
                snapshot
                    .permissions
                    .insert(login, known.unwrap_or(no_permission));
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
            for id in needs.session_files.into_keys() {
                let files = self.written.get(&id).cloned().unwrap_or_default();
                let found = Vec::new();
                snapshot.session_files.insert(
                    id,
                    SessionFiles {
                        files,
                        diagnostics: found,
                    },
                );
            }
            for span in needs.commits {
                self.spans_read += 1;
                let newest = vec![Commit {
                    oid: span.until.clone(),
                    at: Some(self.now),
                    subject: "Count words".to_owned(),
                }];
                snapshot.commits.push(Commits {
                    span,
                    whole: self.commits_exist,
                    total: 1,
                    newest,
                    files: self.touched.clone(),
                    cut: self.files_cut,
                    lines: (3, 1),
                });
            }
            if needs.plan_commit {
                self.plan_commits_read += 1;
                snapshot.plan_commit = self.plan_commit.map_or(PlanCommit::Unknown, PlanCommit::At);
            }
            for id in needs.activities {
                let known = self.activities.get(&id).cloned().unwrap_or_default();
                snapshot.activities.insert(id, known);
            }
        }
        panic!("the needs do not converge: {:?}", read_requests(snapshot));
    }

    /// What GitHub shows of a pull request now.
    fn pull_activity(&self, number: PullNumber) -> Option<PullActivity> {
        let pull = self.pulls.get(&number)?;
        if self.unshown_activity.contains(&number) {
            return None;
        }
        let labels = match self.subjects.contains_key(&number.0) {
            true => self.bears(number.0),
            false => BTreeSet::new(),
        };
        Some(PullActivity {
            head: pull.head_oid.clone(),
            labels,
            events: self.pull_events.get(&number).cloned().unwrap_or_default(),
            more: false,
            as_person: self.as_person,
        })
    }

    /// What is written on a pull request now, without what is hidden.
    fn refusal_texts(&self, number: PullNumber) -> RefusalTexts {
        let written = self.said.iter().filter(|one| one.thread == number.0);
        let shown = written.filter(|one| !self.hidden_comments.contains(&one.number));
        RefusalTexts {
            comments: shown.map(|one| (one.number, one.body.clone())).collect(),
            reviews: self
                .change_requests
                .get(&number)
                .cloned()
                .unwrap_or_default(),
        }
    }

    /// Reads records of work at the ledger's head.
    fn read_work(&mut self, snapshot: &mut Snapshot, paths: BTreeSet<String>) {
        self.records_read += 1;
        let Ledger::Present { head, .. } = &self.ledger else {
            panic!("there is nothing to read: {:?}", self.ledger);
        };
        let read = snapshot.work_files.get_or_insert_with(|| WorkFilesRead {
            head: head.clone(),
            texts: BTreeMap::new(),
        });
        for path in paths {
            let text = self.exchange.text(&path).map(str::to_owned);
            read.texts.insert(path, text);
        }
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
            taken_at: self.now - self.listing_age,
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
            key: KeyUsage {
                active: count(&|one| one.state.is_live() && !one.archived),
                created_last_day: count(&|one| self.now.duration_since(one.created_at) < day),
            },
        })
    }
}
