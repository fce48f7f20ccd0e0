//! What a person has to do.

use super::track::{TrackView, place_text};
use super::turn::{TurnStage, link_text};
use crate::engine::input::snapshot::Notice;
use crate::engine::text::markdown::sanitize_word;
use crate::model::SessionId;

/// Something that a person has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeedsPerson {
    /// What, as a sentence.
    pub title: String,
    /// The issue that tells more.
    pub issue: Option<u64>,
    /// The session that waits.
    pub session: Option<SessionId>,
}

/// Everything that a person has to do: open notices, and waiting turns without one.
pub(crate) fn needs_person(notices: &[Notice], tracks: &[TrackView]) -> Vec<NeedsPerson> {
    let mut needs: Vec<NeedsPerson> = notices.iter().map(noticed).collect();
    for track in tracks {
        let waiting = track.turns.iter().filter(|turn| {
            let key = format!("turn:{}", turn.turn);
            turn.stage == TurnStage::NeedsPerson && notices.iter().all(|one| one.key != key)
        });
        needs.extend(waiting.map(|turn| NeedsPerson {
            title: format!(
                "{} {}",
                place_text(Some(&turn.persona), &track.name),
                turn.sentence(false),
            ),
            issue: None,
            session: turn.session.clone(),
        }));
    }
    needs
}

fn noticed(notice: &Notice) -> NeedsPerson {
    // All of them begin with this word.
    let title = notice.title.trim_start_matches("phileas: ").trim();
    NeedsPerson {
        title: sanitize_word(if title.is_empty() { "a notice" } else { title }),
        issue: Some(notice.number),
        session: None,
    }
}

impl NeedsPerson {
    /// The item of a list, with its links.
    pub(crate) fn list_item(&self) -> String {
        match self.issue {
            Some(issue) => format!("#{issue}: {}", self.title),
            None => format!("{}{}", self.title, link_text(self.session.as_ref())),
        }
    }
}
