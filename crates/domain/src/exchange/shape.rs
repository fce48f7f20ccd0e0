//! What an artifact is made of, said once: the validator, the JSON Schema, the template that agents fill and the allowed
//! values are all read from here.

use super::limits::LIST_LIMIT;

/// One kind of artifact.
#[derive(Debug)]
pub struct Shape {
    /// What it is called: the name of its schema.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    pub(crate) keys: &'static [Key],
    pub(crate) rules: &'static [Rule],
    /// What its keys were called elsewhere, and what they are called here.
    pub(crate) renamed: &'static [(&'static str, &'static str)],
}

/// One key of a map.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) need: Need,
    /// What it means: a sentence.
    pub(crate) about: &'static str,
}

/// Whether a key must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// It must.
    Always,
    /// It may be left out; the template has it.
    Offered,
    /// It may be there, and the template does not have it: phileas writes it, or another layout did.
    Kept,
    /// It may be left out, and `null` says the same.
    Nullable,
}

/// What a value may be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Exactly this number.
    Version(i64),
    /// Six characters of `a-z0-9`.
    Id,
    /// An [`Id`](Self::Id), or nothing yet.
    Link,
    /// A role's name.
    Role,
    /// The name of a workstream.
    Stream,
    /// A label's name: a part of a path.
    Label,
    /// `YYYY-MM-DD`.
    Date,
    /// An instant of RFC 3339.
    Instant,
    /// A commit: 7 to 64 hexadecimal digits.
    Commit,
    /// A text on one line that is not blank. What stands here is what the template shows.
    Line(&'static str),
    /// A text that is not blank.
    Text(&'static str),
    /// Any text.
    Prose,
    /// A command that starts no agent.
    Command(&'static str),
    /// A line, a range of lines or a symbol.
    Spot(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number from 0.
    Count,
    /// A list.
    List(List),
    /// A map.
    Map(&'static [Key]),
    /// A map that may have other keys, too; what those hold is not looked at.
    Open(&'static [Key]),
    /// A map with arbitrary names.
    Table(Table),
    /// A text on one line that is not blank. Unlike in a [`Line`](Self::Line), nothing counts as left from a template.
    Phrase,
    /// A text that is not blank, likewise.
    Passage,
    /// Any text, as a program or a person gave it, likewise.
    Verbatim,
    /// A line's number from 1, or a [`Phrase`](Self::Phrase).
    Spotted,
    /// A number between these.
    Number(f64, f64),
}

/// What a map from names may hold.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) of: &'static Kind,
    pub(crate) most: usize,
}

/// What a list may hold.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) of: &'static Kind,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// One of these is in it; empty when nothing is asked for.
    pub(crate) one_of: &'static [&'static str],
}

impl List {
    /// Any number of these.
    pub(crate) const fn of_any(of: &'static Kind) -> Self {
        Self::between(0, LIST_LIMIT, of)
    }

    /// At least one of these.
    pub(crate) const fn of_some(of: &'static Kind) -> Self {
        Self::between(1, LIST_LIMIT, of)
    }

    pub(crate) const fn between(least: usize, most: usize, of: &'static Kind) -> Self {
        Self {
            of,
            least,
            most,
            one_of: &[],
        }
    }
}

/// A key that must say something when another one has a certain value.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The map that holds both; empty for the root.
    pub(crate) within: &'static str,
    pub(crate) when: &'static str,
    pub(crate) is: Is,
    pub(crate) then: &'static str,
}

/// The value that a [`Rule`] speaks of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Is {
    True,
    Word(&'static str),
}

impl Key {
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            need: Need::Always,
            about,
        }
    }

    /// May be left out.
    pub(crate) const fn with_template(mut self) -> Self {
        self.need = Need::Offered;
        self
    }

    /// May be left out or be `null`.
    pub(crate) const fn or_null(mut self) -> Self {
        self.need = Need::Nullable;
        self
    }

    /// May be there, and is not asked for.
    pub(crate) const fn or_kept(mut self) -> Self {
        self.need = Need::Kept;
        self
    }
}
