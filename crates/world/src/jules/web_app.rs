//! Acts of people in the web app: starting sessions and acting on them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::model::Model;
use super::record::Via;
use super::request_body::NewSession;
use crate::knobs::Knobs;

/// A session that a person starts in the web app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct WebSession {
    /// The prompt.
    pub prompt: String,
    /// The title.
    pub title: String,
    /// Owner, name and starting branch; none for a session without a repository.
    pub repository: Option<(String, String, String)>,
    /// Whether the plan waits for an approval.
    pub require_plan_approval: bool,
    /// Whether Jules opens a pull request automatically.
    pub auto_create_pull: bool,
}

/// What a person can do to a session in the web app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebAct<'a> {
    /// Writes a message.
    Say(&'a str),
    /// Approves the plan.
    ApprovePlan,
    /// Stops the work.
    Pause,
    /// Resumes the work.
    Resume,
    /// Archives the session.
    Archive,
    /// Deletes the session.
    Delete,
}

impl Model {
    /// Starts a session as a person does in the web app. No limit applies.
    pub fn start_in_web_app(
        &mut self,
        login: &str,
        web: WebSession,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Option<String> {
        let account = self
            .config
            .accounts
            .iter()
            .position(|account| account.login == login)?;
        let new = NewSession {
            prompt: web.prompt,
            title: web.title,
            context: web
                .repository
                .map(|(owner, repo, branch)| (format!("sources/github/{owner}/{repo}"), branch)),
            require_plan_approval: web.require_plan_approval,
            auto_create_pull: web.auto_create_pull,
            environment_variables: false,
        };
        let index = self.insert_session(account, "", new, Via::WebApp, false, now, knobs);
        Some(self.sessions[index].id().to_owned())
    }

    /// Acts on a session as its owner does in the web app.
    pub fn in_web_app(&mut self, id: &str, act: WebAct<'_>, now: Timestamp, knobs: &Knobs) -> bool {
        let Some(index) = self
            .by_id
            .get(id)
            .copied()
            .filter(|index| !self.sessions[*index].deleted)
        else {
            return false;
        };
        self.change_session(index, now, |session| match act {
            WebAct::Say(text) => session
                .receive_message(text, Via::WebApp, now, knobs)
                .is_ok(),
            WebAct::ApprovePlan => {
                session.approve_plan(Via::WebApp, now, knobs);
                true
            }
            WebAct::Pause => {
                session.record_act("pause", Via::WebApp, "", now);
                let running = session.state().is_active();
                if running {
                    session.pause(now);
                }
                running
            }
            WebAct::Resume => {
                session.record_act("resume", Via::WebApp, "", now);
                session.resume(now);
                true
            }
            WebAct::Archive => {
                session.archive(Via::WebApp, now);
                true
            }
            WebAct::Delete => session.delete(Via::WebApp, now, knobs).is_ok(),
        })
    }
}
