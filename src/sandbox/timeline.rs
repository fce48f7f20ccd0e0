//! Runs days of a repository as fast as possible: ticks when something is due or a webhook arrives,
//! and advances the world in between.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::RunRequest;
use phileas_domain::model::{Holder, RepositoryName};
use phileas_domain::plan::Driver;
use sha2::{Digest, Sha256};

use super::clients::Clients;
use super::virtual_time::SharedWorld;
use crate::adapters::renderer;
use crate::runtime::{Settings, Tick, TickError, TickReport};

/// The minute of each hour at which a workflow's cron starts, as `init` writes it.
const CRON_MINUTE: i64 = 17;
/// The pause after a failed tick.
const RETRY_AFTER: SignedDuration = SignedDuration::from_mins(1);
/// The most ticks of a run.
const MAX_TICKS: u64 = 1_000_000;
/// The most steps of the world between two ticks.
const MAX_STEPS: usize = 1_000_000;

/// A run over a span of time.
#[derive(Debug)]
pub struct Timeline {
    shared: SharedWorld,
    repository: RepositoryName,
    until: Timestamp,
    seed: u64,
    ticks: u64,
    wake_at: Timestamp,
    /// When a tick last ended well.
    ticked_at: Option<Timestamp>,
    hourly: bool,
    clients: Clients,
}

/// The result of one step.
#[derive(Debug)]
pub enum Step {
    /// The world advanced.
    Moved,
    /// A tick ran.
    Ticked(Box<Ticked>),
    /// The span is over.
    Over,
}

/// The result of one tick.
#[derive(Debug)]
pub struct Ticked {
    /// When it began.
    pub at: Timestamp,
    /// The report, or why the tick failed.
    pub result: Result<TickReport, TickError>,
    /// The requests to GitHub, the points and the requests to Jules of the tick.
    pub cost: crate::cli::terminal::decision_line::Cost,
}

impl Timeline {
    /// Creates a run from the world's present time for a span.
    #[must_use]
    pub fn new(
        shared: SharedWorld,
        repository: RepositoryName,
        span: SignedDuration,
        seed: u64,
    ) -> Self {
        let now = shared.world_time();
        let clients = Clients::new(&shared, repository.clone(), seed);
        let until = now.checked_add(span).unwrap_or(Timestamp::MAX);
        Self {
            shared,
            repository,
            until,
            seed,
            ticks: 0,
            wake_at: now,
            ticked_at: None,
            hourly: false,
            clients,
        }
    }

    /// The repository.
    #[must_use]
    pub fn repository_name(&self) -> &RepositoryName {
        &self.repository
    }

    /// Ticks hourly only: no webhook arrives, and no tick runs at the time that an earlier tick
    /// requested.
    pub fn by_the_hour(&mut self) {
        self.hourly = true;
        self.wake_at = next_hour(self.shared.world_time());
    }

    /// Sets the end of the run.
    pub fn go_on_until(&mut self, at: Timestamp) {
        self.until = at;
    }

    /// How many ticks have run.
    #[must_use]
    pub fn tick_count(&self) -> u64 {
        self.ticks
    }

    /// Advances to the next tick and runs it; `None` after the end.
    pub async fn next(&mut self) -> Option<Ticked> {
        for _ in 0..MAX_STEPS {
            match self.next_step().await {
                Step::Moved => {}
                Step::Ticked(ticked) => return Some(*ticked),
                Step::Over => return None,
            }
        }
        None
    }

    /// Runs the next step: one step of the world, or one tick.
    pub async fn next_step(&mut self) -> Step {
        let due = {
            let mut world = self.shared.lock_world();
            let now = world.now();
            if now >= self.until || self.ticks >= MAX_TICKS {
                return Step::Over;
            }
            let due = (take_deliveries(&mut world) && !self.hourly) || self.wake_at <= now;
            if !due {
                let next = world.next_due().unwrap_or(Timestamp::MAX).min(self.wake_at);
                // A step that is due but has not happened needs the clock to advance.
                world.advance_to(
                    next.max(now + SignedDuration::from_millis(1))
                        .min(self.until),
                );
            }
            due
        };
        if due {
            Step::Ticked(Box::new(self.run_tick(RunRequest::Due).await))
        } else {
            Step::Moved
        }
    }

    async fn run_tick(&mut self, ask: RunRequest) -> Ticked {
        self.ticks += 1;
        let at = self.shared.world_time();
        let before = self.request_cost();
        let settings = Settings {
            holder: Holder::new(format!("sandbox:{}", self.ticks)),
            driver: if self.hourly {
                Driver::Action
            } else {
                Driver::Server
            },
            ask,
            entropy: tick_entropy(self.seed, self.ticks),
            paused_by_variable: None,
            previous_tick: self.ticked_at.filter(|_| !self.hourly),
            renderer: renderer::shared_renderer(),
        };
        let tick = Tick {
            github: &self.clients.github,
            jules: &self.clients.jules,
            stopwatch: &self.clients.time,
        };
        let result = tick.run(&settings).await;
        let now = self.shared.world_time();
        let soon = now.checked_add(RETRY_AFTER).unwrap_or(Timestamp::MAX);
        self.wake_at = match &result {
            _ if self.hourly => next_hour(now),
            // A tick that is due at once runs again only after the clock has advanced.
            Ok(report) => report
                .wake_at
                .unwrap_or(soon)
                .max(now + SignedDuration::from_secs(1)),
            Err(_) => soon,
        };
        if let Ok(report) = &result {
            self.ticked_at = Some(report.now);
        }
        let after = self.request_cost();
        let cost = crate::cli::terminal::decision_line::Cost {
            github_requests: after.github_requests - before.github_requests,
            github_points: after.github_points - before.github_points,
            jules_requests: after.jules_requests - before.jules_requests,
        };
        Ticked { at, result, cost }
    }

    fn request_cost(&self) -> crate::cli::terminal::decision_line::Cost {
        let usage = self.clients.github.usage();
        crate::cli::terminal::decision_line::Cost {
            github_requests: usage.requests,
            github_points: usage.points,
            jules_requests: self.clients.jules_client.request_count(),
        }
    }
}

/// The next time of cron.
fn next_hour(now: Timestamp) -> Timestamp {
    const HOUR_SECONDS: i64 = 60 * 60;
    let into = (now.as_second() - CRON_MINUTE * 60).rem_euclid(HOUR_SECONDS);
    let next = Timestamp::from_second(now.as_second() - into + HOUR_SECONDS);
    next.unwrap_or(Timestamp::MAX)
}

/// Takes the deliveries that have arrived. Each only makes the repository due.
fn take_deliveries(world: &mut phileas_world::World) -> bool {
    let arrived = world.take_due_deliveries();
    for delivery in &arrived {
        world.delivery_done(delivery.id, Some(202));
    }
    !arrived.is_empty()
}

/// The randomness of a tick, from the run's seed.
fn tick_entropy(seed: u64, tick: u64) -> [u8; 32] {
    Sha256::new()
        .chain_update(seed.to_be_bytes())
        .chain_update(tick.to_be_bytes())
        .finalize()
        .into()
}
