//! Removes API keys and invisible text from the files of a change set.

use super::change_set::{ChangedFile, FileContent};
use crate::diagnostic::Diagnostic;
use crate::prompt;

/// The files without API keys and invisible text. The ledger may be public, and its files enter the prompts of later
/// sessions.
pub(super) fn clean_changes(changes: &[ChangedFile]) -> (Vec<ChangedFile>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let clean_one = |one: &ChangedFile| {
        let FileContent::Text(text) = &one.content else {
            return one.clone();
        };
        let visible = prompt::clean_text(text);
        let clean = prompt::without_secrets(&visible);
        let shown = one.path.escape_debug().to_string();
        if clean != visible {
            let what = "what looks like a key or a token was taken out";
            let told = Diagnostic::warning(&shown, what);
            found.push(told.help("describe the key, and leave its characters out"));
        }
        if visible != text.replace("\r\n", "\n") {
            let what =
                "invisible characters, comments of HTML or markers of phileas were taken out";
            let told = Diagnostic::warning(&shown, what);
            found.push(told.help("write plain text"));
        }
        let content = if visible == clean && visible == text.replace("\r\n", "\n") {
            one.content.clone()
        } else {
            FileContent::Text(clean)
        };
        ChangedFile {
            path: one.path.clone(),
            content,
        }
    };
    (changes.iter().map(clean_one).collect(), found)
}
