//! Entries of git trees.

use serde::Deserialize;

/// An entry that is only listed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// git's octal mode as a number: 33188 is `100644`.
    pub(crate) mode: u32,
    pub(crate) oid: String,
    pub(crate) size: u64,
}

/// An entry with its content, as far as the query asks for it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct File {
    #[serde(flatten)]
    pub(crate) listed: Listed,
    #[serde(default)]
    pub(crate) object: Option<Object>,
}

/// A blob's facts, or a tree's entries; empty for other objects.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Object {
    pub(crate) text: Option<String>,
    pub(crate) byte_size: Option<u64>,
    pub(crate) is_truncated: bool,
    pub(crate) is_binary: Option<bool>,
    pub(crate) entries: Option<Vec<File>>,
}

/// What a tree entry is, by its mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Submodule,
    Unknown,
}

/// The readable text of a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    /// The whole text.
    Whole(&'a str),
    /// The answer does not hold it whole, but it may be text: read the blob itself.
    ReadBlob,
    /// It is not text.
    Binary,
}

impl Listed {
    pub(crate) fn entry_kind(&self) -> EntryKind {
        match self.mode & 0o170_000 {
            0o100_000 => EntryKind::File,
            0o040_000 => EntryKind::Folder,
            0o120_000 => EntryKind::Link,
            0o160_000 => EntryKind::Submodule,
            _ => EntryKind::Unknown,
        }
    }
}

impl File {
    /// The text of a regular file. If GitHub truncated it or decoded another encoding, the length differs from git's,
    /// and only the blob itself has the text.
    pub(crate) fn blob_text(&self) -> Text<'_> {
        let Some(object) = &self.object else {
            return Text::ReadBlob;
        };
        if object.is_binary == Some(true) {
            return Text::Binary;
        }
        let size = object.byte_size.unwrap_or(self.listed.size);
        match &object.text {
            Some(text) if !object.is_truncated && text.len() as u64 == size => Text::Whole(text),
            _ => Text::ReadBlob,
        }
    }

    pub(crate) fn byte_length(&self) -> u64 {
        self.object
            .as_ref()
            .and_then(|object| object.byte_size)
            .unwrap_or(self.listed.size)
    }

    /// Whether the query asked for the folder's entries.
    pub(crate) fn is_listed(&self) -> bool {
        let object = self.object.as_ref();
        object.is_some_and(|object| object.entries.is_some())
    }

    pub(crate) fn folder_entries(&self) -> &[Self] {
        self.object
            .as_ref()
            .and_then(|object| object.entries.as_deref())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(mode: u32, object: &str) -> File {
        serde_json::from_str(&format!(
            r#"{{"name":"a","mode":{mode},"oid":"1f","size":2,"object":{object}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn modes_are_octal() {
        for (mode, form) in [
            (33188, EntryKind::File),
            (33261, EntryKind::File),
            (16384, EntryKind::Folder),
            (40960, EntryKind::Link),
            (57344, EntryKind::Submodule),
            (0, EntryKind::Unknown),
        ] {
            assert_eq!(file(mode, "null").listed.entry_kind(), form, "{mode}");
        }
    }

    #[test]
    fn only_a_text_of_the_right_length_is_whole() {
        let of = |object: &str| match file(33188, object).blob_text() {
            Text::Whole(text) => text.to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(
            of(r#"{"text":"ab","byteSize":2,"isTruncated":false,"isBinary":false}"#),
            "ab"
        );
        assert_eq!(
            of(r#"{"text":"a","byteSize":2,"isTruncated":false,"isBinary":false}"#),
            "ReadBlob"
        );
        assert_eq!(
            of(r#"{"text":"ab","byteSize":2,"isTruncated":true,"isBinary":null}"#),
            "ReadBlob"
        );
        assert_eq!(
            of(r#"{"text":null,"byteSize":2,"isTruncated":false,"isBinary":true}"#),
            "Binary"
        );
        assert_eq!(of("null"), "ReadBlob");
    }
}
