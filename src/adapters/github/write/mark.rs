//! Adds a label of phileas to a pull request.
//! <https://docs.github.com/en/rest/issues/labels#add-labels-to-an-issue>

use phileas_domain::engine::LABEL_PREFIX;
use phileas_domain::model::PullNumber;
use serde_json::json;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::error;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::{Disposition, Failure};

impl Client {
    /// GitHub makes a label that the repository does not have, and a label that is there already stays.
    pub(crate) async fn add_label_once(
        &self,
        pull: PullNumber,
        label: &str,
    ) -> Result<(), Failure> {
        let route = routes::ADD_LABELS;
        if !label.starts_with(LABEL_PREFIX) {
            let said = format!("`{label}` is not a label of ours");
            return Err(error::local_failure(route, &said, Disposition::Refused));
        }
        let request = json!({ "labels": [label] });
        let number = pull.to_string();
        require_success(route, self.write_route(route, &[&number], &request).await?).map(drop)
    }
}
