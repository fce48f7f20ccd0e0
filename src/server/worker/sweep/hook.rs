//! Sweeps one hook: requests the deliveries again that its list of attempts shows as lost.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::lost_deliveries::{Remembered, TRIED_FIRST, are_refused, find_lost, trial_first};
use crate::adapters::github::{AppClient, Client, DeliveryPage};
use crate::adapters::pause::Pause;
use crate::runtime::ports::{Disposition, Failure};

/// The most pages of 100 attempts that one sweep reads of a hook. The next sweep continues there.
pub const MAX_PAGES: usize = 300;
/// The most deliveries that one sweep requests of a hook. The next sweep reaches back far enough
/// for the others.
pub const MAX_ASKED: usize = 1_000;
/// The pause between two requests: 120 a minute. GitHub counts five points for each, of 900 a
/// minute. <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
pub const ASK_PAUSE: Duration = Duration::from_millis(500);
/// How long to wait before the sweep checks GitHub's list for the first redeliveries. Those that
/// are not listed yet count as accepted.
const TRIAL: Duration = Duration::from_secs(15);

/// A hook: an App's, or one of a repository.
#[derive(Debug, Clone, Copy)]
pub enum Hooked<'a> {
    /// The App's own.
    App(&'a AppClient),
    /// A repository's, by its number.
    Repository(&'a Client, u64),
}

/// The result of sweeping one hook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Attempts that were read.
    pub read: usize,
    /// Events that were requested again, because every attempt failed.
    pub requested: usize,
    /// Events that were left for the next sweep.
    pub left: usize,
    /// Whether they were left because every redelivery before them was refused.
    pub refused: bool,
    /// Where the unread older attempts begin.
    pub unread: Option<String>,
}

/// Reads a hook's attempts since an instant, from a page on, and requests each event of which every
/// one failed.
///
/// # Errors
///
/// When the attempts cannot be read.
pub async fn sweep_attempts(
    hooked: Hooked<'_>,
    from: Option<String>,
    since: Timestamp,
    pause: &dyn Pause,
    remembered: &mut Remembered,
) -> Result<Swept, Failure> {
    let mut attempts = Vec::new();
    let mut next = from;
    let mut pages = 0;
    loop {
        let page = hooked.read_page(next.as_deref()).await?;
        pages += 1;
        let reached = page
            .attempts
            .last()
            .and_then(|last| last.delivered_at)
            .is_some_and(|at| at < since);
        attempts.extend(page.attempts);
        next = page.next.filter(|_| !reached);
        if next.is_none() || pages == MAX_PAGES {
            break;
        }
    }
    let known: BTreeSet<u64> = attempts.iter().map(|one| one.id).collect();
    let lost = find_lost(&attempts, since, pause.now(), remembered);
    let mut swept = Swept {
        read: attempts.len(),
        requested: 0,
        left: lost.len(),
        refused: false,
        unread: next,
    };
    let mut tried: Vec<&str> = Vec::new();
    for (place, (id, guid)) in trial_first(lost).into_iter().take(MAX_ASKED).enumerate() {
        if place == TRIED_FIRST {
            pause.pause_for(TRIAL).await;
            let page = hooked.read_page(None).await?;
            if are_refused(&page.attempts, &known, &tried) {
                swept.refused = true;
                break;
            }
        } else if swept.requested > 0 {
            pause.pause_for(ASK_PAUSE).await;
        }
        match hooked.request_redelivery(id).await {
            Ok(()) => {
                swept.requested += 1;
                tried.push(guid);
            }
            // GitHub does not keep it any more.
            Err(failure) if failure.disposition == Disposition::NotFound => {}
            Err(failure) => {
                tracing::warn!("the other lost deliveries wait for the next sweep: {failure}");
                break;
            }
        }
        swept.left -= 1;
        remembered.record_request(guid, pause.now());
    }
    Ok(swept)
}

/// Whether a hook posts to this service.
pub fn is_own(hook: &str, public_url: &str) -> bool {
    let plain = |text: &str| text.trim_end_matches('/').to_ascii_lowercase();
    let own = plain(public_url);
    let hook = plain(hook);
    hook == own || hook == format!("{own}/webhook")
}

impl Hooked<'_> {
    async fn read_page(&self, next: Option<&str>) -> Result<DeliveryPage, Failure> {
        match self {
            Self::App(app) => app.list_deliveries(next).await,
            Self::Repository(client, hook) => client.hook_deliveries(*hook, next).await,
        }
    }

    async fn request_redelivery(&self, id: u64) -> Result<(), Failure> {
        match self {
            Self::App(app) => app.request_redelivery(id).await,
            Self::Repository(client, hook) => client.request_hook_redelivery(*hook, id).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_ones_own_by_its_address() {
        let own = "https://phileas.example.com/";
        assert!(is_own("https://phileas.example.com/webhook", own));
        assert!(is_own("https://PHILEAS.example.com/webhook/", own));
        assert!(!is_own("https://phileas.example.com.evil.org/webhook", own));
        assert!(!is_own("https://other.example.com/webhook", own));
    }
}
