//! Deliveries that GitHub could not hand over. It never tries again by itself, but lists its attempts for three days
//! and repeats one on demand.
//! <https://docs.github.com/en/webhooks/using-webhooks/automatically-redelivering-failed-deliveries-for-a-github-app-webhook>
//!
//! Once an hour the attempts since the last sweep are read, newest first. An event of which every attempt failed is
//! asked for, one after another at a pace that GitHub allows, and again an hour later while it still fails, up to
//! [`MAX_ASKS`] times. What was asked for before shows as a redelivery, also after this process has been restarted.
//! While the first that come again are refused, as by an inbox that is full, the others are left for an hour later: they
//! would be asked for in vain, and so often that nobody asks any more once there is room.
//! Nothing depends on it: whatever is lost nevertheless is found by the hourly look at each repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::driver::Driver;
use super::ending::Ending;
use super::repositories::{Member, Repositories};
use super::webhook::matters;
use crate::adapters::github::{AppClient, Client, DeliveryAttempt, DeliveryPage};
use crate::adapters::pause::Pause;
use crate::runtime::inbox::Inbox;
use crate::runtime::ports::{Clock, Disposition, Failure};

/// How often hooks are swept.
pub const INTERVAL: SignedDuration = SignedDuration::from_hours(1);
/// How soon after the start the first sweep comes, when the list of repositories is there.
pub const FIRST_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// How far back the first sweep looks: GitHub's window of three days, less than an hour for clocks and for slowness.
pub const WINDOW: SignedDuration = SignedDuration::from_hours(71);
/// By how much a sweep overlaps the one before: it reaches back to what that one left alone, because it had been asked for
/// a moment before, by this process or by another; and an attempt may be listed late.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(45);
/// How soon after a sweep that did not get to its end the next one comes.
pub const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(5);
/// The most pages of 100 attempts that are read of one hook at a time. The next sweep goes on where this one stopped.
pub const MAX_PAGES: usize = 300;
/// The most deliveries that are asked for of one hook at a time. The next sweep looks back far enough for the others.
pub const MAX_ASKED: usize = 1_000;
/// The pause between two that are asked for: 120 a minute. GitHub counts five points for each, of 900 a minute.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
pub const ASK_PAUSE: Duration = Duration::from_millis(500);
/// How often one event is asked for.
pub const MAX_ASKS: u32 = 5;
/// How many are asked for before it is seen whether they are taken.
pub const TRIED_FIRST: usize = 10;
/// How long these have until they are looked for in GitHub's list. Those that it does not show yet count as taken.
const TRIAL: Duration = Duration::from_secs(15);
/// What was asked for less than this ago may still be on its way, or not be listed yet.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// How many events that were asked for are remembered.
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Attempts that were read.
    pub read: usize,
    /// Events of which every attempt failed and that were asked for.
    pub asked: usize,
    /// Those that were left for the next sweep.
    pub left: usize,
    /// Whether they were left because all that came again before them was refused.
    pub refused: bool,
    /// Where the older attempts begin that were not read.
    pub unread: Option<String>,
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
    hooks: BTreeMap<Place, Reach>,
    /// The events that were asked for again, by their ids.
    asked: BTreeMap<String, Asked>,
}

/// How far a hook was swept.
#[derive(Debug, Default)]
struct Reach {
    /// All attempts before this were looked at, but for those that are unread.
    swept_at: Option<Timestamp>,
    /// Where older ones begin that were too many for one sweep, and how far back they are looked at.
    unread: Option<(String, Timestamp)>,
}

/// An event that was asked for again.
#[derive(Debug, Clone, Copy)]
struct Asked {
    times: u32,
    at: Timestamp,
}

/// How a sweep ended, the more urgent the next one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Everything was seen to, or waits until deliveries are taken again.
    Whole,
    /// Something failed, or there was too much for one sweep.
    Partly,
}

/// What came of one part of a sweep.
enum Part {
    /// It was read, and older attempts begin here that were not.
    Read(Option<String>),
    /// It was read, and what is lost is refused when it comes again.
    Refused,
    /// It could not be read, or some that are lost could not be asked for.
    Failed,
}

/// Which hook, for remembering how far it was swept: the repository's number and the hook's; zeros for the App's.
type Place = (u64, u64);

impl<I: Inbox + 'static, C: Clock> Driver<I> for Sweep<C> {
    async fn run(self, _inbox: Arc<I>, mut ending: Ending) {
        self.say_what_is_not_swept();
        let mut memory = Memory::default();
        let mut pause = FIRST_AFTER;
        loop {
            let next = self.clock.now().checked_add(pause);
            tokio::select! {
                () = ending.come() => return,
                () = self.clock.sleep_until(next.unwrap_or(Timestamp::MAX)) => {}
            }
            let end = tokio::select! {
                () = ending.come() => return,
                end = self.round(&mut memory) => end,
            };
            pause = match end {
                End::Whole => INTERVAL,
                End::Partly => AGAIN_AFTER,
            };
        }
    }
}

impl<C: Clock> Sweep<C> {
    fn say_what_is_not_swept(&self) {
        let source = self.repositories.source();
        if source.app().is_none() && self.public_url.is_none() && !source.named().is_empty() {
            tracing::warn!(
                "webhooks that get lost are not asked for again: --public-url (or `public_url` in phileas.toml) says \
                 which hooks of a repository are this service's, and it is not set"
            );
        }
    }

    /// Sweeps all hooks.
    async fn round(&self, memory: &mut Memory) -> End {
        if let Some(app) = self.repositories.source().app() {
            return self.hook(Hooked::App(app), (0, 0), memory).await;
        }
        let mut end = End::Whole;
        let Some(own) = &self.public_url else {
            return end;
        };
        for member in self.repositories.members() {
            end = end.max(self.repository(&member, own, memory).await);
        }
        end
    }

    async fn repository(&self, member: &Member, own: &str, memory: &mut Memory) -> End {
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
                if expected {
                    return End::Whole;
                }
                tracing::warn!("the hooks of {} cannot be read: {failure}", member.name);
                return End::Partly;
            }
        };
        let mut end = End::Whole;
        for hook in hooks.iter().filter(|hook| is_own(&hook.url, own)) {
            let place = (member.id.0, hook.id);
            let hooked = Hooked::Repository(&client, hook.id);
            end = end.max(self.hook(hooked, place, memory).await);
        }
        end
    }

    /// Sweeps a hook, and goes on with older attempts that were left before.
    async fn hook(&self, hooked: Hooked<'_>, place: Place, memory: &mut Memory) -> End {
        let now = self.clock.now();
        let oldest = now.checked_sub(WINDOW).unwrap_or(Timestamp::MIN);
        let reach = memory.hooks.entry(place).or_default();
        let since = reach
            .swept_at
            .and_then(|last| last.checked_sub(OVERLAP).ok())
            .map_or(oldest, |since| since.max(oldest));
        let older = reach.unread.take();
        let part = self.part(hooked, None, since, memory).await;
        let reach = memory.hooks.entry(place).or_default();
        let unread = match part {
            Part::Read(unread) => unread,
            // The next sweep reaches back as far as this one.
            Part::Refused | Part::Failed => {
                reach.unread = older;
                return part.end();
            }
        };
        reach.swept_at = Some(now);
        if unread.is_some() {
            // What was left before lies behind it.
            let since = older.map_or(since, |(_, before)| since.min(before));
            reach.unread = unread.map(|cursor| (cursor, since));
            return End::Partly;
        }
        let Some((cursor, since)) = older else {
            return End::Whole;
        };
        let since = since.max(oldest);
        let part = self.part(hooked, Some(cursor.clone()), since, memory).await;
        let end = part.end();
        let left = match part {
            Part::Read(left) => left,
            Part::Refused | Part::Failed => Some(cursor),
        };
        let reach = memory.hooks.entry(place).or_default();
        reach.unread = left.map(|cursor| (cursor, since));
        end
    }

    /// Sweeps a hook from a page on.
    async fn part(
        &self,
        hooked: Hooked<'_>,
        from: Option<String>,
        since: Timestamp,
        memory: &mut Memory,
    ) -> Part {
        let pause = &*self.repositories.outside().pause;
        match sweep(hooked, from, since, pause, memory).await {
            Ok(swept) => {
                let (asked, left) = (swept.asked, swept.left);
                if swept.refused {
                    tracing::warn!(
                        asked,
                        left,
                        "lost deliveries are refused again; the others are asked for when some are taken"
                    );
                    return Part::Refused;
                }
                if asked > 0 || left > 0 {
                    tracing::info!(asked, left, "lost deliveries were asked for again");
                }
                match left {
                    0 => Part::Read(swept.unread),
                    _ => Part::Failed,
                }
            }
            Err(failure) => {
                tracing::warn!("a hook's deliveries cannot be swept: {failure}");
                Part::Failed
            }
        }
    }
}

impl Part {
    /// How the sweep ends with it.
    fn end(&self) -> End {
        match self {
            Self::Read(None) | Self::Refused => End::Whole,
            Self::Read(Some(_)) | Self::Failed => End::Partly,
        }
    }
}

/// Reads a hook's attempts since an instant, from a page on, and asks for each event of which every one failed.
///
/// # Errors
///
/// When the attempts cannot be read.
pub async fn sweep(
    hooked: Hooked<'_>,
    from: Option<String>,
    since: Timestamp,
    pause: &dyn Pause,
    memory: &mut Memory,
) -> Result<Swept, Failure> {
    let mut attempts = Vec::new();
    let mut next = from;
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
        next = page.next.filter(|_| !reached);
        if next.is_none() || pages == MAX_PAGES {
            break;
        }
    }
    let known: BTreeSet<u64> = attempts.iter().map(|one| one.id).collect();
    let lost = lost(&attempts, since, pause.now(), &memory.asked);
    let mut swept = Swept {
        read: attempts.len(),
        asked: 0,
        left: lost.len(),
        refused: false,
        unread: next,
    };
    let mut tried: Vec<&str> = Vec::new();
    for (place, (id, guid)) in trial_first(lost).into_iter().take(MAX_ASKED).enumerate() {
        if place == TRIED_FIRST {
            pause.pause(TRIAL).await;
            let page = hooked.page(None).await?;
            if are_refused(&page.attempts, &known, &tried) {
                swept.refused = true;
                break;
            }
        } else if swept.asked > 0 {
            pause.pause(ASK_PAUSE).await;
        }
        match hooked.redeliver(id).await {
            Ok(()) => {
                swept.asked += 1;
                tried.push(guid);
            }
            // It has gone out of GitHub's window meanwhile.
            Err(failure) if failure.disposition == Disposition::NotFound => {}
            Err(failure) => {
                tracing::warn!("the rest of the lost deliveries is left for later: {failure}");
                break;
            }
        }
        swept.left -= 1;
        memory.asked_for(guid, pause.now());
    }
    Ok(swept)
}

impl Memory {
    fn asked_for(&mut self, guid: &str, at: Timestamp) {
        let times = self.asked.get(guid).map_or(0, |asked| asked.times) + 1;
        self.asked.insert(guid.to_owned(), Asked { times, at });
        if self.asked.len() > MAX_REMEMBERED {
            let oldest = self.asked.iter().min_by_key(|(_, asked)| asked.at);
            if let Some(oldest) = oldest.map(|(guid, _)| guid.clone()) {
                self.asked.remove(&oldest);
            }
        }
    }
}

/// What is known of an event from its attempts.
struct Event<'a> {
    guid: &'a str,
    first: u64,
    taken: bool,
    /// How often it was asked for, as far as it shows.
    asks: u32,
    /// When it was asked for last.
    asked_at: Option<Timestamp>,
    /// When it was last attempted.
    last: Option<Timestamp>,
}

/// An attempt of each event that nobody took, that matters and that may be asked for now, with the event's id; the oldest
/// first.
fn lost<'a>(
    attempts: &'a [DeliveryAttempt],
    since: Timestamp,
    now: Timestamp,
    asked: &BTreeMap<String, Asked>,
) -> Vec<(u64, &'a str)> {
    let mut events: BTreeMap<&str, Event<'_>> = BTreeMap::new();
    let matter = |one: &&DeliveryAttempt| matters(&one.event, one.action.as_deref());
    for attempt in attempts.iter().filter(matter) {
        let guid = attempt.guid.as_str();
        let event = events.entry(guid).or_insert_with(|| {
            let known = asked.get(guid);
            Event {
                guid,
                first: attempt.id,
                taken: false,
                asks: 0,
                asked_at: known.map(|asked| asked.at),
                last: None,
            }
        });
        event.taken |= attempt.succeeded();
        event.last = event.last.max(attempt.delivered_at);
        // Attempts come newest first, so that the last one is an event's first.
        event.first = attempt.id;
        if attempt.redelivery {
            event.asks += 1;
            event.asked_at = event.asked_at.max(attempt.delivered_at);
        }
    }
    let mut lost: Vec<(u64, &str)> = events
        .into_values()
        .filter(|event| {
            let known = asked.get(event.guid).map_or(0, |asked| asked.times);
            let rested = event
                .asked_at
                .is_none_or(|at| now.duration_since(at) >= PATIENCE);
            !event.taken && event.last >= Some(since) && event.asks.max(known) < MAX_ASKS && rested
        })
        .map(|event| (event.first, event.guid))
        .collect();
    lost.sort_unstable();
    lost
}

/// The same, but some from everywhere among them first: what is refused may be of one kind that came in a row.
fn trial_first<T>(lost: Vec<T>) -> Vec<T> {
    let step = (lost.len() / TRIED_FIRST).max(1);
    let is_tried = |place: usize| place.is_multiple_of(step) && place / step < TRIED_FIRST;
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (place, one) in lost.into_iter().enumerate() {
        if is_tried(place) {
            first.push(one);
        } else {
            rest.push(one);
        }
    }
    first.append(&mut rest);
    first
}

/// Whether all that were tried have come again, and nobody took any, nor anything else meanwhile. `known`: the attempts
/// from before.
fn are_refused(attempts: &[DeliveryAttempt], known: &BTreeSet<u64>, tried: &[&str]) -> bool {
    let came_again = attempts.iter().filter(|one| {
        one.redelivery && !known.contains(&one.id) && tried.contains(&one.guid.as_str())
    });
    let came_again: Vec<u64> = came_again.map(|one| one.id).collect();
    let Some(since) = came_again.iter().min() else {
        return false;
    };
    let mut meanwhile = attempts.iter().filter(|one| one.id >= *since);
    came_again.len() >= tried.len() && !meanwhile.any(DeliveryAttempt::succeeded)
}

/// Whether a hook posts to this service.
pub fn is_own(hook: &str, public_url: &str) -> bool {
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
            event: "push".to_owned(),
            action: None,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn only_what_nobody_took_is_asked_for() {
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
        let none = BTreeMap::new();
        assert_eq!(
            lost(&attempts, at(2), at(10), &none),
            [(2, "lost"), (6, "twice")]
        );
        // A redelivery that failed is no end of it: an hour later it is asked for again.
        assert_eq!(
            lost(&attempts, at(2), at(3_600), &none),
            [(2, "lost"), (3, "asked"), (6, "twice")]
        );
    }

    #[test]
    fn nothing_is_asked_for_without_end() {
        let hour = 3_600;
        let mut attempts = vec![attempt(1, "lost", 500, false)];
        let mut memory = Memory::default();
        let mut asks = 0;
        for n in 1..=20 {
            let now = at(n * hour);
            // By what GitHub lists, and by what is remembered of it.
            let listed = if n % 2 == 0 {
                &attempts[..]
            } else {
                &attempts[..1]
            };
            if !lost(listed, at(0), now, &memory.asked).is_empty() {
                memory.asked_for("lost", now);
                let id = u64::try_from(n * hour + 1).unwrap();
                attempts.insert(0, attempt(id, "lost", 500, true));
                asks += 1;
            }
        }
        assert_eq!(asks, MAX_ASKS);
        // After a restart GitHub's list alone tells it.
        assert_eq!(lost(&attempts, at(0), at(30 * hour), &BTreeMap::new()), []);
    }

    #[test]
    fn what_is_left_alone_for_a_while_is_within_reach_of_the_next_sweep() {
        let attempts = [
            attempt(5_000, "lost", 503, true),
            attempt(1, "lost", 503, false),
        ];
        let none = BTreeMap::new();
        let swept_at = at(5_000) + PATIENCE - SignedDuration::from_secs(1);
        let (before, since) = (swept_at - INTERVAL - OVERLAP, swept_at - OVERLAP);
        // Another process had asked for it.
        assert_eq!(lost(&attempts, before, swept_at, &none), []);
        assert_eq!(
            lost(&attempts, since, swept_at + INTERVAL, &none),
            [(1, "lost")]
        );
    }

    #[test]
    fn what_is_refused_is_told_from_what_is_late() {
        let guids: Vec<String> = (0..TRIED_FIRST).map(|n| format!("lost {n}")).collect();
        let tried: Vec<&str> = guids.iter().map(String::as_str).collect();
        // Newest first, as GitHub lists them; each had failed before.
        let attempts = |from: u64, status, redelivery| -> Vec<DeliveryAttempt> {
            let mut all: Vec<_> = tried
                .iter()
                .zip(from..)
                .map(|(guid, id)| attempt(id, guid, status, redelivery))
                .collect();
            all.reverse();
            all
        };
        let before = attempts(10, 503, false);
        let known: BTreeSet<u64> = before.iter().map(|one| one.id).collect();
        let again = attempts(100, 503, true);
        let page = |newer: &[DeliveryAttempt]| [newer, &before].concat();
        let refused = |newer: &[DeliveryAttempt]| are_refused(&page(newer), &known, &tried);
        assert!(refused(&again));
        // One of them is not listed yet, or none.
        assert!(!refused(&again[1..]) && !refused(&[]));
        // One of them was taken, or something else was meanwhile; what was taken before says nothing.
        let with = |id, guid, redelivery| {
            let taken = attempt(id, guid, 202, redelivery);
            [vec![taken], again.clone()].concat()
        };
        assert!(!refused(&with(200, "lost 3", true)));
        assert!(!refused(&with(200, "another", false)));
        assert!(refused(&with(50, "another", false)));
    }

    #[test]
    fn those_that_are_tried_come_from_everywhere() {
        assert_eq!(trial_first(vec![1, 2, 3]), [1, 2, 3]);
        let order = trial_first((0..35).collect());
        assert_eq!(order[..TRIED_FIRST], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
        assert_eq!(order[TRIED_FIRST..][..3], [1, 2, 4]);
        assert_eq!(order.len(), 35);
    }

    #[test]
    fn what_nothing_hangs_on_is_not_asked_for() {
        let mut star = attempt(2, "star", 503, false);
        star.event = "star".to_owned();
        let attempts = [star, attempt(1, "push", 503, false)];
        assert_eq!(
            lost(&attempts, at(0), at(10), &BTreeMap::new()),
            [(1, "push")]
        );
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
