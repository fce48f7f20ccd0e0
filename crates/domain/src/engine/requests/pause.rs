//! The commands `pause`, `resume` and `stop`.

use super::command_result::Refusal;
use super::request::Request;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::text::markers::REQUESTED_ON;
use crate::state::Pause;

/// Pauses the repository. The status comment shows the pause with its end, so the answer leaves that out.
pub(crate) fn pause_repository(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> String {
    let was_paused = builder.state.paused.is_some();
    let known = builder.state.paused.as_ref();
    // The newest pause counts: only a later command ends it.
    if known.is_none_or(|known| known.at.is_some_and(|at| at < request.at)) {
        builder.state.paused = Some(Pause {
            at: Some(request.at),
            by: request.actor.map(|actor| actor.login.to_string()),
            reason: Some(format!("{REQUESTED_ON}{}", request.subject.number)),
            ..Pause::default()
        });
    }
    match was_paused {
        true => "it was paused already".to_owned(),
        false => "paused: sessions at work go on; `/phileas stop` ends them".to_owned(),
    }
}

/// Ends a pause by command that is not newer than the request. Other pauses have switches of their own.
pub(crate) fn resume_repository(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
    let nothing = |text: &str| Err((Reason::NothingToDo, text.to_owned()));
    match &builder.state.paused {
        None => nothing("no command has paused it"),
        Some(pause) if pause.at.is_some_and(|at| at > request.at) => {
            nothing("it was paused after this command")
        }
        Some(_) => {
            builder.state.paused = None;
            Ok(
                "the pause is over: what is due starts again; `/phileas pause` pauses it"
                    .to_owned(),
            )
        }
    }
}

/// Pauses the repository and cancels every live turn.
pub(crate) fn stop_repository(builder: &mut DecisionBuilder<'_>, request: &Request<'_>) -> String {
    pause_repository(builder, request);
    let mut count = 0;
    for track in builder.state.tracks.values_mut() {
        for turn in track.turns.values_mut() {
            turn.cancel = true;
            count += 1;
        }
    }
    format!("paused, and cancelled: {count}")
}
