//! Takes a snapshot of the repository: one read of GitHub, then only what the decision still needs.

mod feedback;
pub(super) mod sessions;
mod texts;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::Diagnostic;
use phileas_domain::engine::{
    self, Event, Ledger, PlanCommit, ReadRequests, Snapshot, WorkingDocs,
};
use phileas_domain::plan::{self, MainRed, Plan};
use phileas_domain::prompt::{RenderAnswer, RenderError, RenderRequest, SOURCES_READS};
use phileas_domain::state::{self, STATE_PATH};

use self::feedback::{
    read_checks, read_comments, read_merge_facts, read_pulls, read_remarks, read_requests,
    read_reviews,
};
use self::sessions::{
    leave_unread, list_sessions, read_activities, read_single_session, record_session,
};
pub(crate) use self::texts::read_prompt_sources;
use self::texts::read_texts;
use super::off_workers::off_workers;
use super::ports::{
    Failure, GitHubObservation, LedgerRead, ReadGitHub, ReadJules, Renderer, Stopwatch,
};
use super::settings::Settings;
use super::{exchange_reads, work_reads};

/// How many reads may follow before a decision uses the facts that it has: those of the prompts'
/// sources, and as many others.
const MAX_READS: usize = SOURCES_READS + 20;
/// How long the prompts of one tick may be rendered.
const RENDERING_LIMIT: Duration = Duration::from_secs(120);
/// How often prompts are rendered before a decision uses those that it has: once for each persona
/// that is skipped because its prompt is broken, until one can start.
const MAX_RENDERINGS: usize = 500;

/// A snapshot, and the stopwatch's time when it was taken.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The facts.
    pub snapshot: Snapshot,
    /// The stopwatch's time when GitHub's clock showed the snapshot's time.
    pub taken_at: Duration,
    /// GitHub's time then.
    pub github_time: Timestamp,
    /// The last read requests. A decision that repeats exactly these could not read them.
    pub(super) requested: ReadRequests,
    /// How long the rendering of its prompts took.
    pub(super) rendering: Duration,
}

impl Observation {
    /// Advances the snapshot's time by what has passed since.
    pub(super) fn move_on(&mut self, stopwatch: &impl Stopwatch) {
        self.snapshot.now = self.current_time(stopwatch);
    }

    pub(super) fn current_time(&self, stopwatch: &impl Stopwatch) -> Timestamp {
        let passed = stopwatch.elapsed().saturating_sub(self.taken_at);
        let passed = SignedDuration::try_from(passed).unwrap_or(SignedDuration::ZERO);
        self.github_time
            .checked_add(passed)
            .unwrap_or(Timestamp::MAX)
    }
}

/// Takes a snapshot of the repository and of everything that a decision about it needs.
///
/// # Errors
///
/// Only when GitHub's first read fails. Any other failure becomes an outage in the snapshot.
pub async fn observe_repository(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    stopwatch: &impl Stopwatch,
    settings: &Settings,
) -> Result<Observation, Failure> {
    let observation = github.observe_repository().await?;
    // Later reads may have taken long; deadlines count from the time of the first reply.
    let taken_at = stopwatch.elapsed().saturating_sub(observation.age);
    let github_time = observation.now;
    let snapshot = off_workers(|| snapshot_of(observation, settings)).await;
    let mut sight = Observation {
        snapshot,
        taken_at,
        github_time,
        requested: ReadRequests::default(),
        rendering: Duration::ZERO,
    };
    let renderer = &*settings.renderer;
    read_requested(github, jules, stopwatch, (renderer, &[]), &mut sight).await;
    Ok(sight)
}

/// Reads what a decision about a snapshot still needs. Sends no request if it needs nothing, or
/// only what could not be read before.
pub(super) async fn read_requested(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    stopwatch: &impl Stopwatch,
    (renderer, events): (&dyn Renderer, &[Event]),
    sight: &mut Observation,
) {
    let mut reads = 0;
    for _ in 0..MAX_READS + MAX_RENDERINGS {
        sight.move_on(stopwatch);
        let mut needs = off_workers(|| engine::read_requests(&sight.snapshot)).await;
        // Later reads may change the prompts.
        needs.prompts.clear();
        if !needs.is_empty() && needs != sight.requested && reads < MAX_READS {
            reads += 1;
            read_requested_once(github, jules, &mut sight.snapshot, &needs).await;
            sight.requested = needs;
            continue;
        }
        let prompts = off_workers(|| engine::prompts_to_render(&sight.snapshot, events)).await;
        if prompts.is_empty() {
            break;
        }
        render(renderer, stopwatch, prompts, sight).await;
    }
}

/// Renders prompts. All prompts of a tick together take no more than about [`RENDERING_LIMIT`].
async fn render(
    renderer: &dyn Renderer,
    stopwatch: &impl Stopwatch,
    prompts: BTreeMap<String, RenderRequest>,
    sight: &mut Observation,
) {
    let (keys, requests): (Vec<String>, Vec<RenderRequest>) = prompts.into_iter().unzip();
    let begun = stopwatch.elapsed();
    let answers = if sight.rendering < RENDERING_LIMIT {
        renderer.render_later(requests).await
    } else {
        Vec::new()
    };
    let took = stopwatch.elapsed().saturating_sub(begun);
    sight.rendering = sight.rendering.saturating_add(took);
    let mut answers = answers.into_iter();
    for key in keys {
        let none = || {
            let seconds = RENDERING_LIMIT.as_secs();
            let why = format!("the prompts of one tick take more than {seconds} s");
            RenderAnswer::Failed(RenderError::Unavailable(why))
        };
        let answer = answers.next().unwrap_or_else(none);
        sight.snapshot.prompts.insert(key, answer);
    }
}

/// Builds a snapshot from one read of GitHub, without what a decision may need beyond it.
#[must_use]
pub fn snapshot_of(observation: GitHubObservation, settings: &Settings) -> Snapshot {
    let mut snapshot = Snapshot {
        entropy: settings.entropy,
        holder: settings.holder.clone(),
        driver: settings.driver,
        ledger: ledger_of(observation.ledger),
        pulls: observation.pulls,
        notices: observation.notices,
        dashboards: observation.dashboards,
        paused_by_variable: settings.paused_by_variable.clone(),
        paused_by_label: observation.paused_by_label,
        labelled: observation.labelled,
        comments: observation.comments,
        comment_coverage: observation.comment_coverage,
        working_docs: WorkingDocs {
            there: observation.working_folders,
            ..WorkingDocs::default()
        },
        exchange_id: observation.exchange_id,
        previous_tick: settings.previous_tick,
        run_request: settings.ask.clone(),
        ..Snapshot::unread(observation.now, observation.repository, observation.tree)
    };
    let gate = hidden_checks_gate(&snapshot.plan, observation.checks_hidden);
    snapshot.plan_diagnostics.extend(gate);
    snapshot
}

/// A gate whose checks are hidden counts as open; the diagnostic warns that this does not mean
/// passed checks.
fn hidden_checks_gate(plan: &Plan, checks_hidden: bool) -> Option<Diagnostic> {
    let open = checks_hidden && plan.gate.main_red != MainRed::Ignore;
    open.then(|| {
        let message = "this credential may not read the checks of the default branch, so nothing waits for them";
        Diagnostic::warning(plan::SCHEDULES_PATH, message)
            .key("gate.main_red")
            .help("grant it `checks: read` and `statuses: read`")
    })
}

/// Converts the state file for the engine: parsed, and with all invariants checked.
#[must_use]
pub fn ledger_of(read: LedgerRead) -> Ledger {
    match read {
        LedgerRead::NoBranch => Ledger::Missing { head: None },
        LedgerRead::NoState { head } => Ledger::Missing { head: Some(head) },
        LedgerRead::Unreadable { head, what } => Ledger::Corrupt {
            head,
            diagnostics: vec![
                Diagnostic::error(STATE_PATH, what).help("put a regular file back by a commit"),
            ],
        },
        LedgerRead::State { head, text } => match state::codec::load(&text) {
            Ok(loaded) => {
                let broken = state::invariant::check_state(&loaded.state);
                if broken.is_empty() {
                    Ledger::Present {
                        head,
                        state: Box::new(loaded.state),
                    }
                } else {
                    let diagnostics = broken
                        .iter()
                        .map(|one| Diagnostic::error(STATE_PATH, one.to_string()));
                    Ledger::Corrupt {
                        head,
                        diagnostics: diagnostics.collect(),
                    }
                }
            }
            Err(diagnostics) => Ledger::Corrupt { head, diagnostics },
        },
    }
}

async fn read_requested_once(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
    snapshot: &mut Snapshot,
    needs: &ReadRequests,
) {
    if let Some(need) = &needs.listing {
        list_sessions(jules, snapshot, need).await;
    }
    for id in &needs.sessions {
        match jules.read_session(id).await {
            Ok(read) => record_session(snapshot, id, read),
            Err(failure) => leave_unread(snapshot, id, &failure),
        }
    }
    for id in &needs.activities {
        read_activities(jules, snapshot, id).await;
    }
    if !needs.pulls.is_empty() {
        read_pulls(github, snapshot, &needs.pulls).await;
    }
    for id in &needs.single_sessions {
        read_single_session(jules, snapshot, id).await;
    }
    for commit in &needs.failed_checks {
        read_checks(github, snapshot, commit).await;
    }
    for pull in &needs.merges {
        read_merge_facts(github, snapshot, *pull).await;
    }
    for pull in &needs.remarks {
        read_remarks(github, snapshot, *pull).await;
    }
    for pull in &needs.reviews {
        read_reviews(github, snapshot, *pull).await;
    }
    if let Some(since) = needs.comments {
        read_comments(github, snapshot, since).await;
    }
    if !needs.subjects.is_empty() || !needs.permissions.is_empty() {
        read_requests(github, snapshot, needs).await;
    }
    if !(needs.texts.is_empty() && needs.folders.is_empty() && needs.sources.is_empty()) {
        read_texts(github, snapshot, needs).await;
    }
    if needs.plan_commit {
        plan_commit(github, snapshot).await;
    }
    work_reads::read_work(github, snapshot, needs).await;
    exchange_reads::read_exchange(github, jules, snapshot, needs).await;
}

/// Reads the time of the plan's newest commit. If that is unknown, the plan's new times count from
/// now on.
async fn plan_commit(github: &impl ReadGitHub, snapshot: &mut Snapshot) {
    snapshot.plan_commit = PlanCommit::Unknown;
    let Some(head) = &snapshot.repository.default_head else {
        return;
    };
    match github.read_plan_commit(head).await {
        Ok(Some(at)) => snapshot.plan_commit = PlanCommit::At(at),
        Ok(None) => {}
        Err(failure) => {
            tracing::warn!(%failure, "the plan's newest commit could not be read; its new times count from now on");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use phileas_domain::engine::{
        Activity, Checks, FailedChecks, Listing, ListingNeed, Permission, Pull, Repository,
        RunRequest, Session, Sessions,
    };
    use phileas_domain::model::{
        BranchName, Login, Oid, PullNumber, RepositoryId, SessionId, Tree,
    };
    use phileas_domain::plan::Driver;

    use super::super::ports::{Patch, Subjects};
    use super::*;

    /// An archived repository, about which nothing else may be read.
    struct Archived {
        age: Duration,
        checks_hidden: bool,
    }

    impl ReadGitHub for Archived {
        async fn observe_repository(&self) -> Result<GitHubObservation, Failure> {
            Ok(GitHubObservation {
                now: "2026-01-05T12:00:00Z".parse().unwrap(),
                age: self.age,
                repository: Repository {
                    id: RepositoryId(1),
                    name: "acme/widget".parse().unwrap(),
                    public: false,
                    archived: true,
                    default_branch: "main".into(),
                    default_head: None,
                    default_checks: Checks::None,
                },
                checks_hidden: self.checks_hidden,
                exchange_id: None,
                ledger: LedgerRead::NoBranch,
                tree: Tree::from_texts([(
                    plan::SCHEDULES_PATH.to_owned(),
                    "[gate]\nmain_red = \"critical_only\"\n",
                )]),
                working_folders: BTreeSet::new(),
                pulls: BTreeMap::new(),
                notices: Vec::new(),
                dashboards: Vec::new(),
                paused_by_label: None,
                labelled: BTreeMap::new(),
                comments: Vec::new(),
                comment_coverage: Default::default(),
            })
        }

        async fn read_texts(
            &self,
            _: &Oid,
            _: &BTreeSet<String>,
        ) -> Result<BTreeMap<String, String>, Failure> {
            unreachable!("an archived repository has no prompts to render")
        }

        async fn read_folders(&self, _: &Oid, _: &[&str]) -> Result<Tree, Failure> {
            unreachable!("an archived repository has no layers to run")
        }

        async fn read_commits(&self, _: &engine::CommitSpan) -> Result<engine::Commits, Failure> {
            unreachable!("an archived repository is not narrated")
        }

        async fn read_plan_commit(&self, _: &Oid) -> Result<Option<Timestamp>, Failure> {
            unreachable!("no schedule runs in an archived repository")
        }

        async fn read_pulls(
            &self,
            _: &BTreeSet<PullNumber>,
        ) -> Result<BTreeMap<PullNumber, Pull>, Failure> {
            unreachable!("an archived repository has no turns to follow")
        }

        async fn read_subjects(&self, _: &BTreeSet<u64>) -> Result<Subjects, Failure> {
            unreachable!("no request is accepted in an archived repository")
        }

        async fn read_comments(&self, _: Timestamp) -> Result<engine::FurtherComments, Failure> {
            unreachable!("no request is accepted in an archived repository")
        }

        async fn read_checks(&self, _: &Oid) -> Result<FailedChecks, Failure> {
            unreachable!("no pull request is looked after in an archived repository")
        }

        async fn read_remarks(&self, _: PullNumber) -> Result<Vec<engine::Remark>, Failure> {
            unreachable!("no pull request is followed in an archived repository")
        }

        async fn read_pull_files(
            &self,
            _: PullNumber,
        ) -> Result<Option<Vec<engine::PullFile>>, Failure> {
            unreachable!("no work is recorded in an archived repository")
        }

        async fn read_merge_facts(
            &self,
            _: PullNumber,
        ) -> Result<Option<engine::MergeFacts>, Failure> {
            unreachable!("nothing is merged in an archived repository")
        }

        async fn read_pull_activity(
            &self,
            _: PullNumber,
        ) -> Result<Option<engine::PullActivity>, Failure> {
            unreachable!("nothing is labelled in an archived repository")
        }

        async fn read_refusal_texts(
            &self,
            _: PullNumber,
            _: bool,
        ) -> Result<Option<engine::RefusalTexts>, Failure> {
            unreachable!("an archived repository has no prompts to build")
        }

        async fn read_reviews(&self, _: PullNumber) -> Result<Option<engine::Reviews>, Failure> {
            unreachable!("no request is accepted in an archived repository")
        }

        async fn has_branch(&self, _: &BranchName) -> Result<bool, Failure> {
            unreachable!()
        }

        async fn read_permission(&self, _: &Login) -> Result<Permission, Failure> {
            unreachable!("no request is accepted in an archived repository")
        }
    }

    struct Unasked;

    impl ReadJules for Unasked {
        async fn list_sessions(
            &self,
            _: &Repository,
            _: &ListingNeed,
            _: Timestamp,
        ) -> Result<Sessions, Failure> {
            unreachable!("nothing is started in an archived repository")
        }

        async fn read_session(&self, _: &SessionId) -> Result<Option<Session>, Failure> {
            unreachable!("nothing is started in an archived repository")
        }

        async fn read_patch(&self, _: &SessionId) -> Result<Option<Patch>, Failure> {
            unreachable!("nothing is started in an archived repository")
        }

        async fn read_activities(&self, _: &SessionId) -> Result<Option<Vec<Activity>>, Failure> {
            unreachable!("nothing is started in an archived repository")
        }
    }

    struct At(Duration);

    impl Stopwatch for At {
        fn elapsed(&self) -> Duration {
            self.0
        }
    }

    fn settings() -> Settings {
        Settings {
            holder: "test".into(),
            driver: Driver::Any,
            ask: RunRequest::Due,
            entropy: [0; 32],
            paused_by_variable: None,
            previous_tick: None,
            renderer: std::sync::Arc::new(phileas_domain::prompt::InProcess),
        }
    }

    #[tokio::test]
    async fn a_gate_that_cannot_be_seen_is_told() {
        for checks_hidden in [true, false] {
            let github = Archived {
                age: Duration::ZERO,
                checks_hidden,
            };
            let watch = At(Duration::ZERO);
            let sight = observe_repository(&github, &Unasked, &watch, &settings())
                .await
                .unwrap();
            let mut told = sight.snapshot.plan_diagnostics.iter();
            let told = told.any(|one| {
                one.key == "gate.main_red" && one.message.contains("may not read the checks")
            });
            assert_eq!(told, checks_hidden);
        }
    }

    #[tokio::test]
    async fn time_counts_from_the_first_answer() {
        let settings = settings();
        let github = Archived {
            age: Duration::from_secs(40),
            checks_hidden: false,
        };
        let seen_at = At(Duration::from_secs(100));
        let sight = observe_repository(&github, &Unasked, &seen_at, &settings)
            .await
            .unwrap();
        let noon: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
        assert_eq!(sight.snapshot.now, noon + SignedDuration::from_secs(40));
        let later = At(Duration::from_secs(110));
        assert_eq!(
            sight.current_time(&later),
            noon + SignedDuration::from_secs(50)
        );
    }

    #[tokio::test]
    async fn a_session_that_was_asked_for_by_its_id_joins_the_listing_or_is_missing() {
        let noon: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
        let session = |id: &str, hour: i64| Session {
            id: id.into(),
            state: engine::SessionState::InProgress,
            title: String::new(),
            prompt: Some("Tidy up.".to_owned()),
            source: None,
            elsewhere: false,
            created_at: noon + SignedDuration::from_hours(hour),
            updated_at: None,
            archived: false,
            pulls: Vec::new(),
            has_changes: false,
        };
        let github = Archived {
            age: Duration::ZERO,
            checks_hidden: false,
        };
        let mut snapshot = snapshot_of(github.observe_repository().await.unwrap(), &settings());
        snapshot.sessions = Listing::Taken(Sessions {
            taken_at: noon,
            since: None,
            archived: true,
            sessions: vec![session("1", 1), session("3", 3)],
            key: engine::KeyUsage::default(),
        });
        record_session(&mut snapshot, &"2".into(), Some(session("2", 2)));
        record_session(&mut snapshot, &"4".into(), None);
        let listing = snapshot.listing().unwrap();
        let ids: Vec<_> = listing.sessions.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "3"]);
        assert_eq!(snapshot.missing_sessions, BTreeSet::from(["4".into()]));
    }
}
