//! What a person asked this run to do becomes a request in the state, and is worked off under the repository's budgets.

use super::candidate::{Candidate, Cause};
use super::eligibility::{self, slot_work};
use crate::engine::lookup::pending_requests::{Pending, pending};
use crate::engine::lookup::{policy, request_origin, work_items};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::REQUEST_VALID;
use crate::engine::output::report::Reason;
use crate::engine::record::request::refuse;

pub(crate) fn candidates(draft: &mut Draft<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for Pending {
        key,
        persona,
        track,
        created_at,
    } in pending(draft)
    {
        let now = draft.now();
        if created_at.is_some_and(|at| now.duration_since(at) >= REQUEST_VALID) {
            let text = "it could not be started for a week; ask again if it is still wanted";
            refuse(
                draft,
                &key,
                &track,
                &persona,
                Reason::RequestOld,
                text.to_owned(),
            );
            continue;
        }
        let seat = work_items::seat_of(&persona);
        let plan = &draft.snapshot.plan;
        let policy = match &seat {
            Some(seat) => policy::policy_of_persona(plan, &track, &seat.persona()),
            None => policy::with_persona(plan.defaults.clone(), plan.personas.get(&persona)),
        };
        let policy = request_origin::of_wish(draft, &track, &persona, policy);
        let work = match &seat {
            Some(seat) => eligibility::work(draft, seat),
            None => slot_work(draft, &persona, &policy, true),
        };
        match work {
            Ok(work) => {
                let due_since = created_at.unwrap_or(draft.snapshot.now);
                candidates.push(Candidate {
                    track,
                    work,
                    beside: Vec::new(),
                    policy,
                    due_since,
                    cause: Cause::Request { key },
                });
            }
            Err((reason, text)) => {
                refuse(draft, &key, &track, &persona, reason, text);
            }
        }
    }
    candidates
}
