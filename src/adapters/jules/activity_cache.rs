//! Caches the activities of the sessions that were read last.

use std::collections::BTreeMap;
use std::sync::Mutex;

use phileas_domain::engine::Activity;

use super::recent::lock_mutex;

/// How many sessions are cached.
pub(super) const MAX_REMEMBERED_SESSIONS: usize = 64;
/// How many activities of one session are cached; a longer session is read whole each time.
pub(super) const MAX_REMEMBERED_ACTIVITIES: usize = 2_000;

/// The activities of recently read sessions.
#[derive(Debug, Default)]
pub(super) struct ActivityCache(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    by_id: BTreeMap<String, CachedSession>,
    uses: u64,
}

#[derive(Debug)]
struct CachedSession {
    activities: Vec<Activity>,
    used: u64,
}

impl ActivityCache {
    pub(super) fn get(&self, session: &str) -> Vec<Activity> {
        let mut sessions = lock_mutex(&self.0);
        sessions.uses += 1;
        let uses = sessions.uses;
        match sessions.by_id.get_mut(session) {
            Some(remembered) => {
                remembered.used = uses;
                remembered.activities.clone()
            }
            None => Vec::new(),
        }
    }

    pub(super) fn put(&self, session: &str, activities: &[Activity]) {
        let mut sessions = lock_mutex(&self.0);
        sessions.by_id.remove(session);
        if activities.is_empty() || activities.len() > MAX_REMEMBERED_ACTIVITIES {
            return;
        }
        if sessions.by_id.len() == MAX_REMEMBERED_SESSIONS {
            let oldest = sessions
                .by_id
                .iter()
                .min_by_key(|(_, remembered)| remembered.used);
            if let Some(oldest) = oldest.map(|(id, _)| id.clone()) {
                sessions.by_id.remove(&oldest);
            }
        }
        sessions.uses += 1;
        let remembered = CachedSession {
            activities: activities.to_vec(),
            used: sessions.uses,
        };
        sessions.by_id.insert(session.to_owned(), remembered);
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use phileas_domain::engine::ActivityKind;

    use super::*;

    fn activity(id: &str, second: i64) -> Activity {
        Activity {
            id: id.to_owned(),
            at: Timestamp::from_second(second).unwrap(),
            kind: ActivityKind::PlanApproved,
            has_changes: false,
        }
    }

    #[test]
    fn the_memory_forgets_what_was_not_used_longest() {
        let memory = ActivityCache::default();
        for session in 0..MAX_REMEMBERED_SESSIONS {
            memory.put(&session.to_string(), &[activity("a", 1)]);
        }
        assert_eq!(memory.get("0").len(), 1);
        memory.put("one more", &[activity("a", 1)]);
        assert_eq!(memory.get("0").len(), 1);
        assert!(memory.get("1").is_empty());
        assert_eq!(memory.get("one more").len(), 1);
    }

    #[test]
    fn a_session_that_is_too_long_is_not_remembered() {
        let memory = ActivityCache::default();
        let many = vec![activity("a", 1); MAX_REMEMBERED_ACTIVITIES + 1];
        memory.put("1", &many[1..]);
        assert_eq!(memory.get("1").len(), MAX_REMEMBERED_ACTIVITIES);
        memory.put("1", &many);
        assert!(memory.get("1").is_empty());
    }
}
