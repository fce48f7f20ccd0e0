//! Finds the problems of the service for every page: those of `/readyz`, and those that prevent
//! deliveries and sessions while the service runs.
//!
//! Refused deliveries do not change `/readyz`: any host can send such requests, and could so take
//! the service out of use. So a few of them are no alert either, and an alert ends when no more of
//! them arrive.

use std::time::Instant;

use phileas_domain::model::RepositoryId;

use super::context::DashboardContext;
use super::refused_deliveries::refused_deliveries;
use super::summary::short_line;
use crate::runtime::inbox::{Counts, Inbox, NEARLY_FULL};
use crate::server::public::health::{self, PATIENCE};

/// This many refused deliveries of one kind within
/// [`RECENT`](crate::server::public::counters::RECENT) are an alert on each page. A webhook with
/// another secret sends more within minutes, because GitHub reports each push and each check.
const REFUSALS_ALERTED: u64 = 3;

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceProblem {
    /// The problem, and its fix if that is known.
    pub(super) text: String,
    /// The page with details.
    pub(super) page: Option<String>,
}

impl<I: Inbox> DashboardContext<I> {
    /// Finds all present problems of the service.
    pub(super) async fn service_problems(&self) -> Vec<ServiceProblem> {
        let dashboard = &self.dashboard;
        let mut troubles = Vec::new();
        let mut add =
            |text: String, page: Option<String>| troubles.push(ServiceProblem { text, page });
        if let Some(why) =
            health::service_problem(&*dashboard.inbox, &dashboard.heartbeat, self.current_time())
                .await
        {
            let text = format!(
                "The service is not ready for deliveries: {}",
                short_line(&why)
            );
            add(text, None);
        }
        let counts = dashboard.inbox.read_counts(self.current_time());
        if let Ok(Ok(counts)) = tokio::time::timeout(PATIENCE, counts).await
            && let Some(text) = inbox_room_problem(&counts)
        {
            add(text, None);
        }
        let repositories = dashboard.repositories.as_ref();
        if let Some(why) = repositories.and_then(|all| all.problem_text()) {
            let text = format!(
                "GitHub does not list all repositories: {}",
                short_line(&why)
            );
            add(text, None);
        }
        let now = Instant::now();
        for (count, why) in
            refused_deliveries(&dashboard.figures, |counter| counter.recent_count(now))
        {
            if count >= REFUSALS_ALERTED {
                let text = format!("{count} deliveries were refused in the last hour: {why}");
                add(text, Some("/deliveries".to_owned()));
            }
        }
        if let Some((text, first)) = self.refused_keys() {
            add(text, Some(format!("/repositories/{first}")));
        }
        troubles
    }

    /// The repositories whose Jules key is refused, and the first of them.
    fn refused_keys(&self) -> Option<(String, RepositoryId)> {
        let refused = self.dashboard.board.with_refused_keys();
        let first = *refused.first()?;
        let names = self.repository_names();
        let name = names.get(&first);
        let name = name.map_or_else(|| format!("repository {first}"), ToString::to_string);
        let others = match refused.len() - 1 {
            0 => String::new(),
            1 => " and one more repository".to_owned(),
            more => format!(" and {more} more repositories"),
        };
        let text = format!(
            "Jules refuses the key of {name}{others}. Create a new key in Jules\u{2019} settings, and replace the old \
             one in the service’s configuration."
        );
        Some((text, first))
    }
}

/// The problem that the inbox is nearly full. A full one is not ready for deliveries.
fn inbox_room_problem(counts: &Counts) -> Option<String> {
    let limit = counts.limit_bytes?;
    let share = (100 * counts.bytes).checked_div(limit).unwrap_or(100);
    let is_nearly_full = counts.bytes as f64 >= limit as f64 * NEARLY_FULL;
    is_nearly_full.then(|| {
        format!(
            "The inbox is {share} % full, so the service does not store deliveries that wake no repository."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_that_has_little_room_says_so() {
        let said = |bytes, limit_bytes| {
            inbox_room_problem(&Counts {
                bytes,
                limit_bytes,
                ..Counts::default()
            })
        };
        assert_eq!(said(1_000, None), None);
        assert_eq!(said(79, Some(100)), None);
        let problem = said(80, Some(100)).unwrap();
        assert!(problem.contains("80 % full"), "{problem}");
        let full = said(100, Some(100)).unwrap();
        assert!(full.contains("100 % full"), "{full}");
    }
}
