//! Opens notices about turns that need a person.

use jiff::Timestamp;

use crate::engine::lookup::twins::twin_text;
use crate::engine::lookup::{plan_approval, request_origin};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::limits::NOTICE_AGAIN;
use crate::engine::text::markdown::{session_link, session_number, session_page};
use crate::model::{Slot, TrackName};
use crate::plan::PlanApproval;
use crate::state::Turn;

/// Opens a notice about a turn, unless one is open. A decided notice that does not exist is opened again after a while:
/// the process died, GitHub refused it, or a person closed it without settling anything.
pub(crate) fn open_turn_notice(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    detail: &str,
) {
    open_plan_notice(builder, (track, slot), turn, detail, None);
}

/// Like [`open_turn_notice`], with the activity of the plan that waits. Another plan than the shown one opens another
/// notice, because an approval on the first would approve a plan that it does not show.
pub(crate) fn open_plan_notice(
    builder: &mut DecisionBuilder<'_>,
    (track, slot): (&TrackName, &Slot),
    turn: &Turn,
    detail: &str,
    plan: Option<String>,
) {
    let now = builder.now();
    let key = NoticeKey::Turn(turn.turn.clone());
    let is_other_plan = turn.warned_at.is_some() && plan.is_some() && turn.plan_shown != plan;
    let lately = |at: Timestamp| now.duration_since(at) < NOTICE_AGAIN;
    if !is_other_plan
        && (turn.warned_at.is_some_and(lately)
            || (turn.warned_at.is_some() && builder.has_notice(&key)))
    {
        return;
    }
    let seq = builder.newest_seq(track);
    let before = turn.plan_shown.clone();
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.warned_at = Some(now);
        turn.plan_shown = plan.clone();
    }
    let persona = &turn.persona_id;
    let known = builder.find_turn(track, slot);
    let repeated = known.and_then(|turn| turn.repeated_plan.as_ref());
    let repeated = repeated.filter(|repeated| Some(&repeated.plan) == plan.as_ref());
    let twin = repeated.map(|repeated| format!("This plan {}.\n\n", twin_text(repeated)));
    let plan = plan.and_then(|_| plan_approval::plan_text(builder, track, turn));
    let plan = plan.map(|plan| format!("{}{plan}", twin.unwrap_or_default()));
    let what = match &plan {
        Some(plan) => approval_body(builder, track, turn, plan),
        None => format!("It waits for a person: {detail}.{}", session_line(turn)),
    };
    let title = format!("phileas: {persona} waits for a person");
    let body = format!(
        "`{persona}`, turn {seq} of track `{track}`. {what}\n\nThe track waits until this is settled; the others go on. \
         `phileas explain` shows where it stands. Say `/phileas cancel` here to end the turn."
    );
    if is_other_plan {
        let comment = match before {
            Some(_) => "Jules made another plan; another issue shows it.",
            None => "Jules made a plan; another issue shows it.",
        };
        builder.replace_notice(key, title, body, comment);
    } else {
        builder.open_notice(key, title, body);
    }
    builder.add_headline(
        format!("called a person for {track}#{seq} {persona}"),
        Some(&turn.turn),
    );
}

/// How to approve the plan of a turn, and the plan.
fn approval_body(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    turn: &Turn,
    plan: &str,
) -> String {
    let policy = request_origin::turn_policy(builder, track, &turn.persona_id);
    let Some(session) = turn.session_id.as_ref() else {
        return plan.to_owned();
    };
    if policy.plan_approval == PlanApproval::Never {
        return format!(
            "Its plan waits for approval. The plan of the repository says `plan_approval = \"never\"`: approve it in \
             {}.\n\n{plan}",
            session_link(session)
        );
    }
    format!(
        "Its plan waits for the approval of a person with write access. Do one of these:\n\n\
         - say `/phileas approve` here;\n\
         - put the label `phileas:approve-plan` on this issue;\n\
         - run `phileas session approve {} --repo {}`.\n\n{plan}",
        session_number(session),
        builder.snapshot.repository.name
    )
}

/// Where the session of a turn is.
fn session_line(turn: &Turn) -> String {
    let session = turn.session_id.as_ref();
    session.map_or_else(String::new, |id| {
        format!("\n\nIts session: {}", session_page(id))
    })
}
