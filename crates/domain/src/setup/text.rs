//! A file of the set-up as it is read, and what is said of it.

use std::ops::Range;

use super::limits::FILE_LIMIT_BYTES;
use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::duplicate;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a file. `Ok(None)`: there is none.
pub(super) fn read_text<'t>(tree: &'t Tree, path: &str) -> Result<Option<&'t str>, Diagnostic> {
    tree.read_text(path, "it", FILE_LIMIT_BYTES as u64)
        .map_err(|wrong| *wrong)
}

/// Collects what is wrong with one TOML file.
pub(super) struct Notes<'t> {
    file: String,
    text: &'t str,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'t> Notes<'t> {
    /// Parses a file. `None`: it is no TOML, which is noted.
    pub(super) fn parse_toml(file: &str, text: &'t str) -> (Self, Option<Spanned<DeTable<'t>>>) {
        let mut notes = Self {
            file: file.to_owned(),
            text,
            diagnostics: Vec::new(),
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let at = error.span().unwrap_or(0..0);
            notes.report_error(
                &at,
                "",
                duplicate(&error.message().to_lowercase(), text, at.start),
                "write TOML: one `key = \"value\"` a line, tables as `[NAME]`",
            );
        }
        let sound = errors.is_empty();
        (notes, sound.then_some(table))
    }

    /// Notes an error at a place of the text.
    pub(super) fn report_error(
        &mut self,
        at: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.diagnostics.push(
            Diagnostic::error(self.file.as_str(), message)
                .help(help)
                .at_offset(self.text, at.start)
                .key(key),
        );
    }

    /// A text; anything else is noted.
    pub(super) fn text_of<'v>(
        &mut self,
        key: &str,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.report_error(
                &value.span(),
                key,
                "this is not a text",
                "put it between double quotes",
            );
        }
        text
    }

    /// A table; anything else is noted.
    pub(super) fn table_of<'v, 'd>(
        &mut self,
        key: &str,
        value: &'v Spanned<DeValue<'d>>,
    ) -> Option<&'v DeTable<'d>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.report_error(
                &value.span(),
                key,
                "this is not a table",
                format!("write `[{key}]` with keys below it"),
            );
        }
        table
    }

    /// A list of texts; anything else is noted.
    pub(super) fn texts_of<'v>(
        &mut self,
        key: &str,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Vec<(&'v str, Range<usize>)> {
        let Some(items) = value.get_ref().as_array() else {
            self.report_error(
                &value.span(),
                key,
                "this is not a list",
                "write `[\"a\", \"b\"]`",
            );
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if let Some(text) = self.text_of(&format!("{key}[{index}]"), item) {
                texts.push((text, item.span()));
            }
        }
        texts
    }
}

/// Entries in the order of the file.
pub(super) fn table_entries<'v, 't>(
    table: &'v DeTable<'t>,
) -> Vec<(&'v str, Range<usize>, &'v Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (key.get_ref().as_ref(), key.span(), value))
        .collect();
    entries.sort_by_key(|(_, at, _)| at.start);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Entry, Mode};

    #[test]
    fn only_plain_files_of_text_are_read() {
        let mut tree = Tree::from_texts([("a", "x"), ("d/e", "x")]);
        assert_eq!(read_text(&tree, "a").unwrap(), Some("x"));
        assert_eq!(read_text(&tree, "b").unwrap(), None);
        for (mode, size, word) in [
            (Mode::Link, 1, "symbolic link"),
            (Mode::Submodule, 1, "not a file"),
            (Mode::Special, 1, "not a file"),
            (Mode::File, 1, "UTF-8"),
            (
                Mode::File,
                FILE_LIMIT_BYTES as u64 + 1,
                "it is larger than 65536 bytes",
            ),
        ] {
            let entry = Entry {
                mode,
                oid: String::new(),
                size,
                text: None,
            };
            tree.insert("b", entry);
            let said = read_text(&tree, "b").unwrap_err();
            assert!(said.message.contains(word), "{said}");
        }
        assert!(
            read_text(&tree, "d")
                .unwrap_err()
                .message
                .contains("folder")
        );
    }
}
