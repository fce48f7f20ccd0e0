//! The narrator's summary. Its cursor is phileas': what came after the session began is told of next time.

use super::desk::Desk;
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::Changes;
use crate::exchange::edit;
use crate::exchange::layout::{Layout, Place};
use crate::exchange::shapes::{CHANGE, CHANGES};
use crate::yaml::quoted;

pub(super) fn take(desk: &mut Desk<'_>) {
    for one in desk.incoming(|place| place == Place::Changes) {
        let Some(root) = desk.parse(one) else {
            continue;
        };
        let at = desk.request.session_created;
        let text = edit::set(one.text, &root, "created_at", &quoted(&at.to_string()));
        let shape = match desk.layout {
            Layout::Flat => &CHANGES,
            Layout::Workstreams => &CHANGE,
        };
        if desk.sound(shape, one.path, &text, Changes::of).is_none() {
            continue;
        }
        let newer = desk
            .exchange
            .changes
            .as_ref()
            .and_then(|changes| changes.value.created_at.parse().ok());
        if newer.is_some_and(|newer: jiff::Timestamp| newer > at) {
            let wrong = Diagnostic::error(one.path, "a newer summary is in its place already");
            desk.say(wrong.mend("nothing is to be done"));
            continue;
        }
        desk.write(one.path, text, Some("changes".to_owned()));
    }
}
