//! Turns pending requests into candidates.

use super::candidate::{Candidate, Cause};
use super::eligibility::{self, persona_work};
use crate::engine::lookup::pending_requests::{PendingRequest, waiting_requests};
use crate::engine::lookup::{policy, request_origin, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::REQUEST_VALID;
use crate::engine::output::report::Reason;
use crate::engine::record::request::refuse_request;

pub(crate) fn request_candidates(builder: &mut DecisionBuilder<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for PendingRequest {
        key,
        persona,
        track,
        created_at,
    } in waiting_requests(builder)
    {
        let now = builder.now();
        if created_at.is_some_and(|at| now.duration_since(at) >= REQUEST_VALID) {
            let text = "it could not be started for a week; request it again if it is still needed";
            refuse_request(
                builder,
                &key,
                &track,
                &persona,
                Reason::RequestOld,
                text.to_owned(),
            );
            continue;
        }
        let slot_role = work_items::implementer_role(&persona);
        let plan = &builder.snapshot.plan;
        let policy = match &slot_role {
            Some(slot_role) => policy::policy_of_persona(plan, &track, &slot_role.persona_id()),
            None => policy::with_persona(plan.defaults.clone(), plan.personas.get(&persona)),
        };
        let policy = request_origin::request_policy(builder, &track, &persona, policy);
        let work = match &slot_role {
            Some(slot_role) => eligibility::work_item_work(builder, slot_role),
            None => persona_work(builder.snapshot, &persona, &policy, true),
        };
        match work {
            Ok(work) => {
                let due_since = created_at.unwrap_or(builder.snapshot.now);
                candidates.push(Candidate {
                    track,
                    work,
                    siblings: Vec::new(),
                    policy,
                    due_since,
                    cause: Cause::Request { key },
                });
            }
            Err((reason, text)) => {
                refuse_request(builder, &key, &track, &persona, reason, text);
            }
        }
    }
    candidates
}
