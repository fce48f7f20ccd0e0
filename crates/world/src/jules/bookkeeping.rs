//! Records sessions and their questions in the world's books.

use jiff::Timestamp;

use super::question::Question;
use super::record::Via;
use super::session::Session;
use crate::books;

impl Session {
    /// Updates this session's entry in the books.
    pub(super) fn write_into(&self, entry: &mut books::Session) {
        let record = &self.record;
        if entry.id.is_empty() {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            entry.id.clone_from(&record.id);
            entry.account.clone_from(&record.account);
            entry.source = some(&record.source);
            entry.starting_branch = some(&record.starting_branch);
            entry.title = some(&record.title);
            entry.prompt.clone_from(&record.prompt);
            entry.created_at = Some(record.created);
            entry.foreign = record.via == Via::WebApp;
        }
        entry.reply_lost = record.refused_after_effect;
        let known = entry.states.len();
        entry.states.extend(
            record.states[known..]
                .iter()
                .map(|(at, state)| (*at, state.wire_name().to_owned())),
        );
        let known = entry.acts.len();
        entry
            .acts
            .extend(record.acts[known..].iter().map(|act| books::SessionAct {
                at: act.at,
                what: act.what.to_owned(),
                in_web_app: act.via == Via::WebApp,
                text: act.text.clone(),
            }));
        entry.pull = record.pull;
        entry.ideas.clone_from(&record.ideas);
        entry.branch.clone_from(&record.branch);
        entry.archived = self.archived;
        entry.deleted = self.deleted;
    }

    /// Updates the entries of this session's questions in the books.
    pub(super) fn write_questions(&mut self, books: &mut Vec<books::Question>) {
        for question in &mut self.questions {
            let place = *question.place.get_or_insert_with(|| {
                books.push(books::Question {
                    at: question.at,
                    session: self.record.id.clone(),
                    text: question.text.clone(),
                    answered_at: None,
                    answer: None,
                });
                books.len() - 1
            });
            if let (Some(entry), Some((at, answer))) = (books.get_mut(place), &question.answer) {
                entry.answered_at = Some(*at);
                entry.answer = Some(answer.clone());
            }
        }
        self.questions.retain(|question| question.answer.is_none());
    }

    /// Notes a question for the books.
    pub(super) fn note_question(&mut self, text: &str, now: Timestamp) {
        self.questions.push(Question {
            at: now,
            text: text.to_owned(),
            place: None,
            answer: None,
        });
    }

    /// Notes the answer to every open question.
    pub(super) fn note_answer(&mut self, text: &str, now: Timestamp) {
        for question in &mut self.questions {
            question
                .answer
                .get_or_insert_with(|| (now, text.to_owned()));
        }
    }
}
