//! What people ask for, how they answer when they are asked, and what they say to sessions.

use jiff::SignedDuration;
use phileas_domain::model::RepositoryName;
use phileas_world::chance::Chance;
use phileas_world::github::{RepoId, State};
use phileas_world::jules::{self, WebAct};

use super::super::course::Process;
use super::super::stage;
use super::super::verdict::PersonMessage;
use super::{Act, Play, REPLICAS};

/// Who does it.
const WHO: &str = "maintainer";
/// The personas that they request.
const REQUEST_LABEL: &str = "phileas:fixer";
/// The number of the processes that people start, which comes after those of the replicas and of the workflow.
const TERMINAL: usize = REPLICAS + 1;
/// What share of the sessions a person says something to, and how soon after its start, in seconds.
const MESSAGED: f64 = 0.25;
const MESSAGED_WITHIN: u64 = 30;
/// After how many seconds a person tries again who was told to: some minutes.
const TRIED_AGAIN: (u64, u64) = (60, 300);
/// After so long a plan that still waits is approved once more.
const AGAIN: SignedDuration = SignedDuration::from_mins(45);

impl Play<'_> {
    /// A person asks for something by a label: on a new issue, or on a pull request that is open.
    pub(super) fn add_request_label(&mut self) {
        let which = self.chance.draw_below(self.repositories.len() as u64) as usize;
        let repo = self.repositories[which];
        let on_pull = self.chance.happens(0.4);
        let mut world = self.world.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let pull = github
            .repository(repo)
            .and_then(|repository| {
                let mut open = repository.pulls.values().filter(|pull| {
                    pull.thread.state == State::Open
                        && !pull.thread.labels.iter().any(|one| one == REQUEST_LABEL)
                });
                open.next_back().map(|pull| pull.thread.number)
            })
            .filter(|_| on_pull);
        let number = pull
            .unwrap_or_else(|| github.open_issue(repo, "It is slow", "Very.", &[], "visitor", now));
        github.add_label(repo, number, REQUEST_LABEL, WHO, now);
    }

    /// A person looks at each plan that waits, and approves it where it was asked for: by a comment or by a label. Often
    /// the plan is changed in the web app in the same moment, so that there is another one to approve.
    pub(super) fn approve(&mut self) {
        let mut world = self.world.lock_world();
        let now = world.now();
        let knobs = world.knobs().clone();
        let waiting: Vec<(String, String)> = world
            .books()
            .sessions
            .iter()
            .filter(|one| {
                let session = world.jules().session(&one.id);
                session.is_some_and(|one| one.state() == jules::State::AwaitingPlanApproval)
            })
            .map(|one| (one.id.clone(), one.prompt.clone()))
            .collect();
        for (id, prompt) in waiting {
            if self.approved.get(&id).is_some_and(|at| now < *at + AGAIN) {
                continue;
            }
            let github = world.github_mut();
            let place = self
                .repositories
                .iter()
                .find_map(|repo| Some((*repo, place(github, *repo, &prompt)?)));
            let Some((repo, number)) = place else {
                continue;
            };
            if self.chance.happens(0.25) {
                github.add_label(repo, number, "phileas:approve-plan", WHO, now);
            } else {
                github.comment(repo, number, "/phileas approve", WHO, now);
            }
            self.approved.insert(id.clone(), now);
            if self.chance.happens(0.5) {
                let jules = world.jules_mut();
                jules.in_web_app(&id, WebAct::Say("Do it in smaller steps."), now, &knobs);
            }
        }
    }

    /// A person sees sessions begin, and has something to add to some of them.
    pub(super) fn notice_sessions(&mut self) {
        if self.faults_ended {
            return;
        }
        let begun: Vec<(String, Option<String>)> = {
            let world = self.world.lock_world();
            let sessions = world.jules().sessions().skip(self.sessions_seen);
            let turn_marker = |prompt: &str| {
                let line = prompt.trim_end().lines().last()?;
                let marker = line.strip_prefix("phileas-turn: ")?.split(' ').next()?;
                Some(marker.to_owned())
            };
            sessions
                .map(|session| {
                    let record = session.record();
                    (record.id.clone(), turn_marker(&record.prompt))
                })
                .collect()
        };
        for (session, marker) in begun {
            self.sessions_seen += 1;
            let Some(marker) = marker.filter(|_| self.people.happens(MESSAGED)) else {
                continue;
            };
            // As `phileas session message` writes it.
            let text = format!("Keep it short.\n\nphileas-message: {marker}/person-{session}");
            self.messages.push(PersonMessage {
                session,
                text,
                replies: Vec::new(),
            });
            let after = stage::drawn(&mut self.people, 1, MESSAGED_WITHIN);
            self.plan(Act::Message(self.messages.len() - 1), after);
        }
    }

    /// A person calls `phileas session message`.
    pub(super) fn send_message(&mut self, which: usize) {
        self.count += 1;
        let entropy = Chance::new(self.case.seed).stream(&format!("entropy {}", self.count));
        let process = Process::new(TERMINAL, self.count, &self.course, None, entropy);
        let name = self
            .world
            .lock_world()
            .github()
            .full_name(self.repositories[0]);
        let name: RepositoryName = name.parse().unwrap();
        let PersonMessage { session, text, .. } = &self.messages[which];
        let message = (session.clone(), text.clone());
        let reply = stage::send_message(&process, name, self.count, self.sabotage, message);
        self.sending.push((which, reply));
    }

    /// People read what they are told, and try again where they are told to.
    pub(super) async fn collect_replies(&mut self) {
        let (done, under_way): (Vec<_>, Vec<_>) = std::mem::take(&mut self.sending)
            .into_iter()
            .partition(|(_, reply)| reply.is_finished());
        self.sending = under_way;
        for (which, reply) in done {
            match reply.await {
                Ok(reply) => {
                    if reply.asks_for_another() {
                        let (least, most) = TRIED_AGAIN;
                        let after = stage::drawn(&mut self.people, least, most);
                        self.plan(Act::Message(which), after);
                    }
                    self.messages[which].replies.push(reply);
                }
                Err(panic) => self
                    .course
                    .own_fault(format!("a message panicked: {panic}")),
            }
        }
    }
}

/// Where the plan of a session is approved: on what it was asked for on, else on the issue that calls a person about its
/// turn.
fn place(github: &phileas_world::github::Model, repo: RepoId, prompt: &str) -> Option<u64> {
    let line = prompt.trim_end().lines().last()?;
    let mut words = line.strip_prefix("phileas-turn: ")?.split(' ');
    let (turn, _attempt) = words.next()?.split_once('.')?;
    if words.find_map(|word| word.strip_prefix("repository=")) != Some(repo.0.to_string().as_str())
    {
        return None;
    }
    let asked = [" on issue #", " on pull request #"].iter().find_map(|on| {
        let (_, rest) = prompt.split_once("asked for your work")?.1.split_once(on)?;
        rest.split_once('.')?.0.parse().ok()
    });
    let marker = format!("<!-- phileas:notice:turn:{turn} -->");
    asked.or_else(|| {
        let mut issues = github.issues(repo);
        let called = issues.find(|issue| {
            let body = issue.thread.body.as_deref().unwrap_or_default();
            issue.thread.state == State::Open && body.contains(&marker)
        });
        called.map(|issue| issue.thread.number)
    })
}
