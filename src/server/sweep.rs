//! Deliveries that GitHub could not hand over. It never tries again by itself, but lists its attempts for three days
//! and repeats one on demand.
//! <https://docs.github.com/en/webhooks/using-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook>
//!
//! Once an hour the attempts since the last sweep are read, newest first. An event of which every attempt failed is
//! asked for once: what was asked for before shows as a redelivery, also after this process has been restarted. Nothing
//! depends on it: whatever is lost nevertheless is found by the hourly look at each repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::driver::Driver;
use super::ending::Ending;
use super::repositories::{Member, Repositories};
use crate::adapters::github::{AppClient, Client, DeliveryAttempt, DeliveryPage};
use crate::runtime::inbox::Inbox;
use crate::runtime::ports::{Clock, Disposition, Failure};

/// How often hooks are swept.
pub const INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// How soon after the start the first sweep comes, when the list of repositories is there.
pub const FIRST_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// How far back the first sweep looks: GitHub's window of three days, less than an hour for clocks and for slowness.
pub const WINDOW: SignedDuration = SignedDuration::from_hours(71);
/// By how much a sweep overlaps the one before: an attempt may be listed late.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(15);
/// The most pages of 100 attempts that are read of one hook at a time.
pub const MAX_PAGES: usize = 50;
/// The most deliveries that are asked for of one hook at a time. GitHub counts five points for each, of 900 a minute.
/// The next sweep looks back far enough for the others.
pub const MAX_ASKED: usize = 100;
/// How many asked-for deliveries are remembered, for the time until GitHub lists what came of them.
const MAX_REMEMBERED: usize = 10_000;

/// Asks for lost deliveries, once an hour.
#[derive(Debug)]
pub struct Sweep<C> {
    /// The repositories, whose hooks are looked at where the service has no App.
    pub repositories: Arc<Repositories>,
    /// The time.
    pub clock: Arc<C>,
    /// The address under which GitHub knows the service. Of a repository's hooks only those that post there are its
    /// own; without it none is known to be.
    pub public_url: Option<String>,
}

/// What came of sweeping one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Attempts that were read.
    pub read: usize,
    /// Events of which every attempt failed and that were asked for.
    pub asked: usize,
    /// Those that were left for the next sweep.
    pub left: usize,
}

/// A hook: an App's, or one of a repository.
#[derive(Debug, Clone, Copy)]
pub enum Hooked<'a> {
    /// The App's own.
    App(&'a AppClient),
    /// A repository's, by its number.
    Repository(&'a Client, u64),
}

/// What earlier sweeps have done.
#[derive(Debug, Default)]
pub struct Memory {
    swept_at: BTreeMap<Place, Timestamp>,
    /// The attempts that were asked for again, by their numbers.
    asked: BTreeSet<u64>,
}

/// Which hook, for remembering how far it was swept: the repository's number and the hook's; zeros for the App's.
type Place = (u64, u64);

impl<I: Inbox + 'static, C: Clock> Driver<I> for Sweep<C> {
    async fn run(self, _inbox: Arc<I>, mut ending: Ending) {
        let mut memory = Memory::default();
        let mut pause = FIRST_AFTER;
        loop {
            let next = self.clock.now().checked_add(pause);
            tokio::select! {
                () = ending.come() => return,
                () = self.clock.sleep_until(next.unwrap_or(Timestamp::MAX)) => {}
            }
            tokio::select! {
                () = ending.come() => return,
                () = self.round(&mut memory) => {}
            }
            pause = INTERVAL;
        }
    }
}

impl<C: Clock> Sweep<C> {
    async fn round(&self, memory: &mut Memory) {
        if let Some(app) = self.repositories.source().app() {
            self.hook(Hooked::App(app), (0, 0), memory).await;
            return;
        }
        let Some(own) = &self.public_url else {
            return;
        };
        for member in self.repositories.members() {
            self.repository(&member, own, memory).await;
        }
    }

    async fn repository(&self, member: &Member, own: &str, memory: &mut Memory) {
        let outside = self.repositories.outside();
        let client = outside.client(member.name.clone(), &member.account);
        let hooks = match client.hooks().await {
            Ok(hooks) => hooks,
            Err(failure) => {
                // Only administrators may look at hooks; a token that is none loses patience, not work.
                let expected = matches!(
                    failure.disposition,
                    Disposition::Denied | Disposition::NotFound
                );
                if !expected {
                    tracing::warn!("the hooks of {} cannot be read: {failure}", member.name);
                }
                return;
            }
        };
        for hook in hooks.iter().filter(|hook| is_own(&hook.url, own)) {
            let place = (member.id.0, hook.id);
            let hooked = Hooked::Repository(&client, hook.id);
            self.hook(hooked, place, memory).await;
        }
    }

    async fn hook(&self, hooked: Hooked<'_>, place: Place, memory: &mut Memory) {
        let now = self.clock.now();
        let oldest = now.checked_sub(WINDOW).unwrap_or(Timestamp::MIN);
        let since = memory
            .swept_at
            .get(&place)
            .and_then(|last| last.checked_sub(OVERLAP).ok())
            .map_or(oldest, |since| since.max(oldest));
        match sweep(hooked, since, memory).await {
            Ok(swept) => {
                if swept.left == 0 {
                    memory.swept_at.insert(place, now);
                }
                if swept.asked > 0 || swept.left > 0 {
                    tracing::info!(
                        asked = swept.asked,
                        left = swept.left,
                        "lost deliveries were asked for again"
                    );
                }
            }
            Err(failure) => tracing::warn!("a hook's deliveries cannot be swept: {failure}"),
        }
    }
}

/// Reads a hook's attempts since an instant, and asks once for each event of which every one failed.
///
/// # Errors
///
/// When the attempts cannot be read.
pub async fn sweep(
    hooked: Hooked<'_>,
    since: Timestamp,
    memory: &mut Memory,
) -> Result<Swept, Failure> {
    let mut attempts = Vec::new();
    let mut next: Option<String> = None;
    let mut pages = 0;
    loop {
        let page = hooked.page(next.as_deref()).await?;
        pages += 1;
        let reached = page
            .attempts
            .last()
            .and_then(|last| last.delivered_at)
            .is_some_and(|at| at < since);
        attempts.extend(page.attempts);
        next = page.next;
        if next.is_none() || reached {
            break;
        }
        if pages == MAX_PAGES {
            tracing::warn!(
                pages,
                "a hook has more attempts than are read; the older ones are left to the hourly look"
            );
            break;
        }
    }
    let lost: Vec<u64> = lost(&attempts, since)
        .into_iter()
        .filter(|id| !memory.asked.contains(id))
        .collect();
    let mut swept = Swept {
        read: attempts.len(),
        asked: 0,
        left: lost.len(),
    };
    for id in lost.into_iter().take(MAX_ASKED) {
        match hooked.redeliver(id).await {
            Ok(()) => swept.asked += 1,
            // It has gone out of GitHub's window meanwhile.
            Err(failure) if failure.disposition == Disposition::NotFound => {}
            Err(failure) => {
                tracing::warn!("the rest of the lost deliveries is left for later: {failure}");
                break;
            }
        }
        swept.left -= 1;
        memory.asked.insert(id);
        if memory.asked.len() > MAX_REMEMBERED {
            memory.asked.pop_first();
        }
    }
    Ok(swept)
}

/// The first attempt of each event that nobody took and that was not asked for yet, the oldest first.
fn lost(attempts: &[DeliveryAttempt], since: Timestamp) -> Vec<u64> {
    let settled: BTreeSet<&str> = attempts
        .iter()
        .filter(|attempt| attempt.succeeded() || attempt.redelivery)
        .map(|attempt| attempt.guid.as_str())
        .collect();
    let mut lost = BTreeMap::new();
    for attempt in attempts {
        // Attempts come newest first, so that the last one that is put here is an event's first.
        if !settled.contains(attempt.guid.as_str()) && attempt.delivered_at >= Some(since) {
            lost.insert(attempt.guid.as_str(), attempt.id);
        }
    }
    let mut ids: Vec<u64> = lost.into_values().collect();
    ids.sort_unstable();
    ids
}

/// Whether a hook posts to this service.
pub(super) fn is_own(hook: &str, public_url: &str) -> bool {
    let plain = |text: &str| text.trim_end_matches('/').to_ascii_lowercase();
    let own = plain(public_url);
    let hook = plain(hook);
    hook == own || hook == format!("{own}/webhook")
}

impl Hooked<'_> {
    async fn page(&self, next: Option<&str>) -> Result<DeliveryPage, Failure> {
        match self {
            Self::App(app) => app.deliveries(next).await,
            Self::Repository(client, hook) => client.hook_deliveries(*hook, next).await,
        }
    }

    async fn redeliver(&self, id: u64) -> Result<(), Failure> {
        match self {
            Self::App(app) => app.redeliver(id).await,
            Self::Repository(client, hook) => client.redeliver(*hook, id).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(id: u64, guid: &str, status_code: u16, redelivery: bool) -> DeliveryAttempt {
        DeliveryAttempt {
            id,
            guid: guid.to_owned(),
            delivered_at: Timestamp::from_second(i64::try_from(id).unwrap()).ok(),
            status_code,
            redelivery,
        }
    }

    #[test]
    fn only_what_nobody_took_and_nobody_asked_for_is_asked_for() {
        let attempts = [
            attempt(9, "asked", 503, true),
            attempt(8, "late", 202, true),
            attempt(7, "twice", 0, false),
            attempt(6, "twice", 503, false),
            attempt(5, "good", 202, false),
            attempt(4, "late", 502, false),
            attempt(3, "asked", 503, false),
            attempt(2, "lost", 500, false),
            attempt(1, "old", 500, false),
        ];
        let since = Timestamp::from_second(2).unwrap();
        assert_eq!(lost(&attempts, since), [2, 6]);
    }

    #[test]
    fn a_hook_is_ones_own_by_its_address() {
        let own = "https://phileas.example.com/";
        assert!(is_own("https://phileas.example.com/webhook", own));
        assert!(is_own("https://PHILEAS.example.com/webhook/", own));
        assert!(!is_own("https://phileas.example.com.evil.org/webhook", own));
        assert!(!is_own("https://other.example.com/webhook", own));
    }
}
