//! Closes a pull request.
//! <https://docs.github.com/en/rest/pulls/pulls#update-a-pull-request>

use phileas_domain::model::PullNumber;
use serde::Deserialize;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

#[derive(Deserialize)]
struct Pull {
    state: String,
}

impl Client {
    /// Reads it first, so that one that is closed gets no event.
    pub(crate) async fn close_pull_once(&self, pull: PullNumber) -> Result<(), Failure> {
        let number = pull.to_string();
        let route = routes::READ_PULL;
        let answer = require_success(route, self.read_route(route, &[&number], "").await?)?;
        if self.parse::<Pull>(route, &answer)?.state != "open" {
            return Ok(());
        }
        let route = routes::UPDATE_PULL;
        let request = json!({ "state": "closed" });
        require_success(route, self.write_route(route, &[&number], &request).await?).map(drop)
    }
}
