//! A world, an agent's files, and the monitor and watcher that read them.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::SignedDuration;
use phileas::adapters::github;
use phileas::adapters::jules::{self, JulesKey};
use phileas::adapters::transport::{BoxFuture, Transport, TransportError};
use phileas::jobs::{Cycle, JobPaths, Monitor, MonitorSettings};
use phileas::runtime::ports::Failure;
use phileas::runtime::ports::sessions_api::{NewJob, SessionsApi as _};
use phileas::sandbox::transport::InProcess;
use phileas::sandbox::{Clients, SharedWorld, VirtualTime, WorldSetup, world_setup};
use phileas_domain::jobs::{Event, EventId, Job, JobId, Rules};
use phileas_domain::model::RepositoryName;
use phileas_world::Face;
use phileas_world::faults::FaultRule;
use phileas_world::jules::{Beat, BeatAction, Scenario, Tier};
use phileas_world::maintainer::ReviewPolicy;
use phileas_world::{Fault, FaultPlan};

use crate::support::Folder;

pub(super) const POLL: Duration = Duration::from_secs(45);

pub(super) struct Stage {
    pub(super) shared: SharedWorld,
    pub(super) folder: Folder,
    pub(super) paths: JobPaths,
}

/// A world in which only the test reviews, answers and merges, with these sessions by their titles.
pub(super) fn stage(scripts: Vec<(&str, Vec<Beat>)>, rules: Vec<FaultRule>) -> Stage {
    let mut setup = WorldSetup::new(11);
    setup.tier = Tier::Ultra;
    setup.review_policy = ReviewPolicy::absent();
    setup.jules.asks = 0.0;
    setup.faults = FaultPlan { rules };
    for (title, beats) in scripts {
        let mut scenario = Scenario::default().for_title(title);
        scenario.beats = Some(beats);
        setup.jules.scenarios.push(scenario);
    }
    let shared = SharedWorld::new(setup.build_world().unwrap().0);
    let folder = Folder::empty();
    let at = |name: &str| folder.join(name);
    let places = JobPaths {
        jobs: at("zai_jobs.jsonl"),
        events: at("zai_events.jsonl"),
        monitor: at(".zai_monitor_state.json"),
        watcher: at(".zai_watcher_state.json"),
    };
    Stage {
        shared,
        folder,
        paths: places,
    }
}

pub(super) fn beat(after: f64, action: BeatAction) -> Beat {
    Beat { after, action }
}

pub(super) fn progress() -> BeatAction {
    BeatAction::Progress {
        title: "Running tests".to_owned(),
        description: String::new(),
    }
}

/// What befalls requests to Jules whose path fits.
pub(super) fn rule(path: &str, fault: Fault) -> FaultRule {
    FaultRule {
        face: Some(Face::Jules),
        method: None,
        path: Some(path.to_owned()),
        body: None,
        nth: None,
        probability: None,
        from: None,
        until: None,
        fault,
    }
}

pub(super) fn status(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
        html: false,
        done: false,
    }
}

/// The model's face dates what goes over a socket; so is dated what goes without one.
#[derive(Debug)]
struct Dated {
    to: InProcess,
    shared: SharedWorld,
}

impl Transport for Dated {
    fn send(
        &self,
        request: http::Request<bytes::Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<bytes::Bytes>, TransportError>> {
        let sent = self.to.send(request);
        let date = self
            .shared
            .world_time()
            .strftime("%a, %d %b %Y %H:%M:%S GMT");
        let date = date.to_string().parse().unwrap();
        Box::pin(async move {
            let mut reply = sent.await?;
            reply.headers_mut().insert(http::header::DATE, date);
            Ok(reply)
        })
    }
}

impl Stage {
    /// A client for Jules; `patient`: one that repeats what failed, as an agent's own tools do.
    pub(super) fn jules(&self, patient: bool, key: &str) -> jules::Client {
        let time = VirtualTime::new(self.shared.clone());
        let settings = jules::Settings {
            patient,
            ..jules::Settings::new(JulesKey::new(key).unwrap())
        };
        jules::Client::new(
            settings,
            std::sync::Arc::new(Dated {
                to: InProcess::new(self.shared.clone(), Face::Jules),
                shared: self.shared.clone(),
            }),
            std::sync::Arc::new(time.clone()),
            std::sync::Arc::new(time),
        )
    }

    /// A monitor that starts now: it knows what the files say, and nothing else.
    pub(super) fn monitor(&self) -> Monitor<jules::Client> {
        self.monitor_with(world_setup::JULES_KEY)
    }

    pub(super) fn monitor_with(&self, key: &str) -> Monitor<jules::Client> {
        let rhythm = MonitorSettings {
            poll: SignedDuration::try_from(POLL).unwrap(),
            rules: Rules {
                stuck: SignedDuration::from_mins(20),
            },
            max_failures: 5,
            seed: 3,
        };
        let accounts = BTreeMap::from([("default".to_owned(), self.jules(false, key))]);
        Monitor::new(self.paths.clone(), rhythm, accounts)
    }

    /// GitHub, for the command that settles.
    pub(super) fn pulls(&self) -> impl Fn(&RepositoryName) -> Result<github::Client, Failure> {
        let shared = self.shared.clone();
        move |name: &RepositoryName| Ok(Clients::new(&shared, name.clone(), 7).github)
    }

    /// Starts a session, as an agent's tool does, and registers it.
    pub(super) async fn start_session(&self, title: &str, require_plan_approval: bool) -> JobId {
        let new = NewJob {
            prompt: format!("Do the work of {title}."),
            title: Some(title.to_owned()),
            source: Some((world_setup::repository_name(), "main".to_owned())),
            open_pull: true,
            require_plan_approval,
        };
        let made = self
            .jules(true, world_setup::JULES_KEY)
            .create_job(new)
            .await
            .unwrap();
        let mut job = Job::new(made.id.clone());
        job.metadata = serde_json::json!({ "task": title });
        let jobs = self.paths.jobs_file();
        jobs.register_job(job, self.shared.world_time()).unwrap();
        made.id
    }

    /// One look of a monitor that has just been started.
    pub(super) async fn check(&self) -> Cycle {
        let now = self.shared.world_time();
        let cycle = self.monitor().run_cycle(now, true).await.unwrap();
        assert!(!cycle.busy, "no other monitor checks");
        cycle
    }

    /// Looks every 45 seconds.
    pub(super) async fn watch(&self, minutes: u64) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..minutes * 60 / POLL.as_secs() {
            self.shared.advance_time(POLL);
            events.extend(self.check().await.events);
        }
        events
    }

    /// All events that were ever written.
    pub(super) fn events(&self) -> Vec<Event> {
        let page = self
            .paths
            .events_file()
            .read_after(EventId(0), 1_000, |_| true);
        page.unwrap().events
    }

    /// Requests to Jules so far, by route.
    pub(super) fn requests(&self) -> BTreeMap<String, usize> {
        let world = self.shared.lock_world();
        let mut counts = BTreeMap::new();
        for request in &world.books().requests {
            let route = format!("{} {}", request.method, request.route);
            if request.face == Face::Jules {
                *counts.entry(route).or_default() += 1;
            }
        }
        counts
    }
}

/// Job and kind of events, in their order.
pub(super) fn kinds_by_job(events: &[Event]) -> Vec<(String, String)> {
    events
        .iter()
        .map(|event| {
            let job = event.job_id.as_ref().map_or("-", |job| job.as_str());
            (job.to_owned(), event.event.clone())
        })
        .collect()
}
