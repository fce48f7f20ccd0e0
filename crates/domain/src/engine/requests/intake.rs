//! A wish that a person put on an issue or pull request is taken up: once, under the id of the event that made it.
//!
//! Everything is level-triggered. A label that is still on is a wish that nobody has taken up, or one whose label could
//! not be taken off yet; the requests of the state tell which.

use super::authorize::{Admission, admit};
use super::comments::commented;
use super::cursor::Listening;
use super::labels::labelled;
use super::record::{self, acknowledge};
use super::request::{Wish, say_unread};
use super::{checkboxes, cursor, execute};
use crate::engine::input::request_kind::{BY_COMMENT, REFUSED};
use crate::engine::lookup::dashboard_issue::Standing;
use crate::engine::lookup::request_origin::is_about_the_actor;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::WISHES_TAKEN;
use crate::engine::output::report::{Line, Verdict};

/// What later stages take from the requests of people.
pub(crate) struct Intake {
    /// What people did to the dashboard issue.
    pub(crate) dashboard: Standing,
    /// How far their comments were read.
    pub(crate) cursor: Listening,
}

/// Takes up every wish that is seen and not yet known, in the order in which they were made: whoever says two things
/// means the later one to come later, wherever and however they were said.
pub(crate) fn take_up(draft: &mut Draft<'_>) -> Intake {
    let mut cursor = Listening::default();
    let mut wishes = labelled(draft, &mut cursor);
    wishes.extend(commented(draft, &mut cursor));
    let (dashboard, ticked) = checkboxes::ticked(draft);
    wishes.extend(ticked);
    wishes.sort_by_key(|wish| (wish.at, wish.comment));
    let before = draft.state.requests.len();
    let mut again = 0;
    for wish in &wishes {
        // One that is known and whose label could not be taken off must not stand in the way of others.
        if draft.state.requests.contains_key(&*wish.key) {
            again += 1;
            if again > WISHES_TAKEN {
                continue;
            }
        } else if draft.state.requests.len() - before >= WISHES_TAKEN && !wish.what.is_brake() {
            let text =
                format!("more than {WISHES_TAKEN} wishes at once; the others are taken up next");
            cursor.waits_since(wish.at);
            say_unread(draft, text);
            continue;
        }
        decide(draft, &mut cursor, wish);
    }
    cursor::close(draft, &mut cursor);
    Intake { dashboard, cursor }
}

fn decide(draft: &mut Draft<'_>, cursor: &mut Listening, wish: &Wish<'_>) {
    if let Some(known) = draft.state.requests.get(&*wish.key) {
        // Who took it up died before the label was off, or GitHub shows how things were before.
        let was_let_through = known.outcome.as_deref() != Some(REFUSED);
        acknowledge(draft, wish, was_let_through);
        return;
    }
    match admit(draft, wish) {
        Admission::Unread => {
            cursor.waits_since(wish.at);
            let text = format!("who asks on #{} is looked at next", wish.subject.number);
            say_unread(draft, text);
        }
        // A stranger's comment makes phileas neither talk nor write.
        Admission::Refused(reason, text)
            if wish.kind == BY_COMMENT && is_about_the_actor(reason) =>
        {
            cursor.repeats(wish.at);
            let text = format!("on #{}: {text}", wish.subject.number);
            draft.say(Line::repository(Verdict::Refused, reason, text));
        }
        Admission::Refused(reason, text) => {
            record::refuse(draft, wish, reason, &text);
            acknowledge(draft, wish, false);
        }
        Admission::Granted => {
            if execute::carry_out(draft, wish) {
                acknowledge(draft, wish, true);
            } else {
                cursor.waits_since(wish.at);
                let text = format!("`{}` needs a look at Jules", wish.what.word());
                say_unread(draft, text);
            }
        }
    }
}
