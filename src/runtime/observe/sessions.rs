//! Reads sessions, and records failures to read them.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Listing, ListingNeed, Outage, Session, Snapshot};
use phileas_domain::model::SessionId;

use crate::runtime::ports::{Disposition, Failure, ReadJules};

pub(super) async fn list_sessions(
    jules: &impl ReadJules,
    snapshot: &mut Snapshot,
    need: &ListingNeed,
) {
    // A second, deeper listing must not lose what the first one was to find.
    snapshot.sessions = match jules
        .list_sessions(&snapshot.repository, need, snapshot.now)
        .await
    {
        Ok(sessions) => Listing::Taken(sessions),
        Err(failure) => Listing::Failed(outage_of(snapshot.now, &failure)),
    };
}

/// Adds a session that was read by itself to the listing. An unknown part counts as empty and a
/// missing session as missing, so that each is read once.
pub(super) fn record_session(snapshot: &mut Snapshot, id: &SessionId, read: Option<Session>) {
    let Listing::Taken(listing) = &mut snapshot.sessions else {
        return;
    };
    let place = listing.sessions.iter().position(|listed| listed.id == *id);
    match (place, read) {
        (Some(place), read) => {
            let prompt = read.and_then(|read| read.prompt).unwrap_or_default();
            listing.sessions[place].prompt = Some(prompt);
        }
        (None, Some(left_out)) => {
            let older = |listed: &Session| listed.created_at <= left_out.created_at;
            let place = listing.sessions.partition_point(older);
            listing.sessions.insert(place, left_out);
        }
        (None, None) => {
            snapshot.missing_sessions.insert(id.clone());
        }
    }
}

/// Records a session that could not be read. Jules has listed it before, so the failure concerns no
/// other session.
pub(in crate::runtime) fn leave_unread(snapshot: &mut Snapshot, id: &SessionId, failure: &Failure) {
    tracing::warn!(session = id.as_str(), %failure, "a session could not be read; phileas continues with the others");
    let outage = outage_of(snapshot.now, failure);
    snapshot.unread.insert(id.clone(), outage);
}

fn outage_of(now: Timestamp, failure: &Failure) -> Outage {
    let after = match &failure.disposition {
        Disposition::Retry { after } => {
            after.and_then(|after| SignedDuration::try_from(after).ok())
        }
        _ => None,
    };
    Outage {
        detail: failure.detail.clone(),
        retry_at: after.and_then(|after| now.checked_add(after).ok()),
        credential: failure.disposition == Disposition::Denied,
    }
}

pub(super) async fn read_activities(
    jules: &impl ReadJules,
    snapshot: &mut Snapshot,
    id: &SessionId,
) {
    match jules.read_activities(id).await {
        // Jules shows no activities of a very young session, which counts as "nothing has
        // happened".
        Ok(activities) => {
            snapshot
                .activities
                .insert(id.clone(), activities.unwrap_or_default());
        }
        Err(failure) => leave_unread(snapshot, id, &failure),
    }
}

pub(super) async fn read_single_session(
    jules: &impl ReadJules,
    snapshot: &mut Snapshot,
    id: &SessionId,
) {
    match jules.read_session(id).await {
        Ok(Some(read)) => {
            snapshot.single_sessions.insert(id.clone(), read);
        }
        Ok(None) => {
            snapshot.missing_sessions.insert(id.clone());
        }
        Err(failure) => leave_unread(snapshot, id, &failure),
    }
}
