//! Types that are read from TOML which people write, with every mistake reported as those of the plan are: the location,
//! what is wrong in plain words, the key, and the help.

mod locations;
mod rounds;
mod wording;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::Diagnostic;
use crate::diagnostic::Mistakes;
use crate::plan::Document;
use locations::Locations;
use rounds::Rounds;
pub(crate) use wording::{error_text, unknown_field};

/// How many mistakes of one file are listed.
pub const MAX_MISTAKES: usize = 64;

/// A text of TOML, under the name that its mistakes call it by, and its mistakes.
#[derive(Debug)]
pub struct TomlText<'t> {
    file: &'t str,
    document: Document<'t>,
    /// Those of what was read.
    locations: Locations,
    mistakes: Vec<Diagnostic>,
    /// Whether there may be more than were found.
    is_cut: bool,
}

impl<'t> TomlText<'t> {
    /// The text of a file.
    #[must_use]
    pub fn new(file: &'t str, text: &'t str) -> Self {
        let document = Document::of(text);
        Self {
            file,
            mistakes: document.diagnostics(file),
            document,
            locations: Locations::default(),
            is_cut: false,
        }
    }

    /// Reads what it says.
    ///
    /// # Errors
    ///
    /// All mistakes, each with its location and its key where they are known.
    pub fn read<T: DeserializeOwned>(mut self) -> Result<T, Mistakes> {
        match self.read_leniently() {
            Some(read) if self.is_sound() => Ok(read),
            _ => Err(self.into_mistakes()),
        }
    }

    /// Reads what it says without what is wrong in it, which becomes mistakes. `None`: without it, the rest cannot be read.
    #[must_use]
    pub fn read_leniently<T: DeserializeOwned>(&mut self) -> Option<T> {
        let root = DeTable::parse(&self.document.clean).ok()?;
        let mut rounds = Rounds::new(self.file, &self.document, &root);
        let read = match self.document.given_up {
            true => None,
            false => rounds.read(),
        };
        self.is_cut |= rounds.is_cut;
        self.mistakes.append(&mut rounds.mistakes);
        self.locations = rounds.locations;
        read
    }

    /// Whether no mistake was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// A mistake at a byte offset of what was read, that only shows beside other values.
    #[must_use]
    pub fn mistake_at(&self, offset: usize, message: impl Into<String>) -> Diagnostic {
        let (line, column) = self.document.place(offset);
        let number = self.locations.number_around(offset);
        Diagnostic::error(self.file, message)
            .at(line, column)
            .key(&self.locations.get(number).path)
    }

    /// A mistake in the value of a key, such as `lasts`, that only shows beside other values.
    #[must_use]
    pub fn mistake(&self, key: &str, message: impl Into<String>) -> Diagnostic {
        let mistake = Diagnostic::error(self.file, message).key(key);
        match self.locations.with_path(key) {
            Some(location) => {
                let (line, column) = self.document.place(location.value.start);
                mistake.at(line, column)
            }
            None => mistake,
        }
    }

    /// The file, line and column of a byte offset, as mistakes begin.
    #[must_use]
    pub fn place(&self, offset: usize) -> String {
        let (line, column) = self.document.place(offset);
        format!("{}:{line}:{column}", self.file)
    }

    /// Notes further mistakes.
    pub fn add(&mut self, mistakes: impl IntoIterator<Item = Diagnostic>) {
        self.mistakes.extend(mistakes);
    }

    /// All mistakes in the order of the file, and at the end whether there are more than are listed.
    #[must_use]
    pub fn into_mistakes(mut self) -> Mistakes {
        self.mistakes
            .sort_by_key(|mistake| (mistake.line, mistake.column));
        if self.is_cut || self.mistakes.len() > MAX_MISTAKES {
            self.mistakes.truncate(MAX_MISTAKES);
            let more = Diagnostic::error(self.file, "further mistakes are not listed");
            self.mistakes.push(more.help("fix the ones above first"));
        }
        Mistakes(self.mistakes)
    }
}

#[cfg(test)]
mod tests;
