//! Which module of `src/` names which other one. Comments and texts do not count; inline paths and groups do.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A name in full: `["adapters", "github", "Client"]` for one of ours, `["phileas_world", …]` for a package.
pub(crate) type Name = Vec<String>;

/// Every file below a folder that ends in `.rs`, in the order of their paths.
pub(crate) fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The module that a file holds, by its path below `src/`.
pub(crate) fn module_of(path: &str) -> Name {
    let mut parts: Name = path
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
    {
        parts.pop();
    }
    parts
}

/// Everything that a file names by a path that begins with `crate`, `super`, `self` or a package of ours.
pub(crate) fn references(text: &str, module: &[String]) -> BTreeSet<Name> {
    let tokens = tokens(text);
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        module: module.to_vec(),
        inline: Vec::new(),
        depth: 0,
        names: BTreeSet::new(),
    };
    reader.read();
    reader.names
}

struct Reader<'a> {
    tokens: &'a [String],
    at: usize,
    module: Name,
    /// The depths of braces at which inline modules began.
    inline: Vec<usize>,
    depth: usize,
    names: BTreeSet<Name>,
}

impl Reader<'_> {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    fn read(&mut self) {
        while self.at < self.tokens.len() {
            match self.token(0) {
                "mod" if self.token(2) == "{" => {
                    self.module.push(self.token(1).to_owned());
                    self.inline.push(self.depth);
                    self.depth += 1;
                    self.at += 3;
                }
                // How far something can be seen is no use of what is named there.
                "pub" if self.token(1) == "(" => {
                    while !matches!(self.token(0), ")" | "") {
                        self.at += 1;
                    }
                }
                "{" => {
                    self.depth += 1;
                    self.at += 1;
                }
                "}" => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.inline.last() == Some(&self.depth) {
                        self.inline.pop();
                        self.module.pop();
                    }
                    self.at += 1;
                }
                "crate" | "super" | "self" | "phileas_domain" | "phileas_world"
                    if self.token(1) == "::" =>
                {
                    let start = self.start();
                    self.path(start);
                }
                _ => self.at += 1,
            }
        }
    }

    /// What the first word of a path stands for.
    fn start(&mut self) -> Name {
        let start = match self.token(0) {
            "crate" => Vec::new(),
            "self" => self.module.clone(),
            "super" => {
                let mut up = self.module.clone();
                up.pop();
                up
            }
            package => vec![package.to_owned()],
        };
        self.at += 1;
        start
    }

    /// The rest of a path, which stands behind its `::`: further words, or a group in braces.
    fn path(&mut self, mut name: Name) {
        while self.token(0) == "::" {
            self.at += 1;
            match self.token(0) {
                "{" => {
                    self.at += 1;
                    while !matches!(self.token(0), "}" | "") {
                        if self.token(0) == "," {
                            self.at += 1;
                            continue;
                        }
                        let mut item = name.clone();
                        if self.token(0) != "self" {
                            item.push(self.token(0).to_owned());
                        }
                        self.at += 1;
                        self.path(item);
                        while !matches!(self.token(0), "," | "}" | "") {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "super" => {
                    name.pop();
                    self.at += 1;
                }
                word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                    name.push(word.to_owned());
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.names.insert(name);
    }
}

/// Words, `::` and single signs, without comments, texts and characters.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = text_length(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            tokens.push(rest[..end].to_owned());
            end
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of the text or character that begins here; lifetimes are none.
fn text_length(rest: &str) -> Option<usize> {
    let raw = rest
        .strip_prefix('r')
        .filter(|after| after.starts_with(['"', '#']));
    if let Some(after) = raw {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if after[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = 2 + hashes;
            return Some(
                rest[begin..]
                    .find(&end)
                    .map_or(rest.len(), |at| begin + at + end.len()),
            );
        }
    }
    let quote = rest.chars().next()?;
    if quote == '\'' {
        let mut inner = rest[1..].chars();
        let first = inner.next()?;
        let closed = inner.next() == Some('\'');
        if first != '\\' {
            return closed.then(|| 2 + first.len_utf8());
        }
    } else if quote != '"' {
        return None;
    }
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(rest.len())
}
