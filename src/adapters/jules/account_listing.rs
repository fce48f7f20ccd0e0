//! A listing of all sessions of an account, and what it proves about one repository.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{KeyUsage, ListingNeed, Session, Sessions};

use super::translate::{self, Repository, SessionOwner};
use super::wire;

/// The window in which Jules counts a key's sessions.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// One repository's part of a listing.
pub(super) struct RepositoryListing {
    pub(super) sessions: Sessions,
    /// The present name of this repository's source, as Jules spells it.
    pub(super) source: Option<String>,
}

/// How much a listing proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It contains every session.
    All,
    /// It contains every session created since then.
    Since(Timestamp),
}

/// A listing of a whole account. Each repository takes its part of it.
#[derive(Debug, Clone)]
pub(super) struct AccountListing {
    pub(super) sessions: Vec<wire::Session>,
    pub(super) reach: Reach,
    pub(super) archived: bool,
    /// GitHub's time when it was started.
    pub(super) now: Timestamp,
}

impl AccountListing {
    /// The sessions of one repository.
    pub(super) fn sessions_of(&self, repository: &Repository) -> RepositoryListing {
        let mut gathered = RepositoryCollector::new(repository, self.now);
        for session in &self.sessions {
            gathered.add_session(session);
        }
        gathered.into_listed(self.reach, self.archived)
    }

    /// Whether it satisfies this need.
    pub(super) fn satisfies(&self, need: &ListingNeed) -> bool {
        let back_to = |instant: Timestamp| match self.reach {
            Reach::All => true,
            Reach::Since(since) => since <= instant,
        };
        match need {
            ListingNeed::Since(since) => back_to(*since),
            ListingNeed::CompleteSince(since) => self.archived && back_to(*since),
            ListingNeed::Everything => self.archived && self.reach == Reach::All,
        }
    }

    /// Adds a session that was created after the listing was read, unless it is already in it.
    pub(super) fn add_session(&mut self, session: &wire::Session) {
        if self
            .sessions
            .iter()
            .all(|known| known.session_id() != session.session_id())
        {
            self.sessions.push(session.clone());
        }
    }

    /// Keeps only the newest sessions, and reduces what they prove.
    pub(super) fn keep_newest(mut self, most: usize) -> Self {
        if self.sessions.len() <= most {
            return self;
        }
        // A session without a time of creation may be the newest.
        let created =
            |session: &wire::Session| translate::created_at(session).unwrap_or(Timestamp::MAX);
        self.sessions
            .sort_by_cached_key(|session| std::cmp::Reverse(created(session)));
        let first_left = self.sessions.get(most).map(created);
        self.sessions.truncate(most);
        // Just after the newest session that is left out, because others of the same instant may be left out, too.
        let reach = first_left.and_then(|at| at.checked_add(SignedDuration::from_nanos(1)).ok());
        self.reach = self
            .reach
            .combined_with(Reach::Since(reach.unwrap_or(self.now)));
        self
    }

    /// The number of its sessions.
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }
}

impl Reach {
    /// How much two listings prove together.
    pub(super) fn combined_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, reach) | (reach, Self::All) => reach,
            (Self::Since(one), Self::Since(other)) => Self::Since(one.max(other)),
        }
    }
}

/// Collects one repository's sessions. Of other repositories' sessions only the key's usage is kept.
struct RepositoryCollector<'a> {
    repository: &'a Repository,
    now: Timestamp,
    ours: BTreeMap<String, Session>,
    key: BTreeMap<String, KeySession>,
    source: Option<String>,
    nameless: bool,
}

/// What one session uses of the key's limits.
#[derive(Clone, Copy)]
struct KeySession {
    live: bool,
    lately: bool,
}

impl<'a> RepositoryCollector<'a> {
    fn new(repository: &'a Repository, now: Timestamp) -> Self {
        Self {
            repository,
            now,
            ours: BTreeMap::new(),
            key: BTreeMap::new(),
            source: None,
            nameless: false,
        }
    }

    fn add_session(&mut self, session: &wire::Session) {
        let id = session.session_id().to_owned();
        if id.is_empty() {
            self.nameless = true;
            return;
        }
        let created = translate::created_at(session).unwrap_or(self.now);
        let counted = KeySession {
            // An archived session is paused for good and takes no place.
            live: !session.archived && translate::session_state(&session.state).is_live(),
            lately: created > day_before(self.now),
        };
        self.key.insert(id.clone(), counted);
        match translate::session_owner(session, self.repository) {
            SessionOwner::Ours => {
                // A former name cannot be used for a new session.
                let named = session.source_context.as_ref().filter(|context| {
                    translate::repository_of(&context.source).as_ref()
                        == Some(&self.repository.name)
                });
                self.source = named
                    .map(|context| context.source.clone())
                    .or(self.source.take());
            }
            SessionOwner::Unnamed => {}
            SessionOwner::Foreign => return,
        }
        let session = translate::domain_session(session, self.repository, self.now);
        // Pages may shift while they are read: of two copies of a session the later one counts.
        match self.ours.get(&id) {
            Some(known) if known.updated_at > session.updated_at => {}
            _ => {
                self.ours.insert(id, session);
            }
        }
    }

    /// A session without an id could be any session, so nothing is proven.
    fn proven_reach(&self, reach: Reach) -> Reach {
        if self.nameless {
            Reach::Since(self.now)
        } else {
            reach
        }
    }

    fn into_listed(self, reach: Reach, archived: bool) -> RepositoryListing {
        let reach = self.proven_reach(reach);
        let count = |counts: fn(&KeySession) -> bool| {
            let number = self.key.values().filter(|counted| counts(counted)).count();
            u32::try_from(number).unwrap_or(u32::MAX)
        };
        let key = KeyUsage {
            active: count(|counted| counted.live),
            created_last_day: count(|counted| counted.lately),
        };
        let mut sessions: Vec<Session> = self.ours.into_values().collect();
        sessions.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        RepositoryListing {
            sessions: Sessions {
                taken_at: self.now,
                since: match reach {
                    Reach::All => None,
                    Reach::Since(since) => Some(since),
                },
                archived,
                sessions,
                key,
            },
            source: self.source,
        }
    }
}

pub(super) fn day_before(now: Timestamp) -> Timestamp {
    now.checked_sub(DAY).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn account(created: &[i64]) -> AccountListing {
        let sessions = created.iter().map(|second| {
            let shown = serde_json::json!({
                "name": format!("sessions/{second}"),
                "createTime": at(*second).to_string(),
            });
            serde_json::from_value(shown).unwrap()
        });
        AccountListing {
            sessions: sessions.collect(),
            reach: Reach::All,
            archived: true,
            now: at(1_000),
        }
    }

    /// Joining repositories read everything; the others go on with what is kept of it.
    #[test]
    fn the_newest_of_a_long_listing_still_serve_those_who_look_back_a_little() {
        let kept = account(&[10, 40, 20, 30]).keep_newest(2);
        let names: Vec<&str> = kept
            .sessions
            .iter()
            .map(wire::Session::session_id)
            .collect();
        assert_eq!(names, ["40", "30"]);
        assert!(kept.satisfies(&ListingNeed::Since(at(21))));
        assert!(kept.satisfies(&ListingNeed::CompleteSince(at(21))));
        assert!(
            !kept.satisfies(&ListingNeed::Since(at(20))),
            "20 is left out"
        );
        assert!(!kept.satisfies(&ListingNeed::Everything));
        let whole = account(&[10, 40]).keep_newest(2);
        assert!(whole.satisfies(&ListingNeed::Everything));
    }
}
