//! Git's objects and their names.
//!
//! The encodings are git's own (`git help gitdatamodel`, `git cat-file`): the name of an object is the SHA-1 of
//! `<kind> <length>\0` and its content.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

/// The name of an object; displayed as 40 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid([u8; 20]);

impl Oid {
    /// The name that git uses for "no object".
    pub const ZERO: Self = Self([0; 20]);

    /// The raw bytes of a name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// A name from its 20 raw bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 40];
        for (at, byte) in self.0.iter().enumerate() {
            text[2 * at] = DIGITS[usize::from(byte >> 4)];
            text[2 * at + 1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a git object (40 hexadecimal digits): {0:?}")]
pub struct NotAnOid(String);

impl FromStr for Oid {
    type Err = NotAnOid;

    fn from_str(text: &str) -> Result<Self, NotAnOid> {
        let digits = text.as_bytes();
        let fail = || NotAnOid(text.chars().take(60).collect());
        if digits.len() != 40 {
            return Err(fail());
        }
        let mut bytes = [0u8; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16).ok_or_else(fail)?;
            let low = (pair[1] as char).to_digit(16).ok_or_else(fail)?;
            *byte = u8::try_from(high * 16 + low).expect("two hexadecimal digits fit in a byte");
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Oid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The kind of an entry of a tree, by its file mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// 100644.
    File,
    /// 100755.
    Executable,
    /// 120000.
    Link,
    /// 160000, a commit of another repository.
    Submodule,
    /// 40000.
    Directory,
}

impl Mode {
    /// The mode as git writes it into a tree object.
    #[must_use]
    pub fn in_tree(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
            Self::Submodule => "160000",
            Self::Directory => "40000",
        }
    }

    /// The mode with six digits, as GitHub writes it.
    #[must_use]
    pub fn six_digits(self) -> &'static str {
        if self == Self::Directory {
            "040000"
        } else {
            self.in_tree()
        }
    }

    /// The mode of this text, with or without the leading zero.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "100644" | "100664" => Self::File,
            "100755" => Self::Executable,
            "120000" => Self::Link,
            "160000" => Self::Submodule,
            "40000" | "040000" => Self::Directory,
            _ => return None,
        })
    }

    /// `blob`, `tree` or `commit`.
    #[must_use]
    pub fn object_kind(self) -> &'static str {
        match self {
            Self::Directory => "tree",
            Self::Submodule => "commit",
            _ => "blob",
        }
    }
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub mode: Mode,
    /// The name, without slashes.
    pub name: String,
    /// What it names.
    pub oid: Oid,
}

impl Entry {
    /// Git sorts a directory as if its name ended in a slash.
    fn tree_order(&self, other: &Self) -> std::cmp::Ordering {
        let key = |entry: &Self| {
            let mut name = entry.name.clone().into_bytes();
            if entry.mode == Mode::Directory {
                name.push(b'/');
            }
            name
        };
        key(self).cmp(&key(other))
    }
}

/// The person and the time of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// The instant, in whole seconds.
    pub when: Timestamp,
    /// The offset as git writes it, for example `+0000`.
    pub offset: String,
}

impl Signature {
    /// A signature in UTC.
    #[must_use]
    pub fn new(name: &str, email: &str, when: Timestamp) -> Self {
        let clean = |text: &str| {
            text.chars()
                .filter(|c| !matches!(c, '<' | '>' | '\n' | '\0'))
                .collect::<String>()
        };
        Self {
            name: clean(name),
            email: clean(email),
            when,
            offset: "+0000".to_owned(),
        }
    }

    fn encode(&self) -> String {
        format!(
            "{} <{}> {} {}",
            self.name,
            self.email,
            self.when.as_second(),
            self.offset
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (who, rest) = text.rsplit_once("> ")?;
        let (name, email) = who.split_once('<')?;
        let (seconds, offset) = rest.split_once(' ')?;
        Some(Self {
            name: name.trim_end().to_owned(),
            email: email.to_owned(),
            when: Timestamp::from_second(seconds.parse().ok()?).ok()?,
            offset: offset.to_owned(),
        })
    }
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its tree.
    pub tree: Oid,
    /// Its parents; the first is the branch that it was committed to.
    pub parents: Vec<Oid>,
    /// Who wrote it.
    pub author: Signature,
    /// Who committed it.
    pub committer: Signature,
    /// The message.
    pub message: String,
    /// Other headers, such as a signature, as they are in the object, each ended by a line feed.
    pub more_headers: String,
}

impl Commit {
    /// The first line of the message.
    #[must_use]
    pub fn headline(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }

    /// The message after its first line and the blank line.
    #[must_use]
    pub fn body(&self) -> &str {
        self.message.split_once('\n').map_or("", |(_, rest)| {
            rest.trim_start_matches('\n').trim_end_matches('\n')
        })
    }
}

/// Any object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    /// The content of a file.
    Blob(Bytes),
    /// A directory, in git's order.
    Tree(Arc<[Entry]>),
    /// A commit.
    Commit(Arc<Commit>),
    /// An annotated tag, as it was pushed.
    Tag(Bytes),
}

impl Object {
    /// `blob`, `tree`, `commit` or `tag`.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Blob(_) => "blob",
            Self::Tree(_) => "tree",
            Self::Commit(_) => "commit",
            Self::Tag(_) => "tag",
        }
    }

    /// A tree of these entries, put into git's order.
    #[must_use]
    pub fn sorted_tree(mut entries: Vec<Entry>) -> Self {
        entries.sort_by(Entry::tree_order);
        Self::Tree(entries.into())
    }

    /// The content that git stores.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Blob(content) | Self::Tag(content) => content.clone(),
            Self::Tree(entries) => {
                let mut out = Vec::with_capacity(entries.len() * 40);
                for entry in entries.iter() {
                    out.extend_from_slice(entry.mode.in_tree().as_bytes());
                    out.push(b' ');
                    out.extend_from_slice(entry.name.as_bytes());
                    out.push(0);
                    out.extend_from_slice(entry.oid.as_bytes());
                }
                out.into()
            }
            Self::Commit(commit) => {
                let mut out = format!("tree {}\n", commit.tree);
                for parent in &commit.parents {
                    out += &format!("parent {parent}\n");
                }
                out += &format!("author {}\n", commit.author.encode());
                out += &format!("committer {}\n", commit.committer.encode());
                out += &commit.more_headers;
                out.push('\n');
                out += &commit.message;
                out.into()
            }
        }
    }

    /// The object's name.
    #[must_use]
    pub fn oid(&self) -> Oid {
        name_of(self.kind_name(), &self.encode())
    }

    /// Reads an object as git stores it.
    ///
    /// # Errors
    /// Says what is wrong with the content.
    pub fn decode(kind: &str, content: Bytes) -> Result<Self, String> {
        match kind {
            "blob" => Ok(Self::Blob(content)),
            "tag" => Ok(Self::Tag(content)),
            "tree" => decode_tree(&content),
            "commit" => decode_commit(&content),
            other => Err(format!("unknown kind of object {other:?}")),
        }
    }
}

/// The name of an object of this kind and content.
#[must_use]
pub fn name_of(kind: &str, content: &[u8]) -> Oid {
    let mut hash = Sha1::new();
    hash.update(format!("{kind} {}\0", content.len()).as_bytes());
    hash.update(content);
    Oid(hash.finalize().into())
}

fn decode_tree(mut content: &[u8]) -> Result<Object, String> {
    let mut entries = Vec::new();
    while !content.is_empty() {
        let space = content
            .iter()
            .position(|&byte| byte == b' ')
            .ok_or("tree entry without a mode")?;
        let end = content
            .iter()
            .position(|&byte| byte == 0)
            .ok_or("tree entry without an end")?;
        let mode = std::str::from_utf8(&content[..space])
            .ok()
            .and_then(Mode::parse)
            .ok_or("unknown mode in a tree")?;
        let name = std::str::from_utf8(
            content
                .get(space + 1..end)
                .ok_or("tree entry without a name")?,
        )
        .map_err(|_| "a file name that is not UTF-8")?
        .to_owned();
        let oid = content
            .get(end + 1..end + 21)
            .ok_or("a tree that ends inside an entry")?;
        entries.push(Entry {
            mode,
            name,
            oid: Oid(oid.try_into().expect("twenty bytes")),
        });
        content = &content[end + 21..];
    }
    Ok(Object::Tree(entries.into()))
}

fn decode_commit(content: &[u8]) -> Result<Object, String> {
    let text = std::str::from_utf8(content).map_err(|_| "a commit that is not UTF-8")?;
    let (headers, message) = text
        .split_once("\n\n")
        .ok_or("a commit without a message")?;
    let (mut tree, mut parents, mut author, mut committer) = (None, Vec::new(), None, None);
    let mut more_headers = String::new();
    for line in headers.lines() {
        let bad = || format!("a commit header that cannot be read: {line:?}");
        match line.split_once(' ') {
            Some(("tree", oid)) if more_headers.is_empty() => {
                tree = Some(oid.parse().map_err(|_| bad())?)
            }
            Some(("parent", oid)) if more_headers.is_empty() => {
                parents.push(oid.parse().map_err(|_| bad())?)
            }
            Some(("author", who)) if author.is_none() => {
                author = Some(Signature::parse(who).ok_or_else(bad)?)
            }
            Some(("committer", who)) if committer.is_none() => {
                committer = Some(Signature::parse(who).ok_or_else(bad)?)
            }
            _ => {
                more_headers += line;
                more_headers.push('\n');
            }
        }
    }
    Ok(Object::Commit(Arc::new(Commit {
        tree: tree.ok_or("a commit without a tree")?,
        parents,
        author: author.ok_or("a commit without an author")?,
        committer: committer.ok_or("a commit without a committer")?,
        message: message.to_owned(),
        more_headers,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn run_git(arguments: &[&str], input: &[u8], folder: &std::path::Path) -> String {
        let mut child = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env("GIT_AUTHOR_NAME", "A U Thor")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_AUTHOR_DATE", "1767571200 +0000")
            .env("GIT_COMMITTER_NAME", "C O Mitter")
            .env("GIT_COMMITTER_EMAIL", "committer@example.com")
            .env("GIT_COMMITTER_DATE", "1767571201 +0000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn names_are_those_that_git_gives() {
        let folder = tempfile::tempdir().unwrap();
        run_git(&["init", "-q"], b"", folder.path());
        let blob = Object::Blob(Bytes::from_static(b"hello\n"));
        assert_eq!(
            blob.oid().to_string(),
            run_git(&["hash-object", "-w", "--stdin"], b"hello\n", folder.path())
        );

        let inner = Object::sorted_tree(vec![Entry {
            mode: Mode::Executable,
            name: "run".into(),
            oid: blob.oid(),
        }]);
        let line = format!("100755 blob {}\trun\n", blob.oid());
        assert_eq!(
            inner.oid().to_string(),
            run_git(&["mktree"], line.as_bytes(), folder.path())
        );
        // `a.b` sorts before the directory `a`, since that sorts as `a/`; `a0` after it.
        let outer = Object::sorted_tree(vec![
            Entry {
                mode: Mode::File,
                name: "a0".into(),
                oid: blob.oid(),
            },
            Entry {
                mode: Mode::Directory,
                name: "a".into(),
                oid: inner.oid(),
            },
            Entry {
                mode: Mode::File,
                name: "a.b".into(),
                oid: blob.oid(),
            },
        ]);
        let lines = format!(
            "100644 blob {0}\ta0\n040000 tree {1}\ta\n100644 blob {0}\ta.b\n",
            blob.oid(),
            inner.oid()
        );
        assert_eq!(
            outer.oid().to_string(),
            run_git(&["mktree"], lines.as_bytes(), folder.path())
        );

        let commit = Object::Commit(Arc::new(Commit {
            tree: outer.oid(),
            parents: vec![],
            author: Signature::new(
                "A U Thor",
                "author@example.com",
                Timestamp::from_second(1_767_571_200).unwrap(),
            ),
            committer: Signature::new(
                "C O Mitter",
                "committer@example.com",
                Timestamp::from_second(1_767_571_201).unwrap(),
            ),
            message: "Subject\n\nBody.\n".to_owned(),
            more_headers: String::new(),
        }));
        let tree = outer.oid().to_string();
        assert_eq!(
            commit.oid().to_string(),
            run_git(
                &["commit-tree", &tree],
                b"Subject\n\nBody.\n",
                folder.path()
            )
        );
    }

    #[test]
    fn what_was_encoded_is_decoded_again() {
        let content = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@b> 1 +0100\ncommitter A <a@b> 2 -0330\ngpgsig -----BEGIN\n abc\n -----END\n\nm";
        let object = Object::decode("commit", content.into()).unwrap();
        assert_eq!(object.encode(), content.as_bytes());
        assert_eq!(object.oid(), name_of("commit", content.as_bytes()));
        assert!(Object::decode("tree", Bytes::from_static(b"100644 x")).is_err());
    }
}
