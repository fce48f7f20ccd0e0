//! Runs a tick of a scenario: commits and executes decisions until nothing is left.

use phileas_domain::engine::{
    ActivityKind, Actor, CreateFailure, CreateSession, Decision, Effect, Event, ExchangeRead,
    Ledger, MergeStatus, Notice, Session, SessionState, SubjectChange, Verdict, decide,
};
use phileas_domain::model::{Oid, PullNumber, SessionId};
use phileas_domain::state::{State, invariant};

use super::snapshot::render;
use super::{Answering, Merging, Scenario};

impl Scenario {
    /// One tick: observe, decide, commit, execute, and again.
    pub(crate) fn tick(&mut self) -> &mut Self {
        self.run += 1;
        self.effects.clear();
        self.lines.clear();
        self.diagnostics.clear();
        let mut snapshot = self.full_snapshot();
        let mut events = Vec::new();
        for _ in 0..8 {
            render(&mut snapshot, &events);
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
                // So it does with the records of work, which it reads again here.
                snapshot.work_files = None;
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
            // So does the runtime with pull requests that this tick has closed.
            for event in &events {
                if let Event::PullClosed { pull } = event {
                    snapshot.pulls.insert(*pull, self.pulls[pull].clone());
                }
            }
            let merges = |effect: &Effect| matches!(effect, Effect::MergePull { .. });
            if effects.iter().any(merges) {
                snapshot.merges.clear();
                self.complete_reads(&mut snapshot);
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
        let mut broken = invariant::check_state(next);
        if let Ledger::Present { state, .. } = &self.ledger {
            broken.extend(invariant::check_step(state, next));
        }
        assert_eq!(broken, [], "at {}", self.now);
    }

    fn carry_out(&mut self, effect: &Effect) -> Option<Event> {
        if self.lost.contains(&effect.name()) {
            return None;
        }
        if self.refused.contains(&effect.name()) {
            return effect.refusal_key().map(|key| Event::EffectRefused { key });
        }
        match effect {
            Effect::CreateSession(create) => Some(self.create(create)),
            Effect::SendMessage { session, text, .. } => {
                let at = self.now;
                self.add_activity(session, at, ActivityKind::UserMessaged(text.clone()));
                None
            }
            Effect::NotifyPullSession {
                pull,
                session,
                marker,
                text,
                ..
            } => {
                let at = self.now;
                self.add_activity(session, at, ActivityKind::UserMessaged(text.clone()));
                Some(Event::PullNotified {
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
            Effect::OpenNotice { key, title, .. } => {
                let number = 100 + self.notices.len() as u64;
                self.notices.push(Notice {
                    number,
                    key: key.to_string(),
                    title: title.clone(),
                });
                None
            }
            Effect::CloseNotice { number, .. } => {
                self.notices.retain(|notice| notice.number != *number);
                None
            }
            Effect::CloseWorkItem { number, .. } => {
                if let Some(subject) = self.subjects.get_mut(number) {
                    subject.open = false;
                }
                Some(Event::WorkItemClosed { number: *number })
            }
            Effect::ApprovePlan { session } => {
                let at = self.now;
                self.add_activity(session, at, ActivityKind::PlanApproved);
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
            Effect::WriteStatus {
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
                Some(Event::StatusWritten {
                    request: request.clone(),
                    digest: digest.clone(),
                    comment_id: id,
                })
            }
            Effect::AddLabel { pull, label, .. } => {
                self.add_label(*pull, label);
                Some(Event::LabelAdded { pull: *pull })
            }
            Effect::RemindPeople {
                pull, marker, body, ..
            }
            | Effect::CommentOnPull {
                pull, marker, body, ..
            } => {
                let id = 900 + self.comments.len() as u64;
                self.comments.insert(id, (pull.0, body.clone()));
                Some(Event::PullNotified {
                    pull: *pull,
                    marker: marker.clone(),
                })
            }
            Effect::MarkReady { pull } => {
                self.pulls.get_mut(pull).unwrap().draft = false;
                Some(Event::PullMarkedReady { pull: *pull })
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
            Effect::OpenWorkItem {
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
                Some(Event::WorkItemOpened { key, number })
            }
            Effect::OpenDashboard { known, body, .. } => Some(self.open_dashboard(*known, body)),
            Effect::EditDashboard {
                number, seen, body, ..
            } => {
                self.edit_dashboard(*number, seen, body);
                None
            }
            Effect::ClosePull { pull, .. } => {
                self.close(*pull);
                Some(Event::PullClosed { pull: *pull })
            }
            Effect::RetargetPull { pull, base } => {
                self.pulls.get_mut(pull).unwrap().base = base.clone();
                None
            }
        }
    }

    /// phileas' App adds a label to a pull request.
    fn add_label(&mut self, pull: PullNumber, label: &str) {
        if !self.subjects.contains_key(&pull.0) {
            self.pull_subject(pull.0, true);
        }
        let app = Actor {
            login: "app[bot]".into(),
            id: Some(9),
            bot: true,
        };
        let what = SubjectChange::Labelled(label.to_owned());
        self.happens(pull.0, Some(app), what);
    }

    /// GitHub merges the commit that it is given, and no other.
    fn merges(&mut self, request: &str, pull: PullNumber, head: &Oid) -> Option<Event> {
        let request = request.to_owned();
        if self.merging == Merging::LostBefore {
            return None;
        }
        if let Merging::PutsOff(retry_at) = self.merging {
            return Some(Event::MergePostponed { request, retry_at });
        }
        // The last observation is newer than the first.
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
                    facts.status = MergeStatus::Conflicting;
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
            Answering::TurnRefused => {
                return failed(CreateFailure::TurnRefused {
                    detail: format!("the branch of {} is gone", create.persona),
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
            elsewhere: false,
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
}
