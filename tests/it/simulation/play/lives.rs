//! Processes begin, die and end.

use std::sync::Arc;

use jiff::SignedDuration;
use phileas::runtime::TickError;
use phileas::runtime::inbox::Inbox as _;
use phileas_world::chance::Chance;

use super::super::course::Process;
use super::super::disturbances;
use super::super::stage::Replica;
use super::{Act, Play, Post, REPLICAS, settle};

/// What the inbox says of a repository that was suspended because its processes died, or stood still.
const DIED: [&str; 2] = ["the process that ticked it died", "never ended"];
/// How long it takes until a person sees that a repository is suspended, while there are troubles.
const SEEN_AFTER: SignedDuration = SignedDuration::from_hours(1);

impl Play<'_> {
    /// A process that lives.
    pub(super) fn any_process(&mut self) -> Option<Arc<Process>> {
        let replicas = self.replicas.iter().flatten();
        let mut all: Vec<_> = replicas.map(|one| Arc::clone(&one.process)).collect();
        all.extend(
            self.workflow
                .as_ref()
                .map(|(process, _)| Arc::clone(process)),
        );
        let which = self.chance.draw_below(all.len() as u64) as usize;
        all.get(which).cloned()
    }

    /// At which of its steps a process dies. In the days of a long case that is later: a replica that has come up reads
    /// three days of deliveries, and a process that is killed all the time does little else.
    pub(super) fn death_step(&mut self, steps: u64) -> Option<u64> {
        let times = match (
            self.case.is_short(),
            self.case.is_turned(disturbances::MANY_KILLS),
        ) {
            (true, true) => 1,
            (true, false) => 8,
            (false, true) => 3,
            (false, false) => 5,
        };
        let at = self.chance.draw_between(1, times * steps);
        (!self.faults_ended).then_some(at)
    }

    pub(super) fn process(&mut self, who: usize, steps: u64) -> Arc<Process> {
        self.count += 1;
        let entropy = Chance::new(self.case.seed).stream(&format!("entropy {}", self.count));
        let dies_at = self.death_step(steps);
        Process::new(who, self.count, &self.course, dies_at, entropy)
    }

    pub(super) fn start(&mut self, who: usize) {
        let process = self.process(who, 400);
        let replica = Replica::start(process, &self.inbox, self.sabotage);
        self.replicas[who] = Some(replica);
    }

    /// Ends a process where it stands. One that has ended meanwhile only leaves its last answers unsaid.
    pub(super) async fn kill(&mut self, who: usize, life: u64) {
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
        // The client that it was answering hears nothing.
        let (lost, others) = std::mem::take(&mut self.posts)
            .into_iter()
            .partition(|post| post.life == life);
        self.posts = others;
        let lost: Vec<Post> = lost;
        for post in lost {
            post.answer.abort();
            self.world.lock_world().delivery_done(post.id, None);
        }
        settle().await;
    }

    /// A person sees a suspended repository, and at once when the faults are over. By itself it is tried once a day,
    /// and what is to be done within a day would come too late.
    pub(super) async fn resume_suspended(&mut self) {
        let now = self.course.now();
        for suspended in self.inbox.suspended_repositories().await.unwrap() {
            let since = suspended
                .suspended
                .as_ref()
                .map_or(now, |suspended| suspended.at);
            if !self.faults_ended && now.duration_since(since) < SEEN_AFTER {
                continue;
            }
            // That its processes died is the play's doing; anything else is told, as `phileas service suspended list` does.
            if let Some(suspended) = suspended
                .suspended
                .filter(|suspended| !DIED.iter().any(|died| suspended.because.contains(died)))
            {
                self.course.own_fault(suspended.because);
            }
            let resumed = self
                .inbox
                .resume_repository(suspended.repository, now)
                .await
                .unwrap();
            self.resumed += u64::from(resumed);
            if resumed {
                self.resumed_at.insert(suspended.repository.0, now);
            }
        }
    }

    /// Takes in what has ended.
    pub(super) async fn collect(&mut self) {
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
            self.world.lock_world().delivery_done(post.id, status);
        }
    }
}
