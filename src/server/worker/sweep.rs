//! Requests lost deliveries again. GitHub never retries a failed delivery, but lists its attempts
//! for three days and repeats one on demand.
//! <https://docs.github.com/en/webhooks/using-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook>
//!
//! Once an hour the sweep reads the attempts since the last sweep, newest first. It requests each
//! event of which every attempt failed, one after another at a pace that GitHub allows. An event
//! that still fails is requested again an hour later, up to [`MAX_ASKS`] times. Earlier requests
//! show as redeliveries, also after a restart.
//!
//! While the first redeliveries are refused, as by a full inbox, the others wait for the next
//! sweep: otherwise their attempts would be used up before there is room. Nothing depends on the
//! sweep, because the hourly check of each repository finds what is still lost.

mod hook;
mod lost_deliveries;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

pub use hook::{ASK_PAUSE, Hooked, MAX_ASKED, MAX_PAGES, Swept, is_own, sweep_attempts};
pub use lost_deliveries::{MAX_ASKS, Remembered, TRIED_FIRST};

use crate::runtime::inbox::Inbox;
use crate::runtime::ports::{Clock, Disposition};
use crate::server::repositories::{Member, Repositories};
use crate::server::shutdown::Shutdown;
use crate::server::worker::driver::Driver;

/// How often hooks are swept.
pub const INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// How soon the first sweep comes after the start, if the list of repositories is known.
pub const FIRST_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// How far back the first sweep reaches: GitHub's window of three days, less an hour for clocks and
/// delays.
pub const WINDOW: SignedDuration = SignedDuration::from_hours(71);
/// How far a sweep overlaps the one before. It must reach the deliveries that were skipped because
/// they had just been requested, and GitHub may list an attempt late.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(45);
/// The time from an incomplete sweep to the next one.
pub const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(5);

/// Requests lost deliveries, once an hour.
#[derive(Debug)]
pub struct Sweep<C> {
    /// The repositories, whose hooks are swept if the service has no App.
    pub repositories: Arc<Repositories>,
    /// The clock.
    pub clock: Arc<C>,
    /// The public address of the service. Of a repository's hooks only those that post there belong
    /// to the service; without an address none is known to.
    pub public_url: Option<String>,
}

/// The state between sweeps.
#[derive(Debug, Default)]
struct Memory {
    /// When a repository's hooks are swept next, by its number; the App's under [`THE_APP`]. Those
    /// without an entry are due.
    due: BTreeMap<u64, Timestamp>,
    hooks: BTreeMap<SweepPosition, SweepReach>,
    requested_deliveries: Remembered,
}

/// How far a hook was swept.
#[derive(Debug, Default)]
struct SweepReach {
    /// All attempts before this were read, except the unread ones.
    swept_at: Option<Timestamp>,
    /// Where the older attempts begin that were too many for one sweep, and how far back they are
    /// read.
    unread: Option<(String, Timestamp)>,
}

/// How a sweep ended; a greater value makes the next sweep more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SweepEnd {
    /// Everything was requested, or waits until deliveries are accepted again.
    Whole,
    /// Something failed, or there was too much for one sweep.
    Partly,
}

/// The result of one part of a sweep.
enum SweepPart {
    /// It was read; older attempts begin here that were not.
    Read(Option<String>),
    /// It was read, but redeliveries are refused.
    Refused,
    /// It could not be read, or some lost deliveries could not be requested.
    Failed,
}

/// Identifies a hook: the repository's number and the hook's; zeros for the App's.
type SweepPosition = (u64, u64);

/// The number of the App's hook in the memory; no repository has it.
const THE_APP: u64 = 0;

impl<I: Inbox + 'static, C: Clock> Driver<I> for Sweep<C> {
    async fn run(self, _inbox: Arc<I>, mut ending: Shutdown) {
        self.say_what_is_not_swept();
        let mut memory = Memory::default();
        let mut next = self.time_after_start(FIRST_AFTER);
        loop {
            tokio::select! {
                () = ending.wait_for_shutdown() => return,
                () = self.clock.sleep_until(next) => {}
            }
            next = tokio::select! {
                () = ending.wait_for_shutdown() => return,
                next = self.sweep_due(&mut memory) => next,
            };
        }
    }
}

impl<C: Clock> Sweep<C> {
    fn say_what_is_not_swept(&self) {
        let source = self.repositories.source();
        if source.app_client().is_none()
            && self.public_url.is_none()
            && !source.named_entries().is_empty()
        {
            tracing::warn!(
                "phileas does not request lost deliveries again, because it does not know which hooks of a repository \
                 belong to this service; set --public-url, or `public_url` in phileas.toml"
            );
        }
    }

    /// Sweeps the hooks that are due, each repository's at its own time, so that a failure delays
    /// no other. Returns when to call it again.
    async fn sweep_due(&self, memory: &mut Memory) -> Timestamp {
        // New repositories are found by then at the latest.
        let mut next = self.time_after_start(INTERVAL);
        if let Some(app) = self.repositories.source().app_client() {
            let end = self
                .sweep_hook(Hooked::App(app), (THE_APP, 0), memory)
                .await;
            return next.min(self.time_after_start(end.next_after()));
        }
        let Some(own) = &self.public_url else {
            return next;
        };
        let members = self.repositories.list_members();
        let there: BTreeSet<u64> = members.iter().map(|member| member.id.0).collect();
        memory.due.retain(|id, _| there.contains(id));
        memory.hooks.retain(|(id, _), _| there.contains(id));
        for member in members {
            let due = match memory.due.get(&member.id.0) {
                Some(due) if *due > self.clock.now() => *due,
                _ => {
                    let end = self.sweep_repository(&member, own, memory).await;
                    let due = self.time_after_start(end.next_after());
                    memory.due.insert(member.id.0, due);
                    due
                }
            };
            next = next.min(due);
        }
        next
    }

    fn time_after_start(&self, span: SignedDuration) -> Timestamp {
        let after = self.clock.now().checked_add(span);
        after.unwrap_or(Timestamp::MAX)
    }

    async fn sweep_repository(&self, member: &Member, own: &str, memory: &mut Memory) -> SweepEnd {
        let client = self.repositories.client_of(member);
        let hooks = match client.list_hooks().await {
            Ok(hooks) => hooks,
            Err(failure) => {
                // Only administrators may read hooks. Without that right, lost deliveries only
                // delay the work.
                let expected = matches!(
                    failure.disposition,
                    Disposition::Denied | Disposition::NotFound
                );
                if expected {
                    return SweepEnd::Whole;
                }
                tracing::warn!("the hooks of {} cannot be read: {failure}", member.name);
                return SweepEnd::Partly;
            }
        };
        let mut end = SweepEnd::Whole;
        for hook in hooks.iter().filter(|hook| is_own(&hook.url, own)) {
            let place = (member.id.0, hook.id);
            let hooked = Hooked::Repository(&client, hook.id);
            end = end.max(self.sweep_hook(hooked, place, memory).await);
        }
        end
    }

    /// Sweeps a hook, and continues with older attempts that an earlier sweep left.
    async fn sweep_hook(
        &self,
        hooked: Hooked<'_>,
        place: SweepPosition,
        memory: &mut Memory,
    ) -> SweepEnd {
        let now = self.clock.now();
        let oldest = now.checked_sub(WINDOW).unwrap_or(Timestamp::MIN);
        let reach = memory.hooks.entry(place).or_default();
        let since = reach
            .swept_at
            .and_then(|last| last.checked_sub(OVERLAP).ok())
            .map_or(oldest, |since| since.max(oldest));
        let older = reach.unread.take();
        let part = self.sweep_part(hooked, None, since, memory).await;
        let reach = memory.hooks.entry(place).or_default();
        let unread = match part {
            SweepPart::Read(unread) => unread,
            // The next sweep reaches back as far as this one.
            SweepPart::Refused | SweepPart::Failed => {
                reach.unread = older;
                return part.sweep_end();
            }
        };
        reach.swept_at = Some(now);
        if unread.is_some() {
            // The older attempts of an earlier sweep follow.
            let since = older.map_or(since, |(_, before)| since.min(before));
            reach.unread = unread.map(|cursor| (cursor, since));
            return SweepEnd::Partly;
        }
        let Some((cursor, since)) = older else {
            return SweepEnd::Whole;
        };
        let since = since.max(oldest);
        let part = self
            .sweep_part(hooked, Some(cursor.clone()), since, memory)
            .await;
        let end = part.sweep_end();
        let left = match part {
            SweepPart::Read(left) => left,
            SweepPart::Refused | SweepPart::Failed => Some(cursor),
        };
        let reach = memory.hooks.entry(place).or_default();
        reach.unread = left.map(|cursor| (cursor, since));
        end
    }

    /// Sweeps a hook from a page on.
    async fn sweep_part(
        &self,
        hooked: Hooked<'_>,
        from: Option<String>,
        since: Timestamp,
        memory: &mut Memory,
    ) -> SweepPart {
        let pause = &*self.repositories.external_services().pause;
        match sweep_attempts(hooked, from, since, pause, &mut memory.requested_deliveries).await {
            Ok(swept) => {
                let (asked, left) = (swept.requested, swept.left);
                if swept.refused {
                    tracing::warn!(
                        asked,
                        left,
                        "redeliveries are refused, so the other lost deliveries are requested when some are accepted"
                    );
                    return SweepPart::Refused;
                }
                if asked > 0 || left > 0 {
                    tracing::info!(asked, left, "lost deliveries were requested again");
                }
                match left {
                    0 => SweepPart::Read(swept.unread),
                    _ => SweepPart::Failed,
                }
            }
            Err(failure) => {
                tracing::warn!("a hook's deliveries cannot be swept: {failure}");
                SweepPart::Failed
            }
        }
    }
}

impl SweepEnd {
    /// The time from this sweep to the next one.
    fn next_after(self) -> SignedDuration {
        match self {
            Self::Whole => INTERVAL,
            Self::Partly => AGAIN_AFTER,
        }
    }
}

impl SweepPart {
    /// How the sweep ends after this part.
    fn sweep_end(&self) -> SweepEnd {
        match self {
            Self::Read(None) | Self::Refused => SweepEnd::Whole,
            Self::Read(Some(_)) | Self::Failed => SweepEnd::Partly,
        }
    }
}
