//! A wish that a person put on an issue or pull request is taken up: once, under the id of the event that made it.
//!
//! Everything is level-triggered. A label that is still on is a wish that nobody has taken up, or one whose label could
//! not be taken off yet; the requests of the state tell which.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::admission::{
    Admission, Speaker, admit, is_about_the_actor, is_given_up, look_up, speaker,
};
use super::comment::command_in;
use super::draft::Draft;
use super::limits::{
    GRACE, LOOK_UP_PATIENCE, NUMBERS_NAMED, POLL, REQUEST_VALID, SUBJECTS_READ, WISHES_TAKEN,
};
use super::neutral::neutral;
use super::subject::{Actor, LABEL_PREFIX, Subject};
use super::tell::STATUS_MARKER;
use super::{Comment, Effect, Line, Reason, Verdict, dashboard, heard, obey};
use crate::model::{PersonaId, TrackName, TurnId};
use crate::plan::{RESERVED_IDS, closest};
use crate::prompt;
use crate::state::RequestState;

/// The kind of a request that was made by a label.
pub(super) const BY_LABEL: &str = "label";
/// The kind of a request that was made by a comment.
pub(super) const BY_COMMENT: &str = "comment";
/// The kind of a request that was made by a box of the dashboard issue.
pub(super) const BY_BOX: &str = "box";
/// The outcome of a request that was taken up and not yet started.
pub(super) const PENDING: &str = "pending";
/// The outcome of a request that was not let through, or cannot be fulfilled.
pub(super) const REFUSED: &str = "refused";
/// The outcome of a command that was carried out.
pub(super) const DONE: &str = "done";
/// Stands in the state for a command that is none.
pub(super) const UNKNOWN: &str = "unknown";
/// What can be said behind `/phileas`, and what it does.
pub(super) const COMMANDS: [(&str, &str); 11] = [
    (
        "run PERSONA",
        "starts a session of this persona on the issue or pull request",
    ),
    (
        "retry",
        "starts again what is over, and lets continue what waits for a person; on a pull request of a session, tells the \
         session what reviewers want changed",
    ),
    ("approve", "approves the plan that a session waits with"),
    (
        "cancel",
        "ends what is at work here, and takes back what waits",
    ),
    (
        "pause",
        "nothing starts in the repository until `/phileas resume`",
    ),
    ("resume", "ends the pause"),
    ("stop", "pauses the repository, and ends every session"),
    ("status", "tells how each track stands"),
    ("explain", "tells everything that was decided, with details"),
    ("dashboard", "opens the dashboard issue"),
    ("help", "lists these commands"),
];
/// The label that keeps everything from starting on what it is put on.
pub(super) const HOLD: &str = "hold";
/// The label that pauses the repository.
const PAUSE: &str = "pause";
/// The longest word that could be a persona's id; GitHub's labels are no longer than 50 characters themselves.
const WORD_LIMIT: usize = 100;

/// A wish and where it was put.
pub(super) struct Wish<'a> {
    /// Under which it stands in the state: the node id of the event or the comment, or of the edit and the box in it; where
    /// no event is known, what bears the label, and the label.
    pub(super) key: Cow<'a, str>,
    /// By label, by comment or by a box of the dashboard.
    pub(super) kind: &'static str,
    pub(super) subject: &'a Subject,
    pub(super) what: What,
    pub(super) actor: Option<&'a Actor>,
    pub(super) at: Timestamp,
    /// The labelling event, whose place among the others tells what came later.
    pub(super) event: Option<&'a str>,
    /// The label to take off.
    pub(super) label: Option<String>,
    /// The comment that it stands in.
    pub(super) comment: Option<u64>,
}

/// What is wished for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A session of a persona.
    Run(PersonaId),
    /// What came to nothing, once more.
    Retry,
    /// A turn that waits for a person shall go on.
    GoOn(TurnId),
    /// The dashboard issue shall be open.
    Dashboard,
    /// The plan that waits is good.
    ApprovePlan,
    /// To be merged.
    Merge,
    /// What is at work here shall stop.
    Cancel,
    /// Nothing shall start any more.
    Pause,
    /// It may again.
    Resume,
    /// How it goes.
    Status,
    /// Why nothing happens.
    Explain,
    /// Everything shall stop at once.
    Stop,
    /// Which commands there are.
    Help,
    /// Something that is not understood here.
    Unknown(String),
}

impl What {
    /// What a label asks for, by the word behind the prefix.
    fn of_label(word: &str) -> Self {
        match word {
            "retry" => Self::Retry,
            "approve-plan" => Self::ApprovePlan,
            "merge" => Self::Merge,
            word if RESERVED_IDS.contains(&word) => Self::Unknown(word.to_owned()),
            id if could_be_persona(id) => Self::Run(id.into()),
            other => Self::Unknown(shortened(other)),
        }
    }

    /// What a comment asks for, by the words behind `/phileas`.
    pub(super) fn of_comment(words: &[&str]) -> Self {
        match words {
            ["run", persona] if could_be_persona(persona) => Self::Run((*persona).into()),
            ["approve"] => Self::ApprovePlan,
            ["retry"] => Self::Retry,
            ["dashboard"] => Self::Dashboard,
            ["cancel"] => Self::Cancel,
            ["pause", ..] => Self::Pause,
            ["resume"] => Self::Resume,
            ["status"] => Self::Status,
            ["explain"] => Self::Explain,
            ["stop"] => Self::Stop,
            ["help"] => Self::Help,
            words => Self::Unknown(shortened(&words.join(" "))),
        }
    }

    /// What a box of the dashboard asks for, by the word that stands in it.
    pub(super) fn of_box(word: &str) -> Self {
        match (word, word.split_once(':')) {
            ("pause", _) => Self::Pause,
            ("resume", _) => Self::Resume,
            (_, Some(("run", persona))) if could_be_persona(persona) => Self::Run(persona.into()),
            (_, Some(("retry", turn))) => {
                TurnId::parse(turn).map_or_else(|| Self::Unknown(shortened(word)), Self::GoOn)
            }
            _ => Self::Unknown(shortened(word)),
        }
    }

    /// A persona in the spelling of the plan: GitHub's labels do not tell case apart.
    fn spelt_by(self, draft: &Draft<'_>) -> Self {
        let Self::Run(asked) = &self else {
            return self;
        };
        let mut personas = draft.snapshot.plan.personas.keys();
        let planned = personas.find(|id| id.as_str().eq_ignore_ascii_case(asked.as_str()));
        planned.cloned().map_or(self, Self::Run)
    }

    /// The command's name.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Retry | Self::GoOn(_) => "retry",
            Self::Dashboard => "dashboard",
            Self::ApprovePlan => "approve",
            Self::Merge => "merge",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Explain => "explain",
            Self::Stop => "stop",
            Self::Help => "help",
            Self::Unknown(_) => UNKNOWN,
        }
    }

    /// Whether it only stops something: that never waits behind others.
    pub(super) fn is_brake(&self) -> bool {
        matches!(self, Self::Cancel | Self::Pause | Self::Stop)
    }
}

/// Whether a word has the form of a persona's id. Others do not get into the ledger.
pub(super) fn could_be_persona(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    word.len() <= WORD_LIMIT && word.chars().all(fits)
}

/// Somebody's words, for the report.
fn shortened(words: &str) -> String {
    prompt::clean_line(words).chars().take(WORD_LIMIT).collect()
}

/// Why a command is none: the word as it was typed, and what was probably meant.
pub(super) fn unknown_text(draft: &Draft<'_>, wish: &Wish<'_>, typed: &str) -> String {
    if wish.kind == BY_LABEL {
        let label = neutral(&format!("{LABEL_PREFIX}{typed}"));
        return format!("the label {label} names no persona and no command");
    }
    if typed.is_empty() {
        return "`/phileas` stands alone, without a command".to_owned();
    }
    let shown = neutral(typed);
    let (first, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let mut verbs = COMMANDS.iter().map(|(words, _)| verb(words));
    match (first, verbs.any(|verb| verb == first)) {
        ("run", _) if rest.is_empty() => {
            "`run` needs the id of a persona: `/phileas run PERSONA`".to_owned()
        }
        ("run", _) => format!("{shown} does not name one persona: `/phileas run PERSONA`"),
        (_, true) => format!("{shown} has words behind the command; say `/phileas {first}`"),
        (_, false) => {
            let personas = &draft.snapshot.plan.personas;
            if let Some(id) = personas.keys().find(|id| id.as_str() == first) {
                return format!("{shown} is not a command; say `/phileas run {id}`");
            }
            let verbs = COMMANDS.iter().map(|(words, _)| verb(words));
            match closest(first, verbs) {
                Some(meant) => {
                    format!("{shown} is not a command; did you mean `/phileas {meant}`?")
                }
                None => format!("{shown} is not a command"),
            }
        }
    }
}

fn verb(words: &str) -> &str {
    words.split(' ').next().unwrap_or(words)
}

/// Takes up every wish that is seen and not yet known, in the order in which they were made: whoever says two things
/// means the later one to come later, wherever and however they were said.
pub(super) fn take_up(draft: &mut Draft<'_>) {
    let mut wishes = labelled(draft);
    wishes.extend(commented(draft));
    wishes.extend(dashboard::ticked(draft));
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
            draft.listening.waits_since(wish.at);
            say_unread(draft, text);
            continue;
        }
        decide(draft, wish);
    }
    heard::close(draft);
}

/// The wishes that labels stand for.
fn labelled<'s>(draft: &mut Draft<'s>) -> Vec<Wish<'s>> {
    let snapshot = draft.snapshot;
    let mut unread = 0;
    let mut wishes = Vec::new();
    for (number, words) in &snapshot.labelled {
        let words: Vec<_> = words
            .iter()
            .filter(|word| ![HOLD, PAUSE].contains(&word.as_str()))
            .collect();
        if words.is_empty() {
            continue;
        }
        match snapshot.subjects.get(number) {
            Some(Some(subject)) => {
                for word in words {
                    wishes.extend(of_label(draft, subject, word));
                }
            }
            // It was deleted or moved away meanwhile.
            Some(None) => {}
            None => {
                if unread < SUBJECTS_READ {
                    draft.needs.subjects.insert(*number);
                }
                unread += 1;
                draft.listening.waits();
                let text = format!("#{number} bears a label of ours and is read next");
                say_unread(draft, text);
            }
        }
    }
    wishes
}

/// The wishes that stand in comments. One that is known is over, whatever its comment has become. What is said by accounts
/// that may not ask costs no more than a look at what they may do.
fn commented<'s>(draft: &mut Draft<'s>) -> Vec<Wish<'s>> {
    heard::own_up(draft);
    let comments = commands(draft);
    let left = look_up(draft, &comments);
    if left > 0 {
        draft.listening.overflows();
    }
    let (mut unread, mut unknown, mut given_up) = (0, 0, 0);
    let mut refused: BTreeMap<Reason, usize> = BTreeMap::new();
    let mut wishes = Vec::new();
    for comment in comments {
        match speaker(draft, comment.author.as_ref()) {
            Speaker::Writer => {}
            Speaker::Refused(reason, text) => {
                draft.listening.repeats(comment.created_at);
                let count = refused.entry(reason).or_default();
                *count += 1;
                if *count <= NUMBERS_NAMED {
                    let text = format!("on #{}: {text}", comment.thread);
                    draft.say(Line::repository(Verdict::Refused, reason, text));
                }
                continue;
            }
            Speaker::Unread if is_left_alone(draft, comment) => {
                given_up += 1;
                draft.listening.repeats(comment.created_at);
                continue;
            }
            Speaker::Unread => {
                unknown += 1;
                draft.listening.waits_since(comment.created_at);
                continue;
            }
        }
        let Some(subject) = subject_of(draft, comment, &mut unread) else {
            continue;
        };
        // What stands on something closed counts for nothing; the first read shows nothing of it.
        if !subject.open && is_further(draft, comment) {
            continue;
        }
        let words = command_in(&comment.body).unwrap_or_default();
        wishes.push(Wish {
            key: Cow::from(&comment.id),
            kind: BY_COMMENT,
            subject,
            what: What::of_comment(&words).spelt_by(draft),
            actor: comment.author.as_ref(),
            at: comment.created_at,
            event: None,
            label: None,
            comment: Some(comment.number),
        });
    }
    say_speakers(draft, &refused, (unknown, left), given_up);
    wishes
}

/// What a comment stands on; `None` where that is gone, or is read next.
fn subject_of<'s>(
    draft: &mut Draft<'s>,
    comment: &Comment,
    unread: &mut usize,
) -> Option<&'s Subject> {
    let snapshot = draft.snapshot;
    if let Some(known) = snapshot.subjects.get(&comment.thread) {
        return known.as_ref();
    }
    if *unread < SUBJECTS_READ {
        draft.needs.subjects.insert(comment.thread);
    }
    *unread += 1;
    draft.listening.waits_since(comment.created_at);
    let text = format!("a command on #{} is read next", comment.thread);
    say_unread(draft, text);
    None
}

/// Whether a command of an account of which nothing is known has waited too long for a look at it.
fn is_left_alone(draft: &Draft<'_>, comment: &Comment) -> bool {
    let actor = comment.author.as_ref();
    let is_asked = actor.is_some_and(|actor| draft.needs.permissions.contains(&actor.login));
    !is_asked && !comment.insider && is_given_up(draft, comment)
}

/// Says how many commands were left alone without a line of their own, and how many wait for a look at their authors.
fn say_speakers(
    draft: &mut Draft<'_>,
    refused: &BTreeMap<Reason, usize>,
    (unknown, left): (usize, usize),
    given_up: usize,
) {
    for (reason, count) in refused {
        if *count > NUMBERS_NAMED {
            let text = format!(
                "{} more commands of accounts that may not ask",
                count - NUMBERS_NAMED
            );
            draft.say(Line::repository(Verdict::Refused, *reason, text));
        }
    }
    if given_up > 0 {
        let text = format!(
            "commands whose authors could not be looked up for {} hours, because too many accounts gave some: {given_up}; one \
             of an account with write access is to be given again",
            LOOK_UP_PATIENCE.as_hours()
        );
        draft.say(Line::repository(
            Verdict::Waiting,
            Reason::CommentsMissed,
            text,
        ));
    }
    if unknown > 0 {
        let later = match left {
            0 => String::new(),
            left => format!("; {left} accounts wait for the next ticks"),
        };
        let text = format!("who gave commands is looked at next (commands: {unknown}{later})");
        say_unread(draft, text);
    }
}

/// Whether a comment is shown by the second read alone.
fn is_further(draft: &Draft<'_>, comment: &Comment) -> bool {
    let mut shown = draft.snapshot.comments.iter();
    !shown.any(|one| one.id == comment.id)
}

/// The comments that give a command, oldest first, and that neither are over nor were given before phileas listened.
fn commands<'s>(draft: &mut Draft<'s>) -> Vec<&'s Comment> {
    let snapshot = draft.snapshot;
    let now = draft.now();
    let until = heard::until(draft);
    let further = snapshot.heard.further.iter();
    let all = further.flat_map(|further| &further.comments);
    let mut past: Vec<Timestamp> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut comments = Vec::new();
    for comment in snapshot.comments.iter().chain(all) {
        if command_in(&comment.body).is_none() || !ids.insert(&comment.id) {
            continue;
        }
        let is_old = now.duration_since(comment.created_at) >= REQUEST_VALID;
        // It was heard, and either stands in the state or was said by nobody who may ask.
        let is_over = until.is_some_and(|until| comment.created_at <= until);
        // What bears the marker was written by phileas, in whosever name.
        let is_own = comment.body.contains(STATUS_MARKER);
        if comment.edited
            || is_old
            || is_over
            || is_own
            || draft.state.requests.contains_key(&comment.id)
        {
            continue;
        }
        if heard::is_before_the_beginning(draft, comment.created_at) {
            past.push(comment.created_at);
            continue;
        }
        comments.push(comment);
    }
    if let Some(oldest) = past.iter().min() {
        heard::own_up_to_the_past(draft, past.len(), *oldest);
    }
    comments.sort_by_key(|comment| (comment.created_at, comment.number));
    comments
}

pub(super) fn say_unread(draft: &mut Draft<'_>, text: String) {
    let soon = draft.after(POLL);
    let line = Line::repository(Verdict::Waiting, Reason::RequestUnread, text);
    draft.say(line.until(soon));
}

/// The wish that one label stands for; `None` where GitHub may still come to tell who made it.
fn of_label<'s>(draft: &mut Draft<'_>, subject: &'s Subject, word: &str) -> Option<Wish<'s>> {
    let label = format!("{LABEL_PREFIX}{word}");
    let put_on = subject
        .labelling(&label)
        .and_then(|event| Some((event, event.at?)));
    let Some((event, at)) = put_on else {
        // Of hundreds of events only the newest are shown, and those of a transferred issue may be gone; but of one that
        // was just touched the event may only not be shown yet.
        if draft.now().duration_since(subject.touched_at) < GRACE {
            draft.listening.waits();
            let text = format!(
                "#{} bears `{label}`, and by whom is not shown",
                subject.number
            );
            say_unread(draft, text);
            return None;
        }
        return Some(Wish {
            key: Cow::from(format!("{}:{label}", subject.id)),
            kind: BY_LABEL,
            subject,
            what: What::of_label(word).spelt_by(draft),
            actor: None,
            at: subject.touched_at,
            event: None,
            label: Some(label),
            comment: None,
        });
    };
    Some(Wish {
        key: Cow::from(&event.id),
        kind: BY_LABEL,
        subject,
        what: What::of_label(word).spelt_by(draft),
        actor: event.actor.as_ref(),
        at,
        event: Some(&event.id),
        label: Some(label),
        comment: None,
    })
}

pub(super) fn decide(draft: &mut Draft<'_>, wish: &Wish<'_>) {
    if let Some(known) = draft.state.requests.get(&*wish.key) {
        // Who took it up died before the label was off, or GitHub shows how things were before.
        let was_let_through = known.outcome.as_deref() != Some(REFUSED);
        acknowledge(draft, wish, was_let_through);
        return;
    }
    match admit(draft, wish) {
        Admission::Unread => {
            draft.listening.waits_since(wish.at);
            let text = format!("who asks on #{} is looked at next", wish.subject.number);
            say_unread(draft, text);
        }
        // A stranger's comment makes phileas neither talk nor write.
        Admission::Refused(reason, text)
            if wish.kind == BY_COMMENT && is_about_the_actor(reason) =>
        {
            draft.listening.repeats(wish.at);
            let text = format!("on #{}: {text}", wish.subject.number);
            draft.say(Line::repository(Verdict::Refused, reason, text));
        }
        Admission::Refused(reason, text) => {
            obey::refuse(draft, wish, reason, &text);
            acknowledge(draft, wish, false);
        }
        Admission::Granted => {
            if obey::carry_out(draft, wish) {
                acknowledge(draft, wish, true);
            } else {
                draft.listening.waits_since(wish.at);
                let text = format!("`{}` needs a look at Jules", wish.what.word());
                say_unread(draft, text);
            }
        }
    }
}

/// What people see at once: eyes for what was heard, and the label off. Both do no harm when they are done again.
fn acknowledge(draft: &mut Draft<'_>, wish: &Wish<'_>, heard: bool) {
    let thread = wish.subject.number;
    // A box is answered by what the dashboard says afterwards.
    if heard && wish.kind != BY_BOX {
        let comment = wish.comment;
        draft.effect(Effect::AddReaction { thread, comment });
    }
    if let Some(label) = wish.label.clone() {
        draft.effect(Effect::RemoveLabel { thread, label });
    }
}

/// Writes a wish into the state, and answers with its track.
pub(super) fn record(
    draft: &mut Draft<'_>,
    wish: &Wish<'_>,
    and: impl FnOnce(&mut RequestState, Timestamp),
) -> TrackName {
    let now = draft.now();
    let number = draft.state.next_request_number();
    let subject = wish.subject;
    let is_box = wish.kind == BY_BOX;
    // What the dashboard says is phileas' own, and changes by itself.
    let is_bound = draft.state.dashboard_issue != Some(subject.number);
    let mut same: Vec<_> = draft
        .state
        .requests
        .values()
        .filter(|one| one.subject.as_deref() == Some(subject.id.as_str()))
        .filter_map(|one| Some((one.number, one.comment_id?)))
        .collect();
    same.sort_unstable();
    let mut request = RequestState {
        kind: wish.kind.to_owned(),
        subject: Some(subject.id.clone()),
        digest: is_bound.then(|| subject.digest()),
        actor: wish.actor.map(|actor| actor.login.to_string()),
        actor_id: wish.actor.and_then(|actor| actor.id),
        // The dashboard itself tells of what was asked for by its boxes.
        thread: (!is_box).then_some(subject.number),
        persona: match &wish.what {
            What::Run(persona) => Some(persona.clone()),
            _ => None,
        },
        command: match &wish.what {
            What::Run(_) => None,
            what => Some(what.word().to_owned()),
        },
        number: Some(number),
        comment_id: same.last().map(|(_, id)| *id),
        asked_at: Some(wish.at),
        created_at: Some(now),
        ..RequestState::default()
    };
    and(&mut request, now);
    draft
        .state
        .requests
        .insert(wish.key.clone().into_owned(), request);
    TrackName::of_request(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that people are given must hold what is understood, and all of it.
    #[test]
    fn the_commands_that_are_listed_are_those_that_are_understood() {
        for (words, _) in COMMANDS {
            let words = words.replace("PERSONA", "curator");
            let words: Vec<&str> = words.split(' ').collect();
            let command = What::of_comment(&words);
            assert_eq!(command.word(), words[0], "{words:?}");
        }
        let listed = COMMANDS.map(|(words, _)| verb(words));
        for word in RESERVED_IDS {
            let understood = What::of_comment(&[word]).word() != UNKNOWN;
            assert!(!understood || listed.contains(&word), "{word}");
        }
    }
}
