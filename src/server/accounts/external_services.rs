//! Gives the service its access to GitHub, Jules, the clock and randomness. Tests replace all of
//! them by models.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::adapters::entropy::{Entropy, SystemEntropy};
use crate::adapters::github::{self, Account, App, AppClient, Client, Credential};
use crate::adapters::jules;
use crate::adapters::pause::{Pause, SystemPause};
use crate::adapters::stopwatch::SystemStopwatch;
use crate::adapters::transport::Transport;
use crate::runtime::ports::Stopwatch;
use phileas_domain::model::RepositoryName;

/// Addresses, transports, clocks and randomness.
#[derive(Clone)]
pub struct ExternalServices {
    /// The address of GitHub.
    pub github: github::Base,
    /// The address of Jules.
    pub jules: jules::Base,
    /// The transport to GitHub.
    pub to_github: Arc<dyn Transport>,
    /// The transport to Jules.
    pub to_jules: Arc<dyn Transport>,
    /// The clock, which can also wait.
    pub pause: Arc<dyn Pause>,
    /// The stopwatch of ticks.
    pub stopwatch: Arc<dyn Stopwatch>,
    /// The source of each tick's randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl ExternalServices {
    /// Reaches the real services over one transport.
    #[must_use]
    pub fn over_transport(
        github: github::Base,
        jules: jules::Base,
        transport: Arc<dyn Transport>,
    ) -> Self {
        Self {
            github,
            jules,
            to_github: Arc::clone(&transport),
            to_jules: transport,
            pause: Arc::new(SystemPause),
            stopwatch: Arc::new(SystemStopwatch::default()),
            entropy: Arc::new(SystemEntropy),
        }
    }

    /// The present time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.pause.now()
    }

    /// Creates a repository's client, which shares an account. Must be called within a Tokio
    /// runtime.
    #[must_use]
    pub fn github_client(&self, repository: RepositoryName, account: &Account) -> Client {
        Client::new(github::Settings {
            repository,
            credential: Credential::Shared(account.clone()),
            base: self.github.clone(),
            transport: Arc::clone(&self.to_github),
            pause: Arc::clone(&self.pause),
            seed: fastrand::u64(..),
        })
    }

    /// Creates the client by which an App reads about itself. Must be called within a Tokio
    /// runtime.
    #[must_use]
    pub fn app_client(&self, app: App) -> AppClient {
        AppClient::new(
            app,
            self.github.clone(),
            Arc::clone(&self.to_github),
            Arc::clone(&self.pause),
            fastrand::u64(..),
        )
    }

    /// Creates a Jules key's client, which the key's repositories share.
    #[must_use]
    pub fn jules_client(&self, key: jules::JulesKey) -> jules::Client {
        let settings = jules::Settings {
            base: self.jules.clone(),
            seed: fastrand::u64(..),
            shared: true,
            ..jules::Settings::new(key)
        };
        let stopwatch = Arc::clone(&self.stopwatch);
        let pause = Arc::clone(&self.pause);
        jules::Client::new(settings, Arc::clone(&self.to_jules), stopwatch, pause)
    }

    /// The stopwatch for a tick.
    #[must_use]
    pub fn shared_stopwatch(&self) -> SharedStopwatch {
        SharedStopwatch(Arc::clone(&self.stopwatch))
    }
}

impl std::fmt::Debug for ExternalServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside")
            .field("github", &self.github)
            .field("jules", &self.jules)
            .finish_non_exhaustive()
    }
}

/// A stopwatch that several ticks share.
#[derive(Clone)]
pub struct SharedStopwatch(Arc<dyn Stopwatch>);

impl SharedStopwatch {
    /// Shares a stopwatch.
    #[must_use]
    pub fn new(stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self(stopwatch)
    }
}

impl Stopwatch for SharedStopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
