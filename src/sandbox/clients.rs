//! Connects the real adapters to a world in this process.

use std::sync::Arc;

use phileas_domain::model::RepositoryName;
use phileas_world::Face;

use super::transport::InProcess;
use super::virtual_time::{SharedWorld, VirtualTime};
use super::world_setup::{GITHUB_TOKEN, JULES_KEY};
use crate::adapters::github::{self, Credential, Token};
use crate::adapters::jules::{self, JulesKey, RepositoryJules};

/// The clients of a tick in a world of this process.
#[derive(Debug)]
pub struct Clients {
    /// GitHub, for one repository.
    pub github: github::Client,
    /// Jules, for that repository.
    pub jules: RepositoryJules,
    /// Jules' client, for the counts of its requests.
    pub jules_client: Arc<jules::Client>,
    /// The world's clock.
    pub time: VirtualTime,
}

impl Clients {
    /// Creates clients as of a process that starts now. Must be called within a Tokio runtime.
    #[must_use]
    pub fn new(shared: &SharedWorld, repository: RepositoryName, seed: u64) -> Self {
        let time = VirtualTime::new(shared.clone());
        let token = Token::new(GITHUB_TOKEN).expect("the sandbox's token is valid in a header");
        let github = github::Client::new(github::Settings {
            repository: repository.clone(),
            credential: Credential::Token(token),
            base: github::Base::from_values(None, None).expect("the default addresses are valid"),
            transport: Arc::new(InProcess::new(shared.clone(), Face::Github)),
            pause: Arc::new(time.clone()),
            seed,
        });
        let key = JulesKey::new(JULES_KEY).expect("the sandbox's key is valid in a header");
        let jules_client = Arc::new(jules::Client::new(
            jules::Settings {
                seed,
                ..jules::Settings::new(key)
            },
            Arc::new(InProcess::new(shared.clone(), Face::Jules)),
            Arc::new(time.clone()),
            Arc::new(time.clone()),
        ));
        let jules = RepositoryJules::new(Arc::clone(&jules_client), repository);
        Self {
            github,
            jules,
            jules_client,
            time,
        }
    }
}
